#pragma once
// The options and shapes of Conv.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <xloom/kernels.hpp>
#include <xloom_onnx/view.hpp>
#include <xloom_onnx/windows.hpp>

namespace xloom_onnx {

struct conv_options {
    integers strides{}, dilations{}; ///< omitted: 1 for each spatial axis
    integers pads{};                 ///< before each spatial axis, then after each; omitted: 0
    xloom_onnx::auto_pad auto_pad = xloom_onnx::auto_pad::notset;
    integers kernel_shape{}; ///< omitted: that of w
    std::int64_t group = 1;
    std::size_t outputs = 0; ///< of a kernel, if they are known: packed_conv packs for that number
};

namespace detail {

struct conv_layout : window_layout {
    std::size_t batch, groups, channels, kernels; ///< channels and kernels of one group
    xloom::shape result;

    /// Errors    shape_error, option_error.
    conv_layout(xloom::shape const& x, xloom::shape const& w, conv_options const& options);

    /// Returns the number of items of a window.
    std::size_t depth() const { return channels * kernel_items(); }
    /// Returns the number of products that are summed up.
    double products() const
    {
        return static_cast<double>(xloom::element_count(result)) * static_cast<double>(depth());
    }
    /// True if a padded copy would be much larger than the input and the windows.
    bool is_sparse() const
    {
        double items = static_cast<double>(channels);
        for (spatial_axis const& axis : axes)
            items *= static_cast<double>(axis.padded());
        return items > 4096 + 4 * (static_cast<double>(channels) * static_cast<double>(inputs()) +
                                      static_cast<double>(outputs()) * static_cast<double>(depth()));
    }
};

inline conv_layout::conv_layout(xloom::shape const& x, xloom::shape const& w, conv_options const& options)
{
    static constexpr std::string_view op = "xloom_onnx::conv";
    using xloom::kernels::fail;
    std::size_t const rank = x.size();
    if (rank < 3 || w.size() != rank)
        fail<xloom::shape_error>(op, ": X and W have the shapes ", x, " and ", w);
    if (rank > 5)
        fail<xloom::shape_error>(op, ": more than three spatial axes: X has the shape ", x);
    batch = x[0];
    groups = static_cast<std::size_t>(options.group);
    if (options.group < 1 || x[1] % groups != 0 || w[0] % groups != 0 || w[1] != x[1] / groups)
        fail<xloom::shape_error>(
            op, ": X and W have the shapes ", x, " and ", w, " in ", options.group, " groups");
    channels = x[1] / groups;
    kernels = w[0] / groups;
    axes = window_layout(op, x, checked_kernel(op, w, options.kernel_shape), options).axes;
    result = result_shape(x, w[0]);
    check_size(op, result, sizeof(double));
}

/// Copies the window of output position `place` [channels, kernel..]; padding is 0.
template <class T>
void copy_window(conv_layout const& layout, T const* input, std::size_t place, T* to)
{
    auto const& [deep, down, across] = layout.axes;
    auto const at = static_cast<std::int64_t>(place);
    std::int64_t const x = at % across.output, y = at / across.output % down.output,
                       z = at / across.output / down.output;
    for (std::size_t c = 0; c < layout.channels; ++c, input += layout.inputs())
        for (std::int64_t i = 0; i < deep.kernel; ++i)
            for (std::int64_t j = 0; j < down.kernel; ++j) {
                std::int64_t const plane = deep.position(z, i), row = down.position(y, j);
                bool const is_inside = deep.contains(plane) && down.contains(row);
                T const* const from = input + (is_inside ? (plane * down.input + row) * across.input : 0);
                for (std::int64_t k = 0; k < across.kernel; ++k) {
                    std::int64_t const column = across.position(x, k);
                    *to++ = is_inside && across.contains(column) ? from[column] : T(0);
                }
            }
}

} // namespace detail

/// Returns the shape of Conv.
///
/// Errors    shape_error, option_error.
inline xloom::shape conv_shape(xloom::shape const& x, xloom::shape const& w, conv_options const& options = {})
{
    return detail::conv_layout(x, w, options).result;
}

} // namespace xloom_onnx
