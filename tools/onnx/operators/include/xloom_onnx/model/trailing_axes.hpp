#pragma once
// Broadcasting of the operators before opset 7, which aligns the second operand with any axis of the first.

#include <cstddef>
#include <cstdint>
#include <utility>

#include <xloom_onnx/broadcast.hpp>
#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

/// Returns a view of x with `count` axes of length 1 after its own.
template <operand X>
const_view_of<X> with_trailing_axes(X const& x, std::size_t count)
{
    const_view_of<X> const view(x);
    xloom::shape dims = view.shape();
    for (std::size_t i = 0; i < count; ++i)
        dims.push_back(1);
    return {view.data(), dims};
}

/// Returns the shape in which the second operand of such an operator is broadcast to the first one's: its
/// own, also with axes of length 1 after it, or [] if it has one item.
///
/// `broadcast` and `axis` are the operator's attributes; without `axis`, -1.
///
/// Errors    shape_error: other shapes without broadcast = 1, or such that the first one would be broadcast.
inline xloom::shape aligned_shape(
    xloom::shape const& a, xloom::shape const& b, bool broadcast, std::int64_t axis)
{
    using xloom::kernels::fail;
    if (a == b)
        return b;
    if (!broadcast)
        fail<xloom::shape_error>("xloom_onnx: the shapes ", a, " and ", b, " differ, without broadcast = 1");
    if (xloom::element_count(b) == 1)
        return {};
    xloom::shape dims = b;
    if (axis >= 0) {
        if (dims.size() > a.size() || std::cmp_greater(axis, a.size() - dims.size()))
            fail<xloom::shape_error>(
                "xloom_onnx: from axis ", axis, " on, the shape ", a, " has no room for ", b);
        dims.resize(a.size() - static_cast<std::size_t>(axis), 1);
    }
    if (broadcast_shape(a, dims) != a)
        fail<xloom::shape_error>("xloom_onnx: the shape ", b, " cannot be broadcast to ", a);
    return dims;
}

/// Returns a view of the second operand in that shape.
///
/// Errors    shape_error.
template <operand A, operand B>
const_view_of<B> aligned_with(A const& a, B const& b, bool broadcast, std::int64_t axis)
{
    const_view_of<B> const view(b);
    return {view.data(), aligned_shape(const_view_of<A>(a).shape(), view.shape(), broadcast, axis)};
}

} // namespace xloom_onnx
