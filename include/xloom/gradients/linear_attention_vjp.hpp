#pragma once
// The derivative of linear attention.

#include <array>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <xloom/detail/recurrent/linear_attention_vjp_run.hpp>
#include <xloom/recurrent/linear_attention.hpp>

namespace xloom::inline XLOOM_ABI {

/// The cotangents of linear attention's outputs; {} omits one, which is zeros.
template <class Item, class State = Item>
using linear_attention_cotangents = linear_attention_outputs<Item const, State const>;

/// The gradients that linear_attention_vjp_into adds to; {} omits one.
template <class Item, class State = Item>
struct linear_attention_gradients {
    tensor_ref<Item> query{};
    tensor_ref<Item> key{};
    tensor_ref<Item> value{};
    tensor_ref<State> past_state{};
    tensor_ref<Item> decay{};
    tensor_ref<Item> beta{};
};

namespace detail {

template <class Item, class State>
void check_attention_vjp(std::string_view op, attention_call<Item, State> const& call,
    linear_attention_cotangents<Item, State> const& cotangents,
    linear_attention_gradients<Item, State> const& gradients)
{
    std::array const given{
        named("ct_output", cotangents.output), named("ct_present_state", cotangents.present_state)};
    std::array const written{named("ct_query", gradients.query), named("ct_key", gradients.key),
        named("ct_value", gradients.value), named("ct_past_state", gradients.past_state),
        named("ct_decay", gradients.decay), named("ct_beta", gradients.beta)};
    check_ranks(op, given);
    check_ranks(op, written);
    for (auto const& [name, is_given, has_operand] :
        {std::tuple("decay", gradients.decay.is_given(), call.in.decay.is_given()),
            std::tuple("beta", gradients.beta.is_given(), call.in.beta.is_given())})
        if (is_given && !has_operand)
            fail<shape_error>(op, ": ct_", name, " requires ", name, ", but ", name, " is omitted. Omit ct_",
                name, ", too.");
    attention_sizes const& sizes = call.sizes;
    shape const none;
    auto const as = [&](auto const& operand) { return operand.is_given() ? operand.shape() : none; };
    bool const has_axis = sizes.has_head_axis;
    check_shapes(op,
        std::array{
            shape_requirement{"ct_output", has_axis ? "[B, T, Hq, d_v]" : "[B, T, Hq d_v]", sizes.output(),
                shape_if_given(cotangents.output)},
            shape_requirement{"ct_present_state", "[B, Hkv, d_k, d_v]", sizes.state(),
                shape_if_given(cotangents.present_state)},
            shape_requirement{"ct_query", "query", as(call.query), shape_if_given(gradients.query)},
            shape_requirement{"ct_key", "key", as(call.key), shape_if_given(gradients.key)},
            shape_requirement{"ct_value", "value", as(call.value), shape_if_given(gradients.value)},
            shape_requirement{
                "ct_past_state", "[B, Hkv, d_k, d_v]", sizes.state(), shape_if_given(gradients.past_state)},
            shape_requirement{"ct_decay", "decay", as(call.in.decay), shape_if_given(gradients.decay)},
            shape_requirement{"ct_beta", "beta", as(call.in.beta), shape_if_given(gradients.beta)},
        },
        [&] { return sizes.describe(); });
    check_written(
        op, written, all_operands(named_attention_inputs(call.query, call.key, call.value, call.in), given));
}

} // namespace detail

/// Computes the vector-Jacobian product of linear_attention: the gradients of its inputs from the cotangents
/// of the output and of the present state.
///
///     for each input v:
///         ct_v = ct_v + sum(ct_output * doutput/dv) + sum(ct_present_state * dpresent_state/dv)
///
/// Shapes    query, key, value and inputs, those of the forward pass; ct_output as output, ct_present_state
///           as present_state; each gradient as its input. Each cotangent and gradient may be omitted. Any
///           strides. The gradient of the past state does not require that the forward pass has one.
///           Tokens from sequence_lens on add nothing.
/// Types     those of linear_attention, the type of the state as its first template argument.
/// Options   those of the forward pass.
/// Policy    serial, or one with threads, among which heads are divided: results are bitwise equal to those
///           of serial.
/// Workspace a recurrent_workspace of query's element type, before or after the policy.
/// Errors    before anything is written: shape_error, option_error, index_error, overlap_error,
///           std::bad_alloc.
/// Special   Gradients are added to, so that those of several calls add up: set them to zero before the
///           first.
/// Order     sums over values in order, in lanes of a vector; then over keys, and over heads that share a
///           beta.
/// Cost      the forward pass twice, its states being computed again from about sqrt(T) of them, and a
///           backward pass. Memory of each thread: sqrt(T) states, and sqrt(T) times a panel of one.
///           Allocates nothing if a workspace is given that is large enough.
/// Source    ONNX LinearAttention-27, derived.
/// Example
/// ```cpp
/// xt::xtensor<double, 4> const query = {{{{1, 0}}, {{0, 2}}}}, key = {{{{1, 0}}, {{0, 1}}}};
/// xt::xtensor<double, 4> const value = {{{{5}}, {{7}}}}, ct_output = {{{{1}}, {{1}}}};
/// xt::xtensor<double, 4> ct_query = xt::zeros_like(query), ct_value = xt::zeros_like(value);
/// xloom::linear_attention_vjp_into(query, key, value, {}, {.output = ct_output},
///     {.query = ct_query, .value = ct_value}, {.update_rule = xloom::update_rule::linear, .scale = 1});
/// ct_query; // = [[[[5, 0]], [[5, 7]]]]
/// ct_value; // = [[[[1]], [[2]]]]
/// ```
template <class State = void, class Query, class Key, class Value, class Item = detail::first_item_t<Query>,
    class S = detail::attention_state_t<Item, State>, class Options = linear_attention_options, class... Env>
void linear_attention_vjp_into(Query const& query, Key const& key, Value const& value,
    std::type_identity_t<linear_attention_inputs<Item, S>> const& inputs,
    std::type_identity_t<linear_attention_cotangents<Item, S>> const& cotangents,
    std::type_identity_t<linear_attention_gradients<Item, S>> const& gradients, Options&& options = {},
    Env&&... env)
{
    static constexpr std::string_view op = "xloom::linear_attention_vjp_into";
    if constexpr (detail::satisfied<detail::attention_types<Item, S, Options, Env...>>()) {
        tensor_ref<Item const> const query_ref = query, key_ref = key, value_ref = value;
        auto const& chosen = detail::options_of<linear_attention_options>(options);
        detail::attention_sizes const sizes =
            detail::check_attention_inputs(op, query_ref, key_ref, value_ref, inputs, chosen);
        detail::attention_call<Item, S> const call{
            query_ref, key_ref, value_ref, inputs, sizes, detail::scale_of<Item>(chosen, sizes)};
        detail::check_attention_vjp(op, call, cotangents, gradients);
        detail::run_at_level<detail::attention_vjp_functions<Item, S>, Item>(
            std::tie(call, cotangents, gradients), options, env...);
    }
}

} // namespace xloom::inline XLOOM_ABI
