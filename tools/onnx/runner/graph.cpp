#include "graph.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <xloom/infer/merge.hpp>

#include "check_node.hpp"
#include "functions.hpp"
#include "moves.hpp"
#include "node_bodies.hpp"
#include "operators.hpp"
#include "proto.hpp"
#include "text.hpp"
#include "type_rules.hpp"

namespace runner {

namespace {

constexpr std::size_t deepest = 32;

std::int64_t opset_of(onnx::NodeProto const& node, opsets const& versions)
{
    if (node.domain() == own_domain)
        return newest_opset;
    std::string const domain = plain_domain(node.domain());
    auto const found = versions.find(domain);
    if (found == versions.end())
        throw runner_error(
            describe(node) + ": the model imports no opset of the domain " + in_quotes(domain));
    return found->second;
}

/// Adds the opsets of a call whose bodies become a function's.
void add_opsets(opsets& of_function, onnx::NodeProto const& call, opsets const& of_call)
{
    for (auto const& [domain, version] : of_call)
        if (auto const own = of_function.emplace(domain, version).first; own->second != version)
            throw not_implemented(fmt::format(
                "{}: a body of opset {} for a function of opset {} of the domain {} is not implemented",
                describe(call), version, own->second, in_quotes(domain.empty() ? "ai.onnx" : domain)));
}

operation const& operation_of(onnx::NodeProto const& node)
{
    operation const* const found = find_operation(node.domain(), node.op_type());
    if (found == nullptr)
        throw not_implemented(
            "operator " + printable(full_name(node.domain(), node.op_type()), 128) + " is not implemented");
    return *found;
}

/// What a graph declares of a value.
struct declaration {
    xloom::partial_type type = xloom::untyped;
    bool is_information = false; ///< value_info, not an input or output of the graph
};

using declarations = std::unordered_map<std::string, declaration>;

declarations declarations_of(onnx::GraphProto const& graph)
{
    declarations all;
    for (auto const* const list : {&graph.input(), &graph.output(), &graph.value_info()})
        for (auto const& each : *list)
            all.try_emplace(each.name(), declaration{type_of(each.type()), list == &graph.value_info()});
    return all;
}

declaration declaration_of(declarations const& all, std::string const& name)
{
    auto const found = all.find(name);
    return found == all.end() ? declaration() : found->second;
}

/// f(), with the node's name in front of what it throws.
template <class F>
auto about(onnx::NodeProto const& node, F f)
try {
    return f();
} catch (not_implemented const&) {
    throw;
} catch (std::exception const& error) {
    throw runner_error(describe(node) + ": " + error.what());
}

/// A declared type of unknown dimensions, or of unknown rank.
xloom::partial_type without_dims(xloom::partial_type const& declared, bool keeps_rank = true)
{
    if (declared.kind() == xloom::type_kind::sequence)
        return sequence_of(without_dims(declared.inner(), keeps_rank));
    if (declared.kind() == xloom::type_kind::optional)
        return optional_of(without_dims(declared.inner(), keeps_rank));
    if (declared.is_untyped() || !declared.shape().has_rank())
        return declared;
    return declared.with_shape(
        keeps_rank ? unknown_dims(declared.shape().rank()) : partial_shape(xloom::unknown_rank));
}

/// The part of a declaration that must hold. Dimensions are often those of the exporter's run; value_info is
/// left as it was where editors change a body.
xloom::partial_type required_by(declaration const& declared)
{
    return without_dims(declared.type, !declared.is_information);
}

/// A type, completed by another one unless that contradicts it.
xloom::partial_type completed(xloom::partial_type const& type, xloom::partial_type const& other)
{
    return is_mergeable(type, other) ? merge_type(type, other) : type;
}

std::string contradiction(std::string_view what, std::string const& name, xloom::partial_type const& inferred,
    xloom::partial_type const& declared)
{
    return fmt::format("{} {} is declared as {}, but is {}", what, in_quotes(name), declared, inferred);
}

/// Merges an inferred type with the required part of a declared one.
xloom::partial_type merged(std::string_view what, std::string const& name,
    xloom::partial_type const& inferred, xloom::partial_type const& declared,
    xloom::partial_type const& required)
{
    if (!is_mergeable(inferred, required))
        throw runner_error(contradiction(what, name, inferred, declared));
    return merge_type(inferred, required);
}

/// A node that cannot be prepared is not, and fails where it is reached.
run_function prepared(operation const& what, typing const& node)
try {
    return what.prepare ? what.prepare(node) : run_function();
} catch (std::exception const&) {
    return {};
}

/// The items of all tensors in a value, the characters of strings included, and their bytes.
struct extent {
    std::size_t items = 0, bytes = 0;

    explicit extent(value const& v)
    {
        if (v.is_tensor())
            add(v.as_tensor());
        if (v.is_sequence())
            for (value const& each : v.as_sequence())
                add(extent(each));
        if (v.is_optional() && v.as_optional().held)
            add(extent(*v.as_optional().held));
    }

private:
    void add(tensor const& t)
    {
        items += t.size();
        bytes += t.size() * t.item_size();
        if (t.type() == element_type::string)
            for (std::string const& each : t.items<std::string>()) {
                items += each.size();
                bytes += each.size();
            }
    }
    void add(extent const& part)
    {
        items += part.items;
        bytes += part.bytes;
    }
};

/// True if the results of a node with constant inputs are constants, too: none is larger than the inputs,
/// each counted once, nor than the model, by more than 64 KiB. A wider type is not larger.
bool are_kept(
    std::vector<value> const& results, std::vector<value const*> const& arguments, std::size_t model_bytes)
{
    constexpr std::size_t more = std::size_t{1} << 16, items_per_byte = 4; // the narrowest items have 2 bits
    std::size_t given = 0;
    for (value const* const each : std::set<value const*>(arguments.begin(), arguments.end()))
        given += each == nullptr ? 0 : extent(*each).items;
    std::size_t const model_items = items_per_byte * model_bytes;
    std::size_t const allowed = arguments.empty() ? model_items : std::min(given, model_items);
    return std::all_of(results.begin(), results.end(), [&](value const& result) {
        extent const made(result);
        return made.items <= allowed || (made.items - allowed) * (made.bytes / made.items) <= more;
    });
}

void require_agreement(
    std::string_view what, std::string const& name, value const& v, xloom::partial_type const& inferred)
{
    if (!agrees(v, inferred))
        throw runner_error(
            fmt::format("{} {} is {}, but must be {}", what, in_quotes(name), describe(v), inferred));
}

} // namespace

void warning_list::add(std::string const& text)
{
    if (auto const [place, is_new] = all_.insert(printable(text, longest_message)); is_new)
        in_order_.push_back(place);
}

void warning_list::shrink(std::size_t count)
{
    for (; in_order_.size() > count; in_order_.pop_back())
        all_.erase(in_order_.back());
}

graph::graph(
    onnx::GraphProto const& proto, opsets const& versions, preparation const& shared, name_table const* outer)
    : proto_(proto), shared_(shared)
{
    name_table names(outer);
    if (names.depth() > deepest)
        throw runner_error(fmt::format("graphs are nested more than {} deep", deepest));
    if (proto.sparse_initializer_size() != 0)
        throw not_implemented("sparse initializers are not implemented");
    std::unordered_map<std::string, onnx::TensorProto const*> initializers;
    for (auto const& initializer : proto.initializer()) {
        auto const [first, is_new] = initializers.emplace(initializer.name(), &initializer);
        if (!is_new && first->second->SerializeAsString() != initializer.SerializeAsString())
            throw runner_error("the graph has two initializers " + in_quotes(initializer.name()));
        if (!is_new)
            continue;
        keep_constant(names.place_of(initializer.name()), read_tensor(initializer));
    }
    std::unordered_set<std::string> inputs;
    for (auto const& input : proto.input()) {
        if (!inputs.insert(input.name()).second)
            throw runner_error("the graph has two inputs " + in_quotes(input.name()));
        input_places_.push_back(names.place_of(input.name()));
    }
    input_types_.resize(inputs.size());
    initial_.resize(names.size());
    for (auto const& node : proto.node())
        add_step(node, versions, names);
    for (auto const& output : proto.output()) {
        auto const found = names.find(output.name());
        if (!found)
            throw runner_error("the graph's output " + in_quotes(output.name()) + " is made by no node");
        outputs_.push_back(*found);
    }
}

void graph::keep_constant(std::size_t place, value v)
{
    reserve_characters(v);
    constants_.push_back(std::move(v));
    initial_.resize(std::max(initial_.size(), place + 1));
    initial_[place] = &constants_.back();
}

void graph::add_call(
    function const& called, onnx::NodeProto const& call, opsets const& versions, name_table& names)
{
    auto const& nodes = calls_.emplace_back(shared_.functions->expand(called, call));
    opsets own = opsets_of(called.proto.opset_import());
    if (own.empty())
        own = versions;
    if (std::ranges::any_of(call.attribute(), holds_body))
        add_opsets(own, call, versions);
    for (onnx::NodeProto const& each : nodes)
        add_step(each, own, names);
}

void graph::add_step(onnx::NodeProto const& node, opsets const& versions, name_table& names)
{
    function const* const called = shared_.functions == nullptr ? nullptr : shared_.functions->find(node);
    if (called != nullptr)
        return about(node, [&] { add_call(*called, node, versions, names); });
    step added{&node, &operation_of(node), opset_of(node, versions)};
    if (!added.what->signatures.empty())
        about(node, [&] { check_node(node, added.opset); });
    for (auto const& input : node.input()) {
        added.inputs.push_back(input.empty() ? std::nullopt : names.find(input));
        if (!input.empty() && !added.inputs.back())
            throw runner_error(
                describe(node) + ": its input " + in_quotes(input) + " is made by no node before it");
    }
    for (auto const& attribute : node.attribute())
        if (holds_body(attribute))
            added.bodies.emplace(
                attribute.name(), std::make_unique<graph>(attribute.g(), versions, shared_, &names));
    for (auto const& output : node.output()) {
        if (names.has_own(output))
            throw runner_error(describe(node) + ": its output " + in_quotes(output) + " is there already");
        added.outputs.push_back(output.empty() ? std::nullopt : std::optional(names.place_of(output)));
    }
    added.output_types.resize(added.outputs.size());
    added.last_uses.resize(added.inputs.size()); // until all types are known
    initial_.resize(names.size());
    steps_.push_back(std::move(added));
}

types graph::infer(types const& inputs, facts const* outer, certainty of_types)
{
    if (inputs.size() != input_places_.size())
        throw runner_error(
            fmt::format("the graph has {} inputs, but {} are given", input_places_.size(), inputs.size()));
    if (of_types == certainty::tentative) // loops in loops are inferred several times
        spend_steps(1 + steps_.size());
    auto const declared = declarations_of(proto_);
    facts known{outer, std::vector<fact>(initial_.size())};
    for (std::size_t place = 0; place < initial_.size(); ++place)
        if (initial_[place] != nullptr)
            known.own[place] = {completed(type_of(*initial_[place]), place), initial_[place]};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        std::string const& name = proto_.input(static_cast<int>(i)).name();
        auto const type = declaration_of(declared, name).type;
        bool const is_body = outer != nullptr;
        if (is_body)
            compare("the graph " + in_quotes(proto_.name()) + ": its input", name, inputs[i], type, of_types);
        auto const required = merged("the input", name, inputs[i], type, is_body ? without_dims(type) : type);
        if (value const* const initial = initial_[input_places_[i]]; initial != nullptr && !is_body)
            require_agreement("the initializer", name, *initial, required);
        input_types_[i] = completed(required, input_places_[i]);
        known.own[input_places_[i]] = {input_types_[i]};
    }
    std::vector<bool> is_left;
    for (step& each : steps_) {
        bool is_evaluated = false;
        std::vector<fact const*> arguments;
        for (auto const& input : each.inputs)
            arguments.push_back(input ? &known[*input] : nullptr);
        about(*each.node, [&] {
            std::vector<declaration> declared_outputs;
            types required;
            for (auto const& name : each.node->output()) {
                declared_outputs.push_back(declaration_of(declared, name));
                required.push_back(required_by(declared_outputs.back()));
            }
            typing const node({*each.node, each.opset, each.bodies}, arguments, required, known, of_types);
            each.output_types = each.what->infer(node);
            if (of_types == certainty::final)
                each.prepared = prepared(*each.what, node);
            each.output_types.resize(each.outputs.size());
            each.expected_types.resize(each.outputs.size());
            for (std::size_t k = 0; k < each.outputs.size(); ++k) {
                std::string const& name = each.node->output(static_cast<int>(k));
                auto const& type = declared_outputs[k].type;
                compare(describe(*each.node) + ": its output", name, each.output_types[k], type, of_types);
                each.output_types[k] = runner::completed(
                    merged("its output", name, each.output_types[k], type, required[k]), without_dims(type));
                each.expected_types[k] = runner::completed(each.output_types[k], type);
                if (!each.outputs[k])
                    continue;
                each.output_types[k] = completed(each.output_types[k], *each.outputs[k]);
                known.own[*each.outputs[k]].type = each.output_types[k];
            }
            if (of_types == certainty::final && each.what->evaluate)
                if (auto result = each.what->evaluate(node))
                    is_evaluated = keep_results(each, {std::move(*result)}, known);
        });
        is_left.push_back(!is_evaluated && !fold(each, arguments, known));
    }
    types result;
    output_types_.clear();
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
        auto const& output = proto_.output(static_cast<int>(k));
        auto const type = type_of(output.type());
        result.push_back(
            merged("the graph's output", output.name(), known[outputs_[k]].type, type, without_dims(type)));
        output_types_.push_back(runner::completed(result.back(), type));
    }
    std::vector<step> left; // nothing is moved before all types agree
    for (std::size_t i = 0; i < steps_.size(); ++i)
        if (is_left[i])
            left.push_back(std::move(steps_[i]));
    steps_ = std::move(left);
    find_last_uses();
    return result;
}

void graph::compare(std::string const& what, std::string const& name, xloom::partial_type const& inferred,
    xloom::partial_type const& declared, certainty of_types) const
{
    if (of_types == certainty::final && !shared_.warnings->is_full() && !is_mergeable(inferred, declared))
        shared_.warnings->add(contradiction(what, name, inferred, declared));
}

void graph::mark_read(std::size_t outward, std::vector<bool>& is_read) const
{
    auto const mark = [&](std::optional<slot> const& read) {
        if (read && read->depth == outward)
            is_read[read->place] = true;
    };
    for (step const& each : steps_) {
        std::for_each(each.inputs.begin(), each.inputs.end(), mark);
        for (auto const& [name, body] : each.bodies)
            body->mark_read(outward + 1, is_read);
    }
    std::for_each(outputs_.begin(), outputs_.end(), mark);
}

void graph::find_last_uses()
{
    std::vector<bool> is_read(initial_.size());
    for (std::size_t place = 0; place < initial_.size(); ++place)
        is_read[place] = initial_[place] != nullptr; // constants are for all runs
    for (slot const& output : outputs_)
        if (output.depth == 0)
            is_read[output.place] = true;
    std::vector<std::size_t> uses(initial_.size()); // by one node
    for (auto at = steps_.rbegin(); at != steps_.rend(); ++at) {
        step& each = *at;
        for (auto const& [name, body] : each.bodies)
            body->mark_read(1, is_read);
        auto const is_own = [](std::optional<slot> const& input) { return input && input->depth == 0; };
        for (auto const& input : each.inputs)
            if (is_own(input))
                ++uses[input->place];
        each.last_uses.clear();
        for (auto const& input : each.inputs)
            each.last_uses.push_back(is_own(input) && uses[input->place] == 1 && !is_read[input->place]);
        for (auto const& input : each.inputs)
            if (is_own(input)) {
                is_read[input->place] = true;
                uses[input->place] = 0;
            }
    }
}

bool graph::assume(std::size_t place, xloom::partial_type const& type)
{
    assumed_.resize(std::max(assumed_.size(), place + 1));
    return std::exchange(assumed_[place], type) != type;
}

xloom::partial_type graph::completed(xloom::partial_type const& type, std::size_t place) const
{
    return place < assumed_.size() ? runner::completed(type, assumed_[place]) : type;
}

std::optional<types> graph::infer_branch(facts const* outer, certainty of_types)
{
    std::size_t const warned = shared_.warnings->all().size();
    try {
        impossible_.clear();
        return infer({}, outer, of_types);
    } catch (not_implemented const&) {
        throw;
    } catch (std::exception const& error) {
        shared_.warnings->shrink(warned);
        impossible_ = error.what();
        return std::nullopt;
    }
}

bool graph::fold(step& each, std::vector<fact const*> const& inputs, facts& known)
{
    std::vector<value const*> arguments;
    for (fact const* const input : inputs) {
        if (input != nullptr && input->constant == nullptr)
            return false;
        arguments.push_back(input == nullptr ? nullptr : input->constant);
    }
    if (!each.bodies.empty())
        return false;
    try {
        spend_steps();
        std::vector<value> results =
            each.what->run(call({*each.node, each.opset, each.bodies}, arguments, {}));
        if (are_kept(results, arguments, shared_.model_bytes))
            return keep_results(each, std::move(results), known);
        each.failure = "its result is too large to be a constant";
        for (std::size_t k = 0; k < std::min(results.size(), each.outputs.size()); ++k)
            if (each.outputs[k] && agrees(results[k], each.output_types[k]) && results[k].is_tensor())
                known.own[*each.outputs[k]].type = each.output_types[k] = type_of(results[k]);
        return false;
    } catch (std::exception const& error) {
        each.failure = error.what();
        return false;
    }
}

bool graph::keep_results(step const& each, std::vector<value> results, facts& known)
{
    if (results.size() < each.outputs.size())
        return false;
    for (std::size_t k = 0; k < each.outputs.size(); ++k)
        require_agreement(
            "its output", each.node->output(static_cast<int>(k)), results[k], each.output_types[k]);
    for (std::size_t k = 0; k < each.outputs.size(); ++k)
        reserve_characters(results[k]);
    for (std::size_t k = 0; k < each.outputs.size(); ++k)
        if (each.outputs[k]) {
            keep_constant(*each.outputs[k], std::move(results[k]));
            fact& now = known.own[*each.outputs[k]];
            now.constant = &constants_.back();
            if (now.constant->is_tensor())
                now.type = type_of(*now.constant);
        }
    return true;
}

std::vector<value> graph::run(std::vector<value> inputs, scope const* outer) const
{
    if (!impossible_.empty())
        throw runner_error("the inputs' types exclude this branch: " + impossible_);
    if (inputs.size() > input_places_.size())
        throw runner_error(
            fmt::format("the graph has {} inputs, but {} are given", input_places_.size(), inputs.size()));
    spend_steps(); // a body without nodes must end, too
    scope known{outer, initial_};
    std::vector<value*> own(initial_.size()); // by place: what this run was given or made
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        require_agreement("the input", proto_.input(static_cast<int>(i)).name(), inputs[i], input_types_[i]);
        known.own[input_places_[i]] = own[input_places_[i]] = &inputs[i];
    }
    std::vector<value> made;
    made.reserve(initial_.size()); // they must not move
    std::vector<value const*> arguments;
    for (step const& each : steps_)
        about(*each.node, [&] {
            spend_steps();
            arguments.clear();
            for (auto const& input : each.inputs) {
                arguments.push_back(input ? known[*input] : nullptr);
                if (input && arguments.back() == nullptr)
                    throw runner_error("its input " +
                                       in_quotes(each.node->input(static_cast<int>(arguments.size() - 1))) +
                                       " is not given");
            }
            call const reached(
                {*each.node, each.opset, each.bodies}, arguments, known, each.expected_types, each.last_uses);
            auto results = (each.prepared ? each.prepared : each.what->run)(reached);
            for (std::size_t k = 0; k < std::min(results.size(), each.outputs.size()); ++k)
                if (each.outputs[k]) {
                    reserve_characters(results[k]);
                    require_agreement("its output", each.node->output(static_cast<int>(k)), results[k],
                        each.output_types[k]);
                    made.push_back(std::move(results[k]));
                    known.own[*each.outputs[k]] = own[*each.outputs[k]] = &made.back();
                }
            for (std::size_t i = 0; i < each.inputs.size(); ++i)
                if (each.last_uses[i])
                    (void)value(std::move(*own[each.inputs[i]->place])); // freed
        });
    std::vector<value> results;
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
        value const* const found = known[outputs_[k]];
        if (found == nullptr)
            throw runner_error("the graph's output " + in_quotes(proto_.output(static_cast<int>(k)).name()) +
                               " was not made");
        results.push_back(*found);
    }
    return results;
}

value const& call::at(std::size_t i) const
{
    if (!has(i))
        throw runner_error(fmt::format("its input {} is missing", i));
    return *inputs_[i];
}

bool call::is_expiring(std::size_t i) const
{
    if (i >= last_uses_.size() || !last_uses_[i])
        return false;
    value const& input = at(i);
    return (input.is_tensor() && !input.as_tensor().is_shared()) ||
           (input.is_sequence() && !input.as_sequence().is_shared());
}

tensor call::own_tensor_at(std::size_t i) const
{
    tensor const& from = tensor_at(i);
    if (is_expiring(i))
        return from;
    tensor copy(from.type(), from.shape());
    copy_items(from, 0, copy, 0, from.size());
    return copy;
}

sequence call::own_sequence_at(std::size_t i) const
{
    sequence const& from = at(i).as_sequence();
    if (is_expiring(i))
        return from;
    sequence copy;
    copy.reserve(from.size());
    for (value const& each : from)
        copy.push_back(each);
    return copy;
}

tensor call::result_over(
    std::initializer_list<std::size_t> inputs, element_type type, xloom::shape const& dims) const
{
    for (std::size_t const i : inputs)
        if (is_expiring(i) && tensor_at(i).type() == type && tensor_at(i).shape() == dims)
            return tensor_at(i);
    return new_tensor(type, dims);
}

} // namespace runner
