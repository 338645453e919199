#pragma once
// Conv, along one, two or three axes.
//
// Along one axis the input is copied once, padded, with the channels last. The window of an output position
// is then contiguous, so that a convolution is a product of overlapping rows, or of copied windows where the
// kernel is dilated, with the packed weights. Few kernels, and more axes: direct_conv.hpp.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include <xloom/kernels.hpp>
#include <xloom/recurrent/packed_matrix.hpp>
#include <xloom_onnx/conv_layout.hpp>
#include <xloom_onnx/direct_conv.hpp>
#include <xloom_onnx/product.hpp>
#include <xloom_onnx/view.hpp>
#include <xloom_onnx/workspace.hpp>

namespace xloom_onnx {

namespace detail {

/// True if the kernels of a group are read from W, with positions in vector lanes. Others are packed, with
/// kernels in vector lanes.
inline bool is_direct(std::size_t rank, std::size_t kernels, std::size_t depth, std::size_t outputs)
{
    constexpr std::size_t few_kernels = 4; // a matrix of few columns would be padded to many
    constexpr std::size_t few_outputs = 64;
    bool const has_planes = rank > 3 && (outputs == 0 || outputs >= few_outputs);
    return has_planes || kernels < few_kernels || depth == 0;
}

/// The sizes of a Conv with packed weights.
struct packed_layout {
    conv_layout const& layout;
    bool is_sequence; ///< along one axis, not sparse: channels become the last
    spatial_axis const& axis = layout.axes[2];

    explicit packed_layout(conv_layout const& of)
        : layout(of), is_sequence(of.result.size() == 3 && !of.is_sparse())
    {}

    /// True if the windows are contiguous in an input whose channels are last.
    bool has_contiguous_windows() const { return is_sequence && (axis.dilation == 1 || axis.kernel == 1); }
    /// True if the input must be copied for its channels or padding.
    bool needs_copy() const
    {
        return is_sequence && (layout.channels != 1 || axis.before != 0 || axis.padded() > axis.input);
    }
    std::size_t padded_items() const { return layout.channels * static_cast<std::size_t>(axis.padded()); }
    /// Returns the number of output positions that are computed at a time: their windows fit in a cache.
    std::size_t positions() const
    {
        std::size_t const largest = (std::max)({layout.depth(), layout.kernels, std::size_t{1}});
        return std::clamp<std::size_t>(
            (std::size_t{1} << 16) / largest, 1, (std::max<std::size_t>)(1, layout.outputs()));
    }
    std::size_t workspace_items() const
    {
        return (needs_copy() ? padded_items() : 0) +
               (has_contiguous_windows() ? 0 : positions() * layout.depth()) + positions() * layout.kernels;
    }
};

} // namespace detail

/// A Conv with constant weights, packed once: a call computes y from x.
///
///     packed_conv<float> const layer(w, b, {.strides = {2}, .pads = {1, 1}});
///     layer(x, y, memory);
///
/// Shapes    w [M, C / group, k..], b [M]; x [N, C, d..] -> y [N, M, o..], along one, two or three axes.
/// Types     float, double.
/// Errors    shape_error, option_error: what does not fit, at the call, too.
/// Cost      M C / group products of a kernel's items for each output; x is copied once. A call allocates
///           nothing if y and the workspace are large enough.
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

    /// Returns the bytes of the workspace that a call takes.
    std::size_t workspace_bytes(xloom::shape const& x) const
    {
        detail::conv_layout const layout(x, dims_, options_);
        if (layout.outputs() == 0)
            return 0;
        if (!matrices_.empty())
            return sizeof(T) * detail::packed_layout(layout).workspace_items();
        if (detail::copies_windows<T>(layout))
            return sizeof(T) * (layout.depth() + layout.kernels);
        return sizeof(T) * detail::conv_tiles(layout).items() + sizeof(std::ptrdiff_t) * layout.depth();
    }

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
        if (matrices_.empty())
            return detail::convolve_directly(
                layout, from.data(), weights_.data(), bias_.data(), to.data(), memory, pause);
        for (std::size_t n = 0; n < layout.batch * layout.groups; ++n)
            convolve(layout, from.data() + n * layout.channels * layout.inputs(),
                matrices_[n % layout.groups], to.data() + n * layout.kernels * layout.outputs(), memory,
                pause);
    }

private:
    using bias_view = std::optional<tensor_view<T const>>;
    packed_conv(tensor_view<T const> const& w, bias_view const& b, conv_options const& options);

    template <class Pause>
    void convolve(detail::conv_layout const& layout, T const* input, xloom::packed_matrix<T> const& matrix,
        T* output, workspace& memory, Pause const& pause) const;

    xloom::shape dims_; ///< of w
    conv_options options_;
    std::vector<T> bias_{};                           ///< [M]
    std::vector<T> weights_{};                        ///< W, if that is_direct, else:
    std::vector<xloom::packed_matrix<T>> matrices_{}; ///< for each group
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
    if (detail::is_direct(w.rank(), each, items, options.outputs)) {
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

/// Copies the channels of a sequence [channels, inputs] to [padded, channels], padded with zeros.
template <class T>
void copy_padded(packed_layout const& sizes, T const* input, T* to)
{
    spatial_axis const& axis = sizes.axis;
    std::size_t const channels = sizes.layout.channels;
    std::int64_t const count =
        (std::min)(axis.input, (std::max)(std::int64_t{0}, axis.padded() - axis.before));
    std::size_t const before = static_cast<std::size_t>(axis.before) * channels,
                      now = static_cast<std::size_t>(count) * channels;
    if (count == 0) {
        std::fill_n(to, sizes.padded_items(), T(0));
        return;
    }
    std::fill_n(to, before, T(0));
    kernels::copy_transposed(input, static_cast<std::ptrdiff_t>(axis.input), to + before,
        static_cast<std::ptrdiff_t>(channels), channels, static_cast<std::size_t>(count));
    std::fill(to + before + now, to + sizes.padded_items(), T(0));
}

/// Copies the windows of output positions [first, first + count) of a padded sequence whose channels are
/// last.
template <class T>
void copy_windows(packed_layout const& sizes, T const* input, std::size_t first, std::size_t count, T* window)
{
    auto const channels = static_cast<std::int64_t>(sizes.layout.channels);
    for (std::size_t p = first; p < first + count; ++p)
        for (std::int64_t k = 0; k < sizes.axis.kernel; ++k)
            window = std::copy_n(
                input +
                    (static_cast<std::int64_t>(p) * sizes.axis.stride + k * sizes.axis.dilation) * channels,
                channels, window);
}

/// Copies the windows of output positions [first, first + count), channels last, item by item from an input
/// [channels, inputs..].
template <class T>
void gather_windows(
    conv_layout const& layout, T const* input, std::size_t first, std::size_t count, T* window)
{
    spatial_axis const &deep = layout.axes[0], &down = layout.axes[1], &across = layout.axes[2];
    for (std::size_t p = first; p < first + count; ++p) {
        auto const place = static_cast<std::int64_t>(p);
        std::int64_t const x = place % across.output, y = place / across.output % down.output,
                           z = place / across.output / down.output;
        for (std::int64_t i = 0; i < deep.kernel; ++i)
            for (std::int64_t j = 0; j < down.kernel; ++j)
                for (std::int64_t k = 0; k < across.kernel; ++k, window += layout.channels) {
                    std::int64_t const plane = deep.position(z, i), row = down.position(y, j),
                                       at = across.position(x, k);
                    if (!deep.contains(plane) || !down.contains(row) || !across.contains(at)) {
                        std::fill_n(window, layout.channels, T(0));
                        continue;
                    }
                    T const* const from = input + (plane * down.input + row) * across.input + at;
                    for (std::size_t c = 0; c < layout.channels; ++c)
                        window[c] = from[c * layout.inputs()];
                }
    }
}

} // namespace detail

template <class T>
template <class Pause>
void packed_conv<T>::convolve(detail::conv_layout const& layout, T const* input,
    xloom::packed_matrix<T> const& matrix, T* output, workspace& memory, Pause const& pause) const
{
    detail::packed_layout const sizes(layout);
    std::size_t const places = layout.outputs(), depth = matrix.depth(), kernels = layout.kernels,
                      most = sizes.positions();
    bool const is_copied = sizes.needs_copy(), is_in_place = sizes.has_contiguous_windows();
    T* const padded = memory.template take<T>(sizes.workspace_items());
    T* const windows = padded + (is_copied ? sizes.padded_items() : 0);
    T* const sums = windows + (is_in_place ? 0 : most * depth);
    if (is_copied)
        detail::copy_padded(sizes, input, padded);
    T const* const from = is_copied ? padded : input;
    std::size_t const step =
        is_in_place ? static_cast<std::size_t>(sizes.axis.stride) * layout.channels : depth;
    for (std::size_t first = 0, now; first < places; first += now) {
        pause();
        now = (std::min)(most, places - first);
        if (!sizes.is_sequence)
            detail::gather_windows(layout, input, first, now, windows);
        else if (!is_in_place)
            detail::copy_windows(sizes, from, first, now, windows);
        matrix(now, is_in_place ? from + first * step : windows, step, sums, kernels);
        xloom::kernels::copy_transposed(sums, static_cast<std::ptrdiff_t>(kernels), output + first,
            static_cast<std::ptrdiff_t>(places), now, kernels);
    }
}

namespace detail {

/// Computes y by a layer whose weights are packed now, in float for 16-bit numbers; b may be null.
template <template <class> class Layer, class T, class X, class W, class Y, class Options, class Pause>
void convolve_into(X const& x, W const& w, tensor_view<T const> const* b, Y& y, Options const& options,
    workspace& memory, Pause const& pause)
{
    using P = xloom::kernels::compute_t<T>;
    const_view_of<X> const from(x);
    const_view_of<W> const weights(w);
    auto const pack = [&](tensor_view<P const> const& kernel, tensor_view<P const> const* bias) {
        return bias != nullptr ? Layer<P>(kernel, *bias, options) : Layer<P>(kernel, options);
    };
    if constexpr (std::is_same_v<P, T>) {
        pack(weights, b).run(from, y, memory, pause);
    } else {
        std::size_t const bias_size = b == nullptr ? 0 : b->size();
        std::vector<P> items(from.size() + weights.size() + bias_size);
        auto const widen = [](T item) { return static_cast<P>(item); };
        P* const w_items = std::transform(from.begin(), from.end(), items.data(), widen);
        P* const b_items = std::transform(weights.begin(), weights.end(), w_items, widen);
        tensor_view<P const> const wide_x(items.data(), from.shape()), wide_w(w_items, weights.shape()),
            wide_b(b_items, b == nullptr ? xloom::shape() : b->shape());
        if (b != nullptr)
            std::transform(b->begin(), b->end(), b_items, widen);
        Layer<P> const layer = pack(wide_w, b == nullptr ? nullptr : &wide_b);
        auto const to = output_view("xloom_onnx::conv_into", y, layer.shape(from.shape()));
        std::vector<P> sums(to.size());
        tensor_view<P> const result(sums.data(), to.shape());
        layer.run(wide_x, result, memory, pause);
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
    detail::convolve_into<packed_conv, item_t<X>>(x, w, &bias, y, options, memory, detail::no_pause());
}
template <operand X, operand W, class Y>
void conv_into(X const& x, W const& w, Y&& y, conv_options const& options = {})
{
    workspace memory;
    detail::convolve_into<packed_conv, item_t<X>>(x, w,
        static_cast<tensor_view<item_t<X> const> const*>(nullptr), y, options, memory, detail::no_pause());
}

} // namespace xloom_onnx
