#pragma once
// Reductions of the segments of ragged rows.

#include <utility>

#include <xloom/detail/prefix/segment_reduce_run.hpp>
#include <xloom/parallel/row_splits.hpp>

namespace xloom::inline XLOOM_ABI {

/// Reduces each segment of consecutive rows by an associative operator.
///
///     y[s] = values[row_splits[s]] op ... op values[row_splits[s + 1] - 1]
///
/// Operator  as in associative_scan: reduction::add, mul, max or min, or their function objects, in SIMD for
///           numbers of 4 and 8 bytes; any callable op(element, element) -> element; monoid{op, identity}. It
///           need not be commutative.
/// Shapes    values [N, ...], or a std::tuple of tensors of one shape; row_splits [S + 1], from 0 to N, not
///           decreasing. The result is [S, ...]. Any layout, lazy expressions too.
/// Types     any; the result has the element type of values. Integers wrap around; storage floats are rounded
///           after each operation. row_splits of any integers; those of std::size_t's size are not copied.
/// Policy    serial, or one with threads (thread_policy, tbb_policy), each of which has whole segments.
///           Results are bitwise equal to those of serial.
/// Errors    before the first write: shape_error; index_error (row_splits do not begin with 0, end with N
///           and ascend); option_error (a reduction that is not associative; an empty segment without an
///           identity); overlap_error, std::bad_alloc. Exceptions of the operator propagate; results are then
///           unspecified.
/// Order     that of associative_scan over each segment, whose last result it is: bits depend on the rows of
///           the segment alone. The result of an empty segment is the identity: 0, 1, for max and min the
///           smallest and the largest value (-infinity and infinity, if the type has them), or the one of the
///           monoid.
/// Cost      one pass over values; products of floating-point numbers cost a scan, without SIMD.
/// Source    tf.math.segment_sum and its like, jax.ops.segment_sum, torch.segment_reduce, np.ufunc.reduceat,
///           which has values[row_splits[s]] for an empty segment.
/// Example
/// ```cpp
/// xt::xtensor<float, 1> const values = {1, 2, 3, 4, 5};
/// xt::xtensor<std::int64_t, 1> const row_splits = {0, 2, 2, 5};
/// xloom::segment_reduce(xloom::reduction::add, values, row_splits); // = [3, 0, 12]
/// xt::xtensor<int, 1> const ids = {0, 0, 1, 1, 1};
/// xloom::segment_reduce(xloom::reduction::max, values, xloom::row_splits_of(ids, 2)); // = [2, 5]
/// ```
template <class Op, class Xs, class Splits, class... Env>
auto segment_reduce(Op&& op, Xs const& values, Splits const& row_splits, Env&&... env)
{
    return detail::segment_reduce("xloom::segment_reduce", op, values, row_splits, std::forward<Env>(env)...);
}

/// Runs segment_reduce into the caller's results: a tensor [S, ...], or std::tie of several, of any layout.
///
/// Aliasing  a result has memory of its own, else overlap_error.
/// Cost      as segment_reduce; allocates nothing, except for lazy operands and row_splits that are copied.
/// Example
/// ```cpp
/// xt::xtensor<double, 2> const rows = {{1, 10}, {2, 20}, {3, 30}};
/// auto sums = xt::xtensor<double, 2>::from_shape({2, 2});
/// xloom::segment_reduce_into(xloom::reduce_add, rows, xt::xtensor<std::int64_t, 1>{0, 2, 3}, sums);
/// sums; // = [[3, 30], [3, 30]]
/// ```
template <class Op, class Xs, class Splits, class Ys, class... Env>
void segment_reduce_into(Op&& op, Xs const& values, Splits const& row_splits, Ys&& ys, Env&&... env)
{
    detail::segment_reduce_into("xloom::segment_reduce_into", op, values, row_splits, std::forward<Ys>(ys),
        std::forward<Env>(env)...);
}

} // namespace xloom::inline XLOOM_ABI
