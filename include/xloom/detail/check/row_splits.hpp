#pragma once
// Shape requirements of ragged operands: rows that are divided into segments by row_splits.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <xloom/detail/check/associative_scan.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Requires row_splits of the shape [S + 1].
///
/// Errors    shape_error
inline void check_row_splits_shape(std::string_view op, shape const& dims)
{
    if (dims.size() != 1 || dims[0] == 0)
        fail<shape_error>(op, ": row_splits must have the shape [S + 1] for S segments, but it is ", dims,
            ". Begin with 0, then say where each segment ends.");
}

/// True if the splits begin with 0, do not decrease, and end with the number of rows.
inline bool are_row_splits(std::span<std::size_t const> splits, std::size_t rows)
{
    bool are_sorted = true;
    for (std::size_t s = 1; s < splits.size(); ++s)
        are_sorted = are_sorted & (splits[s - 1] <= splits[s]);
    return are_sorted && splits.front() == 0 && splits.back() == rows;
}

/// Throws for splits that are none; text(s) is split s as it was given.
///
/// Errors    index_error
template <class Text>
[[noreturn]] void fail_row_splits(
    std::string_view op, std::span<std::size_t const> splits, std::size_t rows, Text const& text)
{
    fact_list wrong;
    if (splits.front() != 0)
        wrong.add("row_splits[0] is ", text(0));
    for (std::size_t s = 1; s < splits.size(); ++s)
        if (splits[s] > rows) // a negative one too
            wrong.add("row_splits[", s, "] is ", text(s));
        else if (splits[s - 1] <= rows && splits[s - 1] > splits[s])
            wrong.add("row_splits[", s, "] is ", text(s), " after ", text(s - 1));
    if (splits.back() < rows)
        wrong.add("row_splits[", splits.size() - 1, "] is ", text(splits.size() - 1));
    fail<index_error>(op,
        ": row_splits must begin with 0, not decrease, and end with the number of rows of the values, ", rows,
        ", but ", wrong,
        ". Correct it; for some of the rows pass a view of them, and row_splits less the "
        "first one. Ids of segments become row_splits by xloom::row_splits_of.");
}

/// Requires segment_ids of rank 1.
///
/// Errors    shape_error
inline void check_segment_ids_shape(std::string_view op, shape const& dims)
{
    if (dims.size() != 1)
        fail<shape_error>(
            op, ": segment_ids must have the shape [N], but it is ", dims, ". Give one id for each row.");
}

/// Throws for segment_ids[n], which is outside [0, num_segments) or less than the one before it.
///
/// Errors    index_error
template <class At>
[[noreturn]] void fail_segment_id(std::string_view op, std::size_t n, At const& at, std::size_t num_segments)
{
    fail<index_error>(op, ": segment ids must not decrease and be in [0, num_segments) = [0, ", num_segments,
        "), but segment_ids[", n, "] is ", at(n), n == 0 ? std::string() : concat(" after ", at(n - 1)),
        ". Sort the rows, or use scatter_nd, which takes ids in any order.");
}

/// Requires that an operand of a segmented operator has as many rows as the others.
inline std::size_t check_segmented_rows(std::string_view op, std::span<scan_operand const> operands)
{
    check_scanned_axis(op, operands, 0);
    return operands.front().dims()[0];
}

/// Requires results of the shape [S, ...], where the values have [N, ...].
///
/// Errors    shape_error
inline void check_segment_results(
    std::string_view op, shape const& values, std::size_t segments, std::span<scan_operand const> results)
{
    shape expected = values;
    expected[0] = segments;
    for (scan_operand const& result : results)
        if (result.dims() != expected)
            fail<shape_error>(op, ": there is one result for each segment, so ", result.name,
                " must have the shape ", expected, ", but it is ", result.dims(), ". Resize it.");
}

/// Requires that no result overlaps row_splits, which are read while results are written.
///
/// Errors    overlap_error
inline void check_splits_memory(
    std::string_view op, memory_block const& splits, std::span<scan_operand const> results)
{
    for (scan_operand const& result : results)
        check_no_overlap(op, result, {"row_splits", splits});
}

/// Requires that every result of a reduction of segments has memory of its own.
///
/// Errors    overlap_error
inline void check_segment_memory(std::string_view op, std::span<scan_operand const> inputs,
    memory_block const& splits, std::span<scan_operand const> results)
{
    check_scan_memory(op, {}, results);
    check_splits_memory(op, splits, results);
    for (scan_operand const& result : results)
        for (scan_operand const& input : inputs)
            check_no_overlap(op, result, input);
}

} // namespace xloom::inline XLOOM_ABI::detail
