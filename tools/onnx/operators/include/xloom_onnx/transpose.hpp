#pragma once
// Transpose.

#include <xloom/kernels.hpp>
#include <xloom_onnx/axes.hpp>
#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

/// Returns the order of the axes.
///
/// Errors    option_error: perm does not hold each axis once.
inline xloom::static_vector<std::size_t, xloom::max_rank> axis_order(integers const& perm, std::size_t rank)
{
    if (perm.size() != rank)
        xloom::kernels::fail<xloom::option_error>(
            "xloom_onnx::transpose: perm ", perm, " does not order the axes of a tensor of rank ", rank);
    static_cast<void>(checked_axes("xloom_onnx::transpose", perm, rank)); // each once
    xloom::static_vector<std::size_t, xloom::max_rank> order;
    for (std::int64_t const axis : perm)
        order.push_back(xloom::wrap_axis(axis, rank));
    return order;
}

/// Returns the axes in reverse, which perm is if it is omitted.
inline integers reversed_axes(std::size_t rank)
{
    integers perm;
    for (std::size_t a = rank; a-- > 0;)
        perm.push_back(static_cast<std::int64_t>(a));
    return perm;
}

inline xloom::shape transpose_shape(xloom::shape const& x, integers const& perm)
{
    xloom::shape dims;
    for (std::size_t const axis : axis_order(perm, x.size()))
        dims.push_back(x[axis]);
    return dims;
}

/// Transposes x: axis i of y is axis perm[i] of x; in reverse if perm is omitted.
///
/// Errors    option_error: perm does not hold each axis once. shape_error.
/// Cost      each item is read and written once. Allocates nothing if y has as many items already.
template <operand X, class Y>
void transpose_into(X const& x, integers const& perm, Y&& y)
{
    const_view_of<X> const from(x);
    auto const order = axis_order(perm, from.rank());
    xloom::strides const steps = xloom::row_major_strides(from.shape());
    xloom::shape dims;
    xloom::strides from_steps;
    for (std::size_t const axis : order) {
        dims.push_back(from.shape()[axis]);
        from_steps.push_back(steps[axis]);
    }
    auto const to = output_view("xloom_onnx::transpose_into", y, dims);
    xloom::kernels::strided_copy(dims, from_steps, xloom::row_major_strides(dims))(from.data(), to.data());
}
template <operand X, class Y>
void transpose_into(X const& x, Y&& y)
{
    transpose_into(x, reversed_axes(const_view_of<X>(x).rank()), y);
}

} // namespace xloom_onnx
