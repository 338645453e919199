#pragma once
// Shape requirements of linear recurrences.

#include <string_view>

#include <xloom/detail/check/associative_scan.hpp>

namespace xloom::inline XLOOM_ABI::detail {

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
