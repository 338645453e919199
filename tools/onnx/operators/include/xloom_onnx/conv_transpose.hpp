#pragma once
// ConvTranspose, along one, two or three axes.
//
// The product of the transposed weights and the input has a row for each kernel and item of it. A row is
// added to the output where Conv, from the output to the input, reads that item.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include <xloom/kernels.hpp>
#include <xloom_onnx/conv.hpp>
#include <xloom_onnx/product.hpp>
#include <xloom_onnx/view.hpp>
#include <xloom_onnx/windows.hpp>
#include <xloom_onnx/workspace.hpp>

namespace xloom_onnx {

struct conv_transpose_options {
    integers strides{}, dilations{}; ///< omitted: 1 for each spatial axis
    integers pads{};                 ///< cut off before each spatial axis, then after each; omitted: 0
    xloom_onnx::auto_pad auto_pad = xloom_onnx::auto_pad::notset;
    integers kernel_shape{}; ///< omitted: that of w
    std::int64_t group = 1;
    integers output_padding{}; ///< added after each spatial axis; omitted: 0
    integers output_shape{};   ///< of the spatial axes; pads are then those that give it
};

namespace detail {

/// The windows of the Conv from the output to the input: an axis has the output's length as its input's.
struct conv_transpose_layout : window_layout {
    std::size_t batch, groups, channels, kernels; ///< channels and kernels of one group
    xloom::shape result;

    /// Errors    shape_error, option_error.
    conv_transpose_layout(
        xloom::shape const& x, xloom::shape const& w, conv_transpose_options const& options);

    /// Returns the number of rows of the product of one group.
    std::size_t rows() const { return kernels * kernel_items(); }
    /// Returns the number of products that are summed up.
    double products() const
    {
        return static_cast<double>(batch) * static_cast<double>(groups) * static_cast<double>(rows()) *
               static_cast<double>(channels) * static_cast<double>(outputs());
    }
    /// Returns the number of rows that are computed at a time: they fit in a cache unless they are long.
    std::size_t rows_at_once() const
    {
        std::size_t const fitting = (std::size_t{1} << 16) / (std::max<std::size_t>)(1, outputs());
        return (std::min)(rows(), (std::max<std::size_t>)(8, fitting));
    }
    /// Returns the number of items of scratch memory.
    std::size_t workspace_items() const { return rows_at_once() * outputs(); }
};

/// Sets the output's length along an axis, and the padding; `wanted` is 0 where output_shape is omitted.
///
/// Errors    shape_error: the padding is larger than what it is cut from.
inline void fit_transposed(
    std::string_view op, spatial_axis& axis, auto_pad pad, std::int64_t added, std::int64_t wanted)
{
    if (axis.kernel == 0)
        xloom::kernels::fail<xloom::shape_error>(op, ": a kernel has no items");
    axis.output = axis.input;
    std::int64_t const whole = (axis.output - 1) * axis.stride + added + axis.extent();
    bool const is_same = pad == auto_pad::same_upper || pad == auto_pad::same_lower;
    if (wanted != 0 || is_same) {
        axis.input = wanted != 0 ? wanted : axis.output * axis.stride;
        std::int64_t const total = (std::max)(std::int64_t{0}, whole - axis.input);
        axis.before = pad == auto_pad::same_upper ? total / 2 : total - total / 2;
        axis.after = total - axis.before;
        return;
    }
    if (pad == auto_pad::valid)
        axis.before = axis.after = 0;
    axis.input = whole - axis.before - axis.after;
    if (axis.input < 0)
        xloom::kernels::fail<xloom::shape_error>(
            op, ": pads of ", axis.before, " and ", axis.after, " items cannot be cut from ", whole);
}

inline conv_transpose_layout::conv_transpose_layout(
    xloom::shape const& x, xloom::shape const& w, conv_transpose_options const& options)
{
    static constexpr std::string_view op = "xloom_onnx::conv_transpose";
    using xloom::kernels::fail;
    std::size_t const rank = x.size();
    if (rank < 3 || w.size() != rank)
        fail<xloom::shape_error>(op, ": X and W have the shapes ", x, " and ", w);
    if (rank > 5)
        fail<xloom::shape_error>(op, ": more than three spatial axes: X has the shape ", x);
    batch = x[0];
    groups = static_cast<std::size_t>(options.group);
    kernels = w[1];
    if (options.group < 1 || x[1] % groups != 0 || w[0] != x[1] ||
        (kernels != 0 && groups > std::numeric_limits<std::size_t>::max() / kernels))
        fail<xloom::shape_error>(
            op, ": X and W have the shapes ", x, " and ", w, " in ", options.group, " groups");
    channels = x[1] / groups;
    axes = axes_of_windows(op, x, checked_kernel(op, w, options.kernel_shape), options);
    std::size_t const count = rank - 2;
    integers const added = window_numbers(op, options.output_padding, "output_padding", count, 0);
    bool const has_shape = !options.output_shape.empty();
    integers const wanted = window_numbers(op, options.output_shape, "output_shape", count, 1);
    result = {batch, groups * kernels};
    for (std::size_t i = 0; i < count; ++i) {
        spatial_axis& axis = axes[i + axes.size() - count];
        fit_transposed(op, axis, options.auto_pad, added[i], has_shape ? wanted[i] : 0);
        result.push_back(static_cast<std::size_t>(axis.input));
    }
    check_size(op, result, sizeof(double));
}

/// Adds a row of the product, that of item k of a kernel, to the kernel's channel of the output.
template <class T>
void add_row(
    conv_transpose_layout const& layout, std::int64_t k, T const* __restrict row, T* __restrict channel)
{
    auto const& [deep, down, across] = layout.axes;
    std::int64_t const k_across = k % across.kernel, k_down = k / across.kernel % down.kernel,
                       k_deep = k / across.kernel / down.kernel,
                       shift = k_across * across.dilation - across.before;
    auto const [begin, end] = covered_outputs(across, shift);
    for (std::int64_t z = 0; z < deep.output; ++z)
        for (std::int64_t y = 0; y < down.output; ++y, row += across.output) {
            std::int64_t const plane = deep.position(z, k_deep), line = down.position(y, k_down);
            if (!deep.contains(plane) || !down.contains(line))
                continue;
            T* const to = channel + (plane * down.input + line) * across.input;
            if (across.stride == 1)
                for (std::int64_t x = begin; x < end; ++x)
                    to[x + shift] += row[x];
            else
                for (std::int64_t x = begin; x < end; ++x)
                    to[x * across.stride + shift] += row[x];
        }
}

} // namespace detail

inline xloom::shape conv_transpose_shape(
    xloom::shape const& x, xloom::shape const& w, conv_transpose_options const& options = {})
{
    return detail::conv_transpose_layout(x, w, options).result;
}

/// A ConvTranspose with constant weights, transposed once: a call computes y from x.
///
///     packed_conv_transpose<float> const layer(w, b, {.strides = {2}, .output_padding = {1}});
///     layer(x, y, memory);
///
/// Shapes    w [C, M / group, k..], b [M]; x [N, C, d..] -> y [N, M, o..], along one, two or three axes. A
///           length that output_shape or auto_pad gives may exceed what the kernels cover: b is there.
/// Types     float, double.
/// Errors    shape_error, option_error: what does not fit, at the call, too.
/// Cost      C M / group multiply-adds for each item of x and of a kernel. A call allocates nothing if y and
///           the workspace are large enough.
/// Threads   const members are thread-safe, with a workspace each.
template <class T>
class packed_conv_transpose {
public:
    template <operand W>
    explicit packed_conv_transpose(W const& w, conv_transpose_options const& options = {})
        : packed_conv_transpose(tensor_view<T const>(w), bias_view(), options)
    {}
    template <operand W, operand B>
    packed_conv_transpose(W const& w, B const& b, conv_transpose_options const& options = {})
        : packed_conv_transpose(tensor_view<T const>(w), bias_view(tensor_view<T const>(b)), options)
    {}

    /// Returns the bytes of the workspace that a call takes.
    std::size_t workspace_bytes(xloom::shape const& x) const
    {
        detail::conv_transpose_layout const layout(x, dims_, options_);
        constexpr std::size_t columns = 64; // of the input, which a product may copy
        return sizeof(T) * (layout.workspace_items() + columns * (layout.channels + layout.rows_at_once()));
    }

    /// Returns y's shape for an x of this shape.
    xloom::shape shape(xloom::shape const& x) const { return conv_transpose_shape(x, dims_, options_); }

    template <operand X, class Y>
    void operator()(X const& x, Y&& y, workspace& memory) const
    {
        run(x, y, memory, detail::no_pause());
    }

    /// Calls pause() regularly, which may throw.
    template <operand X, class Y, class Pause>
    void run(X const& x, Y&& y, workspace& memory, Pause const& pause) const;

private:
    using bias_view = std::optional<tensor_view<T const>>;
    packed_conv_transpose(
        tensor_view<T const> const& w, bias_view const& b, conv_transpose_options const& options);

    xloom::shape dims_; ///< of w
    conv_transpose_options options_;
    std::vector<T> bias_{};    ///< [M]
    std::vector<T> weights_{}; ///< [group, M / group * k.., C / group]
};

template <class T>
packed_conv_transpose<T>::packed_conv_transpose(
    tensor_view<T const> const& w, bias_view const& b, conv_transpose_options const& options)
    : dims_(w.shape()), options_(options)
{
    static constexpr std::string_view op = "xloom_onnx::conv_transpose";
    using xloom::kernels::fail;
    auto const groups = static_cast<std::size_t>(options.group);
    if (w.rank() < 3 || w.rank() > 5 || options.group < 1 || dims_[0] % groups != 0)
        fail<xloom::shape_error>(op, ": W has the shape ", dims_, " in ", options.group, " groups");
    if (b && (b->rank() != 1 || b->size() % groups != 0 || b->size() / groups != dims_[1]))
        fail<xloom::shape_error>(op, ": B has the shape ", b->shape(), " for ", dims_[1],
            " kernels in each of ", options.group, " groups");
    if (b)
        bias_.assign(b->begin(), b->end());
    std::size_t const channels = dims_[0] / groups, rows = dims_[0] == 0 ? 0 : w.size() / dims_[0];
    weights_.resize(w.size());
    for (std::size_t n = 0; n < w.size(); n += channels * rows)
        xloom::kernels::copy_transposed(w.data() + n, static_cast<std::ptrdiff_t>(rows), weights_.data() + n,
            static_cast<std::ptrdiff_t>(channels), channels, rows);
}

template <class T>
template <operand X, class Y, class Pause>
void packed_conv_transpose<T>::run(X const& x, Y&& y, workspace& memory, Pause const& pause) const
{
    tensor_view<T const> const from(x);
    detail::conv_transpose_layout const layout(from.shape(), dims_, options_);
    auto const to = output_view("xloom_onnx::conv_transpose", y, layout.result);
    if (to.size() == 0)
        return;
    std::size_t const places = layout.outputs(), channels = layout.channels, rows = layout.rows(),
                      items = layout.kernel_items(), each = layout.inputs();
    T* const product = memory.take<T>(layout.workspace_items(), scratch::converted);
    for (std::size_t n = 0; n < layout.batch * layout.groups; ++n) {
        std::size_t const group = n % layout.groups;
        T* const output = to.data() + n * layout.kernels * each;
        for (std::size_t m = 0; m < layout.kernels; ++m)
            std::fill_n(output + m * each, each, bias_.empty() ? T(0) : bias_[group * layout.kernels + m]);
        detail::matrix<T> const input{from.data() + n * channels * places, places, 1};
        for (std::size_t first = 0, now; first < rows && places != 0; first += now) {
            pause();
            now = (std::min)(layout.rows_at_once(), rows - first);
            detail::multiply(now, channels, places, weights_.data() + (group * rows + first) * channels,
                channels, input, product, places, memory, pause);
            for (std::size_t row = first; row < first + now; ++row)
                detail::add_row(layout, static_cast<std::int64_t>(row % items),
                    product + (row - first) * places, output + row / items * each);
        }
    }
}

/// A transposed convolution with weights that change: they are transposed at each call.
///
/// Types     float, double, 16-bit floating-point numbers, which are computed in float.
/// Errors    as packed_conv_transpose.
template <operand X, operand W, operand B, class Y>
void conv_transpose_into(
    X const& x, W const& w, B const& b, Y&& y, conv_transpose_options const& options = {})
{
    workspace memory;
    tensor_view<item_t<X> const> const bias(b);
    detail::convolve_into<packed_conv_transpose, item_t<X>>(
        x, w, &bias, y, options, memory, detail::no_pause());
}
template <operand X, operand W, class Y>
void conv_transpose_into(X const& x, W const& w, Y&& y, conv_transpose_options const& options = {})
{
    workspace memory;
    detail::convolve_into<packed_conv_transpose, item_t<X>>(x, w,
        static_cast<tensor_view<item_t<X> const> const*>(nullptr), y, options, memory, detail::no_pause());
}

} // namespace xloom_onnx
