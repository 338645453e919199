#pragma once
// Shared by the benchmarks of operators with indices: random indices, the bounds check of the hand-written
// loops, and the cases of operators along an axis.

#include <algorithm>
#include <array>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "support.hpp"

namespace bench {

template <class Index>
using index_table = xt::xtensor<Index, 2>;

/// Indices below `length`, of a shape.
template <class Tensor>
Tensor random_indices(typename Tensor::shape_type const& shape, std::size_t length)
{
    using index = typename Tensor::value_type;
    std::mt19937 random(1);
    Tensor indices = Tensor::from_shape(shape);
    for (index& each : indices.storage())
        each = static_cast<index>(random() % length);
    return indices;
}

/// Tuples of indices below `length`; a tuple may occur more than once.
template <class Index>
index_table<Index> random_tuples(std::size_t count, std::size_t width, std::size_t length)
{
    return random_indices<index_table<Index>>({count, width}, length);
}

/// Checks all indices in one pass, before anything is written.
template <class Index, std::size_t Rank>
void require_in_range(xt::xtensor<Index, Rank> const& indices, std::size_t length)
{
    Index const end = static_cast<Index>(length);
    Index least = 0, largest = 0;
    for (Index const* index = indices.data(); index != indices.data() + indices.size(); ++index) {
        least = *index < least ? *index : least;
        largest = *index > largest ? *index : largest;
    }
    if (least < -end || largest >= end)
        std::abort();
}

/// The prefetch distance of a hand-written loop, in items.
inline constexpr std::size_t items_ahead = 32;

template <class Index>
std::ptrdiff_t wrapped(Index index, std::size_t length)
{
    return index < 0 ? static_cast<std::ptrdiff_t>(index) + static_cast<std::ptrdiff_t>(length)
                     : static_cast<std::ptrdiff_t>(index);
}

/// Copies the data to an existing output first, as the peer does.
template <class Operands, void (*InPlace)(Operands&)>
void copying(Operands& o)
{
    std::copy(o.data.storage().begin(), o.data.storage().end(), o.y.storage().begin());
    InPlace(o);
}

/// Adds the cases of an operator along an axis: a vector of a million items, and matrices of as many, with
/// the series along each of their axes. make(dims, axis) makes the operands.
template <class Vectors, class Matrices, class Make>
void add_cases_along_axes(std::string const& name, Make const& make,
    std::vector<series<Vectors>> const& vectors, std::array<std::vector<series<Matrices>>, 2> const& matrices)
{
    add_case(
        name + "/data:1000000", [=] { return make(std::array<std::size_t, 1>{1'000'000}, std::size_t{0}); },
        vectors);
    for (std::size_t const columns : std::initializer_list<std::size_t>{10, 1000})
        for (std::size_t const axis : std::initializer_list<std::size_t>{0, 1}) {
            std::size_t const rows = 1'000'000 / columns;
            add_case(
                name + "/data:" + std::to_string(rows) + "x" + std::to_string(columns) +
                    "/axis:" + std::to_string(axis),
                [=] {
                    return make(std::array<std::size_t, 2>{rows, columns}, axis);
                },
                matrices[axis]);
        }
}

} // namespace bench
