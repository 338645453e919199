// Gather and Scatter of all kinds, OneHot, NonZero, TopK.

#include <xloom/types.hpp>

#include "call.hpp"
#include "text.hpp"

namespace compiler {

namespace {

/// A gather whose only attribute is an integer, 0 by default.
emitter gather(char const* header, char const* function, char const* attribute)
{
    return [=](emission& out, node& each) {
        call(out, each, header, function)
            .operand(0)
            .operand(1)
            .output()
            .option(attribute, each.view().integer(attribute, 0), 0)
            .emit();
    };
}

void emit_scatter(node const& each, call& c)
{
    if (std::string const name = each.view().text("reduction", "none"); name != "none")
        c.option("reduction", "xloom::reduction::" + name); // inference has refused all other names
    c.emit();
}

void scatter_nd(emission& out, node& each)
{
    take_state(out, each, 0, 0);
    emit_scatter(
        each, call(out, each, "model/indexing", "scatter_nd_into").operand(0).operand(1).operand(2).output());
}

void scatter_elements(emission& out, node& each)
{
    take_state(out, each, 0, 0);
    emit_scatter(each, call(out, each, "model/indexing", "scatter_elements_into")
                           .operand(0)
                           .operand(1)
                           .operand(2)
                           .output()
                           .option("axis", each.view().integer("axis", 0), 0));
}

void tensor_scatter(emission& out, node& each)
{
    take_state(out, each, 0, 0);
    call c(out, each, "model/indexing", "tensor_scatter_into");
    c.operand(0).operand(1);
    if (each.has(2))
        c.operand(2);
    c.output().option("axis", each.view().integer("axis", -2), -2);
    if (each.view().text("mode", "linear") == "circular")
        c.option("mode", "xloom::tensor_scatter_mode::circular");
    c.emit();
}

void one_hot(emission& out, node& each)
{
    std::string depth;
    if (auto const known = each.input(1).integers(); known && known->size() == 1) {
        depth = number_literal((*known)[0]);
    } else {
        out.include("xloom_onnx/cast.hpp");
        depth = fmt::format("xloom_onnx::cast_item<std::int64_t>({})", only_item(out, each.input(1)));
    }
    call(out, each, "one_hot", "one_hot_into")
        .operand(0)
        .text(depth)
        .operand(2)
        .output()
        .option("axis", each.view().integer("axis", -1), -1)
        .flag("wraps_negative", each.opset() < 11 ? 0 : 1, true)
        .emit();
}

void nonzero(emission& out, node& each)
{
    call(out, each, "nonzero", "nonzero_into").operand(0).output().emit();
}

void top_k(emission& out, node& each)
{
    auto const view = each.view();
    std::string k;
    if (each.opset() < 10)
        k = number_literal(view.integer("k", 0));
    else if (auto const known = each.input(1).integers(); known && known->size() == 1)
        k = number_literal((*known)[0]);
    else
        k = only_item(out, each.input(1));
    call c(out, each, "top_k", "top_k_into");
    partial_type const& x = each.input(0).type;
    c.operand(0).text(k).output(0, x).output(1, xloom::tensor_type(element_type::int64, x.shape()));
    std::vector<std::string> options;
    if (std::int64_t const axis = view.integer("axis", -1); axis != -1)
        options.push_back(".axis = " + number_literal(axis));
    if (view.integer("largest", 1) == 0)
        options.push_back(".largest = false");
    c.text(fmt::format("{{{}}}", fmt::join(options, ", "))).text(out.workspace()).emit();
}

} // namespace

void add_indexing_emitters(emitter_table& table)
{
    table["Gather"] = gather("gather", "gather_into", "axis");
    table["GatherElements"] = gather("model/indexing", "gather_elements_into", "axis");
    for (char const* const name : {"GatherND", "com.microsoft.GatherND"})
        table[name] = gather("model/indexing", "gather_nd_into", "batch_dims");
    table["ScatterND"] = scatter_nd;
    table["ScatterElements"] = scatter_elements;
    table["OneHot"] = one_hot;
    table["NonZero"] = nonzero;
    table["TopK"] = top_k;
    table["TensorScatter"] = tensor_scatter;
    table["Scatter"] = scatter_elements;
}

} // namespace compiler
