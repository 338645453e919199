// Operators that cut tensors, and put them together: Concat, Split, Slice, Pad, ReverseSequence.

#include <algorithm>

#include <xloom_onnx/concat.hpp>
#include <xloom_onnx/pad.hpp>
#include <xloom_onnx/reverse_sequence.hpp>
#include <xloom_onnx/slice.hpp>

#include "axis.hpp"
#include "convert.hpp"
#include "moves.hpp"
#include "operators.hpp"
#include "text.hpp"
#include "type_rules.hpp"

namespace runner {

namespace {

std::vector<value> run_concat(call const& c)
{
    std::vector<tensor> parts;
    for (std::size_t i = 0; i < c.input_count(); ++i)
        parts.push_back(c.tensor_at(i));
    return {concatenated(parts, c.integer("axis", 1))}; // from opset 4 on it is given
}

types concat_type(typing const& node)
{
    partial_shape dims = node.shape_at(0);
    if (!dims.has_rank())
        return same_type(node);
    std::size_t const axis = axis_of(node.integer("axis", 1), dims.rank());
    for (std::size_t i = 1; i < node.input_count(); ++i) {
        partial_shape const& next = node.shape_at(i);
        dims[axis] = next.rank() == dims.rank() ? dim_sum(dims[axis], next[axis]) : xloom::unknown;
    }
    return type_like_first(node, dims);
}

/// Requires one of lengths and a number of parts, since opset 18.
template <class Node>
void require_one_split(Node const& node)
{
    bool const has_lengths = node.has(1);
    if (node.opset() >= 18 && has_lengths == node.has_attribute("num_outputs"))
        throw runner_error(fmt::format("it must have either the input split or the attribute num_outputs, "
                                       "but has {}",
            has_lengths ? "both" : "neither"));
}

/// The lengths of the parts: given (attribute `split` before opset 13, input since), or equal; the last may
/// then be shorter since 18.
std::vector<std::int64_t> lengths_of_outputs(call const& c, std::size_t whole)
{
    require_one_split(c);
    if (c.has(1)) // of opset 1 it has the type of the other input
        return integers_of(c.opset() < 2 ? convert(c.tensor_at(1), element_type::int64) : c.tensor_at(1));
    if (c.opset() < 13 && c.has_attribute("split"))
        return c.integers("split");
    std::size_t const count = c.output_count();
    if (c.opset() >= 18 &&
        c.integer("num_outputs", static_cast<std::int64_t>(count)) != static_cast<std::int64_t>(count))
        throw runner_error(
            fmt::format("num_outputs is {}, but it has {} outputs", c.integer("num_outputs", 0), count));
    std::vector<std::int64_t> lengths;
    for (std::size_t k = 0; k < count; ++k)
        lengths.push_back(
            static_cast<std::int64_t>(xloom_onnx::equal_part(whole, count, k, c.opset() >= 18)));
    return lengths;
}

std::vector<value> run_split(call const& c)
{
    tensor const& x = c.tensor_at(0);
    std::size_t const axis = axis_of(c.integer("axis", 0), x.shape().size());
    std::vector<tensor> const parts = split_along(x, axis, lengths_of_outputs(c, x.shape()[axis]));
    if (parts.size() != c.output_count())
        throw runner_error(fmt::format("there are {} parts for {} outputs", parts.size(), c.output_count()));
    return {parts.begin(), parts.end()};
}

/// The lengths of the parts, as far as they are known before a run.
std::vector<xloom::dim> part_dims(typing const& node, xloom::dim const& whole)
{
    std::vector<xloom::dim> dims(node.output_count());
    std::optional<std::vector<std::int64_t>> given;
    if (node.opset() >= 2)
        given = node.integers_at(1);
    if (!node.has(1) && node.opset() < 13 && node.has_attribute("split"))
        given = node.integers("split");
    auto const is_length = [](std::int64_t part) { return part >= 0; };
    if (given && given->size() == dims.size() && std::all_of(given->begin(), given->end(), is_length)) {
        dims.assign(given->begin(), given->end());
    } else if (!given && !node.has(1) && whole.has_value()) {
        auto const length = static_cast<std::size_t>(whole.value());
        if (node.opset() >= 18 || length % dims.size() == 0)
            for (std::size_t k = 0; k < dims.size(); ++k)
                dims[k] = xloom_onnx::equal_part(length, dims.size(), k, node.opset() >= 18);
    }
    return dims;
}

types split_type(typing const& node)
{
    require_one_split(node);
    partial_shape dims = node.shape_at(0);
    if (!dims.has_rank())
        return types(node.output_count(), type_like_first(node, dims)[0]);
    std::size_t const axis = axis_of(node.integer("axis", 0), dims.rank());
    types parts;
    for (xloom::dim const& part : part_dims(node, dims[axis])) {
        dims[axis] = part;
        parts.push_back(type_like_first(node, dims)[0]);
    }
    return parts;
}

/// Attributes before opset 10, inputs since.
std::vector<value> run_slice(call const& c)
{
    tensor const& x = c.tensor_at(0);
    bool const has_inputs = c.opset() >= 10;
    xloom_onnx::slice_options options{.starts = has_inputs ? c.integers_at(1) : c.integers("starts"),
        .ends = has_inputs ? c.integers_at(2) : c.integers("ends"),
        .has_axes = has_inputs ? c.has(3) : c.has_attribute("axes"),
        .has_steps = has_inputs && c.has(4)};
    if (options.has_axes)
        options.axes = has_inputs ? c.integers_at(3) : c.integers("axes");
    if (options.has_steps)
        options.steps = c.integers_at(4);
    xloom_onnx::slice_layout const slice = xloom_onnx::layout_of_slice(x.shape(), options);
    return {strided(x, slice.first, slice.dims, slice.strides)};
}

/// Axes that may be sliced get unknown dimensions.
types slice_type(typing const& node)
{
    partial_shape const& x = node.shape_at(0);
    if (!x.has_rank())
        return same_type(node);
    if (auto const known = known_dims(x); known && node.opset() >= 10 && node.integers_at(1) &&
                                          node.integers_at(2) && (!node.has(3) || node.integers_at(3)) &&
                                          (!node.has(4) || node.integers_at(4)))
        try {
            xloom_onnx::slice_options const options{.starts = *node.integers_at(1),
                .ends = *node.integers_at(2),
                .axes = node.integers_at(3).value_or(std::vector<std::int64_t>{}),
                .has_axes = node.has(3),
                .steps = node.integers_at(4).value_or(std::vector<std::int64_t>{}),
                .has_steps = node.has(4)};
            return type_like_first(node, xloom_onnx::slice_shape(*known, options));
        } catch (std::exception const&) { // the run reports it
        }
    std::vector<bool> marks(x.rank(), true);
    if (node.opset() < 10 && node.has_attribute("axes"))
        marks = marked_axes(node.integers("axes"), x.rank());
    else if (node.opset() >= 10 && node.integers_at(3))
        marks = marked_axes(*node.integers_at(3), x.rank());
    return type_like_first(node, without_dims(x, marks));
}

using xloom_onnx::pad_mode;

pad_mode pad_mode_of(call const& c)
{
    std::string const mode = c.text("mode", "constant");
    if (mode == "constant")
        return pad_mode::constant;
    if (mode == "reflect")
        return pad_mode::reflect;
    if (mode == "edge")
        return pad_mode::edge;
    if (mode == "wrap" && c.opset() >= 19)
        return pad_mode::wrap;
    throw runner_error("its mode is " + in_quotes(mode));
}

std::vector<value> run_pad(call const& c)
{
    tensor const& x = c.tensor_at(0);
    bool const has_inputs = c.opset() >= 11;
    xloom_onnx::pad_options options{
        .pads = has_inputs ? c.integers_at(1) : c.integers(c.opset() < 2 ? "paddings" : "pads"),
        .has_axes = c.opset() >= 18 && c.has(3),
        .mode = pad_mode_of(c)};
    if (options.has_axes)
        options.axes = c.integers_at(3);
    tensor item = zeros(x.type(), {});
    if (has_inputs && c.has(2))
        item = c.tensor_at(2);
    else if (!has_inputs && c.has_attribute("value"))
        item = convert(tensor::scalar(static_cast<float>(c.number("value", 0))), x.type());
    if (item.type() != x.type() || item.size() != 1)
        throw runner_error("the constant value for " + describe(x) + " is " + describe(item));
    xloom::shape const dims = xloom_onnx::pad_shape(x.shape(), options);
    require_room_for(item, dims);
    tensor result = new_tensor_like(x, dims);
    with_unit(x, [&]<class Unit>(std::type_identity<Unit>) {
        xloom_onnx::pad_into(
            unit_items_of<Unit>(x), unit_items_of<Unit>(item), writable_unit_items_of<Unit>(result), options);
    });
    return {result};
}

types pad_type(typing const& node)
{
    partial_shape dims = node.shape_at(0);
    std::size_t const rank = dims.rank();
    auto const pads = node.opset() >= 11
                          ? node.integers_at(1)
                          : std::optional(node.integers(node.opset() < 2 ? "paddings" : "pads"));
    bool const has_axes = node.opset() >= 18 && node.has(3);
    bool const is_known = pads && !has_axes && pads->size() == 2 * rank;
    for (std::size_t a = 0; a < rank; ++a)
        dims[a] = is_known ? dim_sum(dim_sum(dims[a], (*pads)[a]), (*pads)[rank + a]) : xloom::unknown;
    return type_like_first(node, dims);
}

std::vector<value> run_reverse_sequence(call const& c)
{
    tensor const& x = c.tensor_at(0);
    std::vector<std::int64_t> const lengths = c.integers_at(1);
    xloom_onnx::tensor_view<std::int64_t const> const counts(lengths.data(), {lengths.size()});
    tensor result(x.type(), x.shape());
    with_unit(x, [&]<class Unit>(std::type_identity<Unit>) {
        xloom_onnx::reverse_sequence_into(unit_items_of<Unit>(x), counts,
            writable_unit_items_of<Unit>(result),
            {.time_axis = c.integer("time_axis", 0), .batch_axis = c.integer("batch_axis", 1)});
    });
    return {result};
}

} // namespace

void add_piece_operators(operator_table& table)
{
    table["Concat"] = {{{1, "+", "r", "axis:int"}, {4, "+", "r", "axis:int!"}}, run_concat, concat_type};
    table["Split"] = {{{1, "ro", "+", "axis:int split:ints"}, {2, "r", "+", "axis:int split:ints"},
                          {13, "ro", "+", "axis:int"}, {18, "ro", "+", "axis:int num_outputs:int"}},
        run_split, split_type};
    table["Slice"] = {
        {{1, "r", "r", "axes:ints ends:ints! starts:ints!"}, {10, "rrroo", "r", ""}}, run_slice, slice_type};
    table["Pad"] = {{{1, "r", "r", "mode:string paddings:ints! value:float"},
                        {2, "r", "r", "mode:string pads:ints! value:float"}, {11, "rro", "r", "mode:string"},
                        {18, "rroo", "r", "mode:string"}},
        run_pad, pad_type};
    table["ReverseSequence"] = {
        {{10, "rr", "r", "batch_axis:flag time_axis:flag"}}, run_reverse_sequence, same_type};
}

} // namespace runner
