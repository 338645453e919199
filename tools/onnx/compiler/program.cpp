#include "program.hpp"

#include <algorithm>
#include <utility>

#include "check_types.hpp"
#include "operators.hpp"
#include "sequence_types.hpp"
#include "text.hpp"

namespace compiler {

namespace {

/// The branch that runs, if the condition is a constant; null if only a run knows, or if inference excludes
/// this branch.
char const* branch_taken(node const& each)
{
    runner::tensor const* const cond = each.has(0) ? each.input(0).tensor() : nullptr;
    if (each.name != "If" || cond == nullptr || cond->type() != element_type::bool_ || cond->size() != 1)
        return nullptr;
    char const* const taken = cond->items<bool>()[0] ? "then_branch" : "else_branch";
    auto const found = each.step->bodies.find(taken);
    return found == each.step->bodies.end() || found->second->impossible().empty() ? taken : nullptr;
}

/// The number of outputs of a node's body that every iteration needs: a condition and carried states.
std::size_t count_of_next(node const& of)
{
    if (of.name == "Loop")
        return 1 + std::max<std::size_t>(of.inputs.size(), 2) - 2;
    if (of.name != "Scan")
        return 0;
    std::size_t const lengths = of.opset() < 9 ? 1 : 0;
    return of.inputs.size() - lengths - static_cast<std::size_t>(of.view().integer("num_scan_inputs", 0));
}

void count_uses(block& of);

/// Counts the uses in the bodies of a node, whose outputs are counted already: what a body gives to an output
/// that nothing uses is none.
void count_uses_in_bodies(node& of)
{
    std::size_t const next = count_of_next(of), condition = of.name == "Loop" ? 1 : 0;
    for (auto const& [attribute, body] : of.bodies) {
        for (std::size_t k = 0; k < body->outputs.size(); ++k)
            if (k < next || of.wants(k - condition))
                ++body->outputs[k]->uses;
        count_uses(*body);
    }
}

/// Removes the nodes whose results are not used, and the outputs that are not. Counts the uses of the other
/// values; those as outputs of the block are counted already.
void count_uses(block& of)
{
    std::deque<node> used;
    while (!of.nodes.empty()) {
        node last = std::move(of.nodes.back());
        of.nodes.pop_back();
        bool is_used = false;
        for (variable*& each : last.outputs) {
            if (each != nullptr && each->uses == 0)
                each = nullptr;
            is_used = is_used || each != nullptr;
        }
        if (!is_used)
            continue;
        for (variable* const each : last.inputs)
            if (each != nullptr)
                ++each->uses;
        count_uses_in_bodies(last);
        used.push_front(std::move(last));
    }
    of.nodes = std::move(used);
    for (node& each : of.nodes)
        for (variable* const output : each.outputs)
            if (output != nullptr)
                output->maker = &each;
}

[[noreturn]] void refuse(node const& at, std::string const& why)
{
    throw runner::runner_error(runner::describe(*at.step->node) + ": " + why);
}

void require_type(node const& at, char const* what, variable const& value)
{
    if (!has_cpp_type(value.type))
        refuse(at,
            fmt::format(
                "the type of its {} {} is {}, but code needs its element type and rank: fix inputs of the "
                "model that it depends on with --shape INPUT=DIMS or --value INPUT=ITEMS, or declare it in "
                "the model",
                what, runner::in_quotes(value.onnx_name), value.type));
}

void require_types_in(block const& of)
{
    for (node const& each : of.nodes) {
        for (variable const* const input : each.inputs)
            if (input != nullptr)
                require_type(each, "input", *input);
        for (auto const& [attribute, body] : each.bodies) {
            for (variable const* const input : body->inputs)
                if (input->uses != 0)
                    require_type(each, "body's input", *input);
            require_types_in(*body);
        }
        for (variable const* const output : each.outputs)
            if (output != nullptr) {
                if (!each.step->failure.empty() && (each.name == "Constant" || !has_cpp_type(output->type)))
                    refuse(each, each.step->failure);
                require_type(each, "output", *output);
            }
    }
}

} // namespace

std::optional<std::vector<std::int64_t>> variable::integers() const
{
    runner::tensor const* const t = tensor();
    if (t == nullptr || (t->type() != element_type::int64 && t->type() != element_type::int32))
        return std::nullopt;
    return runner::integers_of(*t);
}

std::optional<xloom::shape> static_shape(partial_type const& type)
{
    if (!type.is_tensor() || !type.shape().has_rank())
        return std::nullopt;
    xloom::shape dims;
    for (xloom::dim const& each : type.shape()) {
        if (!each.has_value() || each.value() < 0)
            return std::nullopt;
        dims.push_back(static_cast<std::size_t>(each.value()));
    }
    return dims;
}

bool has_static_shapes(block const& of)
{
    auto const is_static = [](variable const* value) {
        return value == nullptr ||
               (value->type.is_tensor() && value->type.element() != element_type::string &&
                   static_shape(value->type));
    };
    bool all = std::all_of(of.inputs.begin(), of.inputs.end(), is_static) &&
               std::all_of(of.outputs.begin(), of.outputs.end(), is_static);
    for (node const& each : of.nodes) {
        all = all && std::all_of(each.outputs.begin(), each.outputs.end(), is_static);
        for (auto const& [attribute, body] : each.bodies)
            all = all && has_static_shapes(*body);
    }
    return all;
}

program::program(runner::graph& graph)
{
    make_true(true_);
    fill(main_, graph);
    for (variable* const each : main_.outputs)
        ++each->uses;
    count_uses(main_);
    complete_sequence_types(main_);
}

bool program::tell_types()
{
    bool is_news = false;
    for (variable const& each : variables_)
        if (each.is_completed)
            is_news = each.graph->assume(each.place, each.type) || is_news;
    return is_news;
}

void program::require_types() const
{
    check_types(main_);
    for (variable const* const input : main_.inputs)
        if (!has_cpp_type(input->type))
            throw runner::runner_error(fmt::format(
                "the type of the model's input {0} is {1}, but code needs its element type and rank: give "
                "its shape "
                "with --shape {0}=DIMS or its value with --value {0}=ITEMS, or declare it in the model",
                runner::in_quotes(input->onnx_name), input->type));
    require_types_in(main_);
}

/// Makes a value the constant true, in its rank.
void program::make_true(variable& value)
{
    xloom::shape const dims(value.type.shape().rank(), 1);
    trues_.emplace_back(runner::tensor::scalar(true).reshaped(dims));
    value.type = runner::type_of(trues_.back());
    value.constant = &trues_.back();
}

variable& program::add_variable(block& home, runner::graph& graph, std::size_t at)
{
    variable& added = variables_.emplace_back();
    added.home = &home;
    added.graph = &graph;
    added.place = at;
    return *(place(home, at) = &added);
}

variable*& program::place(block& at, std::size_t place) { return at.by_place[place]; }

variable* program::find(block const& from, runner::slot at) const
{
    block const* home = &from;
    for (std::size_t depth = at.depth; depth != 0; --depth)
        home = home->outer;
    return home->by_place.at(at.place);
}

void program::fill(block& into, runner::graph& graph, node const* of)
{
    into.impossible = graph.impossible();
    if (!into.impossible.empty())
        return;
    auto const& proto = graph.proto();
    into.by_place.resize(graph.place_count());
    for (std::size_t at = 0; at < graph.place_count(); ++at)
        if (runner::value const* const constant = graph.constant_at(at)) {
            variable& added = add_variable(into, graph, at);
            added.type = type_of_constant(*constant);
            added.constant = constant;
        }
    for (std::size_t i = 0; i < graph.input_places().size(); ++i) {
        variable& added = add_variable(into, graph, graph.input_places()[i]);
        added.onnx_name = proto.input(static_cast<int>(i)).name();
        added.type = graph.input_types()[i];
        into.inputs.push_back(&added);
    }
    if (of != nullptr && of->name == "Loop") {
        if (std::size_t const needed = 1 + count_of_next(*of); into.inputs.size() != needed)
            refuse(
                *of, fmt::format("its body takes {} inputs, but must take {}: the number of the iteration, "
                                 "the condition and the states",
                         into.inputs.size(), needed));
        make_true(*into.inputs[1]); // its condition in every iteration that runs
    }
    for (runner::graph::step const& each : graph.steps())
        add_node(into, graph, each);
    for (std::size_t k = 0; k < graph.output_slots().size(); ++k) {
        std::string const& name = proto.output(static_cast<int>(k)).name();
        variable* const found = find(into, graph.output_slots()[k]);
        if (found == nullptr)
            throw runner::runner_error(
                "the graph's output " + runner::in_quotes(name) + " is made by no node");
        if (found->onnx_name.empty())
            found->onnx_name = name;
        into.outputs.push_back(found);
    }
}

void program::add_node(block& into, runner::graph& graph, runner::graph::step const& step)
{
    node added{&step, runner::full_name(step.node->domain(), step.node->op_type())};
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
        variable* const found = step.inputs[i] ? find(into, *step.inputs[i]) : nullptr;
        if (found != nullptr && found->onnx_name.empty())
            found->onnx_name = step.node->input(static_cast<int>(i));
        added.inputs.push_back(found);
    }
    if (added.name == "CastLike")
        added.inputs[1] = nullptr; // only its type is used, which is the output's
    if (added.name == "Dropout" && added.has(1))
        added.inputs[1] = nullptr; // the ratio of training
    char const* const taken = branch_taken(added);
    for (auto const& [attribute, inner] : step.bodies) {
        if (taken != nullptr && attribute != taken)
            continue; // inference left it out, too
        auto body = std::make_unique<block>();
        body->outer = &into;
        fill(*body, *inner, &added);
        if (added.name == "Loop" && !added.has(1) && !body->outputs.empty())
            body->outputs[0] = &true_; // the body's condition is ignored
        added.bodies.emplace(attribute, std::move(body));
    }
    if (taken != nullptr) {
        splice(into, step, added.body(taken));
        for (node& each : added.body(taken).nodes)
            into.nodes.push_back(std::move(each));
        return;
    }
    if (added.name == "Identity") {
        place(into, *step.outputs[0]) = &added.input(0);
        return;
    }
    for (std::size_t k = 0; k < step.outputs.size(); ++k) {
        if (!step.outputs[k]) {
            added.outputs.push_back(nullptr);
            continue;
        }
        variable& made = add_variable(into, graph, *step.outputs[k]);
        made.onnx_name = step.node->output(static_cast<int>(k));
        made.type = step.output_types[k];
        added.outputs.push_back(&made);
    }
    into.nodes.push_back(std::move(added));
}

/// Makes the outputs of an If those of the branch that runs.
void program::splice(block& into, runner::graph::step const& step, block const& taken)
{
    for (variable& each : variables_)
        if (each.home == &taken)
            each.home = &into;
    for (std::size_t k = 0; k < step.outputs.size(); ++k)
        if (step.outputs[k])
            place(into, *step.outputs[k]) = taken.outputs[k];
}

} // namespace compiler
