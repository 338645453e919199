#pragma once
// The derivative of segment_softmax, from its result.

#include <string_view>
#include <tuple>

#include <xloom/detail/prefix/requirements.hpp>
#include <xloom/detail/prefix/segment_softmax_run.hpp>
#include <xloom/parallel/segment_softmax.hpp>

namespace xloom::inline XLOOM_ABI {

/// Returns the vector-Jacobian product of segment_softmax: the gradient by x, where y is its result and ct_y
/// the cotangent of y.
///
///     ct_x[i] = y[i] * (ct_y[i] - sum(ct_y * y of segment))
///
/// Shapes    y and ct_y [N, ...], row_splits [S + 1], from 0 to N, not decreasing; ct_x as y. Any layout,
///           lazy expressions too.
/// Types     y, ct_y and ct_x of one type, as for segment_softmax; row_splits of any integers.
/// Policy    serial, or one with threads (thread_policy, tbb_policy), each of which has whole segments.
///           Results are bitwise equal to those of serial, and those of all layouts are equal.
/// Errors    before the first write: shape_error; index_error (row_splits do not begin with 0, end with N
///           and ascend); overlap_error, std::bad_alloc.
/// Order     the sum is that of the rows in their order; of floats and storage floats in double.
/// Cost      two passes over each segment.
/// Source    jax.vjp of jax.nn.softmax, segment by segment.
/// Example
/// ```cpp
/// xt::xtensor<double, 1> const x = {0, 0, 5, 1, 1}, ct_y = {1, 0, 1, 0, 2};
/// xt::xtensor<int, 1> const row_splits = {0, 2, 3, 5};
/// auto const y = xloom::segment_softmax(x, row_splits);
/// xloom::segment_softmax_vjp(y, row_splits, ct_y); // = [0.25, -0.25, 0, -0.5, 0.5]
/// ```
template <class Y, class Splits, class Ct, class... Env>
auto segment_softmax_vjp(Y const& y, Splits const& row_splits, Ct const& ct_y, Env&&... env)
{
    static constexpr std::string_view op = "xloom::segment_softmax_vjp";
    if constexpr (detail::satisfied<detail::softmax_vjp_types<Y, Splits, Ct, Env...>>()) {
        auto const [results, splits, cotangents] = detail::evaluated_inputs(std::tie(y, row_splits, ct_y));
        auto ct_x = detail::make_like(op, "y", results);
        detail::run_segment_softmax_vjp(
            op, results, splits, cotangents, ct_x, /*is_added*/ false, detail::policy_of(env...));
        return ct_x;
    } else {
        return detail::owned_t<Y>(); // a value, so that one mistake gives one error
    }
}

/// Adds segment_softmax_vjp to the caller's ct_x, which shares no memory with another operand.
template <class Y, class Splits, class Ct, class CtX, class... Env>
void segment_softmax_vjp_into(Y const& y, Splits const& row_splits, Ct const& ct_y, CtX&& ct_x, Env&&... env)
{
    if constexpr (detail::satisfied<detail::softmax_vjp_types<Y, Splits, Ct, Env...>, detail::written<CtX>,
                      detail::results_of<Y, CtX>>()) {
        auto const [results, splits, cotangents] = detail::evaluated_inputs(std::tie(y, row_splits, ct_y));
        detail::run_segment_softmax_vjp("xloom::segment_softmax_vjp_into", results, splits, cotangents, ct_x,
            /*is_added*/ true, detail::policy_of(env...));
    }
}

} // namespace xloom::inline XLOOM_ABI
