#pragma once
// MaxPool, AveragePool, GlobalMaxPool, GlobalAveragePool.
//
// A row of results is made in two steps: the rows of the input that its windows have become one, then the
// items of each window along that one. Neighbours are independent in both, so that both run by batches.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <xloom/kernels.hpp>
#include <xloom_onnx/product.hpp>
#include <xloom_onnx/reduce.hpp>
#include <xloom_onnx/view.hpp>
#include <xloom_onnx/windows.hpp>
#include <xloom_onnx/workspace.hpp>

namespace xloom_onnx {

struct pool_options {
    integers strides{}, dilations{}; ///< omitted: 1 for each spatial axis
    integers pads{};                 ///< before each spatial axis, then after each; omitted: 0
    xloom_onnx::auto_pad auto_pad = xloom_onnx::auto_pad::notset;
    integers kernel_shape{};
    bool ceil_mode = false;         ///< one window more where the last ones leave items over
    bool count_include_pad = false; ///< of AveragePool: the padding is zeros that count
    bool column_major = false;      ///< of the indices of MaxPool: the first spatial axis varies fastest
};

namespace detail {

/// The windows of a pool over an input [N, C, d..].
struct pool_layout : window_layout {
    std::size_t planes;
    xloom::shape result;

    /// Errors    shape_error, option_error.
    pool_layout(xloom::shape const& x, pool_options const& options)
    {
        static constexpr std::string_view op = "xloom_onnx::pool";
        using xloom::kernels::fail;
        if (x.size() < 3 || x.size() > 5)
            fail<xloom::shape_error>(op, ": X must have one to three spatial axes, but has the shape ", x);
        if (options.kernel_shape.empty())
            fail<xloom::option_error>(op, ": its kernel_shape is missing");
        integers const lengths = window_numbers(op, options.kernel_shape, "kernel_shape", x.size() - 2, 1);
        axes = window_layout(op, x, xloom::shape(lengths.begin(), lengths.end()), options, options.ceil_mode)
                   .axes;
        result = result_shape(x, x[1]);
        check_size(op, result, sizeof(std::int64_t)); // that of indices, too
        planes = x[0] * x[1];
        // Rows are long where the last axes are none.
        for (std::size_t i = 1; i < axes.size() && axes.back().is_one_item(); ++i)
            std::rotate(axes.begin(), axes.end() - 1, axes.end());
    }

    /// Returns an upper bound of the number of items that a window has in the input.
    double window_items() const
    {
        double items = 1;
        for (spatial_axis const& axis : axes)
            items *= static_cast<double>((std::min)(axis.kernel, axis.input / axis.dilation + 1));
        return items;
    }
    /// True where a window takes so long that time may run out.
    bool has_long_windows() const { return window_items() > 1024; }
};

/// Calls f(z, y, x) for the items of a window that are no padding, in row-major order.
template <class F>
void for_each_item(window_layout const& layout, std::array<std::int64_t, 3> const& place, F const& f)
{
    auto const& [deep, down, across] = layout.axes;
    position_range const planes = deep.covered(place[0]), rows = down.covered(place[1]),
                         items = across.covered(place[2]);
    for (std::int64_t i = planes.begin; i < planes.end; ++i)
        for (std::int64_t j = rows.begin; j < rows.end; ++j)
            for (std::int64_t k = items.begin; k < items.end; ++k)
                f(deep.position(place[0], i), down.position(place[1], j), across.position(place[2], k));
}

/// The largest item of a window; NaN if one is NaN.
struct window_max {
    template <class P>
    static P start()
    {
        return best_item<max_function>::start<P>();
    }
    template <class V>
    static V fold(V const& a, V const& b)
    {
        return max_function::of(a, b);
    }
    template <class V>
    static V finish(V const& best, V const&)
    {
        return best;
    }
};

/// The mean of a window.
struct window_mean {
    template <class P>
    static P start()
    {
        return P(0);
    }
    template <class V>
    static V fold(V const& a, V const& b)
    {
        return V(a + b);
    }
    template <class V>
    static V finish(V const& sum, V const& count)
    {
        return kernels::divide(sum, count);
    }
};

/// A pool of one type of items: the rows of its windows become one, then the items along that one.
template <class Fold, class T>
class row_pool {
    using P = xloom::kernels::compute_t<T>;
    using batch = kernels::batch_t<P>;
    static constexpr auto size = static_cast<std::int64_t>(kernels::batch_size<P>);
    static constexpr std::int64_t block = 256;

public:
    row_pool(pool_layout const& layout, T const* end, bool counts_padding, workspace& memory)
        : layout_(layout),
          end_(end),
          across_(layout.axes[2]),
          inside_(across_.places_inside()),
          most_(block / across_.stride),
          counts_padding_(counts_padding),
          is_long_(layout.has_long_windows())
    {
        auto const length = static_cast<std::size_t>(across_.input);
        row_ = memory.template take<P>(length + kernels::batch_size<P>); // a batch more is read and written
        std::fill_n(row_ + length, kernels::batch_size<P>, P(0));
    }

    /// Computes the row [z, y] of results of a plane.
    template <class Pause>
    void operator()(T const* plane, std::int64_t z, std::int64_t y, T* to, Pause const& pause) const
    {
        double const rows = count(layout_.axes[0], z) * count(layout_.axes[1], y);
        auto const finished = [&](std::int64_t place, P folded) {
            return static_cast<T>(Fold::finish(folded, static_cast<P>(rows * count(across_, place))));
        };
        fold_rows(plane, z, y);
        auto const fold_each = [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t x = begin; x < end; ++x) {
                if (is_long_)
                    pause();
                auto const [first, last] = across_.covered(x);
                P folded = Fold::template start<P>();
                for (std::int64_t k = first; k < last; ++k)
                    folded = Fold::fold(folded, row_[across_.position(x, k)]);
                to[x] = finished(x, folded);
            }
        };
        fold_each(0, inside_.begin);
        if (across_.stride >= size)
            fold_each(inside_.begin, inside_.end);
        else if (inside_.length() != 0)
            fold_inside(static_cast<P>(rows * count(across_, inside_.begin)), to, pause);
        fold_each(inside_.end, across_.output);
    }

private:
    /// Returns the number of items of a window along an axis that count.
    double count(spatial_axis const& axis, std::int64_t place) const
    {
        return static_cast<double>(counts_padding_ ? axis.count_padded(place) : axis.covered(place).length());
    }
    static batch load(T const* from)
    {
        if constexpr (std::is_same_v<T, P>)
            return kernels::load_batch(from);
        else
            return load_first(from, size);
    }
    static batch load_first(T const* from, std::int64_t count)
    {
        P items[size] = {};
        std::transform(from, from + count, items, [](T item) { return static_cast<P>(item); });
        return kernels::load_batch(items);
    }

    /// Folds the rows of the windows [z, y] into one.
    void fold_rows(T const* plane, std::int64_t z, std::int64_t y) const
    {
        spatial_axis const &deep = layout_.axes[0], &down = layout_.axes[1];
        position_range const planes = deep.covered(z), rows = down.covered(y);
        std::int64_t const width = across_.input;
        if (planes.length() == 0 || rows.length() == 0) {
            std::fill_n(row_, width, Fold::template start<P>());
            return;
        }
        T const* const first =
            plane + (deep.position(z, planes.begin) * down.input + down.position(y, rows.begin)) * width;
        // A dilation beyond the input is never stepped by.
        std::int64_t const row_stride = (std::min)(down.dilation, down.input) * width,
                           plane_stride = (std::min)(deep.dilation, deep.input) * down.input * width;
        auto const fold_batch = [&](std::int64_t i, auto const& load_row) {
            batch folded(Fold::template start<P>());
            for (std::int64_t p = 0; p < planes.length(); ++p)
                for (std::int64_t r = 0; r < rows.length(); ++r)
                    folded = Fold::fold(folded, load_row(first + (p * plane_stride + r * row_stride + i)));
            kernels::store_batch(row_ + i, folded);
        };
        std::int64_t i = 0;
        for (; i + size <= width; i += size)
            fold_batch(i, [](T const* from) { return load(from); });
        if (i < width) // what is left of a batch, and then any items but those past the end of x
            fold_batch(i, [&](T const* from) {
                return end_ - from >= size ? load(from) : load_first(from, end_ - from);
            });
    }

    /// Computes the results without padding along the row: those at each position, of which every stride-th
    /// has a place.
    template <class Pause>
    void fold_inside(P item_count, T* to, Pause const& pause) const
    {
        P results[block + size];
        batch const all(item_count);
        std::int64_t const kernel = across_.kernel, stride = across_.stride, dilation = across_.dilation;
        for (std::int64_t first = inside_.begin; first < inside_.end; first += most_) {
            if (is_long_)
                pause();
            P const* const from = row_ + across_.position(first, 0);
            std::int64_t const now = (std::min)(most_, inside_.end - first),
                               last = (now - 1) * across_.stride;
            for (std::int64_t i = 0; i <= last; i += size) {
                auto folded = kernels::load_batch(from + i);
                for (std::int64_t k = 1; k < kernel; ++k)
                    folded = Fold::fold(folded, kernels::load_batch(from + i + k * dilation));
                kernels::store_batch(results + i, Fold::finish(folded, all));
            }
            for (std::int64_t i = 0; i < now; ++i)
                to[first + i] = static_cast<T>(results[i * stride]);
        }
    }

    pool_layout const& layout_;
    T const* end_; ///< of x
    spatial_axis const& across_;
    position_range inside_;
    std::int64_t most_; ///< places at a time
    bool counts_padding_, is_long_;
    P* row_;
};

template <class Fold, class X, class Y, class Pause>
void pool_into(X const& x, Y& y, pool_options const& options, workspace& memory, Pause const& pause)
{
    using T = item_t<X>;
    const_view_of<X> const from(x);
    pool_layout const layout(from.shape(), options);
    auto const to = output_view("xloom_onnx::pool", y, layout.result);
    if (to.size() == 0)
        return;
    row_pool<Fold, T> const pool(layout, from.end(), options.count_include_pad, memory);
    T* next = to.data();
    for (std::size_t plane = 0; plane < layout.planes; ++plane)
        for (std::int64_t z = 0; z < layout.axes[0].output; ++z)
            for (std::int64_t w = 0; w < layout.axes[1].output; ++w, next += layout.axes[2].output) {
                pause();
                pool(from.data() + plane * layout.inputs(), z, w, next, pause);
            }
}

template <class X, class Y, class Indices, class Pause>
void max_pool_with_indices_into(
    X const& x, Y& y, Indices& indices, pool_options const& options, Pause const& pause)
{
    using T = item_t<X>;
    static constexpr std::string_view op = "xloom_onnx::pool";
    const_view_of<X> const from(x);
    pool_layout const layout(from.shape(), options);
    auto const to = output_view(op, y, layout.result);
    auto const at = output_view(op, indices, layout.result);
    auto const& [deep, down, across] = layout.axes;
    std::int64_t const depth = deep.input, height = down.input, width = across.input;
    std::size_t const plane_items = layout.inputs(), results = layout.outputs();
    bool const has_long_windows = layout.has_long_windows();
    for (std::size_t i = 0; i < to.size(); ++i) {
        if (i % 256 == 0 || has_long_windows)
            pause();
        T const* const plane = from.data() + i / results * plane_items;
        auto const place = static_cast<std::int64_t>(i % results);
        T best = window_max::start<T>();
        std::int64_t index = -1;
        for_each_item(layout,
            {place / across.output / down.output, place / across.output % down.output, place % across.output},
            [&](std::int64_t z, std::int64_t h, std::int64_t w) {
                T const item = plane[(z * height + h) * width + w];
                if (index >= 0 && !(+item > +best || (+item != +item && +best == +best)))
                    return;
                best = item;
                index = options.column_major ? z + depth * (h + height * w) : (z * height + h) * width + w;
            });
        to[i] = best;
        at[i] = index < 0 ? index : static_cast<std::int64_t>(i / results * plane_items) + index;
    }
}

template <class F, class X, class Y>
void global_pool_into(F const& f, X const& x, Y&& y)
{
    const_view_of<X> const from(x);
    if (from.rank() < 3)
        xloom::kernels::fail<xloom::shape_error>(
            "xloom_onnx::pool: X must have spatial axes, but has the shape ", from.shape());
    integers axes;
    for (std::size_t a = 2; a < from.rank(); ++a)
        axes.push_back(static_cast<std::int64_t>(a));
    reduce_into(f, from, y, {.axes = axes});
}

} // namespace detail

/// Returns the shape of MaxPool and AveragePool.
inline xloom::shape pool_shape(xloom::shape const& x, pool_options const& options)
{
    return detail::pool_layout(x, options).result;
}

/// The largest item of each window; NaN if one is NaN, -infinity or the lowest integer if all are padding.
///
/// Shapes    x [N, C, d..] -> y [N, C, o..], along one, two or three axes.
/// Types     numbers.
/// Errors    shape_error, option_error.
/// Cost      the rows of a window are folded, then the items of the row that is left, both by batches.
///           Allocates nothing if y and the workspace are large enough.
template <operand X, class Y>
void max_pool_into(X const& x, Y&& y, pool_options const& options, workspace& memory)
{
    detail::pool_into<detail::window_max>(x, y, options, memory, detail::no_pause());
}

/// The same, and the indices of these items in x as if it had one axis, as int64: that of the first of equal
/// items, of the first NaN; -1 if all are padding. The order of batch entries and channels is row-major in
/// any case.
///
/// Cost      a comparison for each item of each window. Allocates nothing if y and indices are large enough.
template <operand X, class Y, class Indices>
void max_pool_with_indices_into(X const& x, Y&& y, Indices&& indices, pool_options const& options)
{
    detail::max_pool_with_indices_into(x, y, indices, options, detail::no_pause());
}

/// The mean of each window. Padding does not count, or as zeros with count_include_pad, unless a window of
/// ceil_mode leaves the padded input. A window of nothing that counts has the mean NaN.
///
/// Types     floating-point numbers; 16-bit ones are computed in float.
/// Shapes, Errors, Cost    as max_pool_into.
template <operand X, class Y>
void average_pool_into(X const& x, Y&& y, pool_options const& options, workspace& memory)
{
    detail::pool_into<detail::window_mean>(x, y, options, memory, detail::no_pause());
}

/// The largest item of each channel: a reduction along all spatial axes, which are kept with one item.
///
/// Shapes    x [N, C, d..] -> y [N, C, 1..].
template <operand X, class Y>
void global_max_pool_into(X const& x, Y&& y)
{
    detail::global_pool_into(reduce_max, x, y);
}
/// The mean of each channel, computed in double.
template <operand X, class Y>
void global_average_pool_into(X const& x, Y&& y)
{
    detail::global_pool_into(reduce_mean, x, y);
}

} // namespace xloom_onnx
