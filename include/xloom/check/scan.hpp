#pragma once
// Scan's own law on concrete shapes, and the options that it reads.

#include <optional>
#include <span>
#include <string_view>

#include <xloom/core/shape.hpp>

namespace xloom {

enum class scan_direction { forward, reverse };

using scan_directions = static_vector<scan_direction, max_operands>;

/// How Scan walks. An empty list means: axis 0, forward, for every input or output; otherwise a list has one entry for each.
struct scan_options {
    axes input_axes{};                   ///< the axis of each scan input that is time; negative counts from the back
    axes output_axes{};                  ///< the axis of each scan output (rank = element rank + 1) that is time
    scan_directions input_directions{};  ///< reverse: iteration t sees element T-1-t
    scan_directions output_directions{}; ///< reverse: iteration t writes element T-1-t
    std::optional<std::size_t> length{}; ///< the number of iterations T; needed only without scan inputs
};

namespace detail {

constexpr std::int64_t axis_option(axes const& list, std::size_t i) { return list.empty() ? 0 : list[i]; }

constexpr bool is_reverse(scan_directions const& list, std::size_t i) { return !list.empty() && list[i] == scan_direction::reverse; }

template <class List>
constexpr void check_entries(std::string_view op, std::string_view option, List const& list, std::size_t operands, std::string_view of)
{
    if (!list.empty() && list.size() != operands)
        fail<option_error>(
            op, ": ", option, " must be empty or have one entry for each of the ", operands, " ", of, ", but it has ", list.size(), ".");
}

constexpr void check_directions(std::string_view op, std::string_view option, scan_directions const& list)
{
    for (std::size_t i = 0; i < list.size(); ++i)
        if (list[i] != scan_direction::forward && list[i] != scan_direction::reverse)
            fail<option_error>(
                op, ": a direction must be forward (0) or reverse (1), but ", option, "[", i, "] is ", static_cast<int>(list[i]), ".");
}

/// The time axis of operand `name`[i], counted from the front.
constexpr std::size_t check_time_axis(
    std::string_view op, std::string_view name, std::size_t i, shape const& dims, std::string_view option, std::int64_t axis)
{
    if (dims.empty())
        fail<shape_error>(op, ": an operand of ", name, " must have an axis to walk along, but ", name, "[", i, "] has rank 0.");
    if (!is_axis(axis, dims.size()))
        fail<shape_error>(op, ": an axis of a tensor of rank ", dims.size(), " must lie in [-", dims.size(), ", ", dims.size() - 1,
            "], but ", option, "[", i, "] is ", axis, " and ", name, "[", i, "] has the shape ", dims, ".");
    return wrap_axis(axis, dims.size());
}

/// All lengths of the scan inputs, for the one who has to find the wrong one.
inline std::string describe_lengths(std::span<shape const> inputs, axes const& input_axes)
{
    std::string text;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        std::size_t const axis = wrap_axis(axis_option(input_axes, i), inputs[i].size());
        text += concat(i == 0                   ? ""
                       : i + 1 == inputs.size() ? " and "
                                                : ", ",
            "scan_inputs[", i, "] has ", inputs[i][axis], " (axis ", axis, " of ", inputs[i], ")");
    }
    return text;
}

} // namespace detail

/// The number of iterations T of a Scan over inputs of these shapes.
///
/// Errors    option_error: numbers of axes or directions; no inputs and no length.  shape_error: rank 0, an axis out of range, unequal
/// lengths. Source    ONNX Scan-25, text and inference; ONNX's inference leaves the directions and the number of their entries unchecked.
constexpr std::size_t check_scan(std::string_view op, std::span<shape const> inputs, std::size_t outputs, scan_options const& options)
{
    detail::check_entries(op, "input_axes", options.input_axes, inputs.size(), "scan inputs");
    detail::check_entries(op, "input_directions", options.input_directions, inputs.size(), "scan inputs");
    detail::check_entries(op, "output_axes", options.output_axes, outputs, "scan outputs");
    detail::check_entries(op, "output_directions", options.output_directions, outputs, "scan outputs");
    detail::check_directions(op, "input_directions", options.input_directions);
    detail::check_directions(op, "output_directions", options.output_directions);

    std::optional<std::size_t> length;
    bool agree = true;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        std::int64_t const option = detail::axis_option(options.input_axes, i);
        std::size_t const axis = detail::check_time_axis(op, "scan_inputs", i, inputs[i], "input_axes", option);
        agree = agree && inputs[i][axis] == length.value_or(inputs[i][axis]);
        length = inputs[i][axis];
    }
    if (!agree)
        detail::fail<shape_error>(
            op, ": all scan inputs must have the same sequence length, but ", detail::describe_lengths(inputs, options.input_axes), ".");
    if (!length && !options.length)
        detail::fail<option_error>(op, ": without scan inputs the number of iterations must be given, but options.length is empty.");
    if (length && options.length && *length != *options.length)
        detail::fail<option_error>(op, ": options.length must be the scan inputs' sequence length, but it is ", *options.length, " and ",
            detail::describe_lengths(inputs, options.input_axes), ".");
    return length ? *length : *options.length;
}

/// The time axis of an output that holds T elements, counted from the front.
constexpr std::size_t check_scan_output(
    std::string_view op, std::size_t i, shape const& dims, std::size_t length, scan_options const& options)
{
    std::int64_t const option = detail::axis_option(options.output_axes, i);
    std::size_t const axis = detail::check_time_axis(op, "scan_outputs", i, dims, "output_axes", option);
    if (dims[axis] != length)
        detail::fail<shape_error>(op, ": a scan output must be as long as the scan, but scan_outputs[", i, "] has ", dims[axis],
            " elements (axis ", axis, " of ", dims, ") for ", length, " iterations.");
    return axis;
}

/// The shape of an output that stacks `length` elements along options.output_axes[i].
///
/// Errors    shape_error: an axis out of range, rank over max_rank, a size that overflows.
constexpr shape stacked_shape(
    std::string_view op, std::size_t i, shape const& element, std::size_t length, std::size_t item_bytes, scan_options const& options)
{
    std::int64_t const axis = detail::axis_option(options.output_axes, i);
    std::size_t const rank = element.size() + 1;
    if (!is_axis(axis, rank))
        detail::fail<shape_error>(op, ": an axis of a tensor of rank ", rank, " must lie in [-", rank, ", ", rank - 1,
            "], but output_axes[", i, "] is ", axis, " for elements of the shape ", element, ".");
    shape const dims = insert_axis(element, wrap_axis(axis, rank), length);
    if (!is_countable(dims, item_bytes))
        detail::fail<shape_error>(
            op, ": the size of a result must fit in memory, but scan_outputs[", i, "] would have the shape ", dims, ".");
    return dims;
}

namespace detail {

/// A body changed the shape of something that must keep it.
[[noreturn]] inline void fail_reshaped(
    std::string_view op, std::string_view operand, std::size_t i, shape const& was, shape const& is, std::size_t iteration)
{
    fail<body_error>(op, ": ", operand, " must keep their shapes in every iteration, but ", operand, "[", i, "] was ", was,
        " and the body made it ", is, " in iteration ", iteration, ".");
}

} // namespace detail
} // namespace xloom
