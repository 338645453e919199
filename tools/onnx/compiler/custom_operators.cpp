#include "custom_operators.hpp"

#include <string_view>

#include "text.hpp"

namespace compiler {

namespace {

using runner::in_quotes;
using runner::runner_error;

template <class Items, class F>
std::string list(Items const& items, F text_of)
{
    std::vector<std::string> texts;
    for (auto const& each : items)
        texts.push_back(text_of(each));
    return fmt::format("{{{}}}", fmt::join(texts, ", "));
}

std::string value_of(onnx::AttributeProto const& attribute)
{
    using proto = onnx::AttributeProto;
    switch (attribute.type()) {
    case proto::INT:
        return number_literal(std::int64_t{attribute.i()});
    case proto::FLOAT:
        return number_literal(static_cast<double>(attribute.f()));
    case proto::STRING:
        return text_expression(attribute.s());
    case proto::INTS:
        return list(attribute.ints(), number_literal<std::int64_t>);
    case proto::FLOATS:
        return list(attribute.floats(), [](float x) { return number_literal(static_cast<double>(x)); });
    case proto::STRINGS:
        return list(attribute.strings(), [](std::string const& x) { return text_expression(x); });
    default:
        throw runner::not_implemented("its attribute " + in_quotes(attribute.name()) +
                                      " is neither a number nor a text, nor a list of them");
    }
}

std::string options_of(onnx::NodeProto const& proto)
{
    std::map<std::string, std::string> fields;
    for (auto const& attribute : proto.attribute()) {
        if (std::string const why = why_no_identifier(attribute.name()); !why.empty())
            throw runner_error(
                fmt::format("its attribute {} is no name in C++: it {}", in_quotes(attribute.name()), why));
        fields[attribute.name()] = value_of(attribute);
    }
    return list(fields, [](auto const& field) { return fmt::format(".{} = {}", field.first, field.second); });
}

} // namespace

void add_custom_operator(custom_operators& all, std::string const& text)
{
    std::size_t const sign = text.find('=');
    std::string const name = text.substr(0, sign);
    std::string const function = text.substr(sign + 1);
    if (name.empty() || sign == std::string::npos)
        throw runner_error("an operator is given as DOMAIN::NAME=FUNCTION, but here as " + in_quotes(text));
    if (std::string const why = why_no_qualified_name(function); !why.empty())
        throw runner_error(
            fmt::format("an operator is given as DOMAIN::NAME=FUNCTION, but in {} the function's name {}",
                in_quotes(text), why));
    std::size_t const colons = name.rfind("::");
    bool const has_domain = colons != std::string::npos;
    std::string const domain = has_domain ? name.substr(0, colons) : "",
                      type = has_domain ? name.substr(colons + 2) : name;
    if (domain == runner::own_domain || type.find('.') != std::string::npos)
        throw runner_error("no node can be that of an operator " + in_quotes(name));
    if (runner::find_operation(domain, type) != nullptr)
        throw runner_error("the operator " + in_quotes(name) + " is there already");
    if (!all.emplace(runner::full_name(domain, type), function).second)
        throw runner_error("the operator " + in_quotes(name) + " is given twice");
}

runner::operator_table operations_of(custom_operators const& all)
{
    runner::operation const only_code{.run = [](runner::call const&) -> std::vector<runner::value> {
                                          throw runner::not_implemented(
                                              "a custom operator runs in generated code only");
                                      },
        .infer = [](runner::typing const& node) { return node.declared(); }};
    runner::operator_table table;
    for (auto const& [name, function] : all)
        table.emplace(name, only_code);
    return table;
}

void emit_custom(emission& out, node& each, std::string const& function)
{
    std::vector<std::string> arguments;
    for (std::size_t i = 0; i < each.inputs.size(); ++i)
        arguments.push_back(each.has(i) ? out.operand(each.input(i)) : "std::nullopt");
    for (std::size_t k = 0; k < each.step->outputs.size(); ++k) {
        if (each.wants(k)) {
            arguments.push_back(out.target(each.output(k)));
            continue;
        }
        if (!has_cpp_type(each.step->output_types[k]))
            throw runner_error(fmt::format("the type of its output {} is not declared", k));
        arguments.push_back(out.own_memory("unused", each.step->output_types[k]));
    }
    if (each.step->node->attribute_size() != 0)
        arguments.push_back(options_of(*each.step->node));
    out.line("::{}({});", function, fmt::join(arguments, ", "));
}

} // namespace compiler
