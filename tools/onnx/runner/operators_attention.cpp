// LinearAttention and CausalConvWithState, also com.microsoft's: xloom's. Of com.microsoft's those nodes that
// mean what ONNX's mean; more heads of keys than of queries are among the others.

#include <xloom/infer/linear_attention.hpp>
#include <xloom/recurrent/causal_conv.hpp>
#include <xloom/recurrent/linear_attention.hpp>

#include "moves.hpp"
#include "operators.hpp"
#include "text.hpp"
#include "type_rules.hpp"
#include "types.hpp"
#include "views.hpp"

namespace runner {

namespace {

/// The element types of both operators.
template <class F>
auto with_state_type(element_type type, F&& f)
{
    return with_type_of<float, xloom::float16, xloom::bfloat16>(type, std::forward<F>(f));
}

/// Optional inputs as operands that may be omitted.
template <class T>
xloom::tensor_ref<T const> operand(call const& node, std::size_t i)
{
    if (!node.has(i))
        return {};
    return view_of<T>(node.tensor_at(i));
}

/// Returns the type of an input; untyped if it is omitted.
xloom::partial_type type_at(call const& node, std::size_t i)
{
    return node.has(i) ? type_of(node.at(i)) : xloom::untyped;
}
xloom::partial_type type_at(typing const& node, std::size_t i) { return node.at(i); }

/// Returns a tensor of an inferred type, in place of one of these inputs if possible. Throws if one of its
/// dimensions is not known.
tensor tensor_of_type(
    call const& node, xloom::partial_type const& type, std::initializer_list<std::size_t> inputs)
{
    std::optional<xloom::shape> const dims = known_dims(type.shape());
    if (!dims)
        throw runner_error("the inputs' ranks do not fit");
    return node.result_over(inputs, type.element(), *dims);
}

/// com.microsoft's operators can hand on the states of several tokens in one more axis; ONNX's cannot.
void require_no_window(node_view const& node, char const* name)
{
    if (std::int64_t const window = node.integer("state_window", 0); window != 0)
        throw not_implemented(fmt::format("{} with state_window = {} is not implemented", name, window));
}

xloom::linear_attention_options attention_options_of(node_view const& node)
{
    xloom::linear_attention_options options{.q_num_heads = node.integer("q_num_heads", 0),
        .kv_num_heads = node.integer("kv_num_heads", 0),
        .scale = node.number("scale", 0)};
    require_no_window(node, "LinearAttention");
    if (node.integer("chunk_size", 64) < 1)
        throw runner_error(fmt::format("its chunk_size is {}", node.integer("chunk_size", 64)));
    std::string const name = node.text("update_rule", "gated_delta");
    for (auto const rule : {xloom::update_rule::linear, xloom::update_rule::gated, xloom::update_rule::delta,
             xloom::update_rule::gated_delta})
        if (name == name_of(rule)) {
            options.update_rule = rule;
            return options;
        }
    throw runner_error("its update_rule is " + in_quotes(name));
}

template <class Node>
xloom::linear_attention_types infer_attention(
    Node const& node, xloom::linear_attention_types const& declared = {})
{
    auto const options = attention_options_of(node);
    return xloom::infer_linear_attention({.query = type_at(node, 0),
                                             .key = type_at(node, 1),
                                             .value = type_at(node, 2),
                                             .past_state = type_at(node, 3),
                                             .decay = type_at(node, 4),
                                             .beta = type_at(node, 5)},
        declared, {.q_num_heads = options.q_num_heads, .kv_num_heads = options.kv_num_heads});
}

std::vector<value> run_attention(call const& node)
{
    auto const options = attention_options_of(node);
    auto const inferred = infer_attention(node);
    tensor output = tensor_of_type(node, inferred.output, {}),
           state = tensor_of_type(node, inferred.present_state, {3});
    std::size_t const keys = state.shape()[2];
    spend_products(3 * static_cast<double>(output.size()) * static_cast<double>(keys));
    // A state, and 32 tokens of the keys and queries of a head, padded to whole vectors.
    std::size_t const padded = keys + 16, heads = 4 + static_cast<std::size_t>(options.q_num_heads);
    reservation const working(sizeof(float) * padded * (state.shape()[3] + 16 + 32 * heads));
    with_state_type(node.tensor_at(0).type(), [&]<class T>(std::type_identity<T>) {
        with_state_type(state.type(), [&]<class State>(std::type_identity<State>) {
            auto present_state = writable_view_of<State>(state);
            auto to = writable_view_of<T>(output);
            xloom::linear_attention_into<State>(view_of<T>(node.tensor_at(0)), view_of<T>(node.tensor_at(1)),
                view_of<T>(node.tensor_at(2)),
                {.past_state = operand<State>(node, 3),
                    .decay = operand<T>(node, 4),
                    .beta = operand<T>(node, 5)},
                {.output = to, .present_state = present_state}, options);
        });
    });
    return {std::move(output), std::move(state)};
}

/// Requires that these inputs, as far as their types are known, have the element type of input 0.
void require_type_of_first(typing const& node, std::initializer_list<std::size_t> others)
{
    element_type const first = node.at(0).element();
    with_state_type(first, [](auto) {});
    for (std::size_t const i : others) {
        element_type const other = node.has(i) && node.at(i).is_tensor() ? node.at(i).element() : first;
        if (other != first && other != element_type::undefined)
            throw runner_error(fmt::format(
                "its input {} must be {}, as its input 0, but it is {}", i, name_of(first), name_of(other)));
    }
}

/// Requires an input where the rule has it, and only there.
void require_rule_operand(
    typing const& node, std::size_t i, char const* name, xloom::update_rule rule, bool is_required)
{
    if (node.has(i) != is_required)
        throw runner_error(fmt::format("the rule {} {} {}, but it is {}", name_of(rule),
            is_required ? "requires" : "has no", name, is_required ? "omitted" : "given"));
}

types attention_types(typing const& node)
{
    if (!has_known_element(node))
        return {};
    require_type_of_first(node, {1, 2, 4, 5});
    auto const rule = attention_options_of(node).update_rule;
    bool const is_both = rule == xloom::update_rule::gated_delta;
    require_rule_operand(node, 4, "decay", rule, is_both || rule == xloom::update_rule::gated);
    require_rule_operand(node, 5, "beta", rule, is_both || rule == xloom::update_rule::delta);
    auto const inferred =
        infer_attention(node, {.output = node.declared_at(0), .present_state = node.declared_at(1)});
    return {inferred.output, inferred.present_state};
}

xloom::causal_conv_options conv_options_of(node_view const& node)
{
    // com.microsoft's has these, too: more axes, taps that are apart, channels as the last axis.
    if (node.integer("ndim", 1) != 1 || node.integer("dilation", 1) != 1 ||
        node.integer("channels_last", 0) != 0)
        throw not_implemented(
            "CausalConvWithState is implemented with ndim = 1, dilation = 1 and channels_last = 0 only");
    require_no_window(node, "CausalConvWithState");
    std::string const name = node.text("activation", "none");
    if (name != "none" && name != "silu" && name != "swish")
        throw runner_error("its activation is " + in_quotes(name));
    return {name == "none" ? xloom::conv_activation::none : xloom::conv_activation::silu};
}

template <class Node>
xloom::causal_conv_types infer_conv(Node const& node, xloom::causal_conv_types const& declared = {})
{
    return xloom::infer_causal_conv({.input = type_at(node, 0),
                                        .weight = type_at(node, 1),
                                        .bias = type_at(node, 2),
                                        .past_state = type_at(node, 3)},
        declared);
}

std::vector<value> run_conv(call const& node)
{
    auto const options = conv_options_of(node);
    auto const inferred = infer_conv(node);
    tensor output = tensor_of_type(node, inferred.output, {0}),
           state = tensor_of_type(node, inferred.present_state, {3});
    std::size_t const taps = state.shape()[2] + 1;
    spend_products(static_cast<double>(output.size()) * static_cast<double>(taps));
    // A tile, its weights and bias of up to 512 channels in whole vectors.
    std::size_t const lanes = (std::min<std::size_t>(state.shape()[1], 512) + 15) / 16 * 16;
    reservation const working(sizeof(float) * (12'800 + 2 * lanes * taps));
    with_state_type(node.tensor_at(0).type(), [&]<class T>(std::type_identity<T>) {
        auto to = writable_view_of<T>(output), present_state = writable_view_of<T>(state);
        auto const weight = view_of<T>(node.tensor_at(1));
        xloom::causal_conv_into(view_of<T>(node.tensor_at(0)), weight,
            {.bias = operand<T>(node, 2), .past_state = operand<T>(node, 3)},
            {.output = to, .present_state = present_state}, options);
    });
    return {std::move(output), std::move(state)};
}

types conv_types(typing const& node)
{
    if (!has_known_element(node))
        return {};
    conv_options_of(node);
    require_type_of_first(node, {1, 2, 3});
    auto const inferred =
        infer_conv(node, {.output = node.declared_at(0), .present_state = node.declared_at(1)});
    return {inferred.output, inferred.present_state};
}

} // namespace

void add_attention_operators(operator_table& table)
{
    std::string const attention =
        "chunk_size:int kv_num_heads:int! q_num_heads:int! scale:float update_rule:string";
    table["LinearAttention"] = {{{27, "rrrooo", "ro", attention}}, run_attention, attention_types};
    table["com.microsoft.LinearAttention"] = {
        {{1, "rrrooo", "ro", attention + " state_window:int"}}, run_attention, attention_types};
    table["CausalConvWithState"] = {{{27, "rroo", "ro", "activation:string"}}, run_conv, conv_types};
    table["com.microsoft.CausalConvWithState"] = {
        {{1, "rroo", "ro", "activation:string channels_last:flag dilation:int ndim:int state_window:int"}},
        run_conv, conv_types};
}

} // namespace runner
