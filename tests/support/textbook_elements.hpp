#pragma once
// GatherElements, ScatterElements and NumPy's functions on indices as their definitions have them: loops over
// positions.

#include "textbook_nd.hpp"

namespace textbook {

/// The position in data that the index at a position names: the index replaces the coordinate of the axis.
inline dims element_position(dims position, std::int64_t index, std::size_t axis, dims const& data_shape)
{
    position[axis] =
        static_cast<std::size_t>(index < 0 ? index + static_cast<std::int64_t>(data_shape[axis]) : index);
    return position;
}

template <class T>
array<T> gather_elements(array<T> const& data, array<std::int64_t> const& indices, std::size_t axis)
{
    array<T> output{indices.shape, {}};
    for (std::size_t i = 0; i < indices.items.size(); ++i)
        output.items.push_back(data.items[flat_of(
            element_position(position_of(i, indices.shape), indices.items[i], axis, data.shape),
            data.shape)]);
    return output;
}

/// output = data; for each index, in order, output[item] = reduce(output[item], update).
template <class T, class Reduce>
array<T> scatter_elements(array<T> data, array<std::int64_t> const& indices, array<T> const& updates,
    std::size_t axis, Reduce reduce)
{
    for (std::size_t i = 0; i < indices.items.size(); ++i) {
        std::size_t const at = flat_of(
            element_position(position_of(i, indices.shape), indices.items[i], axis, data.shape), data.shape);
        data.items[at] = reduce(T(data.items[at]), T(updates.items[i]));
    }
    return data;
}

/// The array with its axes of length 1, and axes that it lacks in front, repeated.
template <class T>
array<T> broadcast_to(array<T> const& from, dims const& shape)
{
    array<T> output{shape, {}};
    for (std::size_t i = 0; i < size_of(shape); ++i) {
        dims const position = position_of(i, shape);
        dims own(position.end() - static_cast<std::ptrdiff_t>(from.shape.size()), position.end());
        for (std::size_t axis = 0; axis < own.size(); ++axis)
            own[axis] = from.shape[axis] == 1 ? 0 : own[axis];
        output.items.push_back(from.items[flat_of(own, from.shape)]);
    }
    return output;
}

/// output[o..., i..., n...] = data[o..., indices[i...], n...], with the axes o before `axis`.
template <class T>
array<T> take(array<T> const& data, array<std::int64_t> const& indices, std::size_t axis)
{
    dims const outer(data.shape.begin(), data.shape.begin() + static_cast<std::ptrdiff_t>(axis));
    dims const inner(data.shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, data.shape.end());
    array<T> output{outer, {}};
    output.shape.insert(output.shape.end(), indices.shape.begin(), indices.shape.end());
    output.shape.insert(output.shape.end(), inner.begin(), inner.end());
    for (std::size_t o = 0; o < size_of(outer); ++o)
        for (std::int64_t const index : indices.items)
            for (std::size_t n = 0; n < size_of(inner); ++n) {
                auto const length = static_cast<std::int64_t>(data.shape[axis]);
                auto const from_front = static_cast<std::size_t>(index < 0 ? index + length : index);
                output.items.push_back(data.items[(o * data.shape[axis] + from_front) * size_of(inner) + n]);
            }
    return output;
}

} // namespace textbook
