#pragma once
// The item of a tensor that stands for a scalar.

#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

/// Returns the only item of a tensor.
///
/// Errors    shape_error: it has none, or several.
template <operand X>
item_t<X> const& only_item(X const& x)
{
    const_view_of<X> const view(x);
    if (view.size() != 1)
        xloom::kernels::fail<xloom::shape_error>(
            "xloom_onnx: a tensor that stands for a scalar must have one item, but has the shape ",
            view.shape());
    return *view.data();
}

} // namespace xloom_onnx
