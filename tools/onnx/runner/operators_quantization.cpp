// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear.

#include <xloom_onnx/quantize.hpp>

#include "convert.hpp"
#include "moves.hpp"
#include "operators.hpp"
#include "text.hpp"
#include "type_rules.hpp"
#include "types.hpp"
#include "views.hpp"

namespace runner {

namespace {

/// Calls f(std::type_identity<T>) for the item type of a quantized tensor.
template <class... More, class F>
void with_quantized(element_type type, F&& f)
{
    with_type_of<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, xloom::int4, xloom::uint4,
        xloom::int2, xloom::uint2, xloom::float8_e4m3fn, xloom::float8_e4m3fnuz, xloom::float8_e5m2,
        xloom::float8_e5m2fnuz, xloom::float4_e2m1, More...>(type, std::forward<F>(f));
}

/// Requires an element type that the operator has at the opset of a call; also of another type it has none.
void require_type_at(call const& c, element_type type)
{
    std::int64_t since = 10;
    switch (type) {
    case element_type::float16:
    case element_type::bfloat16:
    case element_type::float8_e4m3fn:
    case element_type::float8_e4m3fnuz:
    case element_type::float8_e5m2:
    case element_type::float8_e5m2fnuz:
        since = 19;
        break;
    case element_type::int16:
    case element_type::uint16:
    case element_type::int4:
    case element_type::uint4:
        since = 21;
        break;
    case element_type::float4_e2m1:
        since = 23;
        break;
    case element_type::float8_e8m0:
        since = 24;
        break;
    case element_type::int2:
    case element_type::uint2:
        since = 25;
        break;
    default:
        break;
    }
    if (c.opset() < since)
        throw impossible_type(fmt::format("the element type {} begins with opset {}", name_of(type), since));
}

/// Returns an attribute that is the number of an element type; undefined if it is omitted or 0.
element_type element_in(node_view const& c, char const* name)
{
    std::int64_t const number = c.integer(name, 0);
    if (number < 0 || number >= static_cast<std::int64_t>(xloom::element_type_count))
        throw runner_error(fmt::format("its {} is {}, which is no element type", name, number));
    return static_cast<element_type>(number);
}

/// Returns the type of a quotient; undefined if it is omitted.
element_type precision_of(node_view const& c)
{
    element_type const type = element_in(c, "precision");
    if (type != element_type::undefined && type != element_type::float_ && type != element_type::float16 &&
        type != element_type::bfloat16)
        throw runner_error(
            fmt::format("its precision must be float, float16 or bfloat16, but is {}", name_of(type)));
    return type;
}

/// Returns a scale in a type that has each of its numbers.
tensor wide_scale(call const& c, bool may_be_integer)
{
    tensor const& scale = c.tensor_at(1);
    require_type_at(c, scale.type());
    if (scale.type() == element_type::float8_e8m0)
        return convert(scale, element_type::float_);
    if (scale.type() == element_type::int32 && may_be_integer)
        return convert(scale, element_type::double_);
    with_type_of<float, xloom::float16, xloom::bfloat16>(scale.type(), []<class T>(std::type_identity<T>) {});
    return convert(scale, element_type::float_);
}

/// Returns the type of the items that QuantizeLinear makes; undefined if its zero point has an unknown one.
element_type quantized_type(node_view const& c, std::optional<element_type> zero_point)
{
    element_type const wanted = element_in(c, "output_dtype");
    if (!zero_point)
        return wanted == element_type::undefined ? element_type::uint8 : wanted;
    if (wanted != element_type::undefined && *zero_point != element_type::undefined && wanted != *zero_point)
        throw runner_error(fmt::format("its output_dtype is {}, but y_zero_point has the element type {}",
            name_of(wanted), name_of(*zero_point)));
    return *zero_point;
}

std::vector<value> run_quantize_linear(call const& c)
{
    tensor const& x = c.tensor_at(0);
    element_type const type =
        quantized_type(c, c.has(2) ? std::optional(c.tensor_at(2).type()) : std::nullopt);
    require_type_at(c, type);
    require_type_at(c, x.type());
    with_type_of<float, xloom::float16, xloom::bfloat16, std::int32_t>(
        x.type(), []<class T>(std::type_identity<T>) {}); // no others
    tensor const scale = wide_scale(c, c.opset() >= 19);
    xloom_onnx::quantize_options options{.axis = c.integer("axis", 1),
        .block_size = c.integer("block_size", 0),
        .saturate = c.integer("saturate", 1) != 0,
        .precision = precision_of(c)};
    element_type const of_scale = c.tensor_at(1).type();
    // A scale of int32 is one of double here, whose quotients are double.
    if (options.precision == element_type::undefined && of_scale != element_type::int32)
        options.precision = of_scale == element_type::float8_e8m0 ? element_type::float_ : of_scale;
    tensor result = new_tensor(type, x.shape());
    with_quantized(type, [&]<class To>(std::type_identity<To>) {
        auto const run = [&]<class P>(std::type_identity<P>) {
            tensor const items = convert(x, xloom::element_type_of<P>),
                         scales = convert(scale, xloom::element_type_of<P>);
            auto const quantize = [&](auto const& zero_point) {
                xloom_onnx::quantize_linear_into(items_of<P>(items), items_of<P>(scales), zero_point,
                    writable_items_of<To>(result), options);
            };
            if (c.has(2))
                quantize(items_of<To>(c.tensor_at(2)));
            else
                quantize(std::nullopt);
        };
        if (x.type() == element_type::int32 || scale.type() == element_type::double_)
            run(std::type_identity<double>());
        else
            run(std::type_identity<float>());
    });
    return {result};
}

types quantize_linear_type(typing const& node)
{
    static_cast<void>(precision_of(node)); // throws if it is none
    bool const has_zero_point = node.has(2);
    return {xloom::tensor_type(
        quantized_type(node, has_zero_point ? std::optional(node.at(2).element()) : std::nullopt),
        node.shape_at(0))};
}

/// Returns the type of the items that DequantizeLinear makes, which is that of its scale.
element_type dequantized_type(node_view const& c, element_type scale)
{
    element_type const wanted = element_in(c, "output_dtype");
    if (wanted != element_type::undefined)
        return wanted;
    return scale == element_type::float8_e8m0 ? element_type::float_ : scale;
}

std::vector<value> run_dequantize_linear(call const& c)
{
    tensor const& x = c.tensor_at(0);
    require_type_at(c, x.type());
    tensor const scale = wide_scale(c, false);
    element_type const type = dequantized_type(c, c.tensor_at(1).type());
    with_type_of<float, xloom::float16, xloom::bfloat16>(type, []<class T>(std::type_identity<T>) {});
    tensor result = new_tensor(element_type::float_, x.shape());
    with_quantized<std::int32_t>(x.type(), [&]<class From>(std::type_identity<From>) {
        auto const dequantize = [&](auto const& zero_point) {
            xloom_onnx::dequantize_linear_into(items_of<From>(x), items_of<float>(scale), zero_point,
                writable_items_of<float>(result),
                {.axis = c.integer("axis", 1), .block_size = c.integer("block_size", 0)});
        };
        if (c.has(2))
            dequantize(items_of<From>(c.tensor_at(2)));
        else
            dequantize(std::nullopt);
    });
    return {convert(result, type)};
}

types dequantize_linear_type(typing const& node)
{
    return {xloom::tensor_type(dequantized_type(node, node.at(1).element()), node.shape_at(0))};
}

std::vector<value> run_dynamic_quantize_linear(call const& c)
{
    tensor const& x = c.tensor_at(0);
    auto const items = items_of<float>(x);
    tensor result = new_tensor(element_type::uint8, x.shape()), scale(element_type::float_, {}),
           zero_point(element_type::uint8, {});
    xloom_onnx::dynamic_quantize_linear_into(items, writable_items_of<std::uint8_t>(result),
        writable_items_of<float>(scale), writable_items_of<std::uint8_t>(zero_point));
    return {result, scale, zero_point};
}

types dynamic_quantize_linear_type(typing const& node)
{
    return {xloom::tensor_type(element_type::uint8, node.shape_at(0)),
        xloom::tensor_type(element_type::float_, partial_shape{}),
        xloom::tensor_type(element_type::uint8, partial_shape{})};
}

} // namespace

void add_quantization_operators(operator_table& table)
{
    std::string const blocks = "axis:int block_size:int output_dtype:int";
    table["QuantizeLinear"] = {
        {{10, "rro", "r", ""}, {13, "rro", "r", "axis:int"}, {19, "rro", "r", "axis:int saturate:flag"},
            {21, "rro", "r", blocks + " saturate:flag"},
            {23, "rro", "r", blocks + " precision:int saturate:flag"}},
        run_quantize_linear, quantize_linear_type};
    table["DequantizeLinear"] = {{{10, "rro", "r", ""}, {13, "rro", "r", "axis:int"},
                                     {21, "rro", "r", "axis:int block_size:int"}, {23, "rro", "r", blocks}},
        run_dequantize_linear, dequantize_linear_type};
    table["DynamicQuantizeLinear"] = {
        {{11, "r", "rrr", ""}}, run_dynamic_quantize_linear, dynamic_quantize_linear_type};
}

} // namespace runner
