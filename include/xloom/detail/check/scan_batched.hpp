#pragma once
// The options of Scan-8, and shape requirements of scans over rows: of Scan-8, where axis 0 is the batch and
// axis 1 of inputs and outputs is time, and of scans over the segments of ragged rows.

#include <optional>
#include <span>
#include <string_view>

#include <xloom/detail/check/operand_shapes.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of Scan-8, which has neither axes nor output directions to choose.
struct scan_batched_options {
    directions scan_input_directions{};  ///< empty: forward, for every input
    std::optional<std::size_t> length{}; ///< the longest sequence T; required only without scan inputs
};

} // namespace xloom::inline XLOOM_ABI

namespace xloom::inline XLOOM_ABI::detail {

/// The batch size N and the sequence length T of a batched scan.
struct batch_extent {
    std::size_t batch = 0;
    std::size_t length = 0;
};

/// Requires that states have a batch axis, and scan inputs a batch and a sequence axis.
constexpr void check_batch_ranks(std::string_view op, operand_shapes const& of)
{
    auto const is_state = [&](std::size_t i) { return !of.states[i].empty(); };
    auto const is_input = [&](std::size_t i) { return of.inputs[i].size() >= 2; };
    if (!are_all_right(of.states.size(), is_state) || !are_all_right(of.inputs.size(), is_input))
        fail<shape_error>(op,
            ": axis 0 of every operand must be the batch and axis 1 of a scan input its sequence, but ",
            facts_of_shapes(
                of.inputs_name, of.inputs, is_input, facts_of_shapes(of.states_name, of.states, is_state)),
            ". Give it the axes, of size 1 if need be.");
}

/// Checks the operands and options of Scan-8 and returns N and T. `state_name` is the states' name in errors.
///
/// Errors    option_error: more than max_operands; number of directions; an invalid direction; no operands;
///           no length or another one than that of the inputs. shape_error: ranks, unequal batch sizes or
///           sequence lengths.
/// Source    ONNX Scan-8.
constexpr batch_extent check_scan_batched(std::string_view op, std::string_view state_name,
    std::span<shape const> states, std::span<shape const> inputs, scan_batched_options const& options)
{
    check_count(op, inputs.size(), "scan inputs");
    check_entries(op, "scan_input_directions", options.scan_input_directions, inputs.size(), "scan inputs");
    check_directions(op, "scan_input_directions", options.scan_input_directions);
    operand_shapes const of{state_name, states, inputs, {}};
    check_batch_ranks(op, of);
    std::optional<std::size_t> const batch = common_size(op, of,
        ": all operands must have the same batch size, but ", ". Cut them to the same rows.",
        [](std::string_view, shape const&) { return std::optional<std::size_t>(0); });
    if (!batch)
        fail<option_error>(op, ": the batch size comes from the operands, but there are no states "
                               "and no scan inputs. Give one of them.");

    return {*batch, check_length(op, inputs, axes(inputs.size(), 1), options.length, "sequence length",
                        ". Pad them, and say in sequence_lens how long each row is.")};
}

/// Requires that outputs that are written in place are [N, T, ...].
///
/// Errors    option_error: more than max_operands. shape_error: another batch size or length.
constexpr void check_batch_outputs(std::string_view op, std::span<shape const> outputs, batch_extent extent)
{
    check_count(op, outputs.size(), "scan outputs");
    auto const has_extent = [&](std::size_t k) {
        shape const& dims = outputs[k];
        return dims.size() >= 2 && dims[0] == extent.batch && dims[1] == extent.length;
    };
    if (!are_all_right(outputs.size(), has_extent))
        fail<shape_error>(op,
            ": axes 0 and 1 of every scan output must be the batch and the sequence, [N, T] = [",
            extent.batch, ", ", extent.length, "], but ",
            facts_of_shapes("scan_outputs", outputs, has_extent),
            ". Give it an element for each iteration of each row.");
}

/// Requires that every state has one row for each segment.
///
/// Errors    shape_error
inline void check_segment_states(
    std::string_view op, std::string_view name, std::span<shape const> states, std::size_t segments)
{
    auto const has_segments = [&](std::size_t i) { return !states[i].empty() && states[i][0] == segments; };
    if (!are_all_right(states.size(), has_segments))
        fail<shape_error>(op, ": axis 0 of a state must be the segments, of which row_splits has ", segments,
            ", but ", facts_of_shapes(name, states, has_segments), ". Give it a row for each segment.");
}

} // namespace xloom::inline XLOOM_ABI::detail
