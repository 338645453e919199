// Cast and CastLike.

#include "convert.hpp"
#include "operators.hpp"
#include "text.hpp"

namespace runner {

namespace {

xloom::cast_options options_of(call const& c)
{
    xloom::cast_options options;
    options.saturate = c.integer("saturate", 1) != 0;
    std::string const mode = c.text("round_mode", "up");
    if (mode == "down")
        options.round_mode = xloom::round_mode::down;
    else if (mode == "nearest")
        options.round_mode = xloom::round_mode::nearest;
    else if (mode != "up")
        throw runner_error("round_mode is up, down or nearest, but is " + in_quotes(mode));
    return options;
}

/// The attribute `to`: a number, and up to opset 5 a name.
element_type target_of(node_view const& c)
{
    std::int64_t number = 0;
    if (c.opset() >= 6) {
        number = c.integer("to", 0);
    } else {
        std::string const name = c.text("to", "");
        onnx::TensorProto_DataType type{};
        if (!onnx::TensorProto_DataType_Parse(name, &type))
            throw runner_error("the attribute 'to' names no element type: " + in_quotes(name));
        number = type;
    }
    if (number <= 0 || number >= static_cast<std::int64_t>(xloom::element_type_count))
        throw runner_error(fmt::format("the attribute 'to' is {}, which is no element type", number));
    return static_cast<element_type>(number);
}

std::vector<value> run_cast(call const& c) { return {convert(c.tensor_at(0), target_of(c), options_of(c))}; }

types cast_type(typing const& node) { return {xloom::tensor_type(target_of(node), node.shape_at(0))}; }

std::vector<value> run_cast_like(call const& c)
{
    return {convert(c.tensor_at(0), c.tensor_at(1).type(), options_of(c))};
}

types cast_like_type(typing const& node)
{
    return {xloom::tensor_type(node.at(1).element(), node.shape_at(0))};
}

} // namespace

void add_cast_operators(operator_table& table)
{
    table["Cast"] = {{{1, "r", "r", "to:string!"}, {6, "r", "r", "to:element!"},
                         {19, "r", "r", "saturate:flag to:element!"},
                         {24, "r", "r", "round_mode:string saturate:flag to:element!"}},
        run_cast, cast_type};
    table["CastLike"] = {{{15, "rr", "r", ""}, {19, "rr", "r", "saturate:flag"},
                             {24, "rr", "r", "round_mode:string saturate:flag"}},
        run_cast_like, cast_like_type};
}

} // namespace runner
