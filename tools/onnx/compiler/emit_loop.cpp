// Loop: its body in place, as a lambda of xloom::loop_into.

#include <algorithm>

#include "body.hpp"
#include "emitters.hpp"
#include "text.hpp"

namespace compiler {

namespace {

/// True if a condition is a constant that is true.
bool is_always_true(variable const& cond)
{
    runner::tensor const* const constant = cond.tensor();
    return constant != nullptr && constant->size() == 1 && constant->items<bool>()[0];
}

std::string options_of(emission& out, node& each)
{
    std::vector<std::string> given;
    if (each.has(0))
        given.push_back(".max_trip_count = " + only_item(out, each.input(0)));
    if (!each.has(1))
        given.push_back(".cond = std::nullopt");
    else if (!is_always_true(each.input(1)))
        given.push_back(".cond = " + only_item(out, each.input(1)));
    return fmt::format("{{{}}}", fmt::join(given, ", "));
}

/// Writes the line that gives the iteration number the rank that the body declares.
void define_number(emission& out, variable& number, std::string const& parameter)
{
    if (number.is_scalar()) {
        out.bind(number, parameter);
        return;
    }
    out.bind(number, out.own_memory(number.onnx_name, number.type));
    out.include("xloom_onnx/reshape.hpp");
    out.line("xloom_onnx::copy_into({}, {{1}}, {});", parameter, number.code);
}

/// Returns the number of iterations as C++, which is known before the first one.
std::string trips_before(emission& out, node& each)
{
    out.include("xloom_onnx/model/trip_count.hpp");
    std::string const trips = out.unique("trips");
    bool const has_cond = each.has(1) && !is_always_true(each.input(1));
    out.line("std::size_t const {} = xloom_onnx::trip_count({}{});", trips, only_item(out, each.input(0)),
        has_cond ? ", " + only_item(out, each.input(1)) : "");
    return trips;
}

/// Writes the end of the body: what it returns, and the states of the next iteration. A condition in memory
/// that their update may change is read before.
void finish_iteration(emission& out, node& each, carried_states const& states)
{
    variable& next = *each.body("body").outputs.at(0);
    std::string condition = is_always_true(next) ? "true" : only_item(out, next);
    if (condition != "true" && (states.contains(next) || !next.is_scalar())) {
        std::string const kept = out.unique("continues");
        out.line("bool const {} = {};", kept, condition);
        condition = kept;
    }
    states.update(out);
    out.line("return {};", condition);
}

void emit_loop(emission& out, node& each)
{
    block& body = each.body("body");
    std::size_t const N = std::max<std::size_t>(each.inputs.size(), 2) - 2;
    if (body.outputs.size() < 1 + std::max(N, each.outputs.size()))
        throw runner::runner_error(
            fmt::format("its body gives {} outputs for a condition, {} states and {} outputs of its own",
                body.outputs.size(), N, each.outputs.size()));
    auto const ptr = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
    carried_states states(body, {body.inputs.begin() + 2, body.inputs.begin() + ptr(2 + N)},
        {body.outputs.begin() + 1, body.outputs.begin() + ptr(1 + N)});
    scan_outputs outputs(body);
    for (std::size_t k = N; k < each.outputs.size(); ++k)
        if (each.wants(k))
            outputs.add(each, k, 1 + k, {}, each.has(0) && is_always_true(*body.outputs.at(0)));

    out.include("xloom/control_flow/loop.hpp");
    std::string const options = options_of(out, each);
    states.start(out, each, 2);
    outputs.start(out, "Loop", {}, outputs.needs_trips() ? trips_before(out, each) : "");
    variable& number = *body.inputs[0];
    std::string const number_name = number.uses == 0 ? "" : out.unique(number.onnx_name);
    std::vector<std::string> parameters{number_name.empty() ? "std::int64_t" : "std::int64_t " + number_name};
    states.add_parameters(out, parameters);
    outputs.add_parameters(out, parameters);
    out.line("xloom::loop_into(");
    out.indent();
    out.line("[&]({}) {{", fmt::join(parameters, ", "));
    out.indent();
    out.begin_block();
    if (!number_name.empty())
        define_number(out, number, number_name);
    outputs.enter(out);
    emit_nodes(out, body);
    outputs.leave(out);
    finish_iteration(out, each, states);
    out.end_block();
    out.outdent();
    out.line("}},");
    out.line("{}, {}, {});", states.storage(), outputs.storage(), options);
    out.outdent();
    states.finish(out, each);
    outputs.finish(out);
}

} // namespace

void add_loop_emitters(emitter_table& table) { table["Loop"] = emit_loop; }

} // namespace compiler
