// Scan: its body in place, as a lambda of xloom::scan_into; of scan_batched_into before opset 9.

#include <algorithm>
#include <string_view>

#include "body.hpp"
#include "emitters.hpp"
#include "text.hpp"

namespace compiler {

namespace {

constexpr std::string_view forward = "xloom::direction::forward", reverse = "xloom::direction::reverse";

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

/// The directions as C++; empty if all are forward.
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
        names.emplace_back(direction == 0 ? forward : reverse);
    }
    return is_forward ? std::vector<std::string>{} : names;
}

/// The operands of a Scan, sorted by what they are.
struct scan {
    scan(emission& out, node& each);

    bool is_batched; ///< before opset 9: axis 0 is a batch, axis 1 the time
    std::size_t first_state, N, M;
    std::vector<std::string> inputs{};
    std::vector<std::int64_t> input_axes{}, output_axes{};
    std::vector<std::string> input_directions{}, output_directions{};
};

scan::scan(emission& out, node& each) : is_batched(each.opset() < 9), first_state(is_batched ? 1 : 0)
{
    block const& body = each.body("body");
    std::int64_t const given = each.view().integer("num_scan_inputs", 0);
    M = static_cast<std::size_t>(given);
    if (given < 0 || M > each.inputs.size() - first_state)
        throw runner::runner_error(
            "num_scan_inputs must be given, and no larger than the number of its inputs");
    if (M == 0)
        throw runner::runner_error("it has no scan inputs");
    N = each.inputs.size() - first_state - M;
    if (body.inputs.size() != N + M || body.outputs.size() < N)
        throw runner::runner_error(
            fmt::format("its body takes {} inputs and gives {} outputs for {} states and {} scan inputs",
                body.inputs.size(), body.outputs.size(), N, M));
    if (is_batched && each.has(0) && each.input(0).is_scalar())
        throw runner::runner_error("its sequence_lens must be a tensor, but is a scalar");
    std::vector<std::size_t> input_ranks, output_ranks;
    for (std::size_t m = 0; m < M; ++m) {
        variable& input = each.input(first_state + N + m);
        input_ranks.push_back(input.type.shape().rank());
        inputs.push_back(out.operand(input));
    }
    for (std::size_t k = N; k < body.outputs.size(); ++k)
        output_ranks.push_back(each.wants(k) ? body.outputs[k]->type.shape().rank() + 1 : xloom::max_rank);
    if (is_batched) {
        input_directions = directions_of(each, "directions", M);
        return;
    }
    input_axes = axes_of(each, "scan_input_axes", input_ranks);
    output_axes = axes_of(each, "scan_output_axes", output_ranks);
    input_directions = directions_of(each, "scan_input_directions", M);
    output_directions = directions_of(each, "scan_output_directions", output_ranks.size());
}

/// The outputs that are used; the axes and directions of those in place.
struct used_outputs {
    used_outputs(node& each, scan const& of) : written(each.body("body"))
    {
        block& body = each.body("body");
        for (std::size_t k = 0; of.N + k < body.outputs.size(); ++k) {
            if (!each.wants(of.N + k))
                continue;
            variable& element = *body.outputs[of.N + k];
            std::size_t const axis = of.output_axes.empty() ? 0 : static_cast<std::size_t>(of.output_axes[k]);
            bool const is_reversed = !of.output_directions.empty() && of.output_directions[k] != forward;
            written.add(each, of.N + k, of.N + k, {axis, is_reversed}, true);
            if (static_shape(element.type)) {
                axes.push_back(axis);
                directions.emplace_back(is_reversed ? reverse : forward);
            } else if (of.is_batched) {
                throw runner::not_implemented(
                    "outputs whose shapes only a run knows are not implemented before opset 9");
            }
        }
    }

    scan_outputs written;
    std::vector<std::size_t> axes{};
    std::vector<std::string> directions{};
};

std::string options_of(scan const& of, used_outputs const& outputs)
{
    std::vector<std::string> given;
    auto const give = [&](char const* name, auto const& list, auto const& otherwise) {
        if (std::any_of(list.begin(), list.end(), [&](auto const& each) { return each != otherwise; }))
            given.push_back(fmt::format(".{} = {{{}}}", name, fmt::join(list, ", ")));
    };
    give("scan_input_axes", of.input_axes, 0);
    give("scan_output_axes", outputs.axes, std::size_t{0});
    give("scan_input_directions", of.input_directions, forward);
    give("scan_output_directions", outputs.directions, forward);
    return given.empty() ? "" : fmt::format("{{{}}}", fmt::join(given, ", "));
}

void emit_scan(emission& out, node& each)
{
    block& body = each.body("body");
    scan const of(out, each);
    auto const ptr = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
    carried_states states(body, {body.inputs.begin(), body.inputs.begin() + ptr(of.N)},
        {body.outputs.begin(), body.outputs.begin() + ptr(of.N)},
        of.is_batched ? state_kind::row : state_kind::container);
    used_outputs used(each, of);
    scan_outputs& outputs = used.written;

    out.include(of.is_batched ? "xloom/control_flow/scan_batched.hpp" : "xloom/control_flow/scan.hpp");
    states.start(out, each, of.first_state);
    if (outputs.needs_trips()) {
        std::size_t const axis = of.input_axes.empty() ? 0 : static_cast<std::size_t>(of.input_axes[0]);
        std::vector<std::string> batch;
        if (of.is_batched)
            batch.push_back(of.inputs[0] + ".shape()[0]");
        outputs.start(
            out, "Scan", batch, fmt::format("{}.shape()[{}]", of.inputs[0], of.is_batched ? 1 : axis));
    } else {
        outputs.start(out, "Scan", {}, "");
    }
    std::vector<std::string> parameters;
    states.add_parameters(out, parameters);
    for (std::size_t m = 0; m < of.M; ++m)
        parameters.push_back(parameter(out, "auto const&", *body.inputs[of.N + m]));
    outputs.add_parameters(out, parameters);
    out.line("xloom::{}(", of.is_batched ? "scan_batched_into" : "scan_into");
    out.indent();
    out.line("[&]({}) {{", fmt::join(parameters, ", "));
    out.indent();
    out.begin_block();
    outputs.enter(out);
    emit_nodes(out, body);
    outputs.leave(out);
    states.update(out);
    out.end_block();
    out.outdent();
    out.line("}},");
    std::vector<std::string> operands{states.storage(), tied(of.inputs)};
    if (of.is_batched)
        operands.push_back(each.has(0) ? out.operand(each.input(0)) : "std::nullopt");
    operands.push_back(outputs.storage());
    std::string const options = options_of(of, used);
    if (!options.empty())
        operands.push_back(options);
    auto const is_inner = [](std::size_t axis) { return axis != 0; };
    if (!of.input_axes.empty() || std::any_of(used.axes.begin(), used.axes.end(), is_inner))
        operands.push_back(out.scan_workspace()); // the elements along such an axis are not contiguous
    out.line("{});", fmt::join(operands, ", "));
    out.outdent();
    states.finish(out, each);
    outputs.finish(out);
}

} // namespace

void add_scan_emitters(emitter_table& table) { table["Scan"] = emit_scan; }

} // namespace compiler
