// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear.

#include "call.hpp"

namespace compiler {

namespace {

call quantization(emission& out, node& each, char const* function)
{
    auto const view = each.view();
    call c(out, each, "quantize", function);
    c.operand(0).operand(1).optional_operand(2).output();
    c.option("axis", view.integer("axis", 1), 1).option("block_size", view.integer("block_size", 0), 0);
    return c;
}

void quantize_linear(emission& out, node& each)
{
    auto const view = each.view();
    call c = quantization(out, each, "quantize_linear_into");
    c.flag("saturate", view.integer("saturate", 1), true);
    if (std::int64_t const number = view.integer("precision", 0); number != 0)
        c.option("precision",
            fmt::format("xloom::element_type_of<{}>", item_type(static_cast<element_type>(number))));
    c.emit();
}

void dequantize_linear(emission& out, node& each)
{
    quantization(out, each, "dequantize_linear_into").emit();
}

void dynamic_quantize_linear(emission& out, node& each)
{
    call(out, each, "quantize", "dynamic_quantize_linear_into")
        .operand(0)
        .output(0, xloom::tensor_type(element_type::uint8, each.input(0).type.shape()))
        .output(1, xloom::tensor_type(element_type::float_, {}))
        .output(2, xloom::tensor_type(element_type::uint8, {}))
        .emit();
}

} // namespace

void add_quantization_emitters(emitter_table& table)
{
    table["QuantizeLinear"] = quantize_linear;
    table["DequantizeLinear"] = dequantize_linear;
    table["DynamicQuantizeLinear"] = dynamic_quantize_linear;
}

} // namespace compiler
