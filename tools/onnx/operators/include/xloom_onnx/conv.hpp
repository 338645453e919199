#pragma once
// Conv, along one, two or three axes.
//
// The input is copied once, padded, with the channels last. The window of an output position along the last
// axis is then contiguous for each row of the kernel, so that a convolution is a product with the packed
// weights: of overlapping rows where the kernel has one row, of copied windows where it has more.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include <xloom/kernels.hpp>
#include <xloom/recurrent/packed_matrix.hpp>
#include <xloom_onnx/product.hpp>
#include <xloom_onnx/view.hpp>
#include <xloom_onnx/windows.hpp>
#include <xloom_onnx/workspace.hpp>

namespace xloom_onnx {

struct conv_options {
    integers strides{}, dilations{}; ///< omitted: 1 for each spatial axis
    integers pads{};                 ///< before each spatial axis, then after each; omitted: 0
    xloom_onnx::auto_pad auto_pad = xloom_onnx::auto_pad::notset;
    integers kernel_shape{}; ///< omitted: that of w
    std::int64_t group = 1;
};

namespace detail {

struct conv_layout : window_layout {
    std::size_t batch, groups, channels, kernels; ///< channels and kernels of one group
    xloom::shape result;

    /// Errors    shape_error, option_error.
    conv_layout(xloom::shape const& x, xloom::shape const& w, conv_options const& options);

    /// Returns the number of items of a window.
    std::size_t depth() const { return channels * kernel_items(); }

    /// True if the windows are contiguous in an input whose channels are last: the kernel is one dense row.
    bool has_contiguous_windows() const
    {
        return axes[0].kernel * axes[1].kernel == 1 && (axes[2].dilation == 1 || axes[2].kernel == 1);
    }
    /// True if the input must be copied for its channels or padding.
    bool needs_copy() const
    {
        bool needs = channels != 1 || axes[2].before != 0 || axes[2].padded() > axes[2].input;
        for (spatial_axis const& axis : {axes[0], axes[1]})
            needs = needs || axis.before != 0 || axis.padded() != axis.input;
        return needs;
    }
    /// Returns the number of items of a padded input, one group of one of the batch.
    std::size_t padded_items() const
    {
        std::size_t items = channels;
        for (spatial_axis const& axis : axes)
            items *= static_cast<std::size_t>(axis.padded());
        return items;
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
    /// Returns the number of output positions that are computed at a time: their windows fit in a cache.
    std::size_t positions() const
    {
        std::size_t const largest = (std::max)({depth(), kernels, std::size_t{1}});
        return std::clamp<std::size_t>(
            (std::size_t{1} << 16) / largest, 1, (std::max<std::size_t>)(1, outputs()));
    }
    /// Returns the number of items of scratch memory.
    std::size_t workspace_items() const
    {
        bool const copies_windows = is_sparse() || !has_contiguous_windows();
        return (needs_copy() && !is_sparse() ? padded_items() : 0) +
               (copies_windows ? positions() * depth() : 0) + positions() * kernels;
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
    xloom::shape const kernel(w.begin() + 2, w.end());
    axes = window_layout(op, x, kernel, options).axes;
    result = result_shape(x, w[0]);
    check_size(op, result, sizeof(double));
    bool fits = options.kernel_shape.empty() || options.kernel_shape.size() == kernel.size();
    for (std::size_t i = 0; fits && i < options.kernel_shape.size(); ++i)
        fits = options.kernel_shape[i] == static_cast<std::int64_t>(w[2 + i]);
    if (!fits)
        fail<xloom::shape_error>(op, ": kernel_shape is ", options.kernel_shape, ", but W's shape is ", w);
}

} // namespace detail

inline xloom::shape conv_shape(xloom::shape const& x, xloom::shape const& w, conv_options const& options = {})
{
    return detail::conv_layout(x, w, options).result;
}

/// A Conv with constant weights, packed once: a call computes y from x.
///
///     packed_conv<float> const layer(w, b, {.strides = {2}, .pads = {1, 1}});
///     layer(x, y, memory);
///
/// Shapes    w [M, C / group, k..], b [M]; x [N, C, d..] -> y [N, M, o..], along one, two or three axes.
/// Types     float, double.
/// Errors    shape_error, option_error: what does not fit, at the call, too.
/// Cost      as xloom::packed_matrix; x is copied once, padded, and once more, window by window, where the
///           kernel has several rows. A call allocates nothing if y and the workspace are large enough.
/// Threads   const members are thread-safe, with a workspace each.
template <class T>
class packed_conv {
public:
    template <operand W>
    explicit packed_conv(W const& w, conv_options const& options = {})
        : packed_conv(tensor_view<T const>(w), bias_view(), options)
    {}
    template <operand W, operand B>
    packed_conv(W const& w, B const& b, conv_options const& options = {})
        : packed_conv(tensor_view<T const>(w), bias_view(tensor_view<T const>(b)), options)
    {}

    /// Returns y's shape for an x of this shape.
    xloom::shape shape(xloom::shape const& x) const { return conv_shape(x, dims_, options_); }

    template <operand X, class Y>
    void operator()(X const& x, Y&& y, workspace& memory) const
    {
        run(x, y, memory, detail::no_pause());
    }

    /// Calls pause() regularly, which may throw.
    template <operand X, class Y, class Pause>
    void run(X const& x, Y&& y, workspace& memory, Pause const& pause) const
    {
        tensor_view<T const> const from(x);
        detail::conv_layout const layout(from.shape(), dims_, options_);
        auto const to = output_view("xloom_onnx::conv", y, layout.result);
        if (to.size() == 0)
            return;
        std::size_t const input_items = layout.channels * layout.inputs(),
                          output_items = layout.kernels * layout.outputs();
        for (std::size_t n = 0; n < layout.batch * layout.groups; ++n) {
            pause();
            std::size_t const group = n % layout.groups;
            T const* const input = from.data() + n * input_items;
            T* const output = to.data() + n * output_items;
            if (matrices_.empty())
                convolve_directly(layout, input, group, output);
            else
                convolve(layout, input, matrices_[group], output, memory, pause);
        }
    }

private:
    using bias_view = std::optional<tensor_view<T const>>;
    packed_conv(tensor_view<T const> const& w, bias_view const& b, conv_options const& options);

    void convolve_directly(
        detail::conv_layout const& layout, T const* input, std::size_t group, T* output) const;
    template <class Pause>
    void convolve(detail::conv_layout const& layout, T const* input, xloom::packed_matrix<T> const& matrix,
        T* output, workspace& memory, Pause const& pause) const;

    xloom::shape dims_; ///< of w
    conv_options options_;
    std::vector<T> bias_{};    ///< [M]
    std::vector<T> weights_{}; ///< of kernels of few rows, which are not packed
    std::vector<xloom::packed_matrix<T>> matrices_{};
};

template <class T>
packed_conv<T>::packed_conv(tensor_view<T const> const& w, bias_view const& b, conv_options const& options)
    : dims_(w.shape()), options_(options)
{
    static constexpr std::string_view op = "xloom_onnx::conv";
    using xloom::kernels::fail;
    if (w.rank() < 3 || w.rank() > 5)
        fail<xloom::shape_error>(op, ": W has the shape ", w.shape());
    std::size_t const kernels = w.shape()[0], channels = w.shape()[1];
    if (b && b->shape() != xloom::shape{kernels})
        fail<xloom::shape_error>(op, ": B has the shape ", b->shape(), " for ", kernels, " kernels");
    auto const groups = static_cast<std::size_t>(options.group);
    if (options.group < 1 || kernels % groups != 0)
        fail<xloom::shape_error>(op, ": W has the shape ", w.shape(), " in ", options.group, " groups");
    bias_.assign(kernels, T(0));
    if (b)
        std::copy(b->begin(), b->end(), bias_.begin());
    std::size_t const each = kernels / groups, items = kernels == 0 ? 0 : w.size() / kernels,
                      spatial = channels == 0 ? 0 : items / channels;
    // A matrix of few columns would be padded to many.
    if (constexpr std::size_t few = 4; each < few || items == 0) {
        weights_.assign(w.begin(), w.end());
        return;
    }
    for (std::size_t g = 0; g < groups; ++g) {
        auto matrix = xt::xtensor<T, 2>::from_shape({items, each}); // [spatial, channels, kernels]
        auto bias = xt::xtensor<T, 1>::from_shape({each});
        for (std::size_t m = 0; m < each; ++m) {
            bias(m) = bias_[g * each + m];
            for (std::size_t c = 0; c < channels; ++c)
                for (std::size_t k = 0; k < spatial; ++k)
                    matrix(k * channels + c, m) = w[((g * each + m) * channels + c) * spatial + k];
        }
        matrices_.emplace_back(matrix, bias);
    }
}

namespace detail {

/// y[i] += a * x[i].
template <class T>
void add_products(T a, T const* x, T* y, std::size_t count)
{
    std::size_t i = 0;
    for (; i + kernels::batch_size<T> <= count; i += kernels::batch_size<T>)
        kernels::store_batch(y + i, kernels::multiply_add(kernels::batch_t<T>(a), kernels::load_batch(x + i),
                                        kernels::load_batch(y + i)));
    for (; i < count; ++i)
        y[i] = kernels::multiply_add(a, x[i], y[i]);
}

/// A position in a kernel.
struct kernel_offset {
    std::int64_t deep, down, across;
};

/// Calls f(kernel_offset) for each position in a kernel, in the order of its items.
template <class F>
void for_each_kernel_offset(conv_layout const& layout, F const& f)
{
    auto const& [deep, down, across] = layout.axes;
    for (std::int64_t i = 0; i < deep.kernel; ++i)
        for (std::int64_t j = 0; j < down.kernel; ++j)
            for (std::int64_t k = 0; k < across.kernel; ++k)
                f(kernel_offset{i, j, k});
}

/// Returns the outputs whose input at the shift of a kernel's item is no padding.
inline position_range covered_outputs(spatial_axis const& axis, std::int64_t shift)
{
    std::int64_t const left = axis.input - shift;
    return {shift >= 0 ? 0 : (-shift + axis.stride - 1) / axis.stride,
        (std::min)(axis.output, left <= 0 ? std::int64_t{0} : (left - 1) / axis.stride + 1)};
}

/// Adds the products of one weight with one channel of an input, shifted, along the last axis.
template <class T>
void add_shifted(conv_layout const& layout, kernel_offset const& at, T weight, T const* channel, T* output)
{
    auto const& [deep, down, across] = layout.axes;
    std::int64_t const shift = at.across * across.dilation - across.before;
    auto const [begin, end] = covered_outputs(across, shift);
    for (std::int64_t z = 0; z < deep.output; ++z)
        for (std::int64_t y = 0; y < down.output; ++y) {
            std::int64_t const plane = deep.position(z, at.deep), row = down.position(y, at.down);
            if (!deep.contains(plane) || !down.contains(row))
                continue;
            T const* const from = channel + (plane * down.input + row) * across.input;
            T* const to = output + (z * down.output + y) * across.output;
            if (across.stride == 1 && begin < end)
                add_products(weight, from + begin + shift, to + begin, static_cast<std::size_t>(end - begin));
            else
                for (std::int64_t x = begin; x < end; ++x)
                    to[x] += weight * from[x * across.stride + shift];
        }
}

} // namespace detail

/// Adds the products of each weight with a shifted input, along the last axis.
template <class T>
void packed_conv<T>::convolve_directly(
    detail::conv_layout const& layout, T const* input, std::size_t group, T* output) const
{
    T const* weight = weights_.data() + group * layout.kernels * layout.channels * layout.kernel_items();
    for (std::size_t m = 0; m < layout.kernels; ++m, output += layout.outputs()) {
        std::fill_n(output, layout.outputs(), bias_[group * layout.kernels + m]);
        for (std::size_t c = 0; c < layout.channels; ++c)
            detail::for_each_kernel_offset(layout, [&](detail::kernel_offset const& at) {
                detail::add_shifted(layout, at, *weight++, input + c * layout.inputs(), output);
            });
    }
}

namespace detail {

/// Copies the channels of an input [channels, deep, down, across] to [deep, down, across, channels], padded
/// with zeros.
template <class T>
void copy_padded(conv_layout const& layout, T const* input, T* to)
{
    auto const& [deep, down, across] = layout.axes;
    std::size_t const channels = layout.channels,
                      row_items = static_cast<std::size_t>(across.padded()) * channels;
    auto const plane_stride = static_cast<std::ptrdiff_t>(layout.inputs());
    std::int64_t const count =
        (std::min)(across.input, (std::max)(std::int64_t{0}, across.padded() - across.before));
    std::size_t const before = static_cast<std::size_t>(across.before) * channels,
                      now = static_cast<std::size_t>(count) * channels;
    for (std::int64_t z = 0; z < deep.padded(); ++z)
        for (std::int64_t y = 0; y < down.padded(); ++y, to += row_items) {
            std::int64_t const plane = z - deep.before, row = y - down.before;
            if (plane < 0 || plane >= deep.input || row < 0 || row >= down.input || count == 0) {
                std::fill_n(to, row_items, T(0));
                continue;
            }
            T const* const from = input + (plane * down.input + row) * across.input;
            std::fill_n(to, before, T(0));
            kernels::copy_transposed(from, plane_stride, to + before, static_cast<std::ptrdiff_t>(channels),
                channels, static_cast<std::size_t>(count));
            std::fill_n(to + before + now, row_items - before - now, T(0));
        }
}

/// Copies the windows of output positions [first, first + count) of an input whose rows are at a stride.
template <class T>
void copy_windows(conv_layout const& layout, T const* input, std::int64_t row_items, std::size_t first,
    std::size_t count, T* window)
{
    auto const& [deep, down, across] = layout.axes;
    auto const channels = static_cast<std::int64_t>(layout.channels);
    std::int64_t const plane_items = down.padded() * row_items;
    // Where the kernel is dense, a row of it is contiguous.
    std::int64_t const run = across.dilation == 1 ? across.kernel : 1, runs = across.kernel / run;
    auto const run_items = static_cast<std::size_t>(run * channels);
    for (std::size_t p = first; p < first + count; ++p) {
        auto const place = static_cast<std::int64_t>(p);
        std::int64_t const x = place % across.output, y = place / across.output % down.output,
                           z = place / across.output / down.output;
        T const* const from = input + z * deep.stride * plane_items + y * down.stride * row_items +
                              x * across.stride * channels;
        for (std::int64_t i = 0; i < deep.kernel; ++i)
            for (std::int64_t j = 0; j < down.kernel; ++j)
                for (std::int64_t k = 0; k < runs; ++k)
                    window = std::copy_n(from + i * deep.dilation * plane_items +
                                             j * down.dilation * row_items + k * across.dilation * channels,
                        run_items, window);
    }
}

/// Copies the windows item by item from the input as it is, whose padding is larger than all else.
template <class T>
void copy_sparse_windows(
    conv_layout const& layout, T const* input, std::size_t first, std::size_t count, T* window)
{
    spatial_axis const &deep = layout.axes[0], &down = layout.axes[1], &across = layout.axes[2];
    for (std::size_t p = first; p < first + count; ++p) {
        auto const place = static_cast<std::int64_t>(p);
        std::int64_t const x = place % across.output, y = place / across.output % down.output,
                           z = place / across.output / down.output;
        for_each_kernel_offset(layout, [&](kernel_offset const& offset) {
            std::int64_t const plane = deep.position(z, offset.deep), row = down.position(y, offset.down),
                               at = across.position(x, offset.across);
            bool const is_inside = deep.contains(plane) && down.contains(row) && across.contains(at);
            auto const item = static_cast<std::size_t>((plane * down.input + row) * across.input + at);
            for (std::size_t c = 0; c < layout.channels; ++c)
                *window++ = is_inside ? input[c * layout.inputs() + item] : T(0);
        });
    }
}

} // namespace detail

template <class T>
template <class Pause>
void packed_conv<T>::convolve(detail::conv_layout const& layout, T const* input,
    xloom::packed_matrix<T> const& matrix, T* output, workspace& memory, Pause const& pause) const
{
    auto const& [deep, down, across] = layout.axes;
    std::size_t const places = layout.outputs(), depth = matrix.depth(), kernels = layout.kernels,
                      most = layout.positions();
    bool const is_sparse = layout.is_sparse(), is_copied = layout.needs_copy() && !is_sparse,
               is_in_place = layout.has_contiguous_windows() && !is_sparse;
    T* const padded = memory.template take<T>(layout.workspace_items());
    T* const windows = padded + (is_copied ? layout.padded_items() : 0);
    T* const sums = windows + (is_in_place ? 0 : most * depth);
    if (is_copied)
        detail::copy_padded(layout, input, padded);
    T const* const from = is_copied ? padded : input;
    std::size_t const row_items =
        static_cast<std::size_t>(is_copied ? across.padded() : across.input) * layout.channels;
    for (std::size_t first = 0, now; first < places; first += now) {
        pause();
        T const* rows = windows;
        std::size_t step = depth;
        if (is_in_place) { // one row of outputs
            auto const out = static_cast<std::size_t>(across.output);
            std::size_t const row = first / out, x = first % out,
                              z = row / static_cast<std::size_t>(down.output),
                              y = row % static_cast<std::size_t>(down.output);
            std::size_t const input_row = z * static_cast<std::size_t>(deep.stride * down.padded()) +
                                          y * static_cast<std::size_t>(down.stride);
            now = (std::min)(most, out - x);
            step = static_cast<std::size_t>(across.stride) * layout.channels;
            rows = from + input_row * row_items + x * step;
        } else {
            now = (std::min)(most, places - first);
            if (is_sparse)
                detail::copy_sparse_windows(layout, input, first, now, windows);
            else
                detail::copy_windows(layout, from, static_cast<std::int64_t>(row_items), first, now, windows);
        }
        matrix(now, rows, step, sums, kernels);
        xloom::kernels::copy_transposed(sums, static_cast<std::ptrdiff_t>(kernels), output + first,
            static_cast<std::ptrdiff_t>(places), now, kernels);
    }
}

namespace detail {

/// Calls f(layer, x, memory) for a layer that computes in the type of products.
template <class T, class X, class W, class Y, class Pause>
void conv_into(X const& x, W const& w, tensor_view<T const> const* b, Y& y, conv_options const& options,
    workspace& memory, Pause const& pause)
{
    using P = xloom::kernels::compute_t<T>;
    const_view_of<X> const from(x);
    const_view_of<W> const weights(w);
    if constexpr (std::is_same_v<P, T>) {
        if (b != nullptr)
            packed_conv<T>(weights, *b, options).run(from, y, memory, pause);
        else
            packed_conv<T>(weights, options).run(from, y, memory, pause);
    } else {
        auto const to =
            output_view("xloom_onnx::conv_into", y, conv_shape(from.shape(), weights.shape(), options));
        std::size_t const bias_size = b == nullptr ? 0 : b->size();
        std::vector<P> items(from.size() + weights.size() + bias_size + to.size());
        auto const widen = [](T item) { return static_cast<P>(item); };
        P* const x_items = items.data();
        P* const w_items = std::transform(from.begin(), from.end(), x_items, widen);
        P* const b_items = std::transform(weights.begin(), weights.end(), w_items, widen);
        P* const y_items = b_items + bias_size;
        tensor_view<P> result(y_items, to.shape());
        tensor_view<P const> const wide_x(x_items, from.shape()), wide_w(w_items, weights.shape());
        if (b != nullptr) {
            std::transform(b->begin(), b->end(), b_items, widen);
            tensor_view<P const> const wide_b(b_items, b->shape());
            conv_into<P>(wide_x, wide_w, &wide_b, result, options, memory, pause);
        } else {
            conv_into<P>(wide_x, wide_w, nullptr, result, options, memory, pause);
        }
        std::transform(result.begin(), result.end(), to.begin(), [](P item) { return static_cast<T>(item); });
    }
}

} // namespace detail

/// A convolution with weights that change: they are packed at each call.
///
/// Types     float, double, 16-bit floating-point numbers, which are computed in float.
/// Errors    as packed_conv.
template <operand X, operand W, operand B, class Y>
void conv_into(X const& x, W const& w, B const& b, Y&& y, conv_options const& options = {})
{
    workspace memory;
    tensor_view<item_t<X> const> const bias(b);
    detail::conv_into<item_t<X>>(x, w, &bias, y, options, memory, detail::no_pause());
}
template <operand X, operand W, class Y>
void conv_into(X const& x, W const& w, Y&& y, conv_options const& options = {})
{
    workspace memory;
    detail::conv_into<item_t<X>>(x, w, static_cast<tensor_view<item_t<X> const> const*>(nullptr), y, options,
        memory, detail::no_pause());
}

} // namespace xloom_onnx
