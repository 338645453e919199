#pragma once
// BatchNormalization, as a trained network runs it.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <xloom/kernels.hpp>
#include <xloom_onnx/map.hpp>
#include <xloom_onnx/view.hpp>
#include <xloom_onnx/workspace.hpp>

namespace xloom_onnx {

struct batch_normalization_options {
    double epsilon = 1e-5;
    bool spatial = true; ///< up to opset 8: false for parameters of each item, not of each channel
};

namespace detail {

/// (x - center) * factor + bias of items, computed in the type of center.
struct normalize_function {
    template <class X, class P>
    X operator()(X const& x, P const& center, P const& factor, P const& bias) const
    {
        if constexpr (is_batch<X>)
            return kernels::multiply_add(X(x - center), factor, bias);
        else
            return static_cast<X>((static_cast<P>(x) - center) * factor + bias);
    }
};

/// Returns the shape that each parameter of a BatchNormalization must have.
///
/// Errors    shape_error: x has no batch.
inline xloom::shape batch_parameter_shape(xloom::shape const& x, bool is_spatial)
{
    if (x.empty())
        xloom::kernels::fail<xloom::shape_error>(
            "xloom_onnx::batch_normalization_into: X must have a batch, but has the shape ", x);
    if (is_spatial)
        return {x.size() == 1 ? 1 : x[1]};
    return xloom::drop_axis(x, 0);
}

} // namespace detail

/// y = (x - input_mean) * scale / sqrt(input_var + epsilon) + bias, channel by channel.
///
/// Shapes    x, y [N, C, d..]; the others [C], or [C, d..] without `spatial`. An x [N] has one channel.
/// Types     floating-point numbers; 16-bit ones are computed in float. The types of the parameters may
///           differ from that of x.
/// Errors    shape_error.
/// Cost      a square root for each channel; x is read once. Allocates nothing if y and the workspace are
///           large enough.
/// Aliasing  y may be x.
template <operand X, operand Scale, operand Bias, operand Mean, operand Variance, class Y>
void batch_normalization_into(X const& x, Scale const& scale, Bias const& bias, Mean const& input_mean,
    Variance const& input_var, Y&& y, batch_normalization_options const& options, workspace& memory)
{
    static constexpr std::string_view op = "xloom_onnx::batch_normalization_into";
    using P = xloom::kernels::compute_t<item_t<X>>;
    const_view_of<X> const from(x);
    xloom::shape dims = detail::batch_parameter_shape(from.shape(), options.spatial);
    const_view_of<Scale> const scales(scale);
    const_view_of<Bias> const biases(bias);
    const_view_of<Mean> const means(input_mean);
    const_view_of<Variance> const variances(input_var);
    auto const require = [&](char const* name, xloom::shape const& own) {
        if (own != dims)
            xloom::kernels::fail<xloom::shape_error>(op, ": ", name, " must have the shape ", dims,
                " for X of the shape ", from.shape(), ", but has ", own);
    };
    require("scale", scales.shape());
    require("B", biases.shape());
    require("input_mean", means.shape());
    require("input_var", variances.shape());
    std::size_t const count = scales.size();
    P* const converted = memory.template take<P>(3 * count);
    for (std::size_t c = 0; c < count; ++c) {
        converted[c] = static_cast<P>(means[c]);
        converted[count + c] = static_cast<P>(
            static_cast<double>(scales[c]) / std::sqrt(static_cast<double>(variances[c]) + options.epsilon));
        converted[2 * count + c] = static_cast<P>(biases[c]);
    }
    while (dims.size() + 1 < from.rank())
        dims.push_back(1);
    auto const parameter = [&](std::size_t i) { return tensor_view<P const>(converted + i * count, dims); };
    auto const to = output_view(op, y, from.shape());
    map_into(detail::normalize_function(), from, parameter(0), parameter(1), parameter(2), to);
}

} // namespace xloom_onnx
