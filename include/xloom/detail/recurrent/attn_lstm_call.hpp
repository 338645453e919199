#pragma once
// A call of AttnLSTM: the checks of its operands, and its runner.

#include <algorithm>
#include <array>

#include <xloom/detail/check/attn_lstm.hpp>
#include <xloom/detail/recurrent/attn_lstm_run.hpp>

namespace xloom::inline XLOOM_ABI {

/// The sizes of a call: T steps, N rows of the batch, S steps of memory.
struct attn_lstm_sizes {
    std::size_t T = 0, N = 0, S = 0;
};

namespace detail {

/// Checks the inputs of a call, and returns its sizes.
template <class Item, class Weights, class Start>
attn_lstm_sizes check_attn_lstm_call(
    std::string_view op, input_ref<Item> const& X, Weights const& weights, Start const& start)
{
    check_ranks(op, X, start.sequence_lens, start.initial_h, start.initial_c, start.M, start.memory_seq_lens,
        start.initial_attention, start.initial_alignment);
    batch_sizes const batch = check_X(op, X.shape(), weights.sizes(), 0);
    check_states(op, weights, batch,
        std::array{named_shape{"initial_h", shape_if_given(start.initial_h)},
            named_shape{"initial_c", shape_if_given(start.initial_c)}});
    check_lengths(op, "sequence_lens", start.sequence_lens, batch.N, "T", batch.T);
    std::size_t const S = check_memory(op, weights.attention(), weights.sizes(), batch.N,
        shape_if_given(start.M), start.memory_seq_lens.is_given(), shape_if_given(start.initial_attention),
        shape_if_given(start.initial_alignment));
    check_lengths(op, "memory_seq_lens", start.memory_seq_lens, batch.N, "S", S);
    return {batch.T, batch.N, S};
}

template <class Item, class Weights, class Start, class Outputs>
void check_attn_lstm_outputs(std::string_view op, Weights const& weights, attn_lstm_sizes const& sizes,
    input_ref<Item> const& X, Start const& start, Outputs const& outputs)
{
    auto const& [T, N, S] = sizes;
    std::size_t const D = weights.sizes().D, H = weights.sizes().H, C = weights.attention().C;
    check_outputs<Item>(
        op,
        [&] {
            return concat("T = ", sizes.T, ", N = ", sizes.N, ", D = ", weights.sizes().D,
                ", H = ", weights.sizes().H, ", S = ", sizes.S, " and C = ", weights.attention().C);
        },
        std::array{
            output_requirement<Item>{"Y", "[T, D, N, H]", {T, D, N, H}, outputs.Y},
            output_requirement<Item>{"Y_h", "[D, N, H]", {D, N, H}, outputs.Y_h, "initial_h"},
            output_requirement<Item>{"Y_c", "[D, N, H]", {D, N, H}, outputs.Y_c, "initial_c"},
            output_requirement<Item>{"alignments", "[T, D, N, S]", {T, D, N, S}, outputs.alignments},
            output_requirement<Item>{
                "Y_attention", "[D, N, C]", {D, N, C}, outputs.Y_attention, "initial_attention"},
            output_requirement<Item>{
                "Y_alignment", "[D, N, S]", {D, N, S}, outputs.Y_alignment, "initial_alignment"},
        },
        blocks_of(X, start.sequence_lens, start.initial_h, start.initial_c, start.M, start.memory_seq_lens,
            start.initial_attention, start.initial_alignment));
}

/// Calls use(runner, states) with the runner and the states of a call.
template <class Item, class Weights, class Start, class Outputs, class Score, class Policy, class Use>
void with_attn_lstm_runner(input_ref<Item> const& X, Weights const& weights, attn_lstm_sizes const& sizes,
    Start const& start, Outputs const& outputs, Score const& score, attention_workspace<Item>& workspace,
    Policy const& policy, Use const& use)
{
    batch_operands<Item> const operands{{sizes.T, sizes.N}, weights.sizes(), weights.direction(), {X, 0},
        {outputs.Y, 0}, &start.sequence_lens};
    workspace.attending.resize((std::max)(workspace.attending.size(), weights.sizes().D * sizes.N));
    using argument = score_argument<compute_t<Item>, Score>;
    argument const known_score(score);
    attn_lstm_states<Item, Weights, argument> const states{weights, known_score, operands,
        {start.M, start.memory_seq_lens, sizes.S}, {start.initial_h, 0}, {start.initial_c, 0},
        {start.initial_attention, 0}, {start.initial_alignment, 0}, {outputs.Y_h, 0}, {outputs.Y_c, 0},
        {outputs.Y_attention, 0}, {outputs.Y_alignment, 0}, {outputs.alignments, 0}, workspace.attending};
    auto runner = detail::make_runner<Item>(weights, operands, workspace, policy);
    use(runner, states);
}

template <class Item, class Weights, class Start, class Outputs, class Score, class Policy>
void run_attn_lstm_into(input_ref<Item> const& X, Weights const& weights, attn_lstm_sizes const& sizes,
    Start const& start, Outputs const& outputs, Score const& score, attention_workspace<Item>& workspace,
    Policy const& policy)
{
    detail::with_attn_lstm_runner(X, weights, sizes, start, outputs, score, workspace, policy,
        [&policy](auto& runner, auto const& states) { runner(states, policy); });
}

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
