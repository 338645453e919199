#pragma once
// The law of Scan-8 on concrete shapes: axis 0 is the batch, axis 1 of inputs and outputs is time.

#include <xloom/check/scan.hpp>

namespace xloom {

/// How Scan-8 walks. It has no axes to choose, and no direction for its outputs.
struct scan_batched_options {
    scan_directions input_directions{};  ///< empty: forward, for every input
    std::optional<std::size_t> length{}; ///< the longest sequence T; needed only without scan inputs
};

/// N and T of a batched scan.
struct batch_extent {
    std::size_t batch = 0;
    std::size_t length = 0;
};

namespace detail {

/// Merges the batch axis of an operand into what the operands before it said.
constexpr void merge_batch(std::string_view op, std::string_view name, std::size_t i, shape const& dims, std::optional<std::size_t>& batch)
{
    if (dims.empty())
        fail<shape_error>(op, ": axis 0 of every operand is the batch, but ", name, "[", i, "] has rank 0.");
    if (batch && *batch != dims[0])
        fail<shape_error>(op, ": all operands must have the same batch size, but ", name, "[", i, "] has ", dims[0],
            " rows and the operands before it ", *batch, ".");
    batch = dims[0];
}

} // namespace detail

/// Errors    option_error: number of directions; no inputs and no length.  shape_error: ranks, unequal batch sizes or sequence lengths.
/// Source    ONNX Scan-8.
constexpr batch_extent check_scan_batched(
    std::string_view op, std::span<shape const> states, std::span<shape const> inputs, scan_batched_options const& options)
{
    detail::check_entries(op, "input_directions", options.input_directions, inputs.size(), "scan inputs");
    detail::check_directions(op, "input_directions", options.input_directions);
    std::optional<std::size_t> batch;
    std::optional<std::size_t> length = options.length;
    for (std::size_t i = 0; i < states.size(); ++i)
        detail::merge_batch(op, "init", i, states[i], batch);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        detail::merge_batch(op, "scan_inputs", i, inputs[i], batch);
        if (inputs[i].size() < 2)
            detail::fail<shape_error>(
                op, ": axis 1 of a scan input is its sequence, but scan_inputs[", i, "] has the shape ", inputs[i], ".");
        if (length && *length != inputs[i][1])
            detail::fail<shape_error>(op, ": all scan inputs must have the same sequence length, but scan_inputs[", i, "] has ",
                inputs[i][1], " (axis 1 of ", inputs[i], ") and ", i == 0 ? "options.length" : "the inputs before it", " ", *length, ".");
        length = inputs[i][1];
    }
    if (!batch)
        detail::fail<option_error>(op, ": the batch size comes from the operands, but there are no states and no scan inputs.");
    if (!length)
        detail::fail<option_error>(op, ": without scan inputs the sequence length must be given, but options.length is empty.");
    return {*batch, *length};
}

/// Errors    shape_error: not one length for each row.  index_error: a length outside [0, T].
constexpr void check_sequence_lens(std::string_view op, shape const& dims, std::span<std::int64_t const> lens, batch_extent extent)
{
    if (dims != shape{extent.batch})
        detail::fail<shape_error>(
            op, ": sequence_lens must have one entry for each of the ", extent.batch, " rows, but its shape is ", dims, ".");
    for (std::size_t b = 0; b < lens.size(); ++b)
        if (lens[b] < 0 || static_cast<std::uint64_t>(lens[b]) > extent.length)
            detail::fail<index_error>(
                op, ": a sequence length must lie in [0, ", extent.length, "], but sequence_lens[", b, "] is ", lens[b], ".");
}

} // namespace xloom
