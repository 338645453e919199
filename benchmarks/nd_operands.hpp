#pragma once
// Shared by the benchmarks of ScatterND and GatherND: random indices, and the bounds check of the
// hand-written loops.

#include <random>

#include "support.hpp"

namespace bench {

template <class Index>
using index_table = xt::xtensor<Index, 2>;

/// Tuples of indices below `length`; a tuple may occur more than once.
template <class Index>
index_table<Index> random_tuples(std::size_t count, std::size_t width, std::size_t length)
{
    std::mt19937 random(1);
    auto indices = index_table<Index>::from_shape({count, width});
    for (Index& index : indices.storage())
        index = static_cast<Index>(random() % length);
    return indices;
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

} // namespace bench
