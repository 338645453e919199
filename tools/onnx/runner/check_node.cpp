#include "check_node.hpp"

#include <algorithm>
#include <unordered_set>

#include "operators.hpp"
#include "signatures.hpp"
#include "text.hpp"

namespace runner {

namespace {

signature const& signature_at(std::string const& name, std::int64_t opset)
{
    signature const* const found = find_signature(name, opset);
    if (found == nullptr)
        throw runner_error(fmt::format(
            "it begins with opset {}, but the model imports {}", signatures_of(name).at(0).since, opset));
    if (found->is_deprecated)
        throw runner_error(
            fmt::format("it ends before opset {}, but the model imports {}", found->since, opset));
    return *found;
}

/// How many values a node may have where an operator takes these.
struct bounds {
    std::size_t least = 0, most = 0;
    bool is_open = false; ///< there is no most
};

bounds bounds_of(std::vector<arity> const& formal)
{
    bounds result;
    for (arity const each : formal) {
        result.most += each == arity::any_number ? 0 : 1;
        result.is_open = each == arity::any_number || each == arity::one_or_more;
        if (each != arity::optional)
            result.least = result.most;
    }
    return result;
}

std::string plural(std::size_t count, std::string_view noun)
{
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

void check_count(std::vector<arity> const& formal, int given, std::string_view verb, std::string_view noun,
    std::int64_t opset)
{
    auto const count = static_cast<std::size_t>(given);
    auto const [least, most, is_open] = bounds_of(formal);
    if (least <= count && (count <= most || is_open))
        return;
    std::string const range = is_open         ? fmt::format("{} or more {}s", least, noun)
                              : least == most ? plural(most, noun)
                                              : fmt::format("{} to {}", least, plural(most, noun));
    throw runner_error(fmt::format("it {} {} at opset {}, but has {}", verb, range, opset, count));
}

/// What a value of a node is to the operator; the last formal one stands for any number of them.
arity arity_of(std::vector<arity> const& formal, int i)
{
    return formal[std::min(static_cast<std::size_t>(i), formal.size() - 1)];
}

/// Numbers that C++ would cut or take for others.
void check_range(onnx::AttributeProto const& given, attribute_kind kind)
{
    auto const refuse = [&](std::string_view what, std::int64_t number) {
        throw runner_error(fmt::format("its attribute '{}' must {}{}", given.name(), what, number));
    };
    auto const is_flag = [](std::int64_t number) { return number == 0 || number == 1; };
    if (kind == attribute_kind::flag && !is_flag(given.i()))
        refuse("be 0 or 1, but is ", given.i());
    if (kind == attribute_kind::element &&
        (given.i() <= 0 || given.i() >= static_cast<std::int64_t>(xloom::element_type_count)))
        refuse("be an element type, but is ", given.i());
    if (kind == attribute_kind::flags)
        for (std::int64_t const each : given.ints())
            if (!is_flag(each))
                refuse("hold 0 or 1, but holds ", each);
}

std::string names_of(std::vector<attribute_rule> const& attributes)
{
    std::string names;
    for (attribute_rule const& each : attributes)
        names += (names.empty() ? "" : ", ") + std::string(each.name);
    return names;
}

void check_attribute(onnx::AttributeProto const& given, signature const& allowed, std::int64_t opset)
{
    attribute_rule const* const rule = allowed.find(given.name());
    if (rule == nullptr)
        throw runner_error(fmt::format("it has no attribute {} at opset {}{}{}", in_quotes(given.name()),
            opset, allowed.attributes.empty() ? "" : ", only ", names_of(allowed.attributes)));
    if (!given.ref_attr_name().empty())
        throw runner_error(
            fmt::format("its attribute '{}' is to be a function's, but it is in none", given.name()));
    // Models were older than the field `type` once.
    if (onnx::AttributeProto::AttributeType const wanted = attribute_type_of(rule->kind);
        given.type() != wanted && given.type() != onnx::AttributeProto::UNDEFINED)
        throw runner_error(fmt::format("its attribute '{}' must be {}, but is {}", given.name(),
            onnx::AttributeProto::AttributeType_Name(wanted),
            onnx::AttributeProto::AttributeType_Name(given.type())));
    check_range(given, rule->kind);
}

void check_attributes(onnx::NodeProto const& node, signature const& allowed, std::int64_t opset)
{
    std::unordered_set<std::string> names;
    for (onnx::AttributeProto const& each : node.attribute()) {
        check_attribute(each, allowed, opset);
        if (!names.insert(each.name()).second)
            throw runner_error(fmt::format("its attribute '{}' is given twice", each.name()));
    }
    for (attribute_rule const& each : allowed.attributes)
        if (each.is_required && !names.contains(std::string(each.name)))
            throw runner_error(fmt::format("its {} '{}' is missing",
                each.kind == attribute_kind::graph ? "graph" : "attribute", each.name));
}

} // namespace

void check_node(onnx::NodeProto const& node, std::int64_t opset)
{
    signature const& allowed = signature_at(full_name(node.domain(), node.op_type()), opset);
    check_count(allowed.inputs, node.input_size(), "takes", "input", opset);
    check_count(allowed.outputs, node.output_size(), "gives", "output", opset);
    for (int i = 0; i < node.input_size(); ++i)
        if (node.input(i).empty() && arity_of(allowed.inputs, i) != arity::optional)
            throw runner_error(fmt::format("its input {} is missing", i));
    for (int k = 0; k < node.output_size(); ++k)
        if (node.output(k).empty() && arity_of(allowed.outputs, k) == arity::required)
            throw runner_error(fmt::format("its output {} has no name", k));
    check_attributes(node, allowed, opset);
}

} // namespace runner
