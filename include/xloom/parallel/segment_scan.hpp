#pragma once
// Scans of the segments of ragged rows.

#include <utility>

#include <xloom/detail/prefix/segment_scan_run.hpp>
#include <xloom/parallel/row_splits.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of segment_scan.
struct segment_scan_options {
    bool reverse = false;   ///< from the end of each segment
    bool exclusive = false; ///< result i combines the rows before i; a segment begins with the identity
};

/// Scans each segment of consecutive rows with an associative operator.
///
///     y[i] = x[row_splits[s]] op ... op x[i]         # for each row i of each segment s
///
/// Operator  as in associative_scan.
/// Shapes    xs [N, ...], or a std::tuple of tensors of one shape; row_splits [S + 1], from 0 to N, not
///           decreasing. The results have the shape of xs. Any layout, lazy expressions too.
/// Types     as in associative_scan; row_splits of any integers, those of std::size_t's size are not copied.
/// Options   reverse (false), exclusive (false): in each segment.
/// Policy    serial, or one with threads (thread_policy, tbb_policy), each of which has whole segments.
///           Results are bitwise equal to those of serial.
/// Errors    before the first write: those of associative_scan; index_error (row_splits do not begin with 0,
///           end with N and ascend). Exceptions of the operator propagate; results are then unspecified.
/// Order     that of associative_scan over each segment: bits depend on the rows of the segment alone.
/// Cost      one pass over x and y.
/// Source    Blelloch 1990, "Prefix sums and their applications", section 1.5; cub::DeviceScan, by key.
/// Example
/// ```cpp
/// xt::xtensor<int, 1> const x = {1, 2, 3, 4, 5}, row_splits = {0, 2, 5};
/// xloom::segment_scan(xloom::reduction::add, x, row_splits); // = [1, 3, 3, 7, 12]
/// xloom::segment_scan(xloom::reduction::add, x, row_splits, {.exclusive = true}); // = [0, 1, 0, 3, 7]
/// ```
template <class Op, class Xs, class Splits, class Options = segment_scan_options, class... Env>
auto segment_scan(Op&& op, Xs const& xs, Splits const& row_splits, Options&& options = {}, Env&&... env)
{
    return detail::segment_scan<segment_scan_options>(
        "xloom::segment_scan", op, xs, row_splits, std::forward<Options>(options), std::forward<Env>(env)...);
}

/// Runs segment_scan into the caller's results: a tensor, or std::tie of several, of the shape of xs.
///
/// Aliasing  a result may be the same tensor as an operand. Any other overlap is an overlap_error.
/// Example
/// ```cpp
/// xt::xtensor<int, 1> x = {1, 2, 3, 4, 5}, row_splits = {0, 2, 5};
/// xloom::segment_scan_into(xloom::reduction::add, x, row_splits, x, {.reverse = true});
/// x; // = [3, 2, 12, 9, 5]
/// ```
template <class Op, class Xs, class Splits, class Ys, class Options = segment_scan_options, class... Env>
void segment_scan_into(
    Op&& op, Xs const& xs, Splits const& row_splits, Ys&& ys, Options&& options = {}, Env&&... env)
{
    detail::segment_scan_into<segment_scan_options>("xloom::segment_scan_into", op, xs, row_splits,
        std::forward<Ys>(ys), std::forward<Options>(options), std::forward<Env>(env)...);
}

} // namespace xloom::inline XLOOM_ABI
