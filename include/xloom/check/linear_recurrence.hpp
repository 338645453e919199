#pragma once
// Shape requirements of linear recurrences.

#include <string_view>

#include <xloom/check/associative_scan.hpp>

namespace xloom::detail {

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

/// Requires that a result shares no memory with an operand that is read again after it is written.
///
/// Errors    overlap_error
inline void check_no_overlap(std::string_view op, scan_operand const& result, scan_operand const& operand)
{
    if (overlap(result.memory, operand.memory))
        fail<overlap_error>(op, ": ", result.name, " must share no memory with ", operand.name,
            ", but it does. Copy one of the two.");
}

} // namespace xloom::detail
