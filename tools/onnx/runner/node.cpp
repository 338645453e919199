#include "node.hpp"

#include "graph.hpp"
#include "text.hpp"

namespace runner {

namespace {

onnx::AttributeProto const* find_any(onnx::NodeProto const& node, std::string_view name)
{
    for (onnx::AttributeProto const& each : node.attribute())
        if (each.name() == name)
            return &each;
    return nullptr;
}

} // namespace

std::vector<std::int64_t> integers_of(tensor const& t)
{
    if (t.type() == element_type::int32) {
        auto const items = t.items<std::int32_t>();
        return {items.begin(), items.end()};
    }
    auto const items = t.items<std::int64_t>();
    return {items.begin(), items.end()};
}

std::string describe(onnx::NodeProto const& node)
{
    std::string const type = printable(node.op_type(), 64);
    return node.name().empty() ? type : fmt::format("{} {}", type, in_quotes(node.name()));
}

onnx::AttributeProto const* node_view::find(
    std::string_view name, onnx::AttributeProto::AttributeType type) const
{
    onnx::AttributeProto const* const found = find_any(node_, name);
    // Models were older than the field `type` once.
    if (found != nullptr && found->type() != type && found->type() != onnx::AttributeProto::UNDEFINED)
        throw runner_error(fmt::format("its attribute {} must be {}, but is {}", in_quotes(name),
            onnx::AttributeProto::AttributeType_Name(type),
            onnx::AttributeProto::AttributeType_Name(found->type())));
    return found;
}

bool node_view::has_attribute(std::string_view name) const { return find_any(node_, name) != nullptr; }

std::int64_t node_view::integer(std::string_view name, std::int64_t otherwise) const
{
    auto const* const found = find(name, onnx::AttributeProto::INT);
    return found == nullptr ? otherwise : found->i();
}

double node_view::number(std::string_view name, double otherwise) const
{
    auto const* const found = find(name, onnx::AttributeProto::FLOAT);
    return static_cast<double>(found == nullptr ? static_cast<float>(otherwise) : found->f());
}

std::string node_view::text(std::string_view name, std::string const& otherwise) const
{
    auto const* const found = find(name, onnx::AttributeProto::STRING);
    return found == nullptr ? otherwise : found->s();
}

std::vector<std::int64_t> node_view::integers(std::string_view name) const
{
    auto const* const found = find(name, onnx::AttributeProto::INTS);
    return found == nullptr ? std::vector<std::int64_t>{}
                            : std::vector<std::int64_t>(found->ints().begin(), found->ints().end());
}

std::vector<double> node_view::numbers(std::string_view name) const
{
    auto const* const found = find(name, onnx::AttributeProto::FLOATS);
    return found == nullptr ? std::vector<double>{}
                            : std::vector<double>(found->floats().begin(), found->floats().end());
}

std::vector<std::string> node_view::texts(std::string_view name) const
{
    auto const* const found = find(name, onnx::AttributeProto::STRINGS);
    return found == nullptr ? std::vector<std::string>{}
                            : std::vector<std::string>(found->strings().begin(), found->strings().end());
}

graph& node_view::body(std::string const& name) const
{
    auto const found = bodies_.find(name);
    if (found == bodies_.end())
        throw runner_error("its graph " + in_quotes(name) + " is missing");
    return *found->second;
}

} // namespace runner
