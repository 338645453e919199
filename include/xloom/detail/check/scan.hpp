#pragma once
// The options of Scan, and its requirements on shapes.

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/direction.hpp>
#include <xloom/detail/core/shape.hpp>
#include <xloom/detail/core/static_vector.hpp>

namespace xloom::inline XLOOM_ABI {

/// Directions of scan inputs or outputs, each forward or reverse.
using directions = option_list<direction, max_operands>;

/// Options of Scan. An empty list means axis 0, or forward, for every input or output; otherwise a list has
/// one entry for each.
struct scan_options {
    axes scan_input_axes{};              ///< the time axis of each scan input; negative: from the back
    axes scan_output_axes{};             ///< the time axis of each scan output (rank = element rank + 1)
    directions scan_input_directions{};  ///< reverse: iteration t reads element T-1-t
    directions scan_output_directions{}; ///< reverse: iteration t writes element T-1-t
    std::optional<std::size_t> length{}; ///< the number of iterations; required only without scan inputs
};

} // namespace xloom::inline XLOOM_ABI

namespace xloom::inline XLOOM_ABI::detail {

constexpr std::int64_t axis_option(axes const& list, std::size_t i) { return list.empty() ? 0 : list[i]; }

constexpr bool is_reverse(directions const& list, std::size_t i)
{
    return !list.empty() && list[i] == direction::reverse;
}

template <class List>
constexpr void check_entries(
    std::string_view op, std::string_view option, List const& list, std::size_t operands, std::string_view of)
{
    if (!list.empty() && list.given() != operands)
        fail<option_error>(op, ": ", option, " must be empty or have one entry for each of the ", operands,
            " ", of, ", but it has ", list.given(), ". Leave it empty or give it one for each.");
}

constexpr void check_count(std::string_view op, std::size_t operands, std::string_view of)
{
    if (operands > max_operands)
        fail<option_error>(op, ": there may be at most ", max_operands,
            " operands of one kind (max_operands), but there are ", operands, " ", of,
            ". Stack some of them into one tensor.");
}

/// True if is_right(i) holds for every i below `count`.
template <class IsRight>
constexpr bool are_all_right(std::size_t count, IsRight const& is_right)
{
    for (std::size_t i = 0; i < count; ++i)
        if (!is_right(i))
            return false;
    return true;
}

/// Returns `facts`, and one for every i below `count` for which is_right(i) does not hold: add(facts, i) adds
/// it.
template <class IsRight, class Add>
fact_list facts_of_wrong(std::size_t count, IsRight const& is_right, Add const& add, fact_list facts = {})
{
    for (std::size_t i = 0; i < count; ++i)
        if (!is_right(i))
            add(facts, i);
    return facts;
}

constexpr void check_directions(std::string_view op, std::string_view option, directions const& list)
{
    auto const is_one_way = [&](std::size_t i) {
        return list[i] == direction::forward || list[i] == direction::reverse;
    };
    if (!are_all_right(list.size(), is_one_way))
        fail<option_error>(op, ": a direction must be forward (0) or reverse (1), but ",
            facts_of_wrong(list.size(), is_one_way,
                [&](fact_list& wrong, std::size_t i) {
                    wrong.add(option, "[", i, "] is ", static_cast<int>(list[i]));
                }),
            ". Name one of the two.");
}

/// Requires that every operand has its time axis.
constexpr void check_time_axes(std::string_view op, std::string_view name, std::span<shape const> operands,
    std::string_view option, axes const& list)
{
    auto const has_axis = [&](std::size_t i) { return !operands[i].empty(); };
    auto const is_in_range = [&](std::size_t i) { return is_axis(axis_option(list, i), operands[i].size()); };
    if (!are_all_right(operands.size(), has_axis))
        fail<shape_error>(op, ": each of ", name, " must have at least one axis, but ",
            facts_of_wrong(operands.size(), has_axis,
                [&](fact_list& wrong, std::size_t i) { wrong.add(name, "[", i, "] has rank 0"); }),
            ". Give it an axis for the iterations.");
    if (!are_all_right(operands.size(), is_in_range))
        fail_axis(op, facts_of_wrong(operands.size(), is_in_range, [&](fact_list& wrong, std::size_t i) {
            wrong.add(option, "[", i, "] is ", axis_option(list, i), " for ", name, "[", i, "] of the shape ",
                operands[i]);
        }));
}

/// Returns the length of an operand along its time axis, which exists.
constexpr std::size_t length_in_time(std::span<shape const> operands, axes const& list, std::size_t i)
{
    return operands[i][wrap_axis(axis_option(list, i), operands[i].size())];
}

/// True if an error text lists all of the operands that must agree. Of more it lists the first one, and those
/// that differ from it.
constexpr bool are_all_listed(std::size_t operands) { return operands <= fact_list::most_listed; }

/// Lists the lengths of operands along their time axes: all of them, or those other than `length`.
inline fact_list describe_lengths(std::string_view name, std::span<shape const> operands, axes const& list,
    std::optional<std::size_t> length = {})
{
    auto const length_of = [&](std::size_t i) { return length_in_time(operands, list, i); };
    fact_list lengths;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        bool const is_listed =
            length ? length_of(i) != *length
                   : i == 0 || length_of(i) != length_of(0) || are_all_listed(operands.size());
        if (is_listed)
            lengths.add(name, "[", i, "] has ", length_of(i), " (axis ",
                wrap_axis(axis_option(list, i), operands[i].size()), " of ", operands[i], ")");
    }
    return lengths;
}

/// Requires that options.length is no negative number, which converts to a large one.
constexpr void check_given_length(std::string_view op, std::optional<std::size_t> const& length)
{
    constexpr auto most = static_cast<std::size_t>((std::numeric_limits<std::ptrdiff_t>::max)());
    if (length && *length > most)
        fail<option_error>(op, ": options.length must be from 0 to ", most, ", but it is ",
            static_cast<std::ptrdiff_t>(*length), ". Choose a number of iterations.");
}

/// Returns the length on which the scan inputs, along their time axes, and options.length agree. `wanted` is
/// its name where there are no inputs, `remedy` for inputs that differ.
constexpr std::size_t check_length(std::string_view op, std::span<shape const> inputs, axes const& list,
    std::optional<std::size_t> const& given, std::string_view wanted, std::string_view remedy)
{
    check_given_length(op, given);
    auto const is_first_length = [&](std::size_t i) {
        return length_in_time(inputs, list, i) == length_in_time(inputs, list, 0);
    };
    if (!are_all_right(inputs.size(), is_first_length))
        fail<shape_error>(op, ": all scan inputs must have the same sequence length, but ",
            describe_lengths("scan_inputs", inputs, list), remedy);
    if (inputs.empty() && !given)
        fail<option_error>(
            op, ": without scan inputs the ", wanted, " must be given, but options.length is empty. Set it.");
    if (inputs.empty())
        return *given;
    std::size_t const length = length_in_time(inputs, list, 0);
    if (given && *given != length)
        fail<option_error>(op, ": options.length must be the scan inputs' sequence length, but it is ",
            *given, " and ", describe_lengths("scan_inputs", inputs, list), ". Leave it empty.");
    return length;
}

/// Checks the operands and options of Scan and returns its number of iterations T.
///
/// Errors    option_error: more than max_operands; numbers of axes or directions; an invalid direction; no
///           length or another one than that of the inputs. shape_error: rank 0, an axis out of range,
///           unequal lengths.
/// Source    ONNX Scan-25, text and inference; ONNX's inference checks neither the directions nor the number
///           of their entries.
XLOOM_NOINLINE constexpr std::size_t check_scan(
    std::string_view op, std::span<shape const> inputs, std::size_t outputs, scan_options const& options)
{
    check_count(op, inputs.size(), "scan inputs");
    check_count(op, outputs, "scan outputs");
    check_entries(op, "scan_input_axes", options.scan_input_axes, inputs.size(), "scan inputs");
    check_entries(op, "scan_input_directions", options.scan_input_directions, inputs.size(), "scan inputs");
    check_entries(op, "scan_output_axes", options.scan_output_axes, outputs, "scan outputs");
    check_entries(op, "scan_output_directions", options.scan_output_directions, outputs, "scan outputs");
    check_directions(op, "scan_input_directions", options.scan_input_directions);
    check_directions(op, "scan_output_directions", options.scan_output_directions);
    check_time_axes(op, "scan_inputs", inputs, "scan_input_axes", options.scan_input_axes);
    return check_length(op, inputs, options.scan_input_axes, options.length, "number of iterations",
        ". Cut them to one length, or name other axes.");
}

/// The words of error texts about scan outputs, or about their cotangents.
struct output_words {
    std::string_view name;
    std::string_view each;
    std::string_view remedy;
};
inline constexpr output_words words_of_outputs{
    "scan_outputs", "scan output", "Give it an element for each iteration"};
inline constexpr output_words words_of_ct_outputs{
    "ct_outputs", "cotangent of a scan output", "Name the axes of the forward pass"};

/// Requires that outputs that are written in place, or cotangents of outputs, have exactly T elements.
///
/// Errors    shape_error: rank 0, an axis out of range, another length.
XLOOM_NOINLINE constexpr void check_scan_outputs(std::string_view op, std::span<shape const> outputs,
    std::size_t length, scan_options const& options, output_words const& words = words_of_outputs)
{
    check_time_axes(op, words.name, outputs, "scan_output_axes", options.scan_output_axes);
    for (std::size_t i = 0; i < outputs.size(); ++i)
        if (length_in_time(outputs, options.scan_output_axes, i) != length)
            fail<shape_error>(op, ": every ", words.each, " must be as long as the scan, which has ", length,
                " iterations, but ", describe_lengths(words.name, outputs, options.scan_output_axes, length),
                ". ", words.remedy, ".");
}

/// Requires that time is axis 0 of every operand whose type has a fixed shape. `fixed_ranks` has the ranks of
/// these, and 0 for others. Requires check_scan, and check_scan_outputs or check_output_axes.
///
/// Errors    option_error: another axis.
XLOOM_NOINLINE constexpr void check_fixed_axes(std::string_view op, std::string_view name,
    std::span<std::size_t const> fixed_ranks, std::string_view option, axes const& list)
{
    auto const is_leading = [&](std::size_t i) {
        return fixed_ranks[i] == 0 || wrap_axis(axis_option(list, i), fixed_ranks[i]) == 0;
    };
    if (!are_all_right(fixed_ranks.size(), is_leading))
        fail<option_error>(op, ": a tensor whose type has a fixed shape must be scanned along axis 0, but ",
            facts_of_wrong(fixed_ranks.size(), is_leading,
                [&](fact_list& wrong, std::size_t i) {
                    wrong.add(option, "[", i, "] is ", axis_option(list, i), " for ", name, "[", i,
                        "] of rank ", fixed_ranks[i]);
                }),
            ". Use an xt::xtensor, or a view.");
}

/// Returns the rank of an output that stacks elements of this rank; max_rank for a dynamic_rank.
constexpr std::size_t stacked_rank(std::size_t element_rank)
{
    return element_rank == dynamic_rank ? max_rank : element_rank + 1;
}

/// Requires that outputs that stack elements of these ranks have the axes of options.scan_output_axes. For a
/// dynamic_rank any axis of a tensor of max_rank passes; stacked_shape checks it once the shape of an element
/// is known.
///
/// Errors    shape_error: an axis out of range.
XLOOM_NOINLINE constexpr void check_output_axes(
    std::string_view op, std::span<std::size_t const> element_ranks, scan_options const& options)
{
    axes const& list = options.scan_output_axes;
    auto const is_in_range = [&](std::size_t i) {
        return is_axis(axis_option(list, i), stacked_rank(element_ranks[i]));
    };
    if (!are_all_right(element_ranks.size(), is_in_range))
        fail_axis(op, facts_of_wrong(element_ranks.size(), is_in_range, [&](fact_list& wrong, std::size_t i) {
            wrong.add("scan_output_axes[", i, "] is ", axis_option(list, i), " for scan_outputs[", i,
                "] of rank ", element_ranks[i] == dynamic_rank ? "at most " : "",
                stacked_rank(element_ranks[i]));
        }));
}

/// Returns the shape of an output that stacks `length` elements along options.scan_output_axes[i].
///
/// Errors    shape_error: over max_rank, an axis out of range, a size that overflows.
constexpr shape stacked_shape(std::string_view op, std::size_t i, shape const& element, std::size_t length,
    std::size_t item_bytes, scan_options const& options)
{
    std::int64_t const axis = axis_option(options.scan_output_axes, i);
    std::size_t const rank = element.size() + 1;
    if (rank > max_rank)
        fail<shape_error>(op, ": a tensor may have at most ", max_rank, " axes (max_rank), but scan_outputs[",
            i, "] would stack elements of the shape ", element, ". Return elements of a lower rank.");
    if (!is_axis(axis, rank))
        fail_axis(op, "scan_output_axes[", i, "] is ", axis, " for scan_outputs[", i, "] of rank ", rank,
            ", with elements of the shape ", element);
    shape const dims = insert_axis(element, wrap_axis(axis, rank), length);
    if (!has_strides(dims, item_bytes))
        fail<shape_error>(op, ": the size of a result must fit in memory, but scan_outputs[", i,
            "] would have the shape ", dims, ". Run fewer iterations.");
    return dims;
}

/// Throws body_error for an operand that must keep its shape `was`, a shape or its text, but has the shape
/// `is` after the body. A batched operator passes the row.
template <class Shape>
[[noreturn]] void fail_reshaped(std::string_view op, std::string_view operand, std::size_t i,
    Shape const& was, std::string_view is, std::size_t iteration, std::optional<std::size_t> row = {})
{
    fail<body_error>(op, ": ", operand, " must keep their shapes in every iteration, but ", operand, "[", i,
        "] was ", was, " and the body made it ", is, " at iteration ", iteration,
        row ? concat(" of row ", *row) : std::string(), ". Return a value of the original shape.");
}

} // namespace xloom::inline XLOOM_ABI::detail
