#pragma once
// Shape requirements of parallel scans and linear recurrences: operands and results of one shape, which has
// the scanned axis.

#include <cstdint>
#include <span>
#include <string_view>

#include <xloom/detail/check/overlap.hpp>
#include <xloom/detail/check/shapes.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/shape.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Checks the shapes of a parallel scan and returns its axis, counted from the front.
///
/// Errors    shape_error: rank 0, an axis out of range, unequal shapes.
inline std::size_t check_scanned_axis(
    std::string_view op, std::span<operand_memory const> operands, std::int64_t axis)
{
    operand_memory const& first = operands.front();
    if (first.dims().empty())
        fail<shape_error>(op, ": ", first.name(),
            " must have at least one axis, but it has rank 0. Give it an axis for the scan.");
    std::size_t const along = check_axis_option(op, first.name(), first.dims(), axis);
    for (operand_memory const& operand : operands)
        if (operand.dims() != first.dims())
            fail<shape_error>(op, ": all operands must have the same shape, but ", first.name(), " has ",
                first.dims(), " and ", operand.name(), " has ", operand.dims(), ". Give them one shape.");
    return along;
}

/// Requires that h0 is a single number, or has the shape of the others without the axis of time.
///
/// Errors    shape_error
inline void check_initial_state(
    std::string_view op, operand_memory const& h0, shape const& dims, std::size_t axis)
{
    shape const expected = drop_axis(dims, axis);
    if (!h0.dims().empty() && h0.dims() != expected)
        fail<shape_error>(op, ": ", h0.name(),
            " must be a number or have the shape of a without the axis of time, ", expected, ", but it has ",
            h0.dims(), ". Give it that shape.");
}

} // namespace xloom::inline XLOOM_ABI::detail
