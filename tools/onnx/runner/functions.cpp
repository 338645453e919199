#include "functions.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <google/protobuf/unknown_field_set.h>

#include "graph.hpp"
#include "node_bodies.hpp"
#include "operators.hpp"
#include "sort_nodes.hpp"
#include "text.hpp"

namespace runner {

namespace {

using node_list = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

constexpr std::size_t most_nodes = 100'000, deepest_call = 100;

/// Returns the entries of a field of texts or messages, which a release of ONNX that is older than the field
/// keeps as an unknown one.
template <class Message>
std::vector<std::string> entries_of(Message const& of, int number)
{
    std::vector<std::string> entries;
    auto const& reflection = *of.GetReflection();
    auto const* const field = of.GetDescriptor()->FindFieldByNumber(number);
    if (field != nullptr && field->is_repeated())
        for (int i = 0; i < reflection.FieldSize(of, field); ++i)
            entries.push_back(reflection.GetRepeatedMessage(of, field, i).SerializeAsString());
    else if (field != nullptr)
        entries.push_back(reflection.GetString(of, field));
    auto const& unknown = reflection.GetUnknownFields(of);
    for (int i = 0; i < unknown.field_count(); ++i)
        if (auto const& each = unknown.field(i);
            each.number() == number && each.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
            entries.push_back(each.length_delimited());
    return entries;
}

/// Returns the attributes of a function that have defaults: attribute_proto, of ONNX 1.13.
std::unordered_map<std::string, onnx::AttributeProto> defaults_of(onnx::FunctionProto const& proto)
{
    std::unordered_map<std::string, onnx::AttributeProto> defaults;
    for (std::string const& entry : entries_of(proto, 11)) {
        onnx::AttributeProto attribute;
        if (attribute.ParseFromString(entry))
            defaults.emplace(attribute.name(), attribute);
    }
    return defaults;
}

/// Returns the overload of a function or a call, of ONNX 1.16; empty if there is none.
template <class Message>
std::string overload_of(Message const& of, int field)
{
    auto const entries = entries_of(of, field);
    return entries.empty() ? "" : entries.back();
}

function_name name_of(onnx::FunctionProto const& proto)
{
    return {plain_domain(proto.domain()), proto.name(), overload_of(proto, 13)};
}

function_name name_of(onnx::NodeProto const& call)
{
    return {plain_domain(call.domain()), call.op_type(), overload_of(call, 8)};
}

/// For messages.
std::string quoted_name(onnx::FunctionProto const& proto)
{
    auto const [domain, name, overload] = name_of(proto);
    return in_quotes(full_name(domain, name) + (overload.empty() ? "" : ":" + overload));
}

/// Calls f(node) for all nodes of a list and of their bodies.
template <class Nodes, class F>
void for_each_node(Nodes const& nodes, F const& f)
{
    for (onnx::NodeProto const& node : nodes) {
        f(node);
        for_each_body(node, [&](onnx::GraphProto const& body) { for_each_node(body.node(), f); });
    }
}

/// The new names of values in a function or in a body.
struct renaming {
    renaming const* outer = nullptr;
    std::unordered_map<std::string, std::string> of{};

    std::string const* find(std::string const& name) const
    {
        for (renaming const* each = this; each != nullptr; each = each->outer)
            if (auto const found = each->of.find(name); found != each->of.end())
                return &found->second;
        return nullptr;
    }
};

void require_few(std::size_t nodes)
{
    if (nodes > most_nodes)
        throw runner_error(fmt::format("calls of the model's functions have more than {} nodes", most_nodes));
}

/// Adds nodes and those of their bodies to a count. Throws if it is more than all calls may have.
void count_nodes(node_list const& nodes, std::size_t& count)
{
    for_each_node(nodes, [&](onnx::NodeProto const&) { ++count; });
    require_few(count);
}

/// Takes the nodes of a function into the graph of a call.
class expansion {
public:
    /// Adds what the nodes take to `memory`, and the nodes of bodies that the call gives to `node_count`.
    expansion(function const& called, onnx::NodeProto const& call, unused_names& names, reservation& memory,
        std::size_t& node_count)
        : called_(called), call_(call), new_names_(names), memory_(memory), node_count_(node_count)
    {
        for (auto const& attribute : call.attribute())
            attributes_.emplace(attribute.name(), &attribute);
    }

    node_list nodes()
    {
        onnx::FunctionProto const& proto = called_.proto;
        node_list made = proto.node(), copies;
        renaming names;
        for (int i = 0; i < proto.input_size(); ++i)
            names.of.emplace(proto.input(i), i < call_.input_size() ? call_.input(i) : "");
        for (int k = 0; k < call_.output_size(); ++k)
            if (std::string const& to = call_.output(k); !to.empty()) {
                auto const [place, is_new] = names.of.emplace(proto.output(k), to);
                if (!is_new) // an input, or an output before it
                    add_identity(copies, place->second, to);
            }
        define_outputs(proto.node(), names);
        for (onnx::NodeProto& node : made)
            take(node, names);
        made.MergeFrom(copies);
        return made;
    }

private:
    /// Gives a node its names and attributes. Bodies that are attributes of the call keep theirs.
    void take(onnx::NodeProto& node, renaming const& names)
    {
        for (std::string& input : *node.mutable_input())
            input = renamed(input, names);
        for (std::string& output : *node.mutable_output())
            output = renamed(output, names);
        google::protobuf::RepeatedPtrField<onnx::AttributeProto> attributes;
        attributes.Swap(node.mutable_attribute());
        for (onnx::AttributeProto& attribute : attributes)
            if (attribute.ref_attr_name().empty()) {
                if (holds_body(attribute))
                    take(*attribute.mutable_g(), names);
                node.add_attribute()->Swap(&attribute);
            } else if (onnx::AttributeProto const* const given = find(attribute.ref_attr_name())) {
                count_nodes(given->g().node(), node_count_);
                memory_.grow(given->SpaceUsedLong());
                onnx::AttributeProto& added = *node.add_attribute();
                added = *given;
                added.set_name(attribute.name());
            }
    }

    void take(onnx::GraphProto& body, renaming const& outer)
    {
        renaming names{&outer};
        for (auto const& input : body.input())
            define(input.name(), names);
        for (auto const& initializer : body.initializer())
            define(initializer.name(), names);
        define_outputs(body.node(), names);
        for (auto& node : *body.mutable_node())
            take(node, names);
        for (auto* const list : {body.mutable_input(), body.mutable_output(), body.mutable_value_info()})
            for (auto& each : *list)
                each.set_name(renamed(each.name(), names));
        for (auto& each : *body.mutable_initializer())
            each.set_name(renamed(each.name(), names));
    }

    void add_identity(node_list& nodes, std::string const& from, std::string const& to)
    {
        memory_.grow(from.size() + to.size());
        onnx::NodeProto& copy = *nodes.Add();
        copy.set_domain(own_domain);
        copy.set_op_type("Identity");
        copy.add_input(from);
        copy.add_output(to);
    }

    /// Gives a value of a function or body a new name, if it has none.
    void define(std::string const& name, renaming& names)
    {
        if (!name.empty() && !names.of.contains(name))
            names.of.emplace(name, new_name(name));
    }
    void define_outputs(node_list const& nodes, renaming& names)
    {
        for (auto const& node : nodes)
            for (std::string const& output : node.output())
                define(output, names);
    }

    std::string new_name(std::string const& name)
    {
        constexpr std::size_t copies = 4; // in the value's node, in two tables of names and in the graph's
        memory_.grow(copies * (called_.proto.name().size() + 1 + name.size()));
        return new_names_.make(called_.proto.name() + "/" + name);
    }

    /// Returns the new name of a value; one that no value has if no node of the function makes it.
    std::string renamed(std::string const& name, renaming const& names)
    {
        std::string const* const found = names.find(name);
        if (name.empty() || found == nullptr)
            return name.empty() ? name : new_name(name);
        memory_.grow(found->size());
        return *found;
    }

    onnx::AttributeProto const* find(std::string const& attribute) const
    {
        if (auto const given = attributes_.find(attribute); given != attributes_.end())
            return given->second;
        auto const otherwise = called_.defaults.find(attribute);
        return otherwise == called_.defaults.end() ? nullptr : &otherwise->second;
    }

    function const& called_;
    onnx::NodeProto const& call_;
    unused_names& new_names_;
    reservation& memory_;
    std::size_t& node_count_;
    std::unordered_map<std::string, onnx::AttributeProto const*> attributes_{};
};

} // namespace

bool has_function(onnx::ModelProto const& model, std::string const& domain, std::string const& name)
{
    return std::ranges::any_of(model.functions(), [&](onnx::FunctionProto const& each) {
        return plain_domain(each.domain()) == domain && each.name() == name;
    });
}

function_table::function_table(onnx::ModelProto const& model) : names_(model.graph())
{
    for (onnx::FunctionProto const& proto : model.functions()) {
        if (proto.domain() == own_domain)
            throw runner_error(
                fmt::format("the model's function {} is in the domain {}, which is the runner's",
                    in_quotes(proto.name()), in_quotes(own_domain)));
        function made{proto, defaults_of(proto), {proto.attribute().begin(), proto.attribute().end()}};
        for (auto const& [name, attribute] : made.defaults)
            made.attributes.insert(name);
        if (!functions_.emplace(name_of(proto), std::move(made)).second)
            throw runner_error("the model has two functions " + quoted_name(proto));
    }
}

function const* function_table::find(onnx::NodeProto const& node) const
{
    if (functions_.empty() || node.domain() == own_domain)
        return nullptr;
    auto const found = functions_.find(name_of(node));
    return found == functions_.end() ? nullptr : &found->second;
}

std::size_t function_table::size_of(function const& called, std::unordered_set<function const*>& callers)
{
    if (auto const found = sizes_.find(&called); found != sizes_.end())
        return found->second;
    if (!callers.insert(&called).second)
        throw runner_error("the function " + quoted_name(called.proto) + " calls itself");
    if (callers.size() > deepest_call)
        throw runner_error(fmt::format("functions call each other more than {} deep", deepest_call));
    std::size_t nodes = 1;
    auto const count = [&](onnx::NodeProto const& node) {
        function const* const next = find(node);
        nodes = std::min(most_nodes + 1, nodes + (next == nullptr ? 1 : size_of(*next, callers)));
    };
    for_each_node(called.proto.node(), count);
    for (auto const& [name, attribute] : called.defaults)
        for_each_node(attribute.g().node(), count);
    callers.erase(&called);
    return sizes_[&called] = nodes;
}

node_list function_table::expand(function const& called, onnx::NodeProto const& call)
{
    onnx::FunctionProto const& proto = called.proto;
    std::unordered_set<function const*> callers;
    std::size_t const size = size_of(called, callers);
    if (call.input_size() > proto.input_size())
        throw runner_error(fmt::format(
            "the function takes {} inputs, but is given {}", proto.input_size(), call.input_size()));
    if (call.output_size() > proto.output_size())
        throw runner_error(fmt::format(
            "the function gives {} outputs, but {} are named", proto.output_size(), call.output_size()));
    for (auto const& attribute : call.attribute())
        if (!called.attributes.contains(attribute.name()))
            throw runner_error("the function has no attribute " + in_quotes(attribute.name()));
    require_few(std::max(size, ++nodes_));
    count_nodes(proto.node(), nodes_);
    taken_.grow(proto.SpaceUsedLong());
    node_list nodes = expansion(called, call, names_, taken_, nodes_).nodes();
    sort_nodes(nodes);
    return nodes;
}

} // namespace runner
