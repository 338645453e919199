// BatchNormalization, InstanceNormalization, LayerNormalization, RMSNormalization, PRelu, Dropout.

#include "call.hpp"

namespace compiler {

namespace {

void batch_normalization(emission& out, node& each)
{
    call c(out, each, "batch_normalization", "batch_normalization_into");
    for (std::size_t i = 0; i < 5; ++i)
        c.operand(i);
    std::vector<std::string> options{".epsilon = " + number_literal(each.view().number("epsilon", 1e-5))};
    if (each.view().integer("spatial", 1) == 0)
        options.push_back(".spatial = false");
    c.output().text(fmt::format("{{{}}}", fmt::join(options, ", "))).text(out.workspace()).emit();
}

void instance_normalization(emission& out, node& each)
{
    call(out, each, "layer_normalization", "instance_normalization_into")
        .operand(0)
        .operand(1)
        .operand(2)
        .output()
        .option("epsilon", number_literal(each.view().number("epsilon", 1e-5)))
        .emit();
}

void layer_normalization(emission& out, node& each)
{
    auto const view = each.view();
    bool const has_moments = each.wants(1) || each.wants(2);
    partial_type const& x = each.input(0).type;
    call c(out, each, "layer_normalization",
        has_moments ? "layer_normalization_with_moments_into" : "layer_normalization_into");
    c.operand(0).operand(1).optional_operand(2).output(0, x);
    for (std::size_t k = 1; has_moments && k < 3; ++k)
        c.output(k, xloom::tensor_type(element_type::float_, x.shape()));
    c.option("axis", view.integer("axis", -1), -1)
        .option("epsilon", number_literal(view.number("epsilon", 1e-5)))
        .emit();
}

void rms_normalization(emission& out, node& each)
{
    auto const view = each.view();
    call(out, each, "layer_normalization", "rms_normalization_into")
        .operand(0)
        .operand(1)
        .output()
        .option("axis", view.integer("axis", -1), -1)
        .option("epsilon", number_literal(view.number("epsilon", 1e-5)))
        .emit();
}

void prelu(emission& out, node& each)
{
    std::string slope = out.operand(each.input(1));
    std::size_t const rank = each.input(0).type.shape().rank();
    if (each.opset() < 7 && each.input(1).type.shape().rank() == 1 && rank > 2) { // one for each channel
        out.include("xloom_onnx/model/trailing_axes.hpp");
        slope = fmt::format("xloom_onnx::with_trailing_axes({}, {})", slope, rank - 2);
    }
    call(out, each, "prelu", "prelu_into").operand(0).text(slope).output().emit();
}

/// A copy, and a mask of which nothing is dropped.
void dropout(emission& out, node& each)
{
    if (each.has(2)) {
        runner::tensor const* const training = each.input(2).tensor();
        if (training == nullptr || training->size() != 1 || training->items<bool>()[0])
            throw runner::not_implemented("a training_mode that is not false is not implemented");
    }
    if (each.wants(0))
        assign(out, out.target(each.output()), each.input(0));
    if (!each.wants(1))
        return;
    element_type const type = each.output(1).type.element();
    std::string const one = type == element_type::bool_ ? "true" : item_type(type) + "(1.0F)";
    if (each.output(1).is_scalar())
        return out.define(each.output(1), one);
    out.include("xloom_onnx/elementwise.hpp");
    out.line("xloom_onnx::map_into([]({} const&) {{ return {}; }}, {}, {});",
        item_type(each.input(0).type.element()), one, out.operand(each.input(0)), out.target(each.output(1)));
}

} // namespace

void add_normalization_emitters(emitter_table& table)
{
    table["BatchNormalization"] = batch_normalization;
    table["InstanceNormalization"] = instance_normalization;
    table["LayerNormalization"] = layer_normalization;
    table["RMSNormalization"] = rms_normalization;
    table["Dropout"] = dropout;
    table["PRelu"] = prelu;
}

} // namespace compiler
