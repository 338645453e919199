#include "body.hpp"

#include <algorithm>

#include "emitters.hpp"
#include "text.hpp"

namespace compiler {

namespace {

std::size_t count_in(std::vector<variable*> const& all, variable const* one)
{
    return static_cast<std::size_t>(std::count(all.begin(), all.end(), one));
}

/// Copies a value to memory of its own and returns the name.
std::string staged(emission& out, variable& value)
{
    if (value.is_scalar()) {
        std::string const name = out.unique("next_" + value.onnx_name);
        out.line("{} const {} = {};", cpp_type(value.type), name, out.operand(value));
        return name;
    }
    std::string const name = out.own_memory("next_" + value.onnx_name, value.type);
    assign(out, name, value);
    return name;
}

/// The dimensions of an element as C++; 0 where they are unknown.
std::string element_dims(partial_type const& element)
{
    std::vector<std::string> dims;
    for (xloom::dim const& each : element.shape())
        dims.push_back(each.has_value() ? fmt::format("{}", each.value()) : "0");
    return fmt::format("{{{}}}", fmt::join(dims, ", "));
}

/// Requires that a value which a state holds before or after an iteration has the state's C++ type.
void require_one_type(variable const& state, variable const& held)
{
    if (!has_cpp_type(state.type) || cpp_type(held.type) != cpp_type(state.type))
        throw runner::runner_error(fmt::format("its state {} would hold {} and {}, but code needs one rank",
            runner::in_quotes(state.onnx_name), state.type, held.type));
}

} // namespace

std::string tied(std::vector<std::string> const& names)
{
    return names.size() == 1 ? names[0] : fmt::format("std::tie({})", fmt::join(names, ", "));
}

bool is_made_in(block const& body, variable const& value)
{
    return value.maker != nullptr && value.home == &body;
}

std::string parameter(emission& out, std::string const& type, variable& value)
{
    if (value.uses == 0)
        return type;
    out.bind(value, out.unique(value.onnx_name));
    return fmt::format("{} {}", type, value.code);
}

// States

carried_states::carried_states(
    block const& body, std::vector<variable*> states, std::vector<variable*> next, state_kind kind)
    : body_(body), states_(std::move(states)), next_(std::move(next)), kind_(kind)
{}

void carried_states::start(emission& out, node& each, std::size_t first_input)
{
    for (std::size_t i = 0; i < states_.size(); ++i) {
        variable& initial = each.input(first_input + i);
        if (kind_ == state_kind::container) {
            require_one_type(*states_[i], initial);
            require_one_type(*states_[i], *next_[i]);
            if (each.wants(i))
                require_one_type(*states_[i], each.output(i));
        }
        partial_type const& type = kind_ == state_kind::row ? initial.type : states_[i]->type;
        bool const is_in_place =
            each.wants(i) && (kind_ == state_kind::row || !each.output(i).is_row); // a row is no container
        if (is_in_place) {
            storage_.push_back(out.target(each.output(i)));
        } else if (cpp_type(type) == item_type(type.element())) {
            storage_.push_back(out.unique(states_[i]->onnx_name));
            out.line("{} {}{{}};", cpp_type(type), storage_.back());
        } else {
            storage_.push_back(out.own_memory(states_[i]->onnx_name, type));
        }
        assign(out, storage_.back(), initial);
    }
}

void carried_states::add_parameters(emission& out, std::vector<std::string>& parameters) const
{
    for (std::size_t i = 0; i < states_.size(); ++i) {
        variable& state = *states_[i];
        std::string const type = kind_ == state_kind::row ? "auto&" : cpp_type(state.type) + "&";
        bool const is_handed_through = next_[i] == &state && state.uses == 1;
        if (!is_handed_through)
            out.bind(state, out.unique(state.onnx_name));
        state.is_in_state = kind_ == state_kind::container && !is_handed_through && !state.is_scalar();
        parameters.push_back(is_handed_through ? type : fmt::format("{} {}", type, state.code));
    }
}

bool carried_states::contains(variable const& value) const { return count_in(states_, &value) != 0; }

/// True if the value is in the memory of a state, or a view of one.
bool carried_states::is_of_state(variable const& value) const
{
    variable const* whole = &value;
    while (whole->viewed != nullptr)
        whole = whole->viewed;
    return contains(*whole) || whole->is_in_state;
}

/// True if the next value of state i is in its memory already.
bool carried_states::is_in_place(std::size_t i) const
{
    return next_[i] == states_[i] || (next_[i]->is_in_state && next_[i]->code == states_[i]->code);
}

bool carried_states::can_swap(variable const& value) const
{
    return kind_ == state_kind::container && is_made_in(body_, value) && !value.is_view &&
           count_in(body_.outputs, &value) == 1 && !value.is_scalar();
}

void carried_states::update(emission& out) const
{
    std::vector<std::string> copies(states_.size());
    for (std::size_t i = 0; i < states_.size(); ++i)
        if (!is_in_place(i) && is_of_state(*next_[i]))
            copies[i] = staged(out, *next_[i]);
    for (std::size_t i = 0; i < states_.size(); ++i)
        if (!is_in_place(i) && copies[i].empty() && !can_swap(*next_[i]))
            assign(out, states_[i]->code, *next_[i]);
    for (std::size_t i = 0; i < states_.size(); ++i) {
        if (is_in_place(i) || (copies[i].empty() && !can_swap(*next_[i])))
            continue;
        std::string const& from = copies[i].empty() ? next_[i]->code : copies[i];
        if (states_[i]->is_scalar())
            out.line("{} = {};", states_[i]->code, from);
        else if (kind_ == state_kind::row)
            out.line("xt::noalias({}) = {};", states_[i]->code, from);
        else
            out.line("std::swap({}, {});", states_[i]->code, from);
    }
}

void carried_states::finish(emission& out, node& each) const
{
    for (std::size_t i = 0; i < states_.size(); ++i)
        if (each.wants(i) && each.output(i).code != storage_[i])
            out.line("xt::noalias({}) = {};", each.output(i).code, storage_[i]);
}

// Scan outputs

void scan_outputs::add(node const& each, std::size_t k, std::size_t of_body, place at, bool is_in_place)
{
    variable& element = *body_.outputs[of_body];
    all_.push_back({&element, &each.output(k), each.step->bodies.at("body")->output_types().at(of_body), at,
        is_in_place && static_shape(element.type)});
}

bool scan_outputs::needs_trips() const
{
    return std::any_of(all_.begin(), all_.end(), [](output const& each) { return each.is_in_place; });
}

void scan_outputs::start(
    emission& out, std::string_view op, std::vector<std::string> const& leading, std::string const& trips)
{
    for (output& each : all_) {
        if (!each.is_in_place) {
            partial_type const& type = each.element->type;
            out.include("xloom_onnx/model/growing_stack.hpp");
            each.storage = out.unique(each.element->onnx_name + "_stack");
            out.add_memory(fmt::format("xloom_onnx::growing_stack<{}, {}> {}{{{}}};",
                item_type(type.element()), type.shape().rank(), each.storage,
                type.shape().rank() == 0 ? "" : element_dims(each.declared)));
            out.line("{}.clear();", each.storage);
            continue;
        }
        each.storage = out.target(*each.result);
        std::vector<std::string> dims;
        xloom::shape const element = *static_shape(each.element->type);
        for (std::size_t const dim : element)
            dims.push_back(fmt::format("{}", dim));
        dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(each.at.axis), trips);
        dims.insert(dims.begin(), leading.begin(), leading.end());
        out.include("xloom_onnx/view.hpp");
        out.line("xloom_onnx::give_shape(\"{}\", {}, xloom::shape{{{}}});", op, each.storage,
            fmt::join(dims, ", "));
    }
}

std::string scan_outputs::storage() const
{
    std::vector<std::string> names;
    for (output const& each : all_)
        if (each.is_in_place)
            names.push_back(each.storage);
    return tied(names);
}

void scan_outputs::add_parameters(emission& out, std::vector<std::string>& parameters)
{
    for (output& each : all_)
        if (each.is_in_place) {
            each.row = out.unique(each.element->onnx_name + "_t");
            parameters.push_back("auto& " + each.row);
        }
}

void scan_outputs::enter(emission& out)
{
    for (output& each : all_) {
        each.is_bound = is_made_in(body_, *each.element) && each.element->code.empty() &&
                        static_shape(each.element->type);
        if (!each.is_bound)
            continue;
        if (!each.is_in_place) {
            each.row = out.unique(each.element->onnx_name + "_t");
            out.line(
                "auto{} {} = {}.append();", each.element->is_scalar() ? "&" : "", each.row, each.storage);
        }
        out.bind(*each.element, each.row);
        each.element->is_row = !each.element->is_scalar();
    }
}

void scan_outputs::leave(emission& out) const
{
    for (output const& each : all_) {
        if (each.is_bound)
            continue;
        if (each.is_in_place)
            assign(out, each.row, *each.element);
        else
            out.line("{}.push({});", each.storage, out.operand(*each.element));
    }
}

void scan_outputs::finish(emission& out) const
{
    for (output const& each : all_) {
        if (each.is_in_place)
            continue;
        bool const is_stacked_so = each.at.axis == 0 && !each.at.is_reversed;
        if (is_stacked_so && each.result->code.empty() &&
            each.element->type.element() != element_type::string) {
            out.define_view(*each.result, nullptr, each.storage + ".stacked()");
            continue;
        }
        std::string options;
        if (each.at.axis != 0 || each.at.is_reversed)
            options = fmt::format(", {}", each.at.axis);
        if (each.at.is_reversed)
            options += ", true";
        out.line("{}.copy_to({}{});", each.storage, out.target(*each.result), options);
    }
}

} // namespace compiler
