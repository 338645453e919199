#pragma once
// PRelu.

#include <xloom_onnx/arithmetic.hpp>
#include <xloom_onnx/broadcast.hpp>
#include <xloom_onnx/map.hpp>
#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

namespace detail {

struct prelu_function {
    template <class V>
    V operator()(V const& x, V const& slope) const
    {
        if constexpr (is_batch<V>)
            return kernels::select(x < V(0), V(x * slope), x);
        else
            return +x < 0 ? mul_function::of(x, slope) : x;
    }
};

} // namespace detail

/// y = slope * x for x < 0, else x.
///
/// Shapes    y has the shape of x, to which that of slope is broadcast.
/// Types     numbers, of one type; integers wrap around.
/// Errors    shape_error.
/// Cost      each item is read and written once. Allocates nothing if y has as many items already.
/// Aliasing  y may be x.
template <operand X, operand Slope, class Y>
void prelu_into(X const& x, Slope const& slope, Y&& y)
{
    const_view_of<X> const from(x);
    const_view_of<Slope> const slopes(slope);
    detail::require_broadcast("xloom_onnx::prelu_into", "a slope", slopes.shape(), from.shape());
    auto const to = output_view("xloom_onnx::prelu_into", y, from.shape());
    map_into(detail::prelu_function(), from, slopes, to);
}

} // namespace xloom_onnx
