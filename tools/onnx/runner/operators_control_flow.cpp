// If and Loop: xloom's operators with graphs as their bodies.

#include "bodies.hpp"
#include "operators.hpp"
#include "text.hpp"

#include <xloom/if.hpp>
#include <xloom/infer/if.hpp>
#include <xloom/infer/loop.hpp>
#include <xloom/loop_list.hpp>

namespace runner {

namespace {

using values = std::vector<value>;
using tensors = std::vector<tensor>;

template <class T>
T item_of(tensor const& t, std::string_view name)
{
    if (t.size() != 1)
        throw runner_error(fmt::format("{} must have one element, but its shape is {}", name, t.shape()));
    return t.items<T>()[0];
}

values if_(call const& node)
{
    tensor const& cond = node.tensor_at(0);
    graph const& then_branch = node.body("then_branch");
    graph const& else_branch = node.body("else_branch");
    return xloom::if_(
        item_of<bool>(cond, "cond"), [&] { return then_branch.run({}, &node.around()); },
        [&] { return else_branch.run({}, &node.around()); });
}

types if_types(typing const& node)
{
    auto const then_types = known_list(node.body_types("then_branch", {})),
               else_types = known_list(node.body_types("else_branch", {}));
    if (!then_types || !else_types || node.output_count() > xloom::max_operands)
        return {};
    require_allowed(xloom::control_flow::if_, node.opset(), *then_types);
    auto const branch = [](xloom::type_list const& result) {
        return [&result](xloom::type_list const&) { return result; };
    };
    xloom::type_list const declared(node.declared().begin(), node.declared().end());
    auto const result =
        xloom::infer_if(branch(*then_types), branch(*else_types), declared, {.opset = node.opset()});
    return {result.begin(), result.end()};
}

/// An iteration number or condition in the rank that the body declares of its input, [] or [1].
template <class T>
tensor declared_scalar(graph const& body, int input, T item)
{
    if (input >= body.proto().input_size())
        return tensor::scalar(item);
    bool const is_row = body.proto().input(input).type().tensor_type().shape().dim_size() == 1;
    return is_row ? tensor::scalar(item).reshaped({1}) : tensor::scalar(item);
}

values loop(call const& node)
{
    graph const& body = node.body("body");
    values carried;
    for (std::size_t i = 2; i < node.input_count(); ++i)
        carried.push_back(node.at(i));
    require_outputs(body, 1 + carried.size());
    typed_outputs outputs(body, 1 + carried.size(), expected_from(node, carried.size()));

    xloom::loop_options options;
    if (node.has(0))
        options.max_trip_count = item_of<std::int64_t>(node.tensor_at(0), "M");
    options.cond = std::nullopt;
    if (node.has(1))
        options.cond = item_of<bool>(node.tensor_at(1), "cond");
    std::stop_source never;
    options.stop = never.get_token(); // without M and cond the text has it run forever

    auto const iterate = [&](std::int64_t iteration, bool cond, std::span<value const> states) {
        values arguments{declared_scalar(body, 0, iteration), declared_scalar(body, 1, cond)};
        arguments.insert(arguments.end(), states.begin(), states.end());
        values results = body.run(arguments, &node.around());
        auto const first = results.begin() + 1,
                   end_of_states = first + static_cast<std::ptrdiff_t>(states.size());
        tensors stacked;
        for (auto each = end_of_states; each != results.end(); ++each)
            stacked.push_back(outputs.stackable(stacked.size(), each->as_tensor()));
        return xloom::loop_step{
            item_of<bool>(results[0].as_tensor(), "the body's cond"), values(first, end_of_states), stacked};
    };
    auto result = xloom::loop_list(iterate, carried, outputs.count(), options);

    values all = std::move(result.final_state);
    for (std::size_t k = 0; k < outputs.count(); ++k)
        all.emplace_back(outputs.typed(k, result.scan_outputs[k], 0));
    return all;
}

types loop_types(typing const& node)
{
    types inputs = node.inputs();
    inputs.resize(std::max<std::size_t>(inputs.size(), 2));
    auto const carried = known_list({inputs.begin() + 2, inputs.end()});
    if (!carried || inputs.size() > xloom::max_operands || node.output_count() > xloom::max_operands)
        return types_of_unknown(node);
    require_allowed(xloom::control_flow::loop, node.opset(), *carried);
    inputs[1] = xloom::tensor_type(element_type::bool_); // in the body, of the rank that it declares
    auto const body = [&node](xloom::type_list const& given) { return infer_body(node, given); };
    auto const result = xloom::infer_loop(xloom::type_list(inputs.begin(), inputs.end()), body,
        xloom::type_list(node.declared().begin(), node.declared().end()), {.opset = node.opset()});
    return {result.begin(), result.end()};
}

} // namespace

void add_control_flow_operators(operator_table& table)
{
    table["If"] = {if_, if_types};
    table["Loop"] = {loop, loop_types};
}

} // namespace runner
