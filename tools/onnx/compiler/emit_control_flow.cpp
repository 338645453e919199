// If, Loop, Scan, SequenceMap: their bodies in place.

#include <algorithm>

#include "emitters.hpp"
#include "text.hpp"

namespace compiler {

namespace {

std::string joined(std::vector<std::string> const& all) { return fmt::format("{}", fmt::join(all, ", ")); }

std::size_t count_in(std::vector<variable*> const& all, variable const* one)
{
    return static_cast<std::size_t>(std::count(all.begin(), all.end(), one));
}

/// True if a node of the body itself makes the value.
bool is_made_in(block const& body, variable const& value)
{
    return value.maker != nullptr && value.home == &body;
}

bool has_static_elements(block const& body, std::size_t first)
{
    for (std::size_t k = first; k < body.outputs.size(); ++k)
        if (!static_shape(body.outputs[k]->type))
            return false;
    return true;
}

std::string tied(std::vector<std::string> const& names)
{
    return names.size() == 1 ? names[0] : fmt::format("std::tie({})", joined(names));
}

// If

void emit_branch(emission& out, block& branch, std::vector<std::pair<std::string, variable*>> const& results)
{
    out.begin_block();
    std::vector<bool> is_bound(results.size(), false);
    for (std::size_t k = 0; k < results.size(); ++k) {
        variable& output = *branch.outputs.at(k);
        is_bound[k] = is_made_in(branch, output) && output.code.empty() && !results[k].first.empty() &&
                      cpp_type(output.type) == cpp_type(results[k].second->type);
        if (is_bound[k])
            out.bind(output, results[k].first);
    }
    emit_nodes(out, branch);
    for (std::size_t k = 0; k < results.size(); ++k)
        if (!is_bound[k] && !results[k].first.empty())
            assign(out, results[k].first, *branch.outputs[k]);
    out.end_block();
}

void emit_if(emission& out, node& each)
{
    std::vector<std::pair<std::string, variable*>> results;
    for (std::size_t k = 0; k < each.outputs.size(); ++k)
        results.emplace_back(each.wants(k) ? out.target(each.output(k)) : "", each.outputs[k]);
    out.line("if ({}) {{", only_item(out, each.input(0)));
    out.indent();
    emit_branch(out, each.body("then_branch"), results);
    out.outdent();
    out.line("}} else {{");
    out.indent();
    emit_branch(out, each.body("else_branch"), results);
    out.outdent();
    out.line("}}");
}

// What Loop and Scan share: states that the body replaces at its end.

/// The parameters of a body's lambda: "auto& name", or only the type where the body does not use it.
std::string parameter(emission& out, std::string const& type, variable& value)
{
    if (value.uses == 0)
        return type;
    out.bind(value, out.unique(value.onnx_name));
    return fmt::format("{} {}", type, value.code);
}

class state_update {
public:
    /// `states` are the body's inputs, `next` its outputs.
    state_update(block const& body, std::vector<variable*> states, std::vector<variable*> next)
        : body_(body), states_(std::move(states)), next_(std::move(next))
    {}

    /// Writes the lines that make the states those of the next iteration: states that become others are
    /// copied before any is replaced.
    void emit(emission& out) const
    {
        std::vector<std::string> staged(states_.size());
        for (std::size_t i = 0; i < states_.size(); ++i)
            if (next_[i] != states_[i] && count_in(states_, next_[i]) != 0)
                staged[i] = stage(out, *next_[i]);
        for (std::size_t i = 0; i < states_.size(); ++i)
            if (next_[i] != states_[i] && staged[i].empty() && !can_swap(*next_[i]))
                assign(out, states_[i]->code, *next_[i]);
        for (std::size_t i = 0; i < states_.size(); ++i)
            if (next_[i] != states_[i] && (!staged[i].empty() || can_swap(*next_[i])))
                replace(out, states_[i]->code, staged[i].empty() ? next_[i]->code : staged[i], *next_[i]);
    }

private:
    bool can_swap(variable const& value) const
    {
        return is_made_in(body_, value) && count_in(body_.outputs, &value) == 1 && !value.is_scalar();
    }

    static std::string stage(emission& out, variable& value)
    {
        if (value.is_scalar()) {
            std::string const name = out.unique("next_" + value.onnx_name);
            out.line("{} const {} = {};", cpp_type(value.type), name, value.code);
            return name;
        }
        std::string const name = out.own_memory("next_" + value.onnx_name, value.type);
        assign(out, name, value);
        return name;
    }

    static void replace(emission& out, std::string const& to, std::string const& from, variable const& value)
    {
        if (value.is_scalar())
            out.line("{} = {};", to, from);
        else
            out.line("std::swap({}, {});", to, from);
    }

    block const& body_;
    std::vector<variable*> states_, next_;
};

/// Gives names to states that the body only replaces.
void name_states(emission& out, std::vector<variable*> const& states)
{
    for (variable* const each : states)
        if (each->code.empty())
            out.bind(*each, out.unique(each->onnx_name));
}

/// Storage for the final states, initialised.
std::vector<std::string> initial_states(
    emission& out, node& each, std::size_t first_input, std::vector<variable*> const& states)
{
    std::vector<std::string> names;
    for (std::size_t i = 0; i < states.size(); ++i) {
        bool const is_output = i < each.outputs.size() && each.outputs[i] != nullptr;
        if (is_output) {
            names.push_back(out.target(each.output(i)));
        } else if (states[i]->is_scalar()) {
            names.push_back(out.unique(states[i]->onnx_name));
            out.line("{} {}{{}};", cpp_type(states[i]->type), names.back());
        } else {
            names.push_back(out.own_memory(states[i]->onnx_name, states[i]->type));
        }
        assign(out, names.back(), each.input(first_input + i));
    }
    return names;
}

/// The dimensions of stacked elements, as C++: the element's, with `length` at `axis`.
std::string stacked_dims(partial_type const& element, std::string const& length, std::size_t axis)
{
    std::vector<std::string> dims;
    auto const own = *static_shape(element);
    for (std::size_t const dim : own)
        dims.push_back(fmt::format("{}", dim));
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), length);
    return fmt::format("xloom::shape{{{}}}", joined(dims));
}

/// A lambda's values by tuples that own them.
std::string tuple_of(emission& out, std::vector<variable*> const& values)
{
    std::vector<std::string> value_types, codes;
    for (variable* const each : values) {
        value_types.push_back(cpp_type(each->type));
        codes.push_back(out.operand(*each));
    }
    return fmt::format("std::tuple<{}>({})", joined(value_types), joined(codes));
}

// Loop

/// True if the body never changes its condition.
bool continues_always(node const& each)
{
    block const& body = each.body("body");
    variable const& next = *body.outputs.at(0);
    bool const is_same = body.inputs.size() > 1 && &next == body.inputs[1];
    runner::tensor const* const constant = next.tensor();
    bool const is_true = constant != nullptr && constant->type() == element_type::bool_ &&
                         constant->size() == 1 && constant->items<bool>()[0];
    return !each.has(1) || is_same || is_true;
}

struct loop_parts {
    block& body;
    std::vector<variable*> states, next, elements;
    std::string options{};
    std::string iteration{}; ///< the parameter
};

std::string loop_options(emission& out, node& each)
{
    std::vector<std::string> given;
    if (each.has(0))
        given.push_back(".max_trip_count = " + only_item(out, each.input(0)));
    if (!each.has(1))
        given.push_back(".cond = std::nullopt");
    else if (auto const* const t = each.input(1).tensor();
             t == nullptr || t->size() != 1 || !t->items<bool>()[0])
        given.push_back(".cond = " + only_item(out, each.input(1)));
    return fmt::format("{{{}}}", joined(given));
}

/// The iteration number and the condition, which is true in every iteration, as the body declares them.
void bind_counters(emission& out, block& body, std::string& parameter_text, std::vector<std::string>& lines)
{
    parameter_text = "std::int64_t";
    if (!body.inputs.empty() && body.inputs[0]->uses != 0) {
        variable& iteration = *body.inputs[0];
        std::string const name = out.unique(iteration.onnx_name);
        parameter_text += " " + name;
        if (iteration.is_scalar()) {
            out.bind(iteration, name);
        } else {
            out.bind(iteration, out.own_memory(iteration.onnx_name, iteration.type));
            lines.push_back(fmt::format("{} = {{{}}};", iteration.code, name));
        }
    }
    if (body.inputs.size() > 1 && body.inputs[1]->uses != 0) {
        variable& cond = *body.inputs[1];
        if (cond.is_scalar()) {
            out.bind(cond, "true");
        } else {
            out.bind(cond, out.own_memory(cond.onnx_name, cond.type));
            lines.push_back(fmt::format("{} = {{true}};", cond.code));
        }
    }
}

std::string next_condition(emission& out, node const& each, block& body)
{
    if (continues_always(each))
        return "true";
    return only_item(out, *body.outputs.at(0));
}

void emit_loop_in_place(emission& out, node& each, loop_parts& parts)
{
    block& body = parts.body;
    out.include("xloom/loop_into.hpp");
    std::vector<std::string> const states = initial_states(out, each, 2, parts.states);
    std::vector<std::string> stacked;
    if (!parts.elements.empty()) {
        out.include("xloom_onnx/model/trip_count.hpp");
        std::string const trips = out.unique("trips");
        bool const has_cond = each.has(1) && each.input(1).tensor() == nullptr;
        out.line("std::size_t const {} = xloom_onnx::trip_count({}{});", trips, only_item(out, each.input(0)),
            has_cond ? ", " + only_item(out, each.input(1)) : "");
        for (std::size_t k = 0; k < parts.elements.size(); ++k) {
            std::size_t const at = parts.states.size() + k;
            partial_type const& element = parts.elements[k]->type;
            if (at < each.outputs.size() && each.outputs[at] != nullptr)
                stacked.push_back(out.target(each.output(at)));
            else
                stacked.push_back(out.own_memory(parts.elements[k]->onnx_name,
                    element.with_shape(xloom::insert_axis(element.shape(), 0, xloom::unknown))));
            out.line(
                "xloom_onnx::give_shape(\"Loop\", {}, {});", stacked.back(), stacked_dims(element, trips, 0));
        }
    }
    std::vector<std::string> first_lines;
    std::vector<std::string> parameters(1);
    bind_counters(out, body, parameters[0], first_lines);
    name_states(out, parts.states);
    for (variable* const state : parts.states)
        parameters.push_back(fmt::format("{}& {}", cpp_type(state->type), state->code));
    std::vector<std::string> rows;
    for (variable* const element : parts.elements) {
        rows.push_back(out.unique(element->onnx_name + "_t"));
        parameters.push_back("auto& " + rows.back());
    }
    out.line("xloom::loop_into(");
    out.indent();
    out.line("[&]({}) {{", joined(parameters));
    out.indent();
    out.begin_block();
    for (std::string const& line : first_lines)
        out.write(line);
    std::vector<bool> is_bound(rows.size(), false);
    for (std::size_t k = 0; k < rows.size(); ++k) {
        variable& element = *parts.elements[k];
        is_bound[k] = is_made_in(body, element) && element.code.empty();
        if (is_bound[k])
            out.bind(element, rows[k]);
    }
    emit_nodes(out, body);
    for (std::size_t k = 0; k < rows.size(); ++k)
        if (!is_bound[k])
            assign(out, rows[k], *parts.elements[k]);
    std::string condition = next_condition(out, each, body);
    variable const& next_cond = *body.outputs.at(0);
    if (count_in(parts.states, &next_cond) != 0) {
        std::string const kept = out.unique("continues");
        out.line("bool const {} = {};", kept, condition);
        condition = kept;
    }
    state_update(body, parts.states, parts.next).emit(out);
    out.line("return {};", condition);
    out.end_block();
    out.outdent();
    out.line("}},");
    out.line("{}, {}, {});", tied(states), tied(stacked), parts.options);
    out.outdent();
}

/// For outputs whose number or shapes only the run knows.
void emit_growing_loop(emission& out, node& each, loop_parts& parts)
{
    block& body = parts.body;
    out.include("xloom/loop.hpp");
    std::vector<std::string> initial, initial_types;
    for (std::size_t i = 0; i < parts.states.size(); ++i) {
        initial.push_back(out.operand(each.input(2 + i)));
        initial_types.push_back(cpp_type(parts.states[i]->type));
    }
    std::vector<std::string> targets;
    for (std::size_t k = 0; k < each.outputs.size(); ++k)
        targets.push_back(each.wants(k) ? out.target(each.output(k)) : "");
    std::vector<std::string> first_lines;
    std::vector<std::string> parameters(1);
    bind_counters(out, body, parameters[0], first_lines);
    parameters.push_back("bool");
    for (variable* const state : parts.states)
        parameters.push_back(parameter(out, cpp_type(state->type) + " const&", *state));
    std::string const result = out.unique("result");
    out.line("auto {} = xloom::loop(", result);
    out.indent();
    out.line("[&]({}) {{", joined(parameters));
    out.indent();
    out.begin_block();
    for (std::string const& line : first_lines)
        out.write(line);
    emit_nodes(out, body);
    out.line("return xloom::loop_step{{{}, {}, {}}};", next_condition(out, each, body),
        tuple_of(out, parts.next), tuple_of(out, parts.elements));
    out.end_block();
    out.outdent();
    out.line("}},");
    out.line("std::tuple<{}>({}), {});", joined(initial_types), joined(initial), parts.options);
    out.outdent();
    for (std::size_t k = 0; k < targets.size(); ++k) {
        if (targets[k].empty())
            continue;
        bool const is_state = k < parts.states.size();
        out.line("{} = std::move(std::get<{}>({}.{}));", targets[k], is_state ? k : k - parts.states.size(),
            result, is_state ? "final_state" : "scan_outputs");
    }
}

void emit_loop(emission& out, node& each)
{
    block& body = each.body("body");
    std::size_t const N = std::max<std::size_t>(each.inputs.size(), 2) - 2;
    if (body.outputs.size() < 1 + N || body.inputs.size() < 2 + N)
        throw runner::runner_error(
            fmt::format("its body must take and give at least {} states, but it takes {} "
                        "inputs and gives {} outputs",
                N, body.inputs.size(), body.outputs.size()));
    auto const ptr = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
    loop_parts parts{body, {body.inputs.begin() + 2, body.inputs.begin() + ptr(2 + N)},
        {body.outputs.begin() + 1, body.outputs.begin() + ptr(1 + N)},
        {body.outputs.begin() + ptr(1 + N), body.outputs.end()}, loop_options(out, each)};
    bool const is_counted = each.has(0) && continues_always(each) && has_static_elements(body, 1 + N);
    if (parts.elements.empty() || is_counted)
        emit_loop_in_place(out, each, parts);
    else
        emit_growing_loop(out, each, parts);
}

// Scan

/// Axes from the front; empty if all are 0.
std::vector<std::int64_t> axes_of(node const& each, char const* name, std::vector<std::size_t> const& ranks)
{
    std::vector<std::int64_t> axes = each.view().integers(name);
    if (!axes.empty() && axes.size() != ranks.size())
        throw runner::runner_error(
            fmt::format("{} has {} entries for {} operands", name, axes.size(), ranks.size()));
    for (std::size_t i = 0; i < axes.size(); ++i) {
        if (!xloom::is_axis(axes[i], ranks[i]))
            throw runner::runner_error(
                fmt::format("{}[{}] is {} for a tensor of rank {}", name, i, axes[i], ranks[i]));
        axes[i] = static_cast<std::int64_t>(xloom::wrap_axis(axes[i], ranks[i]));
    }
    bool const are_leading =
        std::all_of(axes.begin(), axes.end(), [](std::int64_t axis) { return axis == 0; });
    return are_leading ? std::vector<std::int64_t>{} : axes;
}

/// The names of directions; empty if all are forward.
std::vector<std::string> directions_of(node const& each, char const* name, std::size_t count)
{
    std::vector<std::int64_t> const given = each.view().integers(name);
    if (!given.empty() && given.size() != count)
        throw runner::runner_error(
            fmt::format("{} has {} entries for {} operands", name, given.size(), count));
    std::vector<std::string> names;
    bool is_forward = true;
    for (std::int64_t const direction : given) {
        is_forward = is_forward && direction == 0;
        names.push_back(direction == 0 ? "xloom::scan_direction::forward" : "xloom::scan_direction::reverse");
    }
    return is_forward ? std::vector<std::string>{} : names;
}

std::string scan_options(std::vector<std::int64_t> const& input_axes,
    std::vector<std::int64_t> const& output_axes, std::vector<std::string> const& input_directions,
    std::vector<std::string> const& output_directions)
{
    std::vector<std::string> given;
    if (!input_axes.empty())
        given.push_back(fmt::format(".scan_input_axes = {{{}}}", fmt::join(input_axes, ", ")));
    if (!output_axes.empty())
        given.push_back(fmt::format(".scan_output_axes = {{{}}}", fmt::join(output_axes, ", ")));
    if (!input_directions.empty())
        given.push_back(fmt::format(".scan_input_directions = {{{}}}", joined(input_directions)));
    if (!output_directions.empty())
        given.push_back(fmt::format(".scan_output_directions = {{{}}}", joined(output_directions)));
    return given.empty() ? "" : fmt::format(", {{{}}}", joined(given));
}

void emit_scan(emission& out, node& each)
{
    if (each.opset() < 9)
        throw runner::not_implemented("Scan before opset 9 is not implemented");
    block& body = each.body("body");
    std::int64_t const given = each.view().integer("num_scan_inputs", -1);
    auto const M = static_cast<std::size_t>(std::max<std::int64_t>(given, 0));
    if (given < 0 || M > each.inputs.size())
        throw runner::runner_error(
            "num_scan_inputs must be given, and no larger than the number of its inputs");
    std::size_t const N = each.inputs.size() - M;
    if (body.inputs.size() != N + M || body.outputs.size() < N)
        throw runner::runner_error(
            fmt::format("its body takes {} inputs and gives {} outputs for {} states and {} scan inputs",
                body.inputs.size(), body.outputs.size(), N, M));
    auto const ptr = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
    std::vector<variable*> const states(body.inputs.begin(), body.inputs.begin() + ptr(N)),
        next(body.outputs.begin(), body.outputs.begin() + ptr(N)),
        elements(body.outputs.begin() + ptr(N), body.outputs.end());
    std::vector<std::size_t> input_ranks, output_ranks;
    std::vector<std::string> inputs;
    for (std::size_t m = 0; m < M; ++m) {
        input_ranks.push_back(each.input(N + m).type.shape().rank());
        inputs.push_back(out.operand(each.input(N + m)));
    }
    for (variable const* const element : elements)
        output_ranks.push_back(element->type.shape().rank() + 1);
    auto const input_axes = axes_of(each, "scan_input_axes", input_ranks);
    auto const output_axes = axes_of(each, "scan_output_axes", output_ranks);
    std::string const options =
        scan_options(input_axes, output_axes, directions_of(each, "scan_input_directions", M),
            directions_of(each, "scan_output_directions", elements.size()));
    bool const in_place = has_static_elements(body, N);

    std::vector<std::string> state_names, stacked;
    if (in_place) {
        out.include("xloom/scan_into.hpp");
        state_names = initial_states(out, each, 0, states);
        std::string const length =
            fmt::format("{}.shape()[{}]", inputs.at(0), input_axes.empty() ? 0 : input_axes[0]);
        for (std::size_t k = 0; k < elements.size(); ++k) {
            partial_type const& element = elements[k]->type;
            std::size_t const axis = output_axes.empty() ? 0 : static_cast<std::size_t>(output_axes[k]);
            if (N + k < each.outputs.size() && each.outputs[N + k] != nullptr)
                stacked.push_back(out.target(each.output(N + k)));
            else
                stacked.push_back(out.own_memory(elements[k]->onnx_name,
                    element.with_shape(xloom::insert_axis(element.shape(), axis, xloom::unknown))));
            out.line("xloom_onnx::give_shape(\"Scan\", {}, {});", stacked.back(),
                stacked_dims(element, length, axis));
        }
    } else {
        out.include("xloom/scan.hpp");
        for (std::size_t i = 0; i < N; ++i)
            state_names.push_back(out.operand(each.input(i)));
        for (std::size_t k = 0; k < each.outputs.size(); ++k)
            stacked.push_back(each.wants(k) ? out.target(each.output(k)) : "");
    }

    std::vector<std::string> parameters;
    if (in_place)
        name_states(out, states);
    for (variable* const state : states)
        parameters.push_back(in_place ? fmt::format("{}& {}", cpp_type(state->type), state->code)
                                      : parameter(out, cpp_type(state->type) + " const&", *state));
    for (std::size_t m = 0; m < M; ++m)
        parameters.push_back(parameter(out, "auto const&", *body.inputs[N + m]));
    std::vector<std::string> rows;
    if (in_place)
        for (variable* const element : elements) {
            rows.push_back(out.unique(element->onnx_name + "_t"));
            parameters.push_back("auto& " + rows.back());
        }
    std::string const result = in_place ? "" : out.unique("result");
    if (in_place)
        out.line("xloom::scan_into(");
    else
        out.line("auto {} = xloom::scan(", result);
    out.indent();
    out.line("[&]({}) {{", joined(parameters));
    out.indent();
    out.begin_block();
    std::vector<bool> is_bound(rows.size(), false);
    for (std::size_t k = 0; k < rows.size(); ++k) {
        is_bound[k] = is_made_in(body, *elements[k]) && elements[k]->code.empty();
        if (is_bound[k])
            out.bind(*elements[k], rows[k]);
    }
    emit_nodes(out, body);
    if (in_place) {
        for (std::size_t k = 0; k < rows.size(); ++k)
            if (!is_bound[k])
                assign(out, rows[k], *elements[k]);
        state_update(body, states, next).emit(out);
    } else {
        out.line("return xloom::scan_step{{{}, {}}};", tuple_of(out, next), tuple_of(out, elements));
    }
    out.end_block();
    out.outdent();
    out.line("}},");
    if (in_place) {
        out.line("{}, {}, {}{});", tied(state_names), tied(inputs), tied(stacked), options);
        out.outdent();
        return;
    }
    std::vector<std::string> initial_types;
    for (variable const* const state : states)
        initial_types.push_back(cpp_type(state->type));
    out.line("std::tuple<{}>({}), {}{});", joined(initial_types), joined(state_names), tied(inputs), options);
    out.outdent();
    for (std::size_t k = 0; k < stacked.size(); ++k)
        if (!stacked[k].empty())
            out.line("{} = std::move(std::get<{}>({}.{}));", stacked[k], k < N ? k : k - N, result,
                k < N ? "final_state" : "scan_outputs");
}

// SequenceMap

void emit_sequence_map(emission& out, node& each)
{
    block& body = each.body("body");
    if (body.inputs.size() != each.inputs.size() || body.outputs.size() < each.outputs.size())
        throw runner::runner_error(
            "its body must take an input for each of its own, and give as many outputs");
    std::string const sequence = out.operand(each.input(0));
    std::vector<std::string> targets;
    for (std::size_t k = 0; k < each.outputs.size(); ++k)
        targets.push_back(each.wants(k) ? out.target(each.output(k)) : "");
    for (std::size_t i = 1; i < each.inputs.size(); ++i)
        if (each.input(i).type.kind() == xloom::type_kind::sequence) {
            out.include("xloom_onnx/model/require_length.hpp");
            out.line("xloom_onnx::require_length({}, {}.size());", out.operand(each.input(i)), sequence);
        }
    for (std::string const& target : targets)
        if (!target.empty())
            out.line("{}.resize({}.size());", target, sequence);
    std::string const position = out.unique("position");
    out.line("for (std::size_t {0} = 0; {0} < {1}.size(); ++{0}) {{", position, sequence);
    out.indent();
    out.begin_block();
    for (std::size_t i = 0; i < each.inputs.size(); ++i) {
        bool const is_sequence = each.input(i).type.kind() == xloom::type_kind::sequence;
        std::string const code = out.operand(each.input(i));
        out.bind(*body.inputs[i], is_sequence ? fmt::format("{}[{}]", code, position) : code);
    }
    emit_nodes(out, body);
    for (std::size_t k = 0; k < targets.size(); ++k)
        if (!targets[k].empty())
            assign(out, fmt::format("{}[{}]", targets[k], position), *body.outputs[k]);
    out.end_block();
    out.outdent();
    out.line("}}");
}

} // namespace

void add_control_flow_emitters(emitter_table& table)
{
    table["If"] = emit_if;
    table["Loop"] = emit_loop;
    table["Scan"] = emit_scan;
    table["SequenceMap"] = emit_sequence_map;
}

} // namespace compiler
