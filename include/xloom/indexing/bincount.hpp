#pragma once
// NumPy's bincount: the number of occurrences, or the sum of the weights, of each non-negative integer.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <xloom/detail/indexed/axis_scatter_call.hpp>
#include <xloom/detail/indexed/bincount_call.hpp>
#include <xloom/detail/indexed/requirements.hpp>
#include <xloom/detail/indexed/scatter.hpp>

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
        constexpr bool is_valid = (tensor<X> || lazy<X>)&&holds_indices<X>;
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

/// Returns weights as double, in memory.
template <class Weights>
xt::xtensor<double, 1> weights_as_doubles(Weights const& weights)
{
    row_major_items<Weights> const items(weights);
    std::size_t const count = element_count(detail::shape_of(weights));
    auto result = make_items<double>(count);
    for (std::size_t i = 0; i < count; ++i)
        result.data()[i] = static_cast<double>(+items.data()[i]);
    return result;
}

/// Adds each weight to its bin, in order.
template <class X, class Weights, class Policy>
xt::xtensor<double, 1> weighted_bincount(
    std::string_view op, X const& x, Weights const& weights, std::size_t bins, Policy const& policy)
{
    if constexpr (!std::is_same_v<item_t<Weights>, double>) {
        return detail::weighted_bincount(op, x, weights_as_doubles(weights), bins, policy);
    } else {
        xt::xtensor<double, 1> sums = zeros<double>(op, bins);
        detail::scatter<true, at_call>(
            op, sums, x, broadcast(weights), reduce_add, {.bounds = bounds::assume}, policy);
        return sums;
    }
}

/// An argument behind x that is neither options nor a policy.
template <class Weights>
concept weights_operand = beside_options<Weights, bincount_options> && !execution_policy<Weights>;

} // namespace detail

/// Counts the occurrences of each non-negative integer: counts[i] is how often x holds i.
///
/// Shapes    x [n], of any layout; the result [max(max(x) + 1, minlength)].
/// Types     x of any integer type; the result is an xt::xtensor<std::int64_t, 1>.
/// Options   minlength (0): the minimum number of bins.
/// Policy    serial, or one with threads (tbb_policy), which are used if there are fewer bins than
///           integers for each.
/// Errors    shape_error: x has not one axis; a bin that cannot exist. index_error: a negative integer (all
///           offending positions and values).
/// Cost      one pass over x, with threads two; up to five times as many counts as bins, if these are few,
///           for each thread.
/// Source    numpy.bincount.
/// Example
/// ```cpp
/// xt::xtensor<int, 1> const x = {0, 1, 1, 3, 2, 1};
/// xloom::bincount(x); // = [1, 3, 1, 1]
/// xloom::bincount(x, {.minlength = 6}); // = [1, 3, 1, 1, 0, 0]
/// xloom::bincount(x, xt::xtensor<double, 1>{0.5, 1, 1, 2, 3, 4}); // = [0.5, 6, 3, 2]
/// ```
template <class X, class... Env>
xt::xtensor<std::int64_t, 1> bincount(X const& x, bincount_options const& options = {}, Env&&... env)
{
    if constexpr (detail::satisfied<detail::at_most_a_policy<Env...>, detail::integers<X>>()) {
        static constexpr std::string_view op = "xloom::bincount";
        auto const [items] = detail::evaluated_inputs(std::tie(x));
        detail::check_rank(op, "x", detail::rank_of(items));
        detail::bincount_call<detail::bare<decltype(items)>> const call(op, items, options.minlength);
        return call.run(detail::policy_of(env...));
    } else {
        return {}; // a value, so that one mistake gives one error
    }
}

/// Runs bincount with the default options.
template <class X, execution_policy Policy, class... Env>
xt::xtensor<std::int64_t, 1> bincount(X const& x, Policy&& policy, Env&&... env)
{
    return xloom::bincount(x, bincount_options{}, std::forward<Policy>(policy), std::forward<Env>(env)...);
}

/// Sums the weights of the occurrences of each non-negative integer, in order: sums[x[i]] += weights[i].
///
/// Shapes    x [n] and weights [n]; the result as bincount's.
/// Types     weights of any real numbers, which are converted to double; the result is an xt::xtensor<double,
///           1>.
/// Errors    as bincount; shape_error: weights has another shape than x.
/// Order     that of x: the same bits with any number of threads.
/// Cost      two passes over x; a copy of weights that are not double.
template <class X, detail::weights_operand Weights, class... Env>
xt::xtensor<double, 1> bincount(
    X const& x, Weights const& weights, bincount_options const& options = {}, Env&&... env)
{
    if constexpr (detail::satisfied<detail::at_most_a_policy<Env...>, detail::integers<X>,
                      detail::numbers<Weights>>()) {
        static constexpr std::string_view op = "xloom::bincount";
        auto const [items, weight_items] = detail::evaluated_inputs(std::tie(x, weights));
        detail::check_rank(op, "x", detail::rank_of(items));
        detail::check_rank(op, "weights", detail::rank_of(weight_items));
        shape const dims = detail::shape_of(weight_items);
        if (dims != detail::shape_of(items))
            detail::fail<shape_error>(op, ": weights must have the shape of x ", detail::shape_of(items),
                ", but it is ", dims, ". Give each integer a weight.");
        detail::bincount_call<detail::bare<decltype(items)>> const call(op, items, options.minlength);
        return detail::weighted_bincount(op, items, weight_items, call.bins(), detail::policy_of(env...));
    } else {
        return {}; // a value, so that one mistake gives one error
    }
}

/// Runs bincount with the default options.
template <class X, detail::weights_operand Weights, detail::beside_options<bincount_options> First,
    class... Env>
xt::xtensor<double, 1> bincount(X const& x, Weights const& weights, First&& first, Env&&... env)
{
    return xloom::bincount(
        x, weights, bincount_options{}, std::forward<First>(first), std::forward<Env>(env)...);
}

} // namespace xloom::inline XLOOM_ABI
