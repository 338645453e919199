#pragma once
// Softmax and LogSoftmax.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <xloom/kernels.hpp>
#include <xloom_onnx/arithmetic.hpp>
#include <xloom_onnx/axes.hpp>
#include <xloom_onnx/functions.hpp>
#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

struct softmax_options {
    std::int64_t axis = -1;
    bool flattens = false; ///< up to opset 12: all axes from `axis` on, as if they were one
};

namespace detail {

/// Rows of a softmax, as many as a batch has items, each in an item: row l begins at l * lane, its items are
/// at a stride.
template <class T>
struct softmax_rows {
    using number = xloom::kernels::compute_t<T>;
    using batch = kernels::batch_t<number>;

    std::size_t lane, stride, length, count;

    batch load(T const* from, std::size_t k) const
    {
        if constexpr (std::is_same_v<T, number>)
            if (lane == 1 && count == kernels::batch_size<T>)
                return kernels::load_batch(from + k * stride);
        number items[kernels::batch_size<number>] = {};
        for (std::size_t l = 0; l < count; ++l)
            items[l] = static_cast<number>(from[k * stride + l * lane]);
        return kernels::load_batch(items);
    }
    void store(T* to, std::size_t k, batch const& x) const
    {
        if constexpr (std::is_same_v<T, number>)
            if (lane == 1 && count == kernels::batch_size<T>)
                return kernels::store_batch(to + k * stride, x);
        number items[kernels::batch_size<number>];
        kernels::store_batch(items, x);
        for (std::size_t l = 0; l < count; ++l)
            to[k * stride + l * lane] = static_cast<T>(items[l]);
    }

    void run(T const* from, T* to, bool is_log) const
    {
        batch largest(-std::numeric_limits<number>::infinity()), sum(0);
        for (std::size_t k = 0; k < length; ++k)
            largest = max_function::of(largest, load(from, k));
        for (std::size_t k = 0; k < length; ++k)
            sum = sum + kernels::exp_of(batch(load(from, k) - largest));
        if (is_log) {
            batch const log_sum = log(sum);
            for (std::size_t k = 0; k < length; ++k)
                store(to, k, load(from, k) - largest - log_sum);
        } else {
            for (std::size_t k = 0; k < length; ++k)
                store(to, k, kernels::divide(kernels::exp_of(batch(load(from, k) - largest)), sum));
        }
    }
};

template <class X, class Y>
void softmax_into(X const& x, Y& y, softmax_options const& options, bool is_log)
{
    using T = item_t<X>;
    const_view_of<X> const from(x);
    std::size_t const axis = checked_axis("xloom_onnx::softmax_into", options.axis, from.rank());
    auto const to = output_view("xloom_onnx::softmax_into", y, from.shape());
    axis_view view = around(from.shape(), axis);
    if (options.flattens) {
        view.length *= view.inner;
        view.inner = 1;
    }
    std::size_t const row_items = view.length * view.inner;
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
        if (view.inner == 1 && !is_log) {
            for (std::size_t o = 0; o < view.outer; ++o)
                kernels::softmax(from.data() + o * row_items, to.data() + o * row_items, view.length);
            return;
        }
    // Rows are at a stride of 1 within `inner`, of all their items beyond it.
    std::size_t const most = kernels::batch_size<xloom::kernels::compute_t<T>>;
    std::size_t const groups = view.inner == 1 ? 1 : view.outer,
                      rows = view.inner == 1 ? view.outer : view.inner;
    for (std::size_t o = 0; o < groups; ++o)
        for (std::size_t first = 0; first < rows; first += most) {
            std::size_t const lane = view.inner == 1 ? row_items : 1, at = o * row_items + first * lane;
            softmax_rows<T>{lane, view.inner, view.length, (std::min)(most, rows - first)}.run(
                from.data() + at, to.data() + at, is_log);
        }
}

} // namespace detail

/// y = exp(x) / sum of exp(x) along an axis. y may be x. A row that holds NaN or +infinity, or -infinity
/// only, becomes NaN.
///
/// Types     floating-point numbers; 16-bit ones are computed in float.
/// Errors    option_error: no axis. shape_error.
/// Cost      two or three passes. Allocates nothing if y has as many items already.
template <operand X, class Y>
void softmax_into(X const& x, Y&& y, softmax_options const& options = {})
{
    detail::softmax_into(x, y, options, false);
}
/// y = x - log(sum of exp(x)) along an axis, as softmax_into.
template <operand X, class Y>
void log_softmax_into(X const& x, Y&& y, softmax_options const& options = {})
{
    detail::softmax_into(x, y, options, true);
}

} // namespace xloom_onnx
