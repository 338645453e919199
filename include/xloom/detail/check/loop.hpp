#pragma once
// The options of Loop, and its requirements: its termination conditions, and the lengths of its outputs.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include <xloom/detail/check/scan.hpp>
#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/stop_token.hpp>

namespace xloom::inline XLOOM_ABI {

/// The conditions that end a loop. ONNX's omitted inputs are std::nullopt.
struct loop_options {
    std::optional<std::int64_t> max_trip_count{}; ///< maximum number of iterations; negative counts as 0
    std::optional<bool> cond =
        true; ///< tested before each iteration; std::nullopt: true, and the body's condition is ignored
    stop_token stop{}; ///< polled before each iteration
};

} // namespace xloom::inline XLOOM_ABI

namespace xloom::inline XLOOM_ABI::detail {

/// Returns the largest number of iterations: max_trip_count, 0 if it is negative, the largest integer if it
/// is absent.
///
/// Errors    option_error: a loop that cannot end, with no trip count, no condition and no stop state.
/// Source    ONNX Loop-25: without M and cond the loop never ends, and the body's cond is ignored.
constexpr std::int64_t check_loop(std::string_view op, std::optional<std::int64_t> max_trip_count,
    std::optional<bool> cond, bool can_be_stopped)
{
    if (!max_trip_count && !cond && !can_be_stopped)
        fail<option_error>(op, ": a loop must be able to end, but max_trip_count and cond are both "
                               "absent and options.stop can never be requested. Give one of them.");
    if (!max_trip_count)
        return (std::numeric_limits<std::int64_t>::max)();
    return *max_trip_count < 0 ? 0 : *max_trip_count;
}
inline std::int64_t check_loop(std::string_view op, loop_options const& options)
{
    return check_loop(op, options.max_trip_count, options.cond, options.stop.stop_possible());
}

/// Returns the length of the leading axis, at most the largest integer.
constexpr std::int64_t room_of(shape const& dims) { return saturating_cast<std::int64_t>(dims[0]); }

/// Lists the outputs whose leading axis is shorter than `needed` iterations.
inline fact_list describe_room(std::span<shape const> outputs, std::int64_t needed)
{
    fact_list full;
    for (std::size_t i = 0; i < outputs.size(); ++i)
        if (room_of(outputs[i]) < needed)
            full.add("scan_outputs[", i, "] has room for ", outputs[i][0]);
    return full;
}

/// Throws shape_error for an iteration whose results do not fit into the outputs.
[[noreturn]] inline void fail_full(
    std::string_view op, std::span<shape const> outputs, std::int64_t iteration)
{
    fail<shape_error>(op, ": a scan output must have room for every iteration, but ",
        describe_room(outputs, iteration + 1), " and the loop continues at iteration ", iteration,
        ". Give it a longer leading axis.");
}

/// Returns the number of iterations whose results fit into all outputs along axis 0; the largest integer
/// without outputs.
///
/// Errors    shape_error: rank 0; axis 0 shorter than `needed`, the guaranteed number of iterations.
constexpr std::int64_t check_loop_outputs(
    std::string_view op, std::span<shape const> outputs, std::int64_t needed)
{
    check_time_axes(op, "scan_outputs", outputs, "scan_output_axes", {});
    std::int64_t room = (std::numeric_limits<std::int64_t>::max)();
    for (shape const& dims : outputs)
        room = (std::min)(room, room_of(dims));
    if (room < needed)
        fail<shape_error>(op, ": a scan output must have room for every iteration, but ",
            describe_room(outputs, needed), " and there will be ", needed,
            ". Give it a longer leading axis.");
    return room;
}

} // namespace xloom::inline XLOOM_ABI::detail
