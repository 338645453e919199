#pragma once
// Random operands for ScatterND and GatherND.

#include <random>

#include "tensors.hpp"
#include "uniform_int.hpp"

/// Tuples for the axes of `dims` from `b` on, negative indices and duplicates among them. `front` is
/// indices.shape[:-1].
inline textbook::array<std::int64_t> random_indices(std::mt19937& random, textbook::dims const& front,
    textbook::dims const& dims, std::size_t k, std::size_t b = 0)
{
    textbook::array<std::int64_t> indices{front, {}};
    indices.shape.push_back(k);
    for (std::size_t tuple = 0; tuple < textbook::size_of(front); ++tuple)
        for (std::size_t j = 0; j < k; ++j) {
            auto const length = static_cast<std::int64_t>(dims[b + j]);
            indices.items.push_back(uniform_int<std::int64_t>(-length, length - 1)(random));
        }
    return indices;
}

/// Small whole numbers, as any type that can be made of an int.
template <class T>
textbook::array<T> random_items(std::mt19937& random, textbook::dims const& shape)
{
    textbook::array<T> array{shape, {}};
    for (std::size_t i = 0; i < textbook::size_of(shape); ++i)
        array.items.push_back(static_cast<T>(static_cast<int>(random() % 7) - 3));
    return array;
}

inline textbook::dims updates_shape(textbook::dims const& data, textbook::dims const& indices)
{
    textbook::dims shape(indices.begin(), indices.end() - 1);
    shape.insert(shape.end(), data.begin() + static_cast<std::ptrdiff_t>(indices.back()), data.end());
    return shape;
}
