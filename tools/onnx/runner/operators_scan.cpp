// Scan with a graph as its body: lists of states, inputs and outputs, whose numbers only the model knows.

#include <utility>

#include "axis.hpp"
#include "bodies.hpp"
#include "moves.hpp"
#include "operators.hpp"
#include "text.hpp"

#include <xloom/infer/scan.hpp>

namespace runner {

namespace {

using tensors = std::vector<tensor>;
using integers = std::vector<std::int64_t>;

/// The states and scan inputs, and how these and the outputs are traversed: lists with an entry for each, or
/// empty ones.
struct scan_operands {
    tensors states, inputs;
    integers input_axes{}, output_axes{}, input_directions{}, output_directions{};
    types expected{}; ///< of the outputs
};

void require_count(integers const& list, std::size_t count, std::string_view name)
{
    if (!list.empty() && list.size() != count)
        throw runner_error(
            fmt::format("{} must have {} entries or none, but it has {}", name, count, list.size()));
}

std::int64_t entry(integers const& list, std::size_t k) { return list.empty() ? 0 : list[k]; }

/// Returns the tensor with another axis as its axis 0.
tensor with_leading(tensor const& t, std::size_t axis)
{
    if (axis == 0)
        return t;
    std::vector<std::size_t> order{axis};
    for (std::size_t i = 0; i < t.shape().size(); ++i)
        if (i != axis)
            order.push_back(i);
    return transposed(t, order);
}

/// Scan of version 9 on: final states, then outputs.
std::vector<value> scan(graph const& body, scope const& around, scan_operands const& operands)
{
    std::size_t const N = operands.states.size(), M = operands.inputs.size();
    require_outputs(body, N);
    scan_outputs outputs(body, N, operands.expected);
    require_count(operands.input_axes, M, "scan_input_axes");
    require_count(operands.input_directions, M, "scan_input_directions");
    require_count(operands.output_axes, outputs.count(), "scan_output_axes");
    require_count(operands.output_directions, outputs.count(), "scan_output_directions");
    tensors inputs;
    for (std::size_t i = 0; i < M; ++i) {
        tensor const& input = operands.inputs[i];
        inputs.push_back(with_leading(input, axis_of(entry(operands.input_axes, i), input.shape().size())));
        if (leading_dim(inputs[i]) != leading_dim(inputs[0]))
            throw runner_error(
                fmt::format("all scan inputs must have the same sequence length, but they have {} and {}",
                    leading_dim(inputs[0]), leading_dim(inputs[i])));
    }

    std::size_t const T = leading_dim(inputs[0]);
    tensors states = operands.states;
    for (std::size_t t = 0; t < T; ++t) {
        std::vector<value> arguments(
            std::make_move_iterator(states.begin()), std::make_move_iterator(states.end()));
        for (std::size_t i = 0; i < M; ++i)
            arguments.emplace_back(
                drop_leading(inputs[i], entry(operands.input_directions, i) == 0 ? t : T - 1 - t));
        std::vector<value> const results = body.run(std::move(arguments), &around);
        for (std::size_t i = 0; i < N; ++i) {
            tensor const &first = operands.states[i], &next = results[i].as_tensor();
            if (next.type() != first.type() || next.shape() != first.shape())
                throw runner_error(fmt::format(
                    "state {} must keep its element type and shape, but it was {} and the body made it {}", i,
                    describe(first), describe(next)));
            states[i] = next;
        }
        for (std::size_t k = 0; k < outputs.count(); ++k)
            outputs.push(k, results[N + k].as_tensor());
    }

    std::vector<value> all(states.begin(), states.end());
    for (std::size_t k = 0; k < outputs.count(); ++k)
        all.emplace_back(
            outputs.stacked(k, entry(operands.output_axes, k), entry(operands.output_directions, k) != 0));
    return all;
}

/// Runs Scan of version 8: each row of the batch is scanned separately; the results are stacked and padded
/// with zeros.
std::vector<value> scan_batched(call const& node, std::size_t M)
{
    graph const& body = node.body("body");
    std::size_t const N = node.input_count() - 1 - M;
    tensors operands;
    for (std::size_t i = 1; i < node.input_count(); ++i)
        operands.push_back(node.tensor_at(i));
    std::size_t const batch = leading_dim(operands[0]);
    if (batch == 0)
        throw runner_error("the batch is empty, so the shapes of the outputs are unknown");
    std::size_t const T = leading_dim(drop_leading(operands[N], 0));
    reservation const enough(batch * sizeof(tensors));
    std::vector<std::int64_t> lengths(batch, static_cast<std::int64_t>(T));
    if (node.has(0))
        lengths = node.integers_at(0);
    if (lengths.size() != batch)
        throw runner_error("sequence_lens must have a length for each row of the batch");

    std::vector<tensors> rows;
    for (std::size_t b = 0; b < batch; ++b) {
        if (lengths[b] < 0 || std::cmp_greater(lengths[b], T))
            throw runner_error(fmt::format("sequence_lens[{}] is {} for sequences of {}", b, lengths[b], T));
        scan_operands row;
        row.input_directions = node.integers("directions");
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
    std::vector<value> all;
    for (std::size_t k = 0; k < rows[0].size(); ++k) {
        tensors column;
        for (tensors const& row : rows)
            column.push_back(row[k]);
        all.emplace_back(stack(std::move(column)));
    }
    return all;
}

std::vector<value> scan(call const& node)
{
    std::int64_t const given = node.integer("num_scan_inputs", 0);
    auto const M = static_cast<std::size_t>(given);
    if (given < 0 || M > node.input_count() - (node.opset() < 9 ? 1 : 0))
        throw runner_error("num_scan_inputs must be given, and no larger than the number of its inputs");
    if (M == 0)
        throw runner_error("it has no scan inputs");
    if (node.opset() < 9)
        return scan_batched(node, M);
    scan_operands operands;
    std::size_t const N = node.input_count() - M;
    for (std::size_t i = 0; i < node.input_count(); ++i)
        (i < N ? operands.states : operands.inputs).push_back(node.tensor_at(i));
    operands.input_axes = node.integers("scan_input_axes");
    operands.output_axes = node.integers("scan_output_axes");
    operands.input_directions = node.integers("scan_input_directions");
    operands.output_directions = node.integers("scan_output_directions");
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
    require_allowed(xloom::onnx_operator::scan, node.opset(), *operands);
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
        static_cast<std::vector<value> (*)(call const&)>(scan), scan_types};
}

} // namespace runner
