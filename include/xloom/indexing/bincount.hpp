#pragma once
// NumPy's bincount: the number of occurrences, or the sum of the weights, of each non-negative integer.

#include <algorithm>
#include <cstdint>

#include <xloom/detail/indexed/axis_scatter_call.hpp>
#include <xloom/detail/indexed/bincount_call.hpp>
#include <xloom/detail/indexed/index_types.hpp>
#include <xloom/detail/indexed/scatter.hpp>
#include <xloom/indexing/bincount_options.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

template <class X>
inline constexpr bool is_countable_operand = (tensor<X> || lazy<X>)&&holds_indices<X>;

/// True if the types of a call of bincount are valid, otherwise a compile-time error of one sentence.
template <class X, class Policy>
consteval bool is_valid_bincount()
{
    if constexpr (!execution_policy<Policy>)
        static_assert(
            never<Policy>, "xloom::bincount: the arguments are bincount(x[, weights][, options][, policy])");
    else if constexpr (!is_countable_operand<X>)
        static_assert(never<X>, "xloom::bincount: x must be a tensor of integers");
    else
        return true;
    return false;
}

/// True if the types of a call of bincount with weights are valid, otherwise a compile-time error of one
/// sentence.
template <class X, class Weights, class Policy>
consteval bool is_valid_weighted_bincount()
{
    if constexpr (!is_valid_bincount<X, std::conditional_t<execution_policy<Weights>, Weights*, Policy>>())
        return false;
    else if constexpr ((!tensor<Weights> && !lazy<Weights>) || !number<item_t<Weights>>)
        static_assert(never<Weights>, "xloom::bincount: weights must be a tensor of numbers");
    else
        return true;
    return false;
}

/// Returns weights as double, in memory.
template <class Weights>
xt::xtensor<double, 1> doubles_of(Weights const& weights)
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
        return detail::weighted_bincount(op, x, doubles_of(weights), bins, policy);
    } else {
        xt::xtensor<double, 1> sums = zeros<double>(op, bins);
        detail::scatter<true, at_call>(
            op, sums, x, broadcast(weights), reduce_add, {.bounds = bounds::assume}, policy);
        return sums;
    }
}

template <class Weights>
concept not_bincount_options = !std::is_same_v<bare<Weights>, bincount_options>;

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
template <class X, class Policy = serial_policy>
xt::xtensor<std::int64_t, 1> bincount(
    X const& x, bincount_options const& options = {}, Policy const& policy = {})
{
    if constexpr (detail::is_valid_bincount<X, Policy>()) {
        static constexpr std::string_view op = "xloom::bincount";
        auto const [items] = detail::evaluated_inputs(std::tie(x));
        detail::check_rank(op, "x", detail::rank_of(items));
        detail::bincount_call<detail::bare<decltype(items)>> const call(op, items, options.minlength);
        return call.run(policy);
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
template <class X, detail::not_bincount_options Weights, class Policy = serial_policy>
xt::xtensor<double, 1> bincount(
    X const& x, Weights const& weights, bincount_options const& options = {}, Policy const& policy = {})
{
    if constexpr (detail::is_valid_weighted_bincount<X, Weights, Policy>()) {
        static constexpr std::string_view op = "xloom::bincount";
        auto const [items, weight_items] = detail::evaluated_inputs(std::tie(x, weights));
        detail::check_rank(op, "x", detail::rank_of(items));
        detail::check_rank(op, "weights", detail::rank_of(weight_items));
        shape const dims = detail::shape_of(weight_items);
        if (dims != detail::shape_of(items))
            detail::fail<shape_error>(op, ": weights must have the shape of x ", detail::shape_of(items),
                ", but it is ", dims, ". Give each integer a weight.");
        detail::bincount_call<detail::bare<decltype(items)>> const call(op, items, options.minlength);
        return detail::weighted_bincount(op, items, weight_items, call.bins(), policy);
    } else {
        return {}; // a value, so that one mistake gives one error
    }
}

} // namespace xloom::inline XLOOM_ABI
