#pragma once
// LayerNormalization and InstanceNormalization: each row has the mean 0 and the variance 1, and is then
// scaled. RMSNormalization: its mean square is 1.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <xloom/kernels.hpp>
#include <xloom_onnx/arithmetic.hpp>
#include <xloom_onnx/axes.hpp>
#include <xloom_onnx/broadcast.hpp>
#include <xloom_onnx/map.hpp>
#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

struct instance_normalization_options {
    double epsilon = 1e-5;
};
struct layer_normalization_options {
    std::int64_t axis = -1; ///< the first of the axes that make a row
    double epsilon = 1e-5;
};
struct rms_normalization_options {
    std::int64_t axis = -1; ///< the first of the axes that make a row
    double epsilon = 1e-5;
};

namespace detail {

/// What is subtracted from a row, its mean or 0, and what is added to its variance about that.
struct row_rule {
    bool is_centered;
    double epsilon;
};

/// The mean of a row or 0, and the reciprocal of its standard deviation from that.
struct row_moments {
    double mean, inverse_deviation;
};

/// Sums of(x) of a row in double, in eight chains.
template <class T, class Of>
double sum_row(T const* row, std::size_t count, Of const& of)
{
    constexpr std::size_t lanes = 8;
    std::array<double, lanes> sums{};
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes)
        for (std::size_t k = 0; k < lanes; ++k)
            sums[k] += of(static_cast<double>(row[i + k]));
    for (std::size_t k = 0; i < count; ++i, ++k)
        sums[k] += of(static_cast<double>(row[i]));
    for (std::size_t width = lanes / 2; width != 0; width /= 2)
        for (std::size_t k = 0; k < width; ++k)
            sums[k] += sums[k + width];
    return sums[0];
}

/// Writes a row less its mean or 0, over its standard deviation from that.
template <class T, class R>
row_moments normalize_row(T const* from, std::size_t count, row_rule const& rule, R* to)
{
    using P = xloom::kernels::compute_t<T>;
    auto const items = static_cast<double>(count);
    double const center = rule.is_centered ? sum_row(from, count, [](double x) { return x; }) / items : 0;
    double const variance =
        sum_row(from, count, [&](double x) { return (x - center) * (x - center); }) / items;
    double const inverse = 1 / std::sqrt(variance + rule.epsilon);
    auto const subtracted = static_cast<P>(center), factor = static_cast<P>(inverse);
    for (std::size_t i = 0; i < count; ++i)
        to[i] = static_cast<R>(static_cast<T>((static_cast<P>(from[i]) - subtracted) * factor));
    return {center, inverse};
}

/// x * scale + bias of normalized items.
struct scale_function {
    template <class V>
    V operator()(V const& x, V const& scale, V const& bias) const
    {
        return add_function::of(mul_function::of(x, scale), bias);
    }
};

/// Normalizes the rows from `axis` on, calls f(row, moments), and scales them.
template <class T, class R, class F>
void normalize_rows(tensor_view<T const> const& x, std::size_t axis, tensor_view<R const> const& scale,
    tensor_view<R const> const* bias, tensor_view<R> const& y, row_rule const& rule, F const& f)
{
    if (x.size() == 0)
        return;
    std::size_t count = 1;
    for (std::size_t a = axis; a < x.rank(); ++a)
        count *= x.shape()[a];
    for (std::size_t row = 0; row < x.size() / count; ++row)
        f(row, normalize_row(x.data() + row * count, count, rule, y.data() + row * count));
    if (bias != nullptr)
        map_into(scale_function(), y, scale, *bias, y);
    else
        map_into(mul_function(), y, scale, y);
}

template <class X, class Scale, class Bias, class Y, class F>
void layer_normalization_into(X const& x, Scale const& scale, Bias const& bias, Y& y,
    layer_normalization_options const& options, F const& f)
{
    static constexpr std::string_view op = "xloom_onnx::layer_normalization_into";
    using T = item_t<X>;
    tensor_view<T const> const from(x), scales(scale);
    std::size_t const axis = checked_axis(op, options.axis, from.rank());
    row_rule const rule{true, options.epsilon};
    require_broadcast(op, "Scale", scales.shape(), from.shape());
    if constexpr (std::is_same_v<Bias, std::nullopt_t>) {
        normalize_rows<T, T>(from, axis, scales, nullptr, output_view(op, y, from.shape()), rule, f);
    } else {
        tensor_view<T const> const added(bias);
        require_broadcast(op, "B", added.shape(), from.shape());
        normalize_rows<T, T>(from, axis, scales, &added, output_view(op, y, from.shape()), rule, f);
    }
}

} // namespace detail

/// Returns the shape of the moments of rows: that of x, with 1 from `axis` on.
///
/// Errors    option_error: no axis.
inline xloom::shape layer_moments_shape(
    xloom::shape const& x, layer_normalization_options const& options = {})
{
    xloom::shape dims = x;
    std::fill(dims.begin() + checked_axis("xloom_onnx::layer_normalization_into", options.axis, x.size()),
        dims.end(), 1);
    return dims;
}

/// y = (x - mean) / sqrt(variance + epsilon) * scale + bias, of each row x[.., from `axis` on].
///
/// Shapes    y has the shape of x, to which those of scale and bias are broadcast. bias may be std::nullopt.
/// Types     floating-point numbers, of one type. Means and variances are computed in double; 16-bit numbers
///           are rounded before they are scaled, as in ONNX's text.
/// Errors    shape_error; option_error: no axis.
/// Cost      x is read three times, y written twice. Allocates nothing if y has as many items already.
template <operand X, operand Scale, class Bias, class Y>
void layer_normalization_into(
    X const& x, Scale const& scale, Bias const& bias, Y&& y, layer_normalization_options const& options = {})
{
    detail::layer_normalization_into(
        x, scale, bias, y, options, [](std::size_t, detail::row_moments const&) {});
}
/// The same, and for each row the mean and the reciprocal of sqrt(variance + epsilon), as float.
template <operand X, operand Scale, class Bias, class Y, class Mean, class Inverse>
void layer_normalization_with_moments_into(X const& x, Scale const& scale, Bias const& bias, Y&& y,
    Mean&& row_means, Inverse&& inverse_deviations, layer_normalization_options const& options = {})
{
    static constexpr std::string_view op = "xloom_onnx::layer_normalization_into";
    xloom::shape const dims = layer_moments_shape(const_view_of<X>(x).shape(), options);
    auto const means = output_view(op, row_means, dims), inverses = output_view(op, inverse_deviations, dims);
    // Rows of no items have no moments.
    std::fill(means.begin(), means.end(), std::numeric_limits<float>::quiet_NaN());
    std::fill(inverses.begin(), inverses.end(), std::numeric_limits<float>::quiet_NaN());
    detail::layer_normalization_into(
        x, scale, bias, y, options, [&](std::size_t row, detail::row_moments const& of) {
            means[row] = static_cast<float>(of.mean);
            inverses[row] = static_cast<float>(of.inverse_deviation);
        });
}

/// y = x / sqrt(mean square + epsilon) * scale, of each row x[.., from `axis` on].
///
/// Shapes    y has the shape of x, to which that of scale is broadcast.
/// Types     floating-point numbers; y those of scale. Mean squares are computed in double; a quotient is
///           rounded to x's type, then to y's, before it is scaled.
/// Errors    shape_error; option_error: no axis.
/// Cost      x is read twice, y written twice. Allocates nothing if y has as many items already.
template <operand X, operand Scale, class Y>
void rms_normalization_into(
    X const& x, Scale const& scale, Y&& y, rms_normalization_options const& options = {})
{
    static constexpr std::string_view op = "xloom_onnx::rms_normalization_into";
    const_view_of<X> const from(x);
    const_view_of<Scale> const scales(scale);
    std::size_t const axis = checked_axis(op, options.axis, from.rank());
    detail::require_broadcast(op, "Scale", scales.shape(), from.shape());
    detail::normalize_rows<item_t<X>, item_t<Scale>>(from, axis, scales, nullptr,
        output_view(op, y, from.shape()), {false, options.epsilon},
        [](std::size_t, detail::row_moments const&) {});
}

/// y = (x - mean) / sqrt(variance + epsilon) * scale + bias, of each channel of each batch entry.
///
/// Shapes    x, y [N, C, d..], scale, bias [C].
/// Types, Cost    as layer_normalization_into.
/// Errors    shape_error.
template <operand X, operand Scale, operand Bias, class Y>
void instance_normalization_into(X const& x, Scale const& scale, Bias const& bias, Y&& y,
    instance_normalization_options const& options = {})
{
    static constexpr std::string_view op = "xloom_onnx::instance_normalization_into";
    const_view_of<X> const from(x), scales(scale), biases(bias);
    if (from.rank() < 3)
        xloom::kernels::fail<xloom::shape_error>(
            op, ": input must have spatial axes, but has the shape ", from.shape());
    xloom::shape dims{from.shape()[1]};
    for (auto const& [name, own] : {std::pair{"scale", scales.shape()}, {"B", biases.shape()}})
        if (own != dims)
            xloom::kernels::fail<xloom::shape_error>(op, ": ", name, " must have the shape ", dims,
                " for an input of the shape ", from.shape(), ", but has ", own);
    auto const to = output_view(op, y, from.shape());
    while (dims.size() + 1 < from.rank())
        dims.push_back(1);
    const_view_of<X> const wide_scales(scales.data(), dims), wide_biases(biases.data(), dims);
    detail::normalize_rows(from, 2, wide_scales, &wide_biases, to, {true, options.epsilon},
        [](std::size_t, detail::row_moments const&) {});
}

} // namespace xloom_onnx
