#pragma once
// Options and shape requirements of scans whose sequences are lanes.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <xloom/detail/check/scan_batched.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of a scan whose sequences are lanes.
struct scan_lanes_options {
    std::int64_t batch_axis = 0;         ///< the axis of the sequences in every operand of rank 2: 0 or 1
    std::optional<std::size_t> length{}; ///< the longest sequence T; required only without inputs [N, T]
};

} // namespace xloom::inline XLOOM_ABI

namespace xloom::inline XLOOM_ABI::detail {

/// The axis of the sequences, and the other one of an operand of rank 2.
struct lane_axes {
    std::size_t batch, other;
};

/// Returns the axes that options.batch_axis names.
///
/// Errors    option_error
constexpr lane_axes check_batch_axis(std::string_view op, scan_lanes_options const& options)
{
    if (!is_axis(options.batch_axis, 2))
        fail<option_error>(op, ": batch_axis must be an axis of operands of rank 2, in [-2, 1], but it is ",
            options.batch_axis, ". Name one of the two axes.");
    std::size_t const batch = wrap_axis(options.batch_axis, 2);
    return {batch, 1 - batch};
}

/// Returns N of states, parameters and trip counts [N] of a loop whose sequences are lanes; at least one.
///
/// Errors    shape_error: other numbers of sequences.
constexpr std::size_t check_loop_lanes(std::string_view op, operand_shapes const& of)
{
    return *common_size(op, of, ": all operands must have the same number of sequences, but ",
        ". Cut them to the same sequences.",
        [](std::string_view, shape const&) { return std::optional<std::size_t>(0); });
}

/// Requires that inputs have one or two axes, and outputs two.
///
/// Errors    shape_error
constexpr void check_lane_ranks(std::string_view op, operand_shapes const& of)
{
    auto const is_input = [&](std::size_t i) { return of.inputs[i].size() == 1 || of.inputs[i].size() == 2; };
    auto const is_output = [&](std::size_t i) { return of.outputs[i].size() == 2; };
    if (!are_all_right(of.inputs.size(), is_input))
        fail<shape_error>(op,
            ": a scan input must have rank 2, or rank 1 as a parameter of each sequence, but ",
            facts_of_shapes("scan_inputs", of.inputs, is_input), ". Give it one or two axes.");
    if (!are_all_right(of.outputs.size(), is_output))
        fail<shape_error>(op, ": a scan output must have rank 2, but ",
            facts_of_shapes("scan_outputs", of.outputs, is_output), ". Give it two axes.");
}

/// The sizes of a call, and the axis of the sequences in operands of rank 2.
struct lane_extent {
    batch_extent extent;
    std::size_t batch_axis;
};

/// Checks the operands and options, and returns N, T and the axis. Requires states of rank 1 or 2.
///
/// Errors    option_error: more than max_operands; the batch axis; no operands; no length or another one than
///           that of the operands. shape_error: ranks, other numbers of sequences, or lengths.
constexpr lane_extent check_scan_lanes(
    std::string_view op, operand_shapes const& of, scan_lanes_options const& options)
{
    check_count(op, of.inputs.size(), "scan inputs");
    check_count(op, of.outputs.size(), "scan outputs");
    check_lane_ranks(op, of);
    lane_axes const along = check_batch_axis(op, options);
    check_given_length(op, options.length);
    std::optional<std::size_t> const N =
        common_size(op, of, ": all operands must have the same number of sequences, but ",
            ". Cut them to the same sequences, or name another batch_axis.",
            [&](std::string_view, shape const& dims) {
                return std::optional(dims.size() == 1 ? 0 : along.batch);
            });
    std::optional<std::size_t> const T =
        common_size(op, of, ": all inputs and outputs must have the same sequence length, but ",
            ". Cut them to one length.", [&](std::string_view name, shape const& dims) {
                bool const has_time = name != of.states_name && dims.size() == 2;
                return has_time ? std::optional(along.other) : std::nullopt;
            });
    if (!N)
        fail<option_error>(
            op, ": the number of sequences comes from the operands, but there are none. Give one.");
    if (!T && !options.length)
        fail<option_error>(op,
            ": without operands along time the sequence length must be given, but options.length is empty. "
            "Set it.");
    if (T && options.length && *options.length != *T)
        fail<option_error>(op, ": options.length must be the operands' sequence length, but it is ",
            *options.length, " and they have ", *T, ". Leave it empty.");
    return {{*N, T ? *T : *options.length}, along.batch};
}

/// Requires a cotangent of the shape of each state, if there are any.
///
/// Errors    shape_error
inline void check_ct_states(std::string_view op, std::span<shape const> cotangents, std::size_t N)
{
    auto const is_right = [&](std::size_t i) { return cotangents[i] == shape{N}; };
    if (!are_all_right(cotangents.size(), is_right))
        fail<shape_error>(op, ": the cotangent of a state must have its shape, ", shape{N}, ", but ",
            facts_of_shapes("ct_states", cotangents, is_right), ". Give it that shape.");
}

} // namespace xloom::inline XLOOM_ABI::detail
