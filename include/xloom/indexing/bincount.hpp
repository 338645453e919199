#pragma once
// NumPy's bincount: the number of occurrences, or the sum of the weights, of each non-negative integer.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/indexed/bincount_run.hpp>
#include <xloom/detail/indexed/requirements.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of bincount.
struct bincount_options {
    std::size_t minlength = 0; ///< the minimum number of bins
};

namespace detail {

/// Requires a tensor of integers.
template <class X>
struct integers {
    static consteval bool holds()
    {
        constexpr bool is_valid = (tensor<X> || lazy<X>)&&counting_integer<item_t<X>>;
        static_assert(is_valid, "what is counted must be a tensor of integers");
        return is_valid;
    }
};

/// Requires a tensor of numbers.
template <class Weights>
struct numbers {
    static consteval bool holds()
    {
        constexpr bool is_valid = (tensor<Weights> || lazy<Weights>)&&number<item_t<Weights>>;
        static_assert(is_valid, "weights must be a tensor of numbers");
        return is_valid;
    }
};

/// An argument after x that is neither options nor a policy.
template <class Weights>
concept weights_operand = beside_options<Weights, bincount_options> && !execution_policy<Weights>;

} // namespace detail

/// Counts the occurrences of each non-negative integer: counts[i] is how often x holds i.
///
/// Shapes    x [n], of any layout; the result [max(max(x) + 1, minlength)].
/// Types     x of any integer type; the result is an xt::xtensor<std::int64_t, 1>.
/// Options   minlength (0): the minimum number of bins.
/// Policy    serial, or one with threads (thread_policy, tbb_policy), which are used if there are fewer bins
///           than integers for each; with more, x is read up to three times.
/// Errors    shape_error: x has not one axis; a bin that cannot exist. index_error: a negative integer (up to
///           four offending positions and values).
/// Cost      one pass over x; 8 bytes for each bin and thread besides the result, 16 if there are few bins;
///           half as much again may be reserved.
/// Source    numpy.bincount.
/// Example
/// ```cpp
/// xt::xtensor<int, 1> const x = {0, 1, 1, 3, 2, 1};
/// xloom::bincount(x); // = [1, 3, 1, 1]
/// xloom::bincount(x, {.minlength = 6}); // = [1, 3, 1, 1, 0, 0]
/// xloom::bincount(x, xt::xtensor<double, 1>{0.5, 1, 1, 2, 3, 4}); // = [0.5, 6, 3, 2]
/// ```
template <class X, class Options = bincount_options, class... Env>
    requires(!detail::weights_operand<Options>)
xt::xtensor<std::int64_t, 1> bincount(X const& x, Options&& options = {}, Env&&... env)
{
    if constexpr (detail::satisfied<detail::options_and_policy<bincount_options, Options, Env...>,
                      detail::integers<X>>()) {
        static constexpr std::string_view op = "xloom::bincount";
        auto const [items] = detail::evaluated_inputs(std::tie(x));
        detail::check_rank(op, "x", detail::rank_of(items));
        detail::bincount_call<detail::bare<decltype(items)>> const call(
            op, items, detail::options_of<bincount_options>(options).minlength);
        return call.run(detail::policy_of(options, env...));
    } else {
        return {}; // a value, so that one mistake gives one error
    }
}

/// Sums the weights of the occurrences of each non-negative integer, in order: sums[x[i]] += weights[i].
///
/// Shapes    x [n] and weights [n]; the result as bincount's.
/// Types     weights of any real numbers, which are converted to double; the result is an xt::xtensor<double,
///           1>.
/// Errors    as bincount; shape_error: weights has another shape than x.
/// Order     that of x: the same bits with any number of threads.
/// Cost      two passes over x; a copy of weights that are not double.
template <class X, detail::weights_operand Weights, class Options = bincount_options, class... Env>
xt::xtensor<double, 1> bincount(X const& x, Weights const& weights, Options&& options = {}, Env&&... env)
{
    if constexpr (detail::satisfied<detail::options_and_policy<bincount_options, Options, Env...>,
                      detail::integers<X>, detail::numbers<Weights>>()) {
        static constexpr std::string_view op = "xloom::bincount";
        auto const [items, weight_items] = detail::evaluated_inputs(std::tie(x, weights));
        detail::check_rank(op, "x", detail::rank_of(items));
        detail::check_rank(op, "weights", detail::rank_of(weight_items));
        shape const dims = detail::shape_of(weight_items);
        if (dims != detail::shape_of(items))
            detail::fail<shape_error>(op, ": weights must have the shape of x ", detail::shape_of(items),
                ", but it is ", dims, ". Give each integer a weight.");
        detail::bincount_call<detail::bare<decltype(items)>> const call(
            op, items, detail::options_of<bincount_options>(options).minlength);
        return detail::weighted_bincount(
            op, items, weight_items, call.bins(), detail::policy_of(options, env...));
    } else {
        return {}; // a value, so that one mistake gives one error
    }
}

} // namespace xloom::inline XLOOM_ABI
