// Scan: xloom's operator with a graph as its body.

#include "bodies.hpp"
#include "moves.hpp"
#include "operators.hpp"
#include "text.hpp"

#include <xloom/control_flow/scan_list.hpp>
#include <xloom/infer/scan.hpp>

namespace runner {

namespace {

using values = std::vector<value>;
using tensors = std::vector<tensor>;

/// One of Scan's lists of axes. A tensor's last axis, its bytes, is no axis of the model's: those that count
/// from the back skip it.
xloom::axes axes_of(call const& node, std::string_view name)
{
    xloom::axes axes;
    for (std::int64_t const axis : node.integers(name))
        axes.push_back(axis < 0 && axis != std::numeric_limits<std::int64_t>::min() ? axis - 1 : axis);
    return axes;
}

xloom::scan_directions directions_of(call const& node, std::string_view name)
{
    xloom::scan_directions directions;
    for (std::int64_t const direction : node.integers(name))
        directions.push_back(static_cast<xloom::scan_direction>(direction));
    return directions;
}

/// The states and scan inputs, and how the inputs are scanned.
struct scan_operands {
    tensors states, inputs;
    xloom::scan_options options{};
    types expected{}; ///< of the outputs
};

void require_axes(xloom::axes const& axes, std::size_t k, std::size_t rank, std::string_view name)
{
    if (k < axes.size() && axes[k] >= static_cast<std::int64_t>(rank))
        throw runner_error(fmt::format("{}[{}] is {} for a tensor of rank {}", name, k, axes[k], rank));
}

/// Scan of version 9 on: final states, then outputs.
values scan(graph const& body, scope const& around, scan_operands const& operands)
{
    std::size_t const N = operands.states.size();
    require_outputs(body, N);
    typed_outputs outputs(body, N, operands.expected);
    string_table table;
    auto const as_bytes = [&table](tensor const& t) {
        return t.type() == element_type::string ? table.numbers_of(t) : t;
    };
    tensors inputs;
    for (std::size_t i = 0; i < operands.inputs.size(); ++i) {
        require_axes(
            operands.options.scan_input_axes, i, operands.inputs[i].shape().size(), "scan_input_axes");
        inputs.push_back(as_bytes(operands.inputs[i]));
    }

    using bytes = xloom::element_view<std::byte const>;
    auto const iterate = [&](std::span<tensor const> states, std::span<bytes const> elements) {
        values arguments(states.begin(), states.end());
        for (std::size_t i = 0; i < elements.size(); ++i) {
            tensor element(
                inputs[i].type(), xloom::shape(elements[i].shape().begin(), elements[i].shape().end() - 1));
            std::copy_n(elements[i].data(), elements[i].size(), element.bytes());
            arguments.emplace_back(
                operands.inputs[i].type() == element_type::string ? table.strings_of(element) : element);
        }
        values const results = body.run(arguments, &around);
        tensors next, stacked;
        for (std::size_t i = 0; i < N; ++i) {
            next.push_back(results[i].as_tensor());
            if (next[i].type() != states[i].type())
                throw runner_error(
                    fmt::format("state {} must keep its element type, but it was {} and the body made it {}",
                        i, name_of(states[i].type()), name_of(next[i].type())));
        }
        for (std::size_t k = 0; k < outputs.count(); ++k) {
            tensor const& element = results[N + k].as_tensor();
            require_axes(
                operands.options.scan_output_axes, k, element.shape().size() + 1, "scan_output_axes");
            stacked.push_back(outputs.stackable(k, element));
        }
        return xloom::scan_step{next, stacked};
    };
    auto const result = xloom::scan_list(iterate, operands.states, inputs, outputs.count(), operands.options);

    values all(result.final_state.begin(), result.final_state.end());
    for (std::size_t k = 0; k < outputs.count(); ++k) {
        std::int64_t const axis =
            operands.options.scan_output_axes.empty() ? 0 : operands.options.scan_output_axes[k];
        all.emplace_back(outputs.typed(k, result.scan_outputs[k], axis < 0 ? axis + 1 : axis));
    }
    return all;
}

/// Runs Scan of version 8: each row of the batch is scanned separately; the results are stacked and padded
/// with zeros.
values scan_batched(call const& node, std::size_t M)
{
    graph const& body = node.body("body");
    std::size_t const N = node.input_count() - 1 - M;
    tensors operands;
    for (std::size_t i = 1; i < node.input_count(); ++i)
        operands.push_back(node.tensor_at(i));
    if (operands.empty())
        throw runner_error("it has no inputs");
    std::size_t const batch = leading_dim(operands[0]),
                      T = M == 0 ? 0 : leading_dim(drop_leading(operands[N], 0));
    reservation const enough(batch * sizeof(tensors));
    std::vector<std::int64_t> lengths(batch, static_cast<std::int64_t>(T));
    if (node.has(0))
        lengths = node.integers_at(0);
    if (lengths.size() != batch)
        throw runner_error("sequence_lens must have a length for each row of the batch");

    std::vector<tensors> rows;
    for (std::size_t b = 0; b < batch; ++b) {
        if (lengths[b] < 0 || static_cast<std::size_t>(lengths[b]) > T)
            throw runner_error(fmt::format("sequence_lens[{}] is {} for sequences of {}", b, lengths[b], T));
        scan_operands row;
        row.options.scan_input_directions = directions_of(node, "directions");
        for (std::size_t i = 0; i < operands.size(); ++i) {
            if (leading_dim(operands[i]) != batch)
                throw runner_error("all inputs must have the same batch size");
            tensor const own = drop_leading(operands[i], b);
            if (i < N)
                row.states.push_back(own);
            else
                row.inputs.push_back(take_leading(own, static_cast<std::size_t>(lengths[b])));
        }
        tensors results;
        for (value const& each : scan(body, node.around(), row))
            results.push_back(each.as_tensor());
        for (std::size_t k = N; k < results.size(); ++k)
            results[k] = pad_leading(results[k], T);
        rows.push_back(results);
    }
    if (batch == 0)
        throw runner_error("the batch is empty, so the shapes of the outputs are unknown");
    values all;
    for (std::size_t k = 0; k < rows[0].size(); ++k) {
        tensors column;
        for (tensors const& row : rows)
            column.push_back(row[k]);
        all.emplace_back(stack_leading(column));
    }
    return all;
}

values scan(call const& node)
{
    auto const M = static_cast<std::size_t>(std::max<std::int64_t>(node.integer("num_scan_inputs", -1), 0));
    if (node.integer("num_scan_inputs", -1) < 0 || M > node.input_count() - (node.opset() < 9 ? 1 : 0))
        throw runner_error("num_scan_inputs must be given, and no larger than the number of its inputs");
    if (node.opset() < 9)
        return scan_batched(node, M);
    scan_operands operands;
    std::size_t const N = node.input_count() - M;
    for (std::size_t i = 0; i < node.input_count(); ++i)
        (i < N ? operands.states : operands.inputs).push_back(node.tensor_at(i));
    operands.options.scan_input_axes = axes_of(node, "scan_input_axes");
    operands.options.scan_output_axes = axes_of(node, "scan_output_axes");
    operands.options.scan_input_directions = directions_of(node, "scan_input_directions");
    operands.options.scan_output_directions = directions_of(node, "scan_output_directions");
    operands.expected = expected_from(node, N);
    return scan(node.body("body"), node.around(), operands);
}

types scan_types(typing const& node)
{
    types inputs = node.inputs();
    bool const is_batched = node.opset() < 9;
    auto const operands =
        known_list({inputs.begin() + (is_batched && !inputs.empty() ? 1 : 0), inputs.end()});
    if (!operands || inputs.size() > xloom::max_operands || node.output_count() > xloom::max_operands)
        return types_of_unknown(node);
    require_allowed(xloom::control_flow::scan, node.opset(), *operands);
    auto const axes = [&](char const* name) {
        auto const given = node.integers(name);
        return given.empty() ? std::nullopt : std::optional(xloom::axes(given.begin(), given.end()));
    };
    xloom::scan_attributes attributes{.opset = node.opset()};
    if (node.has_attribute("num_scan_inputs"))
        attributes.num_scan_inputs = node.integer("num_scan_inputs", 0);
    attributes.scan_input_axes = axes("scan_input_axes");
    attributes.scan_output_axes = axes("scan_output_axes");
    auto const body = [&node](xloom::type_list const& given) { return infer_body(node, given); };
    auto const result = xloom::infer_scan(xloom::type_list(inputs.begin(), inputs.end()), body,
        xloom::type_list(node.declared().begin(), node.declared().end()), attributes);
    return {result.begin(), result.end()};
}

} // namespace

void add_scan_operators(operator_table& table)
{
    table["Scan"] = {
        {{8, "o+", "+", "body:graph! directions:flags num_scan_inputs:int!"},
            {9, "+", "+",
                "body:graph! num_scan_inputs:int! scan_input_axes:ints "
                "scan_input_directions:flags scan_output_axes:ints scan_output_directions:flags"}},
        static_cast<values (*)(call const&)>(scan), scan_types};
}

} // namespace runner
