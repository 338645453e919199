#pragma once
// Scans of the segments of ragged rows.

#include <xloom/detail/prefix/segment_scan_run.hpp>
#include <xloom/detail/prefix/segment_types.hpp>
#include <xloom/parallel/row_splits.hpp>

namespace xloom::inline XLOOM_ABI {

/// Scans each segment of consecutive rows with an associative operator.
///
///     y[i] = x[row_splits[s]] op ... op x[i]         # for each row i of each segment s
///
/// Operator  as in associative_scan.
/// Shapes    xs [N, ...], or a std::tuple of tensors of one shape; row_splits [S + 1], from 0 to N, not
///           decreasing. The results have the shape of xs. Any layout, lazy expressions too.
/// Types     as in associative_scan; row_splits of any integers, those of std::size_t's size are not copied.
/// Options   reverse (false), exclusive (false): in each segment.
/// Policy    serial, or one with threads (tbb_policy), each of which has whole segments. Results are
///           bitwise equal to those of serial.
/// Errors    before the first write: those of associative_scan; index_error (row_splits that are none).
///           Exceptions of the operator propagate; results are then unspecified.
/// Order     that of associative_scan over each segment: bits depend on the rows of the segment alone.
/// Cost      one pass over x and y.
/// Source    Blelloch 1990, "Prefix sums and their applications", section 1.5; cub::DeviceScan, by key.
/// Example
/// ```cpp
/// xt::xtensor<int, 1> const x = {1, 2, 3, 4, 5}, row_splits = {0, 2, 5};
/// xloom::segment_scan(xloom::reduction::add, x, row_splits); // = [1, 3, 3, 7, 12]
/// xloom::segment_scan(xloom::reduction::add, x, row_splits, {.exclusive = true}); // = [0, 1, 0, 3, 7]
/// ```
template <class Op, class Xs, class Splits, class Policy = serial_policy>
auto segment_scan(Op&& op, Xs const& xs, Splits const& row_splits, segment_scan_options const& options = {},
    Policy const& policy = {})
{
    if constexpr (detail::is_valid_segment_scan<std::remove_reference_t<Op>, Xs, Splits, Policy>())
        return detail::segment_scan("xloom::segment_scan", op, xs, row_splits, options, policy);
    else
        return detail::owned_t<Xs>(); // a value, so that one mistake gives one error
}

/// Rejects another argument in the place of the options.
template <class Op, class Xs, class Splits, detail::other_than<segment_scan_options> Other, class... More>
auto segment_scan(Op const&, Xs const&, Splits const&, Other const&, More const&...)
{
    static_cast<void>(detail::is_valid_segment_scan<Op, Xs, Splits, segment_scan_options>());
    return detail::owned_t<Xs>();
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
template <class Op, class Xs, class Splits, class Ys, class Policy = serial_policy>
void segment_scan_into(Op&& op, Xs const& xs, Splits const& row_splits, Ys&& ys,
    segment_scan_options const& options = {}, Policy const& policy = {})
{
    if constexpr (detail::is_valid_segment_scan_into<std::remove_reference_t<Op>, Xs, Splits, Ys, Policy>())
        detail::segment_scan_into("xloom::segment_scan_into", op, xs, row_splits, ys, options, policy);
}

/// Rejects another argument in the place of the options.
template <class Op, class Xs, class Splits, class Ys, detail::other_than<segment_scan_options> Other,
    class... More>
void segment_scan_into(Op const&, Xs const&, Splits const&, Ys const&, Other const&, More const&...)
{
    static_cast<void>(detail::is_valid_segment_scan<Op, Xs, Splits, segment_scan_options>());
}

} // namespace xloom::inline XLOOM_ABI
