#pragma once
// Requirements of row_splits and segment_ids, and of the operands and results of segments.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <xloom/detail/check/overlap.hpp>
#include <xloom/detail/check/prefix.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/shape.hpp>

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
    std::size_t descents = 0; // a sum, which is vectorized
    for (std::size_t s = 1; s < splits.size(); ++s)
        descents += splits[s - 1] > splits[s] ? 1 : 0;
    return descents == 0 && splits.front() == 0 && splits.back() == rows;
}

/// Throws for splits that do not begin with 0, end with the number of rows and ascend; text(s) is split s as
/// it was given.
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

/// Requires that the operands of a segmented operator have equal shapes, and returns their number of rows.
inline std::size_t check_segmented_rows(std::string_view op, std::span<operand_memory const> operands)
{
    check_scanned_axis(op, operands, 0);
    return operands.front().dims()[0];
}

/// Requires results of the shape [S, ...], where the values have [N, ...].
///
/// Errors    shape_error
inline void check_segment_results(
    std::string_view op, shape const& values, std::size_t segments, std::span<operand_memory const> results)
{
    shape expected = values;
    expected[0] = segments;
    for (operand_memory const& result : results)
        if (result.dims() != expected)
            fail<shape_error>(op, ": there is one result for each segment, so ", result.name(),
                " must have the shape ", expected, ", but it is ", result.dims(), ". Resize it.");
}

} // namespace xloom::inline XLOOM_ABI::detail
