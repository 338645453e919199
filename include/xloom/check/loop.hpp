#pragma once
// Loop's own law: which of its conditions may be left out, and how many iterations there may be.

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include <xloom/core/error.hpp>
#include <xloom/core/shape.hpp>

namespace xloom {

/// The largest number of iterations: max_trip_count, 0 for a negative one, the largest integer for none.
///
/// Errors    option_error: neither a trip count nor a condition nor a way to stop the loop from outside.
/// Source    ONNX Loop-25: without M and cond the loop never ends, and the body's cond is ignored.
constexpr std::int64_t check_loop(
    std::string_view op, std::optional<std::int64_t> max_trip_count, std::optional<bool> cond, bool can_be_stopped)
{
    if (!max_trip_count && !cond && !can_be_stopped)
        detail::fail<option_error>(
            op, ": a loop must be able to end, but max_trip_count and cond are both absent and stop has no state. Give one of them.");
    if (!max_trip_count)
        return std::numeric_limits<std::int64_t>::max();
    return *max_trip_count < 0 ? 0 : *max_trip_count;
}

/// How many iterations output i has room for, along axis 0.
///
/// Errors    shape_error: rank 0; less room than `needed`, the iterations that are certain to come.
constexpr std::int64_t check_loop_output(std::string_view op, std::size_t i, shape const& dims, std::int64_t needed)
{
    if (dims.empty())
        detail::fail<shape_error>(op, ": a scan output must have a leading axis to write along, but scan_outputs[", i, "] has rank 0.");
    auto const room = static_cast<std::int64_t>(dims[0]);
    if (room < needed)
        detail::fail<shape_error>(op, ": a scan output must have room for every iteration, but scan_outputs[", i, "] has room for ", room,
            " and there will be ", needed, ".");
    return room;
}

} // namespace xloom
