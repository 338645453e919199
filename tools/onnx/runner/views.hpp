#pragma once
// Tensors as xtensor expressions, for xloom's operators.

#include <xloom/tensor.hpp>
#include <xloom_onnx/view.hpp>

#include "value.hpp"

namespace runner {

/// The items of a tensor as an expression of the same shape, which the tensor must outlive.
template <class T>
using view = xloom::element_view<T>;

template <class T>
view<T const> view_of(tensor const& t)
{
    return {t.items<T>().data(), t.shape()};
}

/// Returns a view of the items to be written. Requires that no copy of the tensor shares them.
template <class T>
view<T> writable_view_of(tensor& t)
{
    return {t.items<T>().data(), t.shape()};
}

/// Returns the items of a tensor as an operand of xloom_onnx.
template <class T>
xloom_onnx::tensor_view<T const> items_of(tensor const& t)
{
    return {t.items<T>().data(), t.shape()};
}

/// Returns a view of the items to be written. Requires that no copy of the tensor shares them.
template <class T>
xloom_onnx::tensor_view<T> writable_items_of(tensor& t)
{
    return {t.items<T>().data(), t.shape()};
}

} // namespace runner
