#pragma once
// Between the textbook's arrays and the containers under test, item by item.

#include <algorithm>
#include <cstddef>

#include <xloom/detail/tensor/tensor.hpp>

#include "textbook_nd.hpp"
#include "textbook_tensor.hpp"

/// The offset in a container of the item with this number in row-major order.
inline std::ptrdiff_t offset_of(std::size_t flat, textbook::dims const& shape, xloom::strides const& strides)
{
    textbook::dims const position = textbook::position_of(flat, shape);
    std::ptrdiff_t offset = 0;
    for (std::size_t axis = 0; axis < position.size(); ++axis)
        offset += static_cast<std::ptrdiff_t>(position[axis]) * strides[axis];
    return offset;
}

/// A container with the shape and the items of an array, in the container's own layout.
template <class Tensor, class Array>
Tensor to_tensor(Array const& array)
{
    using door = xloom::enable_tensor<Tensor>;
    Tensor tensor = door::make(xloom::shape(array.shape.begin(), array.shape.end()));
    xloom::detail::strided_layout const layout = xloom::detail::layout_of(tensor);
    for (std::size_t flat = 0; flat < array.items.size(); ++flat)
        door::data(tensor)[offset_of(flat, array.shape, layout.strides)] =
            static_cast<typename door::value_type>(array.items[flat]);
    return tensor;
}

template <class Tensor>
auto to_array(Tensor const& tensor)
{
    using door = xloom::enable_tensor<Tensor>;
    xloom::detail::strided_layout const layout = xloom::detail::layout_of(tensor);
    textbook::array<typename door::value_type> array{{layout.dims.begin(), layout.dims.end()}, {}};
    for (std::size_t flat = 0; flat < textbook::size_of(array.shape); ++flat)
        array.items.push_back(door::data(tensor)[offset_of(flat, array.shape, layout.strides)]);
    return array;
}

/// Same shape, same values.
template <class Tensor>
bool equals(Tensor const& tensor, textbook::tensor const& expected)
{
    auto const found = to_array(tensor);
    return found.shape == expected.shape &&
           std::ranges::equal(found.items, expected.items,
               [](auto const& a, double b) { return static_cast<double>(a) == b; });
}
