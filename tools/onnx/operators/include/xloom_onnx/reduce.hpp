#pragma once
// Reductions: ReduceSum, ReduceMean .. ReduceL2, ReduceLogSumExp, ReduceMax, ReduceMin.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <xloom_onnx/arithmetic.hpp>
#include <xloom_onnx/axes.hpp>
#include <xloom_onnx/broadcast.hpp>
#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

namespace detail {

/// Floating-point numbers are summed in double, integers modulo 2^64.
template <class T>
using sum_t = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;

/// A sum of of(x). It starts at -0, so that of -0 alone is -0; that of nothing is 0.
template <class Term>
struct sum_of_terms {
    template <class T>
    static sum_t<T> start()
    {
        return static_cast<sum_t<T>>(-0.0);
    }
    template <class T>
    static void add(sum_t<T>& state, T const& x)
    {
        state += Term::template of<T>(static_cast<sum_t<T>>(x));
    }
    template <class T>
    static void join(sum_t<T>& state, sum_t<T> const& other)
    {
        state += other;
    }
    template <class T>
    static T finish(sum_t<T> const& state, std::size_t count)
    {
        return static_cast<T>(count == 0 ? 0 : state);
    }
};

struct reduce_sum_function : sum_of_terms<reduce_sum_function> {
    template <class T>
    static sum_t<T> of(sum_t<T> x)
    {
        return x;
    }
};
struct reduce_sum_square_function : sum_of_terms<reduce_sum_square_function> {
    template <class T>
    static sum_t<T> of(sum_t<T> x)
    {
        return x * x;
    }
};
struct reduce_l1_function : sum_of_terms<reduce_l1_function> {
    template <class T>
    static sum_t<T> of(sum_t<T> x)
    {
        if constexpr (std::is_integral_v<T>)
            return std::is_signed_v<T> && x >> 63 != 0 ? 0 - x : x;
        else
            return std::fabs(x);
    }
};
struct reduce_mean_function : reduce_sum_function {
    template <class T>
    static T finish(sum_t<T> const& state, std::size_t count)
    {
        if constexpr (std::is_integral_v<T>) {
            if (count == 0)
                xloom::kernels::fail<xloom::shape_error>(
                    "xloom_onnx::reduce_mean: no whole number is the mean of none");
            using wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
            return static_cast<T>(static_cast<wide>(state) / static_cast<wide>(count));
        } else {
            return static_cast<T>(state / static_cast<double>(count));
        }
    }
};
struct reduce_l2_function {
    template <class T>
    static double start()
    {
        return 0;
    }
    template <class T>
    static void add(double& state, T const& x)
    {
        state += static_cast<double>(x) * static_cast<double>(x);
    }
    template <class T>
    static void join(double& state, double const& other)
    {
        state += other;
    }
    template <class T>
    static T finish(double const& state, std::size_t)
    {
        return cast_item<T>(std::sqrt(state));
    }
};
/// log(sum of exp(x)), of the largest item and the sum of the others' exponentials beside it.
struct reduce_log_sum_exp_function {
    struct scaled_sum {
        double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    };

    template <class T>
    static scaled_sum start()
    {
        return {};
    }
    template <class T>
    static void add(scaled_sum& state, T const& x)
    {
        join<T>(state, {static_cast<double>(x), 1});
    }
    template <class T>
    static void join(scaled_sum& state, scaled_sum const& other)
    {
        if (other.largest > state.largest)
            state = {other.largest, state.sum * std::exp(state.largest - other.largest) + other.sum};
        else if (other.largest == state.largest) // infinities, too
            state.sum += other.sum;
        else
            state.sum += other.sum * std::exp(other.largest - state.largest);
    }
    template <class T>
    static T finish(scaled_sum const& state, std::size_t)
    {
        return cast_item<T>(state.largest + std::log(state.sum));
    }
};
struct reduce_prod_function {
    template <class T>
    static sum_t<T> start()
    {
        return 1;
    }
    template <class T>
    static void add(sum_t<T>& state, T const& x)
    {
        state *= static_cast<sum_t<T>>(x);
    }
    template <class T>
    static void join(sum_t<T>& state, sum_t<T> const& other)
    {
        state *= other;
    }
    template <class T>
    static T finish(sum_t<T> const& state, std::size_t)
    {
        return static_cast<T>(state);
    }
};

/// The best item by Better, max_function or min_function; NaN if one is NaN.
template <class Better>
struct best_item {
    template <class T>
    static T start()
    {
        using limits = std::numeric_limits<T>;
        bool const is_largest = std::is_same_v<Better, max_function>;
        if constexpr (limits::has_infinity)
            return is_largest ? static_cast<T>(-limits::infinity()) : limits::infinity();
        else
            return is_largest ? limits::lowest() : (limits::max)();
    }
    template <class T>
    static void add(T& state, T const& x)
    {
        state = Better::of(state, x);
    }
    template <class T>
    static void join(T& state, T const& other)
    {
        state = Better::of(state, other);
    }
    template <class T>
    static T finish(T const& state, std::size_t)
    {
        return state;
    }
};

} // namespace detail

inline constexpr detail::reduce_sum_function reduce_sum{};
inline constexpr detail::reduce_mean_function reduce_mean{};
inline constexpr detail::reduce_prod_function reduce_prod{};
inline constexpr detail::reduce_sum_square_function reduce_sum_square{};
inline constexpr detail::reduce_l1_function reduce_l1{};
inline constexpr detail::reduce_l2_function reduce_l2{};
inline constexpr detail::reduce_log_sum_exp_function reduce_log_sum_exp{};
inline constexpr detail::best_item<detail::max_function> reduce_max{};
inline constexpr detail::best_item<detail::min_function> reduce_min{};

struct reduce_options {
    integers axes{}; ///< empty: all, or none with noop_with_empty_axes
    bool keepdims = true;
    bool noop_with_empty_axes = false;
};

/// Returns the set of axes that are reduced.
///
/// Errors    option_error: no axis, or twice the same.
inline axis_set reduced_axes(std::size_t rank, reduce_options const& options)
{
    if (options.axes.empty() && !options.noop_with_empty_axes)
        return ~axis_set() >> (xloom::max_rank - rank);
    return checked_axes("xloom_onnx::reduce", options.axes, rank);
}

namespace detail {

inline xloom::shape without_axes(xloom::shape const& x, axis_set const& reduced, bool keeps)
{
    xloom::shape dims;
    for (std::size_t a = 0; a < x.size(); ++a)
        if (!reduced[a] || keeps)
            dims.push_back(reduced[a] ? 1 : x[a]);
    return dims;
}

/// The axes of a row-major tensor that are kept and those that are reduced.
struct reduced_layout {
    xloom::shape kept{}, reduced{};
    xloom::strides kept_steps{}, reduced_steps{};
    bool ends_reduced = true; ///< the last axis of length other than 1 is reduced

    reduced_layout(xloom::shape const& x, axis_set const& set)
    {
        xloom::strides const steps = xloom::row_major_strides(x);
        for (std::size_t a = 0; a < x.size(); ++a) {
            (set[a] ? reduced : kept).push_back(x[a]);
            (set[a] ? reduced_steps : kept_steps).push_back(steps[a]);
            if (x[a] != 1)
                ends_reduced = set[a];
        }
    }
};

/// Returns one result of `count` items, by eight chains of additions in each contiguous run.
template <class F, class T>
auto reduce_runs(T const* from, row_walk<1> const& runs, std::size_t count)
{
    constexpr std::size_t lanes = 8;
    std::array<decltype(F::template start<T>()), lanes> states;
    states.fill(F::template start<T>());
    auto const add_run = [&](row_walk<1> const& walk) {
        T const* const run = from + walk.offset(0);
        std::size_t const length = walk.length();
        if (walk.stride(0) == 1) {
            std::size_t i = 0;
            for (; i + lanes <= length; i += lanes)
                for (std::size_t k = 0; k < lanes; ++k)
                    F::template add<T>(states[k], run[i + k]);
            for (std::size_t k = 0; i < length; ++i, ++k)
                F::template add<T>(states[k], run[i]);
        } else {
            for (std::size_t i = 0; i < length; ++i)
                F::template add<T>(states[i % lanes], run[static_cast<std::ptrdiff_t>(i) * walk.stride(0)]);
        }
    };
    if (runs.length() == count)
        add_run(runs);
    else
        for (row_walk<1> walk = runs; !walk.done(); walk.next())
            add_run(walk);
    for (std::size_t width = lanes / 2; width != 0; width /= 2)
        for (std::size_t k = 0; k < width; ++k)
            F::template join<T>(states[k], states[k + width]);
    return states[0];
}

template <class F, class T>
void reduce(T const* from, T* to, xloom::shape const& dims, axis_set const& set)
{
    reduced_layout const layout(dims, set);
    std::size_t const count = xloom::element_count(layout.reduced);
    if (count == 0) {
        std::fill_n(to, xloom::element_count(layout.kept), F::template finish<T>(F::template start<T>(), 0));
        return;
    }
    if (layout.ends_reduced) {
        row_walk<1> const runs(layout.reduced, {layout.reduced_steps});
        for (row_walk<1> walk(layout.kept, {layout.kept_steps}); !walk.done(); walk.next())
            for (std::size_t i = 0; i < walk.length(); ++i)
                *to++ = F::template finish<T>(
                    reduce_runs<F>(
                        from + walk.offset(0) + static_cast<std::ptrdiff_t>(i) * walk.stride(0), runs, count),
                    count);
        return;
    }
    // Neighbours in memory are items of different results: blocks of those.
    constexpr std::size_t most = 64;
    std::array<decltype(F::template start<T>()), most> states;
    for (row_walk<1> walk(layout.kept, {layout.kept_steps}); !walk.done(); walk.next())
        for (std::size_t first = 0; first < walk.length(); first += most) {
            std::size_t const now = (std::min)(most, walk.length() - first);
            std::fill_n(states.begin(), now, F::template start<T>());
            for (row_walk<1> runs(layout.reduced, {layout.reduced_steps}); !runs.done(); runs.next())
                for (std::size_t k = 0; k < runs.length(); ++k) {
                    T const* const row = from + walk.offset(0) + runs.offset(0) +
                                         static_cast<std::ptrdiff_t>(k) * runs.stride(0) + first;
                    for (std::size_t i = 0; i < now; ++i)
                        F::template add<T>(states[i], row[i]);
                }
            for (std::size_t i = 0; i < now; ++i)
                *to++ = F::template finish<T>(states[i], count);
        }
}

} // namespace detail

inline xloom::shape reduce_shape(xloom::shape const& x, reduce_options const& options = {})
{
    return detail::without_axes(x, reduced_axes(x.size(), options), options.keepdims);
}

/// Reduces x along axes: reduce_into(reduce_sum, x, y, {.axes = {-1}, .keepdims = false}).
///
/// Types     any numbers; bool for reduce_max and reduce_min. Floating-point numbers are summed in double,
///           integers wrap around.
/// Errors    option_error: no axis, or twice the same. shape_error: the mean of no integers.
/// Order     items that are contiguous are summed in eight chains; the bits depend on the shape alone.
/// Cost      each item is read once. Allocates nothing if y has as many items already.
template <class F, operand X, class Y>
void reduce_into(F const&, X const& x, Y&& y, reduce_options const& options = {})
{
    const_view_of<X> const from(x);
    axis_set const set = reduced_axes(from.rank(), options);
    auto const to =
        output_view("xloom_onnx::reduce_into", y, detail::without_axes(from.shape(), set, options.keepdims));
    if (to.size() != 0)
        detail::reduce<F>(from.data(), to.data(), from.shape(), set);
}

struct arg_options {
    std::int64_t axis = 0;
    bool keepdims = true;
    bool select_last_index = false; ///< the last of equal items instead of the first
};

/// Errors    option_error: no axis. shape_error: an empty axis.
inline xloom::shape arg_shape(xloom::shape const& x, arg_options const& options = {})
{
    std::size_t const axis = checked_axis("xloom_onnx::arg", options.axis, x.size());
    xloom::shape dims = x;
    dims[axis] = 1;
    if (x[axis] == 0 && xloom::element_count(dims) != 0)
        xloom::kernels::fail<xloom::shape_error>(
            "xloom_onnx::arg: there is no largest or smallest item along the axis ", axis, " of ", x);
    return options.keepdims ? dims : xloom::drop_axis(dims, axis);
}

namespace detail {

template <class X, class Y, class IsBetter>
void arg_into(X const& x, Y& y, arg_options const& options, IsBetter const& is_better)
{
    const_view_of<X> const from(x);
    auto const to = output_view("xloom_onnx::arg_into", y, arg_shape(from.shape(), options));
    axis_view const view = around(from.shape(), xloom::wrap_axis(options.axis, from.rank()));
    std::int64_t* next = to.data();
    for (std::size_t o = 0; o < view.outer; ++o)
        for (std::size_t i = 0; i < view.inner; ++i) {
            auto const* const row = from.data() + o * view.length * view.inner + i;
            std::size_t best = 0;
            for (std::size_t k = 1; k < view.length; ++k) {
                auto const candidate = +row[k * view.inner], champion = +row[best * view.inner];
                if (options.select_last_index ? !is_better(champion, candidate)
                                              : is_better(candidate, champion))
                    best = k;
            }
            *next++ = static_cast<std::int64_t>(best);
        }
}

} // namespace detail

/// The index of the largest item along an axis, as int64; of NaN if there is one, as in reduce_max.
template <operand X, class Y>
void arg_max_into(X const& x, Y&& y, arg_options const& options = {})
{
    detail::arg_into(x, y, options, [](auto a, auto b) { return a > b || (a != a && b == b); });
}
/// The index of the smallest item along an axis, as int64; of NaN if there is one, as in reduce_min.
template <operand X, class Y>
void arg_min_into(X const& x, Y&& y, arg_options const& options = {})
{
    detail::arg_into(x, y, options, [](auto a, auto b) { return a < b || (a != a && b == b); });
}

} // namespace xloom_onnx
