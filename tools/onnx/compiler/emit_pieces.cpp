// Pieces of tensors: Concat, Split, Pad, ReverseSequence; tensors made of nothing but a shape.

#include <algorithm>
#include <utility>

#include <xloom_onnx/concat.hpp>

#include "call.hpp"
#include "convert.hpp"
#include "proto.hpp"
#include "text.hpp"

namespace compiler {

namespace {

void concat(emission& out, node& each)
{
    call(out, each, "concat", "concat_into")
        .operands()
        .output()
        .option("axis", each.view().integer("axis", 1), 0) // from opset 4 on it is given
        .emit();
}

/// True if these are the lengths of equal parts, of which the last may be shorter, along an axis whose length
/// is known.
bool are_equal_parts(
    std::vector<std::int64_t> const& lengths, xloom::partial_shape const& x, std::int64_t axis)
{
    xloom::dim const whole = x[xloom::wrap_axis(axis, x.rank())];
    if (!whole.has_value())
        return false;
    std::size_t k = 0;
    return std::all_of(lengths.begin(), lengths.end(), [&](std::int64_t length) {
        return std::cmp_equal(length,
            xloom_onnx::equal_part(static_cast<std::size_t>(whole.value()), lengths.size(), k++, true));
    });
}

/// The lengths of the parts where they are an input, if the compiler knows them. Of opset 1 they have the
/// type of the other input.
std::optional<std::vector<std::int64_t>> lengths_in(node const& each)
{
    variable const& given = each.input(1);
    if (each.opset() >= 2)
        return given.integers();
    if (given.tensor() == nullptr)
        throw runner::not_implemented("lengths that only a run knows are not implemented before opset 2");
    return runner::integers_of(runner::convert(*given.tensor(), element_type::int64));
}

void split(emission& out, node& each)
{
    constexpr std::size_t most_lengths = 2 * xloom::max_rank; // of xloom_onnx::integers
    auto const view = each.view();
    call c(out, each, "concat", "split_into");
    c.operand(0);
    std::vector<std::string> parts;
    for (std::size_t k = 0; k < each.outputs.size(); ++k) {
        if (each.outputs[k] != nullptr)
            parts.push_back(out.target(each.output(k)));
        else
            parts.push_back(out.own_memory("part", each.input(0).type));
    }
    std::int64_t const count = static_cast<std::int64_t>(parts.size());
    c.text(fmt::format("std::tie({})", fmt::join(parts, ", "))).option("axis", view.integer("axis", 0), 0);
    if (each.has(1) || (each.opset() < 13 && view.has_attribute("split"))) {
        auto const lengths = each.has(1) ? lengths_in(each) : view.integers("split");
        if (parts.size() <= most_lengths)
            c.option("split", lengths ? list_of(*lengths) : out.operand(each.input(1)));
        else if (!lengths || lengths->size() != parts.size() ||
                 !are_equal_parts(*lengths, each.input(0).type.shape(), view.integer("axis", 0)))
            throw runner::not_implemented(
                fmt::format("the lengths of {} parts are not implemented", parts.size()));
    } else if (each.opset() >= 18 && view.integer("num_outputs", count) != count) {
        throw runner::runner_error(
            fmt::format("num_outputs is {}, but it has {} outputs", view.integer("num_outputs", 0), count));
    } else if (each.opset() < 18) {
        c.option("uneven", "false");
    }
    c.emit();
}

void pad(emission& out, node& each)
{
    auto const view = each.view();
    call c(out, each, "pad", "pad_into");
    c.operand(0);
    std::string const mode = view.text("mode", "constant");
    if (mode != "constant" && mode != "reflect" && mode != "edge" && (mode != "wrap" || each.opset() < 19))
        throw runner::runner_error("its mode is " + runner::in_quotes(mode));
    bool const has_inputs = each.opset() >= 11;
    if (has_inputs && each.has(2))
        c.operand(2);
    else if (!has_inputs && view.has_attribute("value"))
        c.text(fmt::format("static_cast<{}>({})", item_type(each.input(0).type.element()),
            number_literal(static_cast<float>(view.number("value", 0)))));
    c.output();
    c.option("pads", has_inputs ? integers_in(out, each, 1)
                                : list_of(view.integers(each.opset() < 2 ? "paddings" : "pads")));
    if (each.opset() >= 18 && each.has(3))
        c.option("axes", integers_in(out, each, 3)).option("has_axes", "true");
    if (mode != "constant")
        c.option("mode", "xloom_onnx::pad_mode::" + mode);
    c.emit();
}

void reverse_sequence(emission& out, node& each)
{
    auto const view = each.view();
    call(out, each, "reverse_sequence", "reverse_sequence_into")
        .operand(0)
        .operand(1)
        .output()
        .option("time_axis", view.integer("time_axis", 0), 0)
        .option("batch_axis", view.integer("batch_axis", 1), 1)
        .emit();
}

void constant_of_shape(emission& out, node& each)
{
    auto const* const found = each.view().find("value", onnx::AttributeProto::TENSOR);
    runner::tensor const item =
        found == nullptr ? runner::tensor::scalar(0.0F) : runner::read_tensor(found->t());
    if (item.size() != 1)
        throw runner::runner_error(fmt::format("its value has {} items instead of 1", item.size()));
    call(out, each, "constant", "constant_of_shape_into")
        .integers(0)
        .text(item_expression(item, 0))
        .output()
        .emit();
}

void range(emission& out, node& each)
{
    call c(out, each, "constant", "range_into");
    for (std::size_t i = 0; i < 3; ++i)
        c.text(only_item(out, each.input(i)));
    c.output().emit();
}

} // namespace

void add_piece_emitters(emitter_table& table)
{
    table["Concat"] = concat;
    table["Split"] = split;
    table["Pad"] = pad;
    table["ReverseSequence"] = reverse_sequence;
    table["ConstantOfShape"] = constant_of_shape;
    table["Range"] = range;
}

} // namespace compiler
