#pragma once
// Running sums and products along an axis: ONNX CumSum, NumPy's cumsum and cumprod.

#include <xloom/parallel/associative_scan.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of cumulative_sum and cumulative_prod: axis, reverse, exclusive.
using cumulative_options = associative_scan_options;

namespace detail {

/// True if the types of a call of cumulative_sum or cumulative_prod are valid, otherwise a compile-time error
/// of one sentence.
template <class Reduce, class X, class Policy>
consteval bool is_valid_cumulative()
{
    if constexpr (!execution_policy<Policy>)
        static_assert(
            never<Policy>, "xloom::cumulative_sum: the arguments are cumulative_sum(x[, options][, policy])");
    else if constexpr (!is_scannable<X>)
        static_assert(never<X>, "xloom::cumulative_sum: x must be a tensor with at least one axis; wrap a "
                                "std::vector by xt::adapt");
    else if constexpr (!combines<item_t<X>, Reduce const>)
        static_assert(never<X>, "xloom::cumulative_sum: sum or product must be defined for the elements");
    else
        return true;
    return false;
}

template <class Reduce, class X, class Y, class Policy>
consteval bool is_valid_cumulative_into()
{
    if constexpr (!is_valid_cumulative<Reduce, X, Policy>())
        return false;
    else if constexpr (!are_written<std::tuple<Y>> || !outlives_call<Y>)
        static_assert(never<Y>,
            "xloom::cumulative_sum_into: y is written, so it must be a tensor that is a variable, not const");
    else if constexpr (!std::same_as<item_t<X>, item_t<Y>>)
        static_assert(never<Y>, "xloom::cumulative_sum_into: y must have x's element type");
    else
        return true;
    return false;
}

template <class X, class Reduce, class Policy>
auto cumulative(std::string_view name, X const& x, Reduce const& reduce, cumulative_options const& options,
    Policy const& policy)
{
    if constexpr (is_valid_cumulative<Reduce, X, Policy>())
        return detail::associative_scan(name, reduce, x, options, policy);
    else
        return 0; // a value, so that one mistake gives one error
}

template <class X, class Y, class Reduce, class Policy>
void cumulative_into(std::string_view name, X const& x, Y&& y, Reduce const& reduce,
    cumulative_options const& options, Policy const& policy)
{
    if constexpr (is_valid_cumulative_into<Reduce, X, Y, Policy>())
        detail::associative_scan_into(name, reduce, x, y, options, policy);
}

} // namespace detail

/// Computes the running sums of x along an axis.
///
///     y[i] = x[0] + ... + x[i]                   # along the axis
///     exclusive: y[0] = 0, y[i] = x[0] + ... + x[i-1]
///     reverse: the same from the end
///
/// Shapes    x of rank >= 1, any layout, lazy expressions too; y as x.
/// Types     any with a sum; y has the type of x. Integers wrap around, bool is the running or, storage
///           floats are rounded after each addition.
/// Options   axis (0; negative: from the back), reverse (false), exclusive (false).
/// Policy    serial, or one with threads (tbb_policy): results are bitwise equal to those of serial.
/// Errors    shape_error, option_error (exclusive, for a type without zero), overlap_error.
/// Order     that of associative_scan with reduction::add: the bits depend on the numbers alone, and are not
///           those of a serial sum, whose errors are larger.
/// Cost      one pass over x and y.
/// Differs   from NumPy: the axis is 0 by default, and small integers are not widened. ONNX's axis is an
///           operand, and its types are int32 to uint64, float, double, from CumSum-14 on float16, bfloat16.
/// Source    ONNX CumSum-11 to 14; numpy.cumsum.
/// Example
/// ```cpp
/// xt::xtensor<float, 2> const x = {{1, 2, 3}, {4, 5, 6}};
/// xloom::cumulative_sum(x, {.axis = 1}); // = [[1, 3, 6], [4, 9, 15]]
/// xloom::cumulative_sum(x, {.axis = -1, .reverse = true}); // = [[6, 5, 3], [15, 11, 6]]
/// xloom::cumulative_sum(x, {.axis = 1, .exclusive = true}); // = [[0, 1, 3], [0, 4, 9]]
/// ```
template <class X, class Policy = serial_policy>
auto cumulative_sum(X const& x, cumulative_options const& options = {}, Policy const& policy = {})
{
    return detail::cumulative("xloom::cumulative_sum", x, reduce_add, options, policy);
}

/// Rejects another argument in the place of the options.
template <class X, detail::other_than<cumulative_options> Other, class... More>
auto cumulative_sum(X const&, Other const&, More const&...)
{
    return detail::is_valid_cumulative<reduce_add_t, X, cumulative_options>();
}

/// Computes cumulative_sum into the caller's y, which may be x itself.
///
/// Errors    as cumulative_sum, before the first write; overlap_error: y overlaps x and is another tensor.
template <class X, class Y, class Policy = serial_policy>
void cumulative_sum_into(X const& x, Y&& y, cumulative_options const& options = {}, Policy const& policy = {})
{
    detail::cumulative_into(
        "xloom::cumulative_sum_into", x, static_cast<Y&&>(y), reduce_add, options, policy);
}

/// Rejects another argument in the place of the options.
template <class X, class Y, detail::other_than<cumulative_options> Other, class... More>
void cumulative_sum_into(X const&, Y&&, Other const&, More const&...)
{
    static_cast<void>(detail::is_valid_cumulative<reduce_add_t, X, cumulative_options>());
}

/// Computes the running products of x along an axis; all else as cumulative_sum, with 1 where that has 0.
///
/// Source    numpy.cumprod.
/// Example
/// ```cpp
/// xloom::cumulative_prod(xt::xtensor<int, 1>{2, 3, 4}); // = [2, 6, 24]
/// ```
template <class X, class Policy = serial_policy>
auto cumulative_prod(X const& x, cumulative_options const& options = {}, Policy const& policy = {})
{
    return detail::cumulative("xloom::cumulative_prod", x, reduce_mul, options, policy);
}

/// Rejects another argument in the place of the options.
template <class X, detail::other_than<cumulative_options> Other, class... More>
auto cumulative_prod(X const&, Other const&, More const&...)
{
    return detail::is_valid_cumulative<reduce_mul_t, X, cumulative_options>();
}

/// Computes cumulative_prod into the caller's y, which may be x itself.
template <class X, class Y, class Policy = serial_policy>
void cumulative_prod_into(
    X const& x, Y&& y, cumulative_options const& options = {}, Policy const& policy = {})
{
    detail::cumulative_into(
        "xloom::cumulative_prod_into", x, static_cast<Y&&>(y), reduce_mul, options, policy);
}

/// Rejects another argument in the place of the options.
template <class X, class Y, detail::other_than<cumulative_options> Other, class... More>
void cumulative_prod_into(X const&, Y&&, Other const&, More const&...)
{
    static_cast<void>(detail::is_valid_cumulative<reduce_mul_t, X, cumulative_options>());
}

} // namespace xloom::inline XLOOM_ABI
