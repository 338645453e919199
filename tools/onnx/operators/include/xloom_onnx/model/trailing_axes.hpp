#pragma once
// Broadcasting of the operators before opset 7, which aligns the second operand with any axis of the first.

#include <cstddef>

#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

/// Returns a view of x with `count` axes of length 1 behind its own.
template <operand X>
const_view_of<X> with_trailing_axes(X const& x, std::size_t count)
{
    const_view_of<X> const view(x);
    xloom::shape dims = view.shape();
    for (std::size_t i = 0; i < count; ++i)
        dims.push_back(1);
    return {view.data(), dims};
}

} // namespace xloom_onnx
