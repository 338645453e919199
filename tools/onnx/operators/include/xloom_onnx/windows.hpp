#pragma once
// Windows that slide over one, two or three spatial axes: what Conv, ConvTranspose and the pools share.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <xloom_onnx/axes.hpp>
#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

enum class auto_pad { notset, valid, same_upper, same_lower };

namespace detail {

/// A range of positions along an axis.
struct position_range {
    std::int64_t begin, end;

    std::int64_t length() const { return end - begin; }
};

/// Windows along one spatial axis. No sum or product of these numbers overflows: fit() checks them.
struct spatial_axis {
    std::int64_t input = 1, kernel = 1, output = 1;
    std::int64_t stride = 1, dilation = 1, before = 0, after = 0;

    std::int64_t extent() const { return (kernel - 1) * dilation + 1; }
    /// Returns the length of the padded input as far as it is read.
    std::int64_t padded() const { return (output - 1) * stride + extent(); }
    std::int64_t position(std::int64_t place, std::int64_t k) const
    {
        return place * stride + k * dilation - before;
    }
    bool contains(std::int64_t at) const { return 0 <= at && at < input; }

    /// Returns the items of the window at a place that are no padding.
    position_range covered(std::int64_t place) const
    {
        std::int64_t const first = position(place, 0), left = input - first;
        if (first >= 0 && left >= extent())
            return {0, kernel};
        std::int64_t const begin = first >= 0 ? 0 : (-first + dilation - 1) / dilation,
                           end = left <= 0 ? 0 : (std::min)(kernel, (left - 1) / dilation + 1);
        return {(std::min)(begin, end), end};
    }
    /// Returns the number of items of the window at a place that are in the padded input, which a window may
    /// leave with ceil_mode.
    std::int64_t count_padded(std::int64_t place) const
    {
        std::int64_t const left = before + input + after - place * stride;
        return left >= extent() ? kernel : left <= 0 ? 0 : (left - 1) / dilation + 1;
    }
    /// Returns the places whose windows have no padding.
    position_range places_inside() const
    {
        std::int64_t const begin = (std::min)(output, (before + stride - 1) / stride),
                           room = input + before - extent();
        return {begin, room < 0 ? begin : std::clamp(room / stride + 1, begin, output)};
    }
    /// True for an axis of one item that is no more than that.
    bool is_one_item() const { return input == 1 && kernel == 1 && output == 1 && before == 0 && after == 0; }
};

/// Returns numbers of an option, `each` for each of the spatial axes, none below `least`.
inline integers window_numbers(std::string_view op, integers const& given, char const* name, std::size_t axes,
    std::int64_t least, std::size_t each = 1)
{
    if (given.empty()) {
        integers all;
        all.resize(each * axes, least);
        return all;
    }
    bool is_possible = given.size() == each * axes;
    for (std::int64_t const n : given)
        is_possible = is_possible && least <= n && n < std::int64_t{1} << 31;
    if (!is_possible)
        xloom::kernels::fail<xloom::option_error>(
            op, ": its ", name, " are ", given, " for ", axes, " spatial axes");
    return given;
}

/// Sets the output's length along an axis, and the padding.
///
/// Errors    shape_error: no window fits.
inline void fit(std::string_view op, spatial_axis& axis, auto_pad pad, bool ceil_mode)
{
    if (axis.kernel == 0)
        xloom::kernels::fail<xloom::shape_error>(op, ": a kernel has no items");
    if (pad == auto_pad::same_upper || pad == auto_pad::same_lower) {
        axis.output = axis.input / axis.stride + (axis.input % axis.stride != 0 ? 1 : 0);
        std::int64_t const total =
            (std::max)(std::int64_t{0}, (axis.output - 1) * axis.stride + axis.extent() - axis.input);
        axis.before = pad == auto_pad::same_upper ? total / 2 : total - total / 2;
        axis.after = total - axis.before;
        return;
    }
    if (pad == auto_pad::valid)
        axis.before = axis.after = 0;
    std::int64_t const room = axis.input + axis.before + axis.after - axis.extent();
    if (room < 0)
        xloom::kernels::fail<xloom::shape_error>(
            op, ": a kernel of ", axis.extent(), " items does not fit into ", axis.input, " padded ones");
    axis.output = room / axis.stride + 1;
    if (ceil_mode && pad == auto_pad::notset) // windows that begin in the padding after the input are none
        axis.output = (std::min)((room + axis.stride - 1) / axis.stride + 1,
            (axis.input + axis.before + axis.stride - 1) / axis.stride);
}

/// Windows along fewer axes are some along three, whose first have one item.
using spatial_axes = std::array<spatial_axis, 3>;

/// Returns the windows of a kernel's spatial lengths over an input [N, C, d..] without the output's lengths.
/// Options has strides, dilations and pads.
///
/// Errors    shape_error, option_error.
template <class Options>
spatial_axes axes_of_windows(
    std::string_view op, xloom::shape const& x, xloom::shape const& kernel, Options const& options)
{
    std::size_t const count = kernel.size();
    integers const strides = window_numbers(op, options.strides, "strides", count, 1),
                   dilations = window_numbers(op, options.dilations, "dilations", count, 1),
                   pads = window_numbers(op, options.pads, "pads", count, 0, 2);
    spatial_axes axes;
    for (std::size_t i = 0; i < count; ++i) {
        if (x[2 + i] >> 31 != 0 || kernel[i] >> 31 != 0)
            xloom::kernels::fail<xloom::shape_error>(
                op, ": the input's shape ", x, " or the kernel's ", kernel, " is too large");
        spatial_axis& axis = axes[i + axes.size() - count];
        axis.input = static_cast<std::int64_t>(x[2 + i]);
        axis.kernel = static_cast<std::int64_t>(kernel[i]);
        axis.stride = strides[i];
        axis.dilation = dilations[i];
        axis.before = pads[i];
        axis.after = pads[i + count];
    }
    return axes;
}

struct window_layout {
    spatial_axes axes{};

    window_layout() = default;
    /// As axes_of_windows, with the output's lengths by auto_pad.
    ///
    /// Errors    shape_error, option_error.
    template <class Options>
    window_layout(std::string_view op, xloom::shape const& x, xloom::shape const& kernel,
        Options const& options, bool ceil_mode = false)
        : axes(axes_of_windows(op, x, kernel, options))
    {
        for (std::size_t i = axes.size() - kernel.size(); i < axes.size(); ++i)
            fit(op, axes[i], options.auto_pad, ceil_mode);
    }

    /// Returns the output's shape for an input of this shape and a number of channels.
    xloom::shape result_shape(xloom::shape const& x, std::size_t channels) const
    {
        xloom::shape dims{x[0], channels};
        for (std::size_t i = axes.size() + 2 - x.size(); i < axes.size(); ++i)
            dims.push_back(static_cast<std::size_t>(axes[i].output));
        return dims;
    }

    std::size_t product_of(std::int64_t spatial_axis::*length) const
    {
        std::size_t product = 1;
        for (spatial_axis const& axis : axes)
            product *= static_cast<std::size_t>(axis.*length);
        return product;
    }
    std::size_t inputs() const { return product_of(&spatial_axis::input); }
    std::size_t kernel_items() const { return product_of(&spatial_axis::kernel); }
    std::size_t outputs() const { return product_of(&spatial_axis::output); }
};

/// Returns the kernel's spatial lengths, [M, C, k..] without the first two.
///
/// Errors    shape_error: kernel_shape is given, and is another.
inline xloom::shape checked_kernel(std::string_view op, xloom::shape const& w, integers const& kernel_shape)
{
    xloom::shape const kernel(w.begin() + 2, w.end());
    bool fits = kernel_shape.empty() || kernel_shape.size() == kernel.size();
    for (std::size_t i = 0; fits && i < kernel_shape.size(); ++i)
        fits = kernel_shape[i] == static_cast<std::int64_t>(kernel[i]);
    if (!fits)
        xloom::kernels::fail<xloom::shape_error>(
            op, ": kernel_shape is ", kernel_shape, ", but W's shape is ", w);
    return kernel;
}

/// Returns the outputs whose input at the shift of a kernel's item is no padding.
inline position_range covered_outputs(spatial_axis const& axis, std::int64_t shift)
{
    std::int64_t const left = axis.input - shift;
    return {shift >= 0 ? 0 : (-shift + axis.stride - 1) / axis.stride,
        (std::min)(axis.output, left <= 0 ? std::int64_t{0} : (left - 1) / axis.stride + 1)};
}

} // namespace detail

} // namespace xloom_onnx
