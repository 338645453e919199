#pragma once
// Softmax over the segments of ragged rows.

#include <string_view>
#include <tuple>

#include <xloom/detail/prefix/requirements.hpp>
#include <xloom/detail/prefix/segment_softmax_run.hpp>
#include <xloom/parallel/row_splits.hpp>

namespace xloom::inline XLOOM_ABI {

/// Computes the softmax of each segment of consecutive rows, for example of the attention over the neighbours
/// of each node of a graph.
///
///     y[i] = exp(x[i] - max(x of segment)) / sum(exp(x of segment - max(x of segment)))
///
/// Shapes    x [N, ...], row_splits [S + 1], from 0 to N, not decreasing; y as x. Each column of x has a
///           softmax of its own. Any layout, lazy expressions too.
/// Types     float, double, long double and storage floats, which are computed in float and rounded once;
///           row_splits of any integers.
/// Policy    serial, or one with threads (thread_policy, tbb_policy), each of which has whole segments.
///           Results are bitwise equal to those of serial, and those of all layouts are equal.
/// NaN       y of a segment is NaN if one of x there is NaN or +infinity, or all are -infinity.
/// Errors    before the first write: shape_error; index_error (row_splits do not begin with 0, end with N
///           and ascend); overlap_error, std::bad_alloc.
/// Max error relative, 10 + d / 2 epsilons of float or double where y is a normal number; d is max - x[i],
///           whose rounding it begins with.
/// Cost      three passes over each segment, which stays in cache. Strided sequences and storage floats go
///           through a buffer of the longest segment for each thread, which is allocated.
/// Source    ONNX Softmax-13 for each segment; torch_geometric.utils.softmax.
/// Example
/// ```cpp
/// xt::xtensor<float, 1> const x = {0, 0, 5, 0, 0, 0, 0};
/// xloom::segment_softmax(x, xt::xtensor<int, 1>{0, 2, 3, 7}); // = [0.5, 0.5, 1, 0.25, 0.25, 0.25, 0.25]
/// ```
template <class X, class Splits, class... Env>
auto segment_softmax(X const& x, Splits const& row_splits, Env&&... env)
{
    static constexpr std::string_view op = "xloom::segment_softmax";
    if constexpr (detail::satisfied<detail::softmax_types<X, Splits, Env...>>()) {
        auto const [input, splits] = detail::evaluated_inputs(std::tie(x, row_splits));
        auto y = detail::make_like(op, "x", input);
        detail::run_segment_softmax(op, input, splits, y, detail::policy_of(env...));
        return y;
    } else {
        return detail::owned_t<X>(); // a value, so that one mistake gives one error
    }
}

/// Computes segment_softmax into the caller's y, which may be x itself.
///
/// Example
/// ```cpp
/// xt::xtensor<double, 2> scores = {{0, 1}, {0, 1}, {3, 3}}; // [edges, heads]
/// xloom::segment_softmax_into(scores, xt::xtensor<int, 1>{0, 2, 3}, scores);
/// scores; // = [[0.5, 0.5], [0.5, 0.5], [1, 1]]
/// ```
template <class X, class Splits, class Y, class... Env>
void segment_softmax_into(X const& x, Splits const& row_splits, Y&& y, Env&&... env)
{
    if constexpr (detail::satisfied<detail::softmax_types<X, Splits, Env...>, detail::written<Y>,
                      detail::results_of<X, Y>>()) {
        auto const [input, splits] = detail::evaluated_inputs(std::tie(x, row_splits));
        detail::run_segment_softmax(
            "xloom::segment_softmax_into", input, splits, y, detail::policy_of(env...));
    }
}

} // namespace xloom::inline XLOOM_ABI
