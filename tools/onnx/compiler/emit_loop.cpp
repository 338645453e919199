// Loop: its body in place, as a lambda of xloom::loop_into.

#include <algorithm>

#include "body.hpp"
#include "emitters.hpp"
#include "text.hpp"

namespace compiler {

namespace {

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

std::string options_of(emission& out, node& each)
{
    std::vector<std::string> given;
    if (each.has(0))
        given.push_back(".max_trip_count = " + only_item(out, each.input(0)));
    if (!each.has(1))
        given.push_back(".cond = std::nullopt");
    else if (auto const* const t = each.input(1).tensor();
             t == nullptr || t->size() != 1 || !t->items<bool>()[0])
        given.push_back(".cond = " + only_item(out, each.input(1)));
    return fmt::format("{{{}}}", fmt::join(given, ", "));
}

/// The iteration number and the condition, which is true in every iteration, as the body declares them.
class counters {
public:
    explicit counters(block& body) : body_(body) {}

    void add_parameters(emission& out, std::vector<std::string>& parameters)
    {
        parameters.push_back("std::int64_t");
        if (body_.inputs.empty() || body_.inputs[0]->uses == 0)
            return;
        number_ = out.unique(body_.inputs[0]->onnx_name);
        parameters.back() += " " + number_;
    }

    void enter(emission& out) const
    {
        if (!number_.empty())
            define(out, *body_.inputs[0], number_);
        if (body_.inputs.size() < 2)
            return;
        variable& condition = *body_.inputs[1];
        std::size_t const uses = condition.uses - (body_.outputs[0] == &condition); // it returns true then
        if (uses != 0)
            define(out, condition, "true");
    }

private:
    static void define(emission& out, variable& value, std::string const& item)
    {
        if (value.is_scalar()) {
            out.bind(value, item);
            return;
        }
        out.bind(value, out.own_memory(value.onnx_name, value.type));
        out.include("xloom_onnx/reshape.hpp");
        out.line("xloom_onnx::copy_into({}, {{1}}, {});", item, value.code);
    }

    block& body_;
    std::string number_{};
};

/// Returns the number of iterations as C++, where it is known before the first one; else an empty text.
std::string trips_before(emission& out, node& each)
{
    if (!each.has(0) || !continues_always(each))
        return "";
    out.include("xloom_onnx/model/trip_count.hpp");
    std::string const trips = out.unique("trips");
    bool const has_cond = each.has(1) && each.input(1).tensor() == nullptr;
    out.line("std::size_t const {} = xloom_onnx::trip_count({}{});", trips, only_item(out, each.input(0)),
        has_cond ? ", " + only_item(out, each.input(1)) : "");
    return trips;
}

/// Writes the end of the body: what it returns, and the states of the next iteration.
void finish_iteration(emission& out, node& each, carried_states const& states)
{
    variable& next = *each.body("body").outputs.at(0);
    std::string condition = continues_always(each) ? "true" : only_item(out, next);
    if (condition != "true" && states.contains(next)) {
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
    if (body.outputs.size() < 1 + N || body.inputs.size() < 2 + N)
        throw runner::runner_error(
            fmt::format("its body must take and give at least {} states, but it takes {} "
                        "inputs and gives {} outputs",
                N, body.inputs.size(), body.outputs.size()));
    auto const ptr = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
    carried_states states(body, {body.inputs.begin() + 2, body.inputs.begin() + ptr(2 + N)},
        {body.outputs.begin() + 1, body.outputs.begin() + ptr(1 + N)});
    scan_outputs outputs(body);
    for (std::size_t k = N; k < each.outputs.size() && 1 + k < body.outputs.size(); ++k)
        if (each.wants(k))
            outputs.add(*body.outputs[1 + k], each.output(k), {}, each.has(0) && continues_always(each));

    out.include("xloom/loop_into.hpp");
    std::string const options = options_of(out, each);
    states.start(out, each, 2);
    outputs.start(out, "Loop", {}, outputs.needs_trips() ? trips_before(out, each) : "");
    std::vector<std::string> parameters;
    counters counted(body);
    counted.add_parameters(out, parameters);
    states.add_parameters(out, parameters);
    outputs.add_parameters(out, parameters);
    out.line("xloom::loop_into(");
    out.indent();
    out.line("[&]({}) {{", fmt::join(parameters, ", "));
    out.indent();
    out.begin_block();
    counted.enter(out);
    outputs.enter(out);
    emit_nodes(out, body);
    outputs.leave(out);
    finish_iteration(out, each, states);
    out.end_block();
    out.outdent();
    out.line("}},");
    out.line("{}, {}, {});", states.storage(), outputs.storage(), options);
    out.outdent();
    outputs.finish(out);
}

} // namespace

void add_loop_emitters(emitter_table& table) { table["Loop"] = emit_loop; }

} // namespace compiler
