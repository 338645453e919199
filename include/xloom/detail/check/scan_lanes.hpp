#pragma once
// Shape requirements of scans whose sequences are lanes.

#include <optional>
#include <span>
#include <string_view>

#include <xloom/detail/check/scan_batched.hpp>
#include <xloom/detail/core/scan_lanes_options.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The axis of the sequences, and the other one of an operand of rank 2.
struct lane_axes {
    std::size_t batch, other;
};

/// The shapes of the operands of a call, and their names in errors.
struct lane_shapes {
    std::string_view states_name;
    std::span<shape const> states, inputs, outputs;
    std::string_view inputs_name = "scan_inputs", outputs_name = "scan_outputs";
};

/// Calls f(name, i, dims) for every operand.
template <class F>
constexpr void for_each_operand(lane_shapes const& of, F const& f)
{
    auto const each = [&](std::string_view name, std::span<shape const> operands) {
        for (std::size_t i = 0; i < operands.size(); ++i)
            f(name, i, operands[i]);
    };
    each(of.states_name, of.states);
    each(of.inputs_name, of.inputs);
    each(of.outputs_name, of.outputs);
}

/// Lists the sizes of operands along axis_of(name, dims), if they have one: all of them, or of more than an
/// error text lists the first one and those that differ from it.
template <class AxisOf>
fact_list describe_sizes(lane_shapes const& of, AxisOf const& axis_of)
{
    bool const is_each_listed = are_all_listed(of.states.size() + of.inputs.size() + of.outputs.size());
    std::optional<std::size_t> first;
    fact_list sizes;
    for_each_operand(of, [&](std::string_view name, std::size_t i, shape const& dims) {
        std::optional<std::size_t> const axis = axis_of(name, dims);
        if (axis && (is_each_listed || !first || dims[*axis] != *first))
            sizes.add(name, "[", i, "] has ", dims[*axis], " (axis ", *axis, " of ", dims, ")");
        if (axis && !first)
            first = dims[*axis];
    });
    return sizes;
}

/// Returns the common size of all operands along axis_of(name, dims), without those for which it is
/// std::nullopt.
///
/// Errors    shape_error: the sizes are not equal; `rule` says that they must be.
template <class AxisOf>
constexpr std::optional<std::size_t> common_size(std::string_view op, lane_shapes const& of,
    std::string_view rule, std::string_view remedy, AxisOf const& axis_of)
{
    std::optional<std::size_t> common;
    bool agree = true;
    for_each_operand(of, [&](std::string_view name, std::size_t, shape const& dims) {
        if (std::optional<std::size_t> const axis = axis_of(name, dims)) {
            agree = agree && dims[*axis] == common.value_or(dims[*axis]);
            common = dims[*axis];
        }
    });
    if (!agree)
        fail<shape_error>(op, rule, describe_sizes(of, axis_of), remedy);
    return common;
}

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
constexpr std::size_t check_loop_lanes(std::string_view op, lane_shapes const& of)
{
    return *common_size(op, of, ": all operands must have the same number of sequences, but ",
        ". Cut them to the same sequences.",
        [](std::string_view, shape const&) { return std::optional<std::size_t>(0); });
}

/// Requires that inputs have one or two axes, and outputs two.
///
/// Errors    shape_error
constexpr void check_lane_ranks(std::string_view op, lane_shapes const& of)
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
    std::string_view op, lane_shapes const& of, scan_lanes_options const& options)
{
    check_count(op, of.inputs.size(), "scan inputs");
    check_count(op, of.outputs.size(), "scan outputs");
    check_lane_ranks(op, of);
    lane_axes const along = check_batch_axis(op, options);
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

} // namespace xloom::inline XLOOM_ABI::detail
