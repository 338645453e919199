// Shape, Size, and the operators that give items another order or number.

#include "axis.hpp"
#include "call.hpp"
#include "convert.hpp"
#include "text.hpp"

namespace compiler {

namespace {

void shape(emission& out, node& each)
{
    call c(out, each, "reshape", "shape_into");
    c.operand(0).output();
    auto const view = each.view();
    if (each.opset() >= 15) {
        c.option("start", view.integer("start", 0), 0);
        if (view.has_attribute("end"))
            c.option("end", number_literal(view.integer("end", 0)));
    }
    c.emit();
}

void size(emission& out, node& each)
{
    out.include("xloom_onnx/reshape.hpp");
    out.define(each.output(), fmt::format("xloom_onnx::size_of({})", out.operand(each.input(0))));
}

void transpose(emission& out, node& each)
{
    call c(out, each, "transpose", "transpose_into");
    c.operand(0);
    if (each.view().has_attribute("perm"))
        c.text(list_of(each.view().integers("perm")));
    c.output().emit();
}

void expand(emission& out, node& each)
{
    call(out, each, "expand", "expand_into").operand(0).integers(1).output().emit();
}

void trilu(emission& out, node& each)
{
    call(out, each, "trilu", "trilu_into")
        .operand(0)
        .text(each.has(1) ? only_item(out, each.input(1)) : "0")
        .output()
        .flag("upper", each.view().integer("upper", 1), true)
        .emit();
}

void tile(emission& out, node& each)
{
    if (each.opset() >= 6) {
        call(out, each, "expand", "tile_into").operand(0).integers(1).output().emit();
        return;
    }
    auto const single = [](variable const& v) -> std::optional<std::int64_t> {
        if (v.tensor() == nullptr || v.tensor()->size() != 1)
            return std::nullopt;
        return runner::convert(*v.tensor(), element_type::int64).items<std::int64_t>()[0];
    };
    auto const count = single(each.input(1)), axis = single(each.input(2));
    std::size_t const rank = each.input(0).type.shape().rank();
    if (!count || !axis)
        throw runner::not_implemented("values that only a run knows are not implemented before opset 6");
    std::vector<std::int64_t> repeats(rank, 1);
    repeats[runner::axis_of(*axis, rank)] = *count;
    call(out, each, "expand", "tile_into").operand(0).text(list_of(repeats)).output().emit();
}

} // namespace

void add_shape_emitters(emitter_table& table)
{
    table["Shape"] = shape;
    table["Size"] = size;
    table["Transpose"] = transpose;
    table["Expand"] = expand;
    table["Trilu"] = trilu;
    table["Tile"] = tile;
}

} // namespace compiler
