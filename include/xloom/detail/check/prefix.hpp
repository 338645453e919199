#pragma once
// Shape requirements of parallel scans and linear recurrences: operands and results of one shape, which has
// the scanned axis.

#include <cstdint>
#include <span>
#include <string_view>

#include <xloom/detail/check/overlap.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/shape.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// An operand of a parallel scan: its name, such as "xs" or "h", and its number if there are several.
struct scan_operand {
    std::string_view name;
    memory_block memory;

    shape const& dims() const { return memory.layout.dims; }
};

/// Checks the shapes of a parallel scan and returns its axis, counted from the front.
///
/// Errors    shape_error: rank 0, an axis out of range, unequal shapes.
inline std::size_t check_scanned_axis(
    std::string_view op, std::span<scan_operand const> operands, std::int64_t axis)
{
    scan_operand const& first = operands.front();
    std::size_t const rank = first.dims().size();
    if (rank == 0)
        fail<shape_error>(op, ": ", first.name,
            " must have at least one axis, but it has rank 0. Give it an axis for the scan.");
    if (!is_axis(axis, rank))
        fail<shape_error>(op, ": an axis of a tensor of rank r must be in [-r, r - 1], but options.axis is ",
            axis, " for ", first.name, " of the shape ", first.dims(), ". Name an axis that the tensor has.");
    for (scan_operand const& operand : operands)
        if (operand.dims() != first.dims())
            fail<shape_error>(op, ": all operands must have the same shape, but ", first.name, " has ",
                first.dims(), " and ", operand.name, " has ", operand.dims(), ". Give them one shape.");
    return wrap_axis(axis, rank);
}

/// Requires that no result shares memory with another one, or with an input that is not the same tensor.
///
/// Errors    overlap_error: also a result whose own items share memory.
inline void check_scan_memory(
    std::string_view op, std::span<scan_operand const> inputs, std::span<scan_operand const> results)
{
    for (std::size_t i = 0; i < results.size(); ++i) {
        check_unique(op, results[i].name, results[i].memory.layout, "Write to a container instead.");
        for (std::size_t j = i + 1; j < results.size(); ++j)
            if (overlap(results[i].memory, results[j].memory))
                fail<overlap_error>(op, ": every result must have memory of its own, but ", results[i].name,
                    " overlaps ", results[j].name, ". Write to another tensor.");
        for (scan_operand const& input : inputs)
            if (overlap(results[i].memory, input.memory) && !is_same_memory(results[i].memory, input.memory))
                fail<overlap_error>(op,
                    ": a result must have memory of its own, or be the tensor of an input, but ",
                    results[i].name, " overlaps ", input.name, ". Copy one of the two.");
    }
}

/// Requires that a result shares no memory with an operand that is read again after it is written.
///
/// Errors    overlap_error
inline void check_no_overlap(std::string_view op, scan_operand const& result, scan_operand const& operand)
{
    if (overlap(result.memory, operand.memory))
        fail<overlap_error>(op, ": ", result.name, " must share no memory with ", operand.name,
            ", but it does. Copy one of the two.");
}

/// Requires that h0 is a single number, or has the shape of the others without the axis of time.
///
/// Errors    shape_error
inline void check_initial_state(
    std::string_view op, scan_operand const& h0, shape const& dims, std::size_t axis)
{
    shape const expected = drop_axis(dims, axis);
    if (!h0.dims().empty() && h0.dims() != expected)
        fail<shape_error>(op, ": ", h0.name,
            " must be a number or have the shape of a without the axis of time, ", expected, ", but it has ",
            h0.dims(), ". Give it that shape.");
}

} // namespace xloom::inline XLOOM_ABI::detail
