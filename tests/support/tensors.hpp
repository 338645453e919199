#pragma once
// Between the textbook's tensors and the containers under test.

#include <xloom/detail/tensor/tensor.hpp>

#include "textbook_tensor.hpp"

/// A container of any kind with the textbook tensor's shape and values.
template <class Tensor>
Tensor make_tensor(textbook::tensor const& values)
{
    using door = xloom::enable_tensor<Tensor>;
    Tensor result = door::make(xloom::shape(values.shape.begin(), values.shape.end()));
    xloom::detail::strided_layout const layout = xloom::detail::layout_of(result);
    xloom::kernel::strided_copy const copy(
        layout.dims, xloom::row_major_strides(layout.dims), layout.strides);
    std::vector<typename door::value_type> items(values.items.begin(), values.items.end());
    copy(items.data(), door::data(result));
    return result;
}

/// Same shape, same values.
template <class Tensor>
bool equals(Tensor const& tensor, textbook::tensor const& expected)
{
    using door = xloom::enable_tensor<Tensor>;
    xloom::detail::strided_layout const layout = xloom::detail::layout_of(tensor);
    if (layout.dims != xloom::shape(expected.shape.begin(), expected.shape.end()))
        return false;
    std::vector<typename door::value_type> items(expected.items.size());
    xloom::kernel::strided_copy(layout.dims, layout.strides, xloom::row_major_strides(layout.dims))(
        door::data(tensor), items.data());
    for (std::size_t i = 0; i < items.size(); ++i)
        if (static_cast<double>(items[i]) != expected.items[i])
            return false;
    return true;
}
