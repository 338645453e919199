// If and Loop: xloom's operators with graphs as their bodies.

#include <utility>

#include "bodies.hpp"
#include "operators.hpp"
#include "text.hpp"

#include <xloom/control_flow/if.hpp>
#include <xloom/control_flow/loop.hpp>
#include <xloom/infer/if.hpp>
#include <xloom/infer/loop.hpp>
#include <xloom/infer/merge.hpp>

namespace runner {

namespace {

template <class T>
T item_of(tensor const& t, std::string_view name)
{
    if (t.size() != 1)
        throw runner_error(fmt::format("{} must have one element, but its shape is {}", name, t.shape()));
    return t.items<T>()[0];
}

std::vector<value> if_(call const& node)
{
    tensor const& cond = node.tensor_at(0);
    graph const& then_branch = node.body("then_branch");
    graph const& else_branch = node.body("else_branch");
    return xloom::if_(
        item_of<bool>(cond, "cond"), [&] { return then_branch.run({}, &node.around()); },
        [&] { return else_branch.run({}, &node.around()); });
}

/// The attribute of the branch that runs; null if only a run knows.
char const* branch_taken(typing const& node)
{
    tensor const* const cond = node.constant_at(0);
    if (cond == nullptr || cond->type() != element_type::bool_ || cond->size() != 1)
        return nullptr;
    return cond->items<bool>()[0] ? "then_branch" : "else_branch";
}

types if_types(typing const& node)
{
    for (char const* const branch : {"then_branch", "else_branch"})
        if (int const count = node.body(branch).proto().output_size();
            std::cmp_less(count, node.output_count()))
            throw runner_error(
                fmt::format("its {} gives {} outputs, but {} are named", branch, count, node.output_count()));
    // The types of a branch that never runs may contradict each other: those of the inputs exclude it.
    if (char const* const taken = branch_taken(node))
        return node.body_types(taken, {});
    auto const of_then = node.branch_types("then_branch"), of_else = node.branch_types("else_branch");
    if (!of_then && !of_else)
        throw runner_error("neither branch can run: " + node.body("then_branch").impossible());
    auto const then_types = known_list(of_then ? *of_then : *of_else),
               else_types = known_list(of_else ? *of_else : *of_then);
    if (!then_types || !else_types || node.output_count() > xloom::max_operands)
        return {};
    require_allowed(xloom::onnx_operator::if_, node.opset(), *then_types);
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

std::vector<value> loop(call const& node)
{
    graph const& body = node.body("body");
    std::vector<value> carried;
    for (std::size_t i = 2; i < node.input_count(); ++i)
        carried.push_back(node.at(i));
    require_outputs(body, 1 + carried.size());
    scan_outputs outputs(body, 1 + carried.size(), expected_from(node, carried.size()));

    xloom::loop_options options;
    if (node.has(0))
        options.max_trip_count = item_of<std::int64_t>(node.tensor_at(0), "M");
    options.cond = std::nullopt;
    if (node.has(1))
        options.cond = item_of<bool>(node.tensor_at(1), "cond");
    xloom::stop_source never;
    options.stop = never.get_token(); // without M and cond the text has it run forever

    // The carried values are moved into the body, which may then reuse their memory.
    auto const iterate = [&](std::int64_t iteration, bool cond) {
        std::vector<value> arguments{declared_scalar(body, 0, iteration), declared_scalar(body, 1, cond)};
        std::move(carried.begin(), carried.end(), std::back_inserter(arguments));
        std::vector<value> results = body.run(std::move(arguments), &node.around());
        for (std::size_t k = 0; k < outputs.count(); ++k)
            outputs.push(k, results[1 + carried.size() + k].as_tensor());
        std::move(results.begin() + 1, results.end() - static_cast<std::ptrdiff_t>(outputs.count()),
            carried.begin());
        return xloom::loop_step{item_of<bool>(results[0].as_tensor(), "the body's cond"), std::tuple<>()};
    };
    xloom::loop(iterate, std::tuple<>(), options);
    std::vector<value> all = std::move(carried);
    for (std::size_t k = 0; k < outputs.count(); ++k)
        all.emplace_back(outputs.stacked(k, 0));
    return all;
}

/// Widens the types of the carried values by those that the body returns, or to any shape if these are not
/// known. Returns whether any has changed.
bool widen(xloom::type_list& carried, xloom::type_list const& returned)
{
    bool has_changed = false;
    for (std::size_t i = 0; i < carried.size(); ++i) {
        partial_shape const shape = i + 1 < returned.size()
                                        ? xloom::union_shape(carried[i].shape(), returned[i + 1].shape())
                                        : partial_shape(xloom::unknown_rank);
        partial_type const wider = carried[i].with_shape(shape);
        has_changed = has_changed || wider != carried[i];
        carried[i] = wider;
    }
    return has_changed;
}

types loop_types(typing const& node)
{
    types inputs = node.inputs();
    inputs.resize(std::max<std::size_t>(inputs.size(), 2));
    auto const carried = known_list({inputs.begin() + 2, inputs.end()});
    if (!carried || inputs.size() > xloom::max_operands || node.output_count() > xloom::max_operands)
        return types_of_unknown(node);
    require_allowed(xloom::onnx_operator::loop, node.opset(), *carried);
    inputs[1] = xloom::tensor_type(element_type::bool_); // in the body, of the rank that it declares
    // ONNX's rule forgets the shapes of carried values. Those that no iteration changes are known.
    xloom::type_list invariant = *carried;
    auto const body = [&](xloom::type_list const& given) {
        auto const arguments = [&] {
            xloom::type_list all{given[0], given[1]};
            for (partial_type const& each : invariant)
                all.push_back(each);
            return all;
        };
        auto const forget = [&] {
            for (partial_type& each : invariant)
                each = each.with_shape(xloom::unknown_rank);
        };
        constexpr std::size_t deepest = 4; // a loop in a loop is inferred again each time
        constexpr int most = 8;
        if (node.depth() >= deepest)
            forget();
        else
            for (int round = 1; widen(invariant, infer_body(node, arguments(), certainty::tentative));
                 ++round)
                if (round == most)
                    forget();
        return infer_body(node, arguments());
    };
    auto const result = xloom::infer_loop(xloom::type_list(inputs.begin(), inputs.end()), body,
        xloom::type_list(node.declared().begin(), node.declared().end()), {.opset = node.opset()});
    types outputs(result.begin(), result.end());
    for (std::size_t i = 0; i < invariant.size() && i < outputs.size(); ++i)
        if (is_mergeable(outputs[i], invariant[i]))
            outputs[i] = merge_type(outputs[i], invariant[i]);
    return outputs;
}

} // namespace

void add_control_flow_operators(operator_table& table)
{
    table["If"] = {{{1, "r", "+", "else_branch:graph! then_branch:graph!"}}, if_, if_types};
    table["Loop"] = {{{1, "oo+", "+", "body:graph!"}, {11, "oo*", "+", "body:graph!"}}, loop, loop_types};
}

} // namespace runner
