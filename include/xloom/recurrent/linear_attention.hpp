#pragma once
// Linear attention with a recurrent state: ONNX's LinearAttention-27.

#include <array>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <xloom/detail/recurrent/linear_attention_run.hpp>
#include <xloom/detail/tensor/result_container.hpp>

namespace xloom::inline XLOOM_ABI {

/// The inputs of linear attention other than query, key and value; {} omits one. Tensors may have any
/// strides.
template <class Item, class State = Item>
struct linear_attention_inputs {
    tensor_ref<State const> past_state{};
    tensor_ref<Item const> decay{};
    tensor_ref<Item const> beta{};
    lengths_ref sequence_lens{};
};

/// The outputs of linear_attention_into; {} omits one.
template <class Item, class State = Item>
struct linear_attention_outputs {
    tensor_ref<Item> output{};
    tensor_ref<State> present_state{};
};

/// The outputs of linear_attention, in the shapes given there.
template <class Output, class State>
struct linear_attention_result {
    Output output;
    State present_state;
};

namespace detail {

template <class Item, class State>
void check_attention_outputs(std::string_view op, tensor_ref<Item const> const& query,
    tensor_ref<Item const> const& key, tensor_ref<Item const> const& value,
    linear_attention_inputs<Item, State> const& in, attention_sizes const& sizes,
    linear_attention_outputs<Item, State> const& out)
{
    check_ranks(op, std::array{named("output", out.output), named("present_state", out.present_state)});
    check_shapes(op,
        std::array{shape_requirement{"output", sizes.has_head_axis ? "[B, T, Hq, d_v]" : "[B, T, Hq d_v]",
                       sizes.output(), shape_if_given(out.output)},
            shape_requirement{
                "present_state", "[B, Hkv, d_k, d_v]", sizes.state(), shape_if_given(out.present_state)}},
        [&] { return sizes.describe(); });
    check_written(op,
        std::array{operand_memory("output", block_if_given(out.output)),
            operand_memory("present_state", block_if_given(out.present_state), "past_state")},
        named_attention_inputs(query, key, value, in));
}

/// The type of linear attention's state: State, or Item if that is void.
template <class Item, class State>
using attention_state_t = std::conditional_t<std::is_void_v<State>, Item, State>;

/// The requirements of linear attention's arguments after its inputs.
template <class Item, class State, class Options, class... Env>
struct attention_types {
    static consteval bool holds()
    {
        return satisfied<state_of_items<Item, State>, options_policy_and_workspace<linear_attention_options,
                                                          recurrent_workspace<Item>, Options, Env...>>();
    }
};

} // namespace detail

/// Computes linear attention, whose state is a matrix for each head, into the caller's outputs.
///
///     for each sequence b, each head h of keys and values:
///         S = past_state[b, h]                                       # zeros if omitted
///         for t in range(T):                                         # range(sequence_lens[b]) if given
///             S = exp(decay[b, t, h])[:, None] * S                   # gated rules
///             v = value[b, t, h]
///             v = beta[b, t, h] * (v - S.T @ key[b, t, h])           # delta rules
///             S = S + outer(key[b, t, h], v)
///             for each of the Hq / Hkv query heads q of h:
///                 output[b, t, q] = scale * (S.T @ query[b, t, q])
///         present_state[b, h] = S
///
/// Shapes    query [B, T, Hq d_k], key [B, T, Hkv d_k], value [B, T, Hkv d_v], output [B, T, Hq d_v]: B
///           sequences of T tokens, Hq query heads, Hkv heads of keys and values; or all four with an axis of
///           heads, [B, T, H, d]. past_state and present_state [B, Hkv, d_k, d_v]. decay, of gated rules
///           only, [B, T, Hkv], or as key with a number for each key. beta, of delta rules only, [B, T, Hkv]
///           or [B, T, 1]. sequence_lens [B]: outputs after the last token are 0. Any strides. Each output
///           may be omitted. A stream is calls in turn, from present_state to past_state.
/// Types     those of query: float, double; float16 and other storage floats, computed as float and rounded
///           in the outputs only; user-defined scalars, whose products commute. The state has the first
///           template argument as its type: that of query, unless both are float or storage floats, as in
///           linear_attention_into<float>(query, ...).
/// Options   q_num_heads and kv_num_heads, required without an axis of heads; update_rule (gated_delta);
///           scale (1 / sqrt(d_k)).
/// Policy    serial, or one with threads (thread_policy, tbb_policy), among which heads are divided: results
///           are bitwise equal to those of serial.
/// Workspace a recurrent_workspace of query's element type, before or after the policy, for further calls.
/// Special   The delta rules read a query as scale * (S.T @ (exp(decay) query) + (key . query) v), S before
///           the decay, and the state by a key likewise. NaN and infinity follow IEEE 754 in that.
/// Errors    before anything is written: shape_error, option_error, index_error (a length), overlap_error,
///           std::bad_alloc. present_state may be the tensor past_state.
/// Order     sums over keys in order, but key . query lane by lane; multiply-adds are fused where the
///           processor can. The bits of a token do not depend on the batch, on the other heads, or on how a
///           sequence is split into calls, if the state has the type that computes.
/// Cost      B T Hkv d_k d_v multiply-adds: 2 of linear, 3 of gated, 3 of delta and 4 of gated_delta, and one
///           for each further query head. A token reads and writes the state once. Memory of each thread: a
///           state, and 32 tokens of (3 + Hq / Hkv) d_k numbers, allocated unless a workspace is given that
///           is large enough.
/// Real time with a workspace, on one thread, after a call of the same sizes.
/// Source    ONNX LinearAttention-27; S. Yang, J. Kautz, A. Hatamizadeh, "Gated Delta Networks" (2024), the
///           recurrence of section 3.
/// Example
/// ```cpp
/// xt::xtensor<double, 4> const query = {{{{1, 0}}, {{0, 2}}}}, key = {{{{1, 0}}, {{0, 1}}}};
/// xt::xtensor<double, 4> const value = {{{{5}}, {{7}}}}; // T = 2, d_k = 2, d_v = 1
/// xt::xtensor<double, 4> output = value, state = xt::zeros<double>({1, 1, 2, 1});
/// xloom::linear_attention_into(query, key, value, {.past_state = state},
///     {.output = output, .present_state = state}, {.update_rule = xloom::update_rule::linear, .scale = 1});
/// output; // = [[[[5]], [[14]]]]
/// state; // = [[[[5], [7]]]]
/// ```
template <class State = void, class Query, class Key, class Value, class Item = detail::first_item_t<Query>,
    class S = detail::attention_state_t<Item, State>, class Options = linear_attention_options, class... Env>
void linear_attention_into(Query const& query, Key const& key, Value const& value,
    std::type_identity_t<linear_attention_inputs<Item, S>> const& inputs,
    std::type_identity_t<linear_attention_outputs<Item, S>> const& outputs, Options&& options = {},
    Env&&... env)
{
    static constexpr std::string_view op = "xloom::linear_attention_into";
    if constexpr (detail::satisfied<detail::attention_types<Item, S, Options, Env...>>()) {
        tensor_ref<Item const> const query_ref = query, key_ref = key, value_ref = value;
        auto const& chosen = detail::options_of<linear_attention_options>(options);
        detail::attention_sizes const sizes =
            detail::check_attention_inputs(op, query_ref, key_ref, value_ref, inputs, chosen);
        detail::check_attention_outputs(op, query_ref, key_ref, value_ref, inputs, sizes, outputs);
        detail::attention_call<Item, S> const call{
            query_ref, key_ref, value_ref, inputs, sizes, detail::scale_of<Item>(chosen, sizes)};
        detail::run_at_level<detail::attention_functions<Item, S>, Item>(
            std::tie(call, outputs), options, env...);
    }
}

/// Returns the outputs of linear_attention_into; present_state is an xt::xtensor.
///
/// Errors    shape_error, option_error, index_error, std::bad_alloc.
/// Example
/// ```cpp
/// xt::xtensor<float, 3> const query = {{{1, 0}, {0, 1}}}, key = query, value = {{{5}, {7}}};
/// xt::xtensor<float, 3> const decay = {{{0}, {-1}}}, beta = {{{1}, {0.5}}};
/// auto const [output, present_state] = xloom::linear_attention(query, key, value,
///     {.decay = decay, .beta = beta}, {.q_num_heads = 1, .kv_num_heads = 1, .scale = 1});
/// output; // = [[[5], [3.5]]]
/// present_state; // = [[[[1.8394], [3.5]]]]
/// ```
template <class State = void, class Query, class Key, class Value, class Item = detail::first_item_t<Query>,
    class S = detail::attention_state_t<Item, State>, class Options = linear_attention_options, class... Env>
auto linear_attention(Query const& query, Key const& key, Value const& value,
    std::type_identity_t<linear_attention_inputs<Item, S>> const& inputs, Options&& options = {},
    Env&&... env)
{
    static constexpr std::string_view op = "xloom::linear_attention";
    using output_type = detail::result_container_t<Query>;
    using state_type = xt::xtensor<S, 4>;
    linear_attention_result<output_type, state_type> result{};
    if constexpr (detail::satisfied<detail::attention_types<Item, S, Options, Env...>>()) {
        tensor_ref<Item const> const query_ref = query, key_ref = key, value_ref = value;
        auto const& chosen = detail::options_of<linear_attention_options>(options);
        detail::attention_sizes const sizes =
            detail::check_attention_inputs(op, query_ref, key_ref, value_ref, inputs, chosen);
        detail::attention_call<Item, S> const call{
            query_ref, key_ref, value_ref, inputs, sizes, detail::scale_of<Item>(chosen, sizes)};
        result = {
            enable_tensor<output_type>::make(sizes.output()), enable_tensor<state_type>::make(sizes.state())};
        linear_attention_outputs<Item, S> const outputs{result.output, result.present_state};
        detail::run_at_level<detail::attention_functions<Item, S>, Item>(
            std::tie(call, outputs), options, env...);
    }
    return result;
}

} // namespace xloom::inline XLOOM_ABI
