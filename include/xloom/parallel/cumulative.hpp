#pragma once
// Running sums and products along an axis: ONNX CumSum, NumPy's cumsum and cumprod.

#include <xloom/parallel/associative_scan.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of cumulative_sum and cumulative_prod: axis, reverse, exclusive.
using cumulative_options = associative_scan_options;

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
/// Policy    serial, or one with threads (thread_policy, tbb_policy): results are bitwise equal to those of
///           serial.
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
template <class X, class Options = cumulative_options, class... Env>
auto cumulative_sum(X const& x, Options&& options = {}, Env&&... env)
{
    return detail::associative_scan<cumulative_options>(
        "xloom::cumulative_sum", reduce_add, x, std::forward<Options>(options), std::forward<Env>(env)...);
}

/// Computes cumulative_sum into the caller's y, which may be x itself.
///
/// Errors    as cumulative_sum, before the first write; overlap_error: y overlaps x and is another tensor.
/// Real time on one thread, after a call of the same sizes. Not with lazy operands.
template <class X, class Y, class Options = cumulative_options, class... Env>
void cumulative_sum_into(X const& x, Y&& y, Options&& options = {}, Env&&... env)
{
    detail::associative_scan_into<cumulative_options>("xloom::cumulative_sum_into", reduce_add, x,
        std::forward<Y>(y), std::forward<Options>(options), std::forward<Env>(env)...);
}

/// Computes the running products of x along an axis; all else as cumulative_sum, with 1 where that has 0.
///
/// Source    numpy.cumprod.
/// Example
/// ```cpp
/// xloom::cumulative_prod(xt::xtensor<int, 1>{2, 3, 4}); // = [2, 6, 24]
/// ```
template <class X, class Options = cumulative_options, class... Env>
auto cumulative_prod(X const& x, Options&& options = {}, Env&&... env)
{
    return detail::associative_scan<cumulative_options>(
        "xloom::cumulative_prod", reduce_mul, x, std::forward<Options>(options), std::forward<Env>(env)...);
}

/// Computes cumulative_prod into the caller's y, which may be x itself; all else as cumulative_sum_into.
template <class X, class Y, class Options = cumulative_options, class... Env>
void cumulative_prod_into(X const& x, Y&& y, Options&& options = {}, Env&&... env)
{
    detail::associative_scan_into<cumulative_options>("xloom::cumulative_prod_into", reduce_mul, x,
        std::forward<Y>(y), std::forward<Options>(options), std::forward<Env>(env)...);
}

} // namespace xloom::inline XLOOM_ABI
