#pragma once
// ScatterND and GatherND as the textbook has them: nested loops over positions, nothing assumed of the
// layout.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace textbook {

using dims = std::vector<std::size_t>;

inline std::size_t size_of(dims const& shape)
{
    std::size_t size = 1;
    for (std::size_t const dim : shape)
        size *= dim;
    return size;
}

/// A row-major tensor of any type.
template <class T>
struct array {
    dims shape;
    std::vector<T> items;
};

inline dims position_of(std::size_t flat, dims const& shape)
{
    dims position(shape.size());
    for (std::size_t axis = shape.size(); axis-- > 0; flat /= shape[axis])
        position[axis] = flat % shape[axis];
    return position;
}

inline std::size_t flat_of(dims const& position, dims const& shape)
{
    std::size_t flat = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
        flat = flat * shape[axis] + position[axis];
    return flat;
}

/// The position in data that tuple number `tuple` and the position `rest` after the indexed axes name, `b`
/// batch axes before them.
inline dims named_position(array<std::int64_t> const& indices, std::size_t tuple, dims const& rest,
    dims const& data_shape, std::size_t b = 0)
{
    std::size_t const k = indices.shape.back();
    dims const front(indices.shape.begin(), indices.shape.end() - 1);
    dims position = position_of(tuple, front);
    position.resize(b);
    for (std::size_t j = 0; j < k; ++j) {
        std::int64_t const index = indices.items[tuple * k + j];
        position.push_back(static_cast<std::size_t>(
            index < 0 ? index + static_cast<std::int64_t>(data_shape[b + j]) : index));
    }
    position.insert(position.end(), rest.begin(), rest.end());
    return position;
}

/// output = data; for each tuple, in order, output[tuple] = reduce(output[tuple], update).
template <class T, class Reduce>
array<T> scatter_nd(array<T> data, array<std::int64_t> const& indices, array<T> const& updates, Reduce reduce)
{
    std::size_t const k = indices.shape.back();
    dims const rest(data.shape.begin() + static_cast<std::ptrdiff_t>(k), data.shape.end());
    dims const front(indices.shape.begin(), indices.shape.end() - 1);
    for (std::size_t tuple = 0; tuple < size_of(front); ++tuple)
        for (std::size_t i = 0; i < size_of(rest); ++i) {
            std::size_t const at =
                flat_of(named_position(indices, tuple, position_of(i, rest), data.shape), data.shape);
            data.items[at] = reduce(T(data.items[at]), T(updates.items[tuple * size_of(rest) + i]));
        }
    return data;
}

template <class T>
array<T> gather_nd(array<T> const& data, array<std::int64_t> const& indices, std::size_t b)
{
    std::size_t const k = indices.shape.back();
    dims const rest(data.shape.begin() + static_cast<std::ptrdiff_t>(b + k), data.shape.end());
    dims const front(indices.shape.begin(), indices.shape.end() - 1);
    array<T> output{front, {}};
    output.shape.insert(output.shape.end(), rest.begin(), rest.end());
    for (std::size_t tuple = 0; tuple < size_of(front); ++tuple)
        for (std::size_t i = 0; i < size_of(rest); ++i)
            output.items.push_back(data.items[flat_of(
                named_position(indices, tuple, position_of(i, rest), data.shape, b), data.shape)]);
    return output;
}

} // namespace textbook
