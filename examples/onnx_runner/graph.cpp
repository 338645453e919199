#include "graph.hpp"

#include <algorithm>

#include "operators.hpp"
#include "proto.hpp"

namespace runner {

namespace {

/// "Add 'sum' (node 3)": for messages.
std::string describe(onnx::NodeProto const& node) { return node.op_type() + (node.name().empty() ? "" : " '" + node.name() + "'"); }

std::int64_t opset_of(onnx::NodeProto const& node, opsets const& versions)
{
    std::string const domain = node.domain() == "ai.onnx" ? "" : node.domain();
    auto const found = versions.find(domain);
    if (found == versions.end())
        throw runner_error(describe(node) + ": the model imports no opset of the domain '" + domain + "'");
    return found->second;
}

} // namespace

value const* scope::find(std::string const& name) const
{
    for (scope const* each = this; each != nullptr; each = each->outer_)
        if (auto const found = each->values_.find(name); found != each->values_.end())
            return &found->second;
    return nullptr;
}

graph::graph(onnx::GraphProto const& proto, opsets const& versions, std::unordered_set<std::string> const& outer) : proto_(proto)
{
    std::unordered_set<std::string> known = outer;
    for (auto const& initializer : proto.initializer()) {
        initializers_.emplace_back(initializer.name(), read_tensor(initializer));
        known.insert(initializer.name());
    }
    if (proto.sparse_initializer_size() != 0)
        throw not_implemented("sparse initializers are not implemented");
    std::unordered_set<std::string> inputs;
    for (auto const& input : proto.input()) {
        if (!inputs.insert(input.name()).second)
            throw runner_error("the graph has two inputs '" + input.name() + "'");
        known.insert(input.name());
    }
    for (auto const& node : proto.node()) {
        add_step(node, versions, known);
        for (auto const& output : node.output())
            known.insert(output);
    }
    for (auto const& output : proto.output())
        if (!known.contains(output.name()))
            throw runner_error("the graph's output '" + output.name() + "' is made by no node");
}

void graph::add_step(onnx::NodeProto const& node, opsets const& versions, std::unordered_set<std::string> const& known)
{
    for (auto const& input : node.input())
        if (!input.empty() && !known.contains(input))
            throw runner_error(describe(node) + ": its input '" + input + "' is made by no node before it");
    step result{&node, find_operation(node.domain(), node.op_type()), opset_of(node, versions), {}};
    if (result.run == nullptr)
        throw not_implemented("operator " + (node.domain().empty() ? "" : node.domain() + ".") + node.op_type() + " is not implemented");
    for (auto const& attribute : node.attribute())
        if (attribute.type() == onnx::AttributeProto::GRAPH)
            result.bodies.emplace(attribute.name(), std::make_unique<graph>(attribute.g(), versions, known));
    steps_.push_back(std::move(result));
}

std::vector<value> graph::run(std::vector<value> const& inputs, scope const* outer) const
{
    if (inputs.size() > static_cast<std::size_t>(proto_.input_size()))
        throw runner_error(xloom::detail::concat("the graph has ", proto_.input_size(), " inputs, but ", inputs.size(), " are given"));
    scope names(outer);
    for (auto const& [name, initializer] : initializers_)
        names.put(name, initializer);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        names.put(proto_.input(static_cast<int>(i)).name(), inputs[i]);
    for (step const& each : steps_) {
        std::vector<value const*> arguments;
        for (auto const& input : each.node->input()) {
            arguments.push_back(input.empty() ? nullptr : names.find(input));
            if (!input.empty() && arguments.back() == nullptr)
                throw runner_error(describe(*each.node) + ": its input '" + input + "' is not given");
        }
        std::vector<value> outputs;
        try {
            outputs = (*each.run)(call(*each.node, each.opset, each.bodies, arguments, names));
        } catch (not_implemented const&) {
            throw;
        } catch (std::exception const& error) {
            throw runner_error(describe(*each.node) + ": " + error.what());
        }
        for (std::size_t k = 0; k < outputs.size() && k < static_cast<std::size_t>(each.node->output_size()); ++k)
            if (std::string const& name = each.node->output(static_cast<int>(k)); !name.empty())
                names.put(name, std::move(outputs[k]));
    }
    std::vector<value> results;
    for (auto const& output : proto_.output()) {
        value const* const found = names.find(output.name());
        if (found == nullptr)
            throw runner_error("the graph's output '" + output.name() + "' was not made");
        results.push_back(*found);
    }
    return results;
}

value const& call::at(std::size_t i) const
{
    if (!has(i))
        throw runner_error(xloom::detail::concat("its input ", i, " is missing"));
    return *inputs_[i];
}

std::vector<std::int64_t> call::integers_at(std::size_t i) const
{
    tensor const& t = tensor_at(i);
    if (t.type() == element_type::int32) {
        auto const items = t.items<std::int32_t>();
        return {items.begin(), items.end()};
    }
    auto const items = t.items<std::int64_t>();
    return {items.begin(), items.end()};
}

onnx::AttributeProto const* call::find(std::string_view name) const
{
    for (auto const& attribute : node_.attribute())
        if (attribute.name() == name)
            return &attribute;
    return nullptr;
}

std::int64_t call::integer(std::string_view name, std::int64_t otherwise) const
{
    auto const* const found = find(name);
    return found == nullptr ? otherwise : found->i();
}

double call::number(std::string_view name, double otherwise) const
{
    auto const* const found = find(name);
    return found == nullptr ? otherwise : static_cast<double>(found->f());
}

std::string call::text(std::string_view name, std::string const& otherwise) const
{
    auto const* const found = find(name);
    return found == nullptr ? otherwise : found->s();
}

std::vector<std::int64_t> call::integers(std::string_view name) const
{
    auto const* const found = find(name);
    return found == nullptr ? std::vector<std::int64_t>{} : std::vector<std::int64_t>(found->ints().begin(), found->ints().end());
}

std::vector<double> call::numbers(std::string_view name) const
{
    auto const* const found = find(name);
    return found == nullptr ? std::vector<double>{} : std::vector<double>(found->floats().begin(), found->floats().end());
}

std::vector<std::string> call::texts(std::string_view name) const
{
    auto const* const found = find(name);
    return found == nullptr ? std::vector<std::string>{} : std::vector<std::string>(found->strings().begin(), found->strings().end());
}

graph const& call::body(std::string const& name) const
{
    auto const found = bodies_.find(name);
    if (found == bodies_.end())
        throw runner_error("its graph '" + name + "' is missing");
    return *found->second;
}

} // namespace runner
