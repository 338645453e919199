#pragma once
// The backward pass of com.microsoft's AttnLSTM, and the forward pass that keeps what it needs.

#include <array>
#include <span>
#include <string_view>

#include <xloom/detail/recurrent/attention_gradients.hpp>
#include <xloom/detail/recurrent/attn_lstm_residuals.hpp>
#include <xloom/recurrent/attn_lstm.hpp>

namespace xloom::inline XLOOM_ABI {

/// The residuals that attn_lstm_forward_into keeps for attn_lstm_vjp_into: the sums of the gates, c, the
/// attention, the context, the query and the alignment of each step that a row has; the keys of each memory;
/// the initial states, the lengths. Grows like a workspace: a call that needs no more than an earlier one
/// allocates nothing. A backward pass only reads it.
template <class Item>
class attn_lstm_residuals : public detail::attn_lstm_residuals_of<Item> {};

/// The cotangents of an AttnLSTM's outputs; {} omits one, which is zeros.
template <class Item>
using attn_lstm_cotangents = attn_lstm_outputs<Item const>;

/// The cotangents of an AttnLSTM's inputs, to which attn_lstm_vjp_into adds; {} omits one.
template <class Item>
struct attn_lstm_gradients {
    tensor_ref<Item> X{};
    tensor_ref<Item> W{};
    tensor_ref<Item> R{};
    tensor_ref<Item> B{};
    tensor_ref<Item> initial_h{};
    tensor_ref<Item> initial_c{};
    tensor_ref<Item> P{};
    tensor_ref<Item> QW{};
    tensor_ref<Item> MW{};
    tensor_ref<Item> V{};
    tensor_ref<Item> M{};
    tensor_ref<Item> AW{};
    tensor_ref<Item> initial_attention{};
    tensor_ref<Item> initial_alignment{};
};

namespace detail {

/// Requires residuals of a forward pass with an attention of these widths.
template <class Item>
void check_attention_residuals(
    std::string_view op, attn_lstm_residuals<Item> const& residuals, recurrent_widths const& attention)
{
    recurrent_widths const& kept = residuals.widths();
    if (kept.A != attention.A || kept.E != attention.E || kept.C != attention.C)
        fail<shape_error>(op,
            ": residuals must be those of a forward pass of the same sizes, but they have A = ", kept.A,
            ", E = ", kept.E, ", C = ", kept.C, ", and the weights A = ", attention.A, ", E = ", attention.E,
            ", C = ", attention.C, ". Run the forward pass with these weights.");
}

template <class Item, class Describe>
void check_attn_lstm_cotangents(std::string_view op, recurrent_widths const& sizes, batch_sizes const& batch,
    attn_lstm_cotangents<Item> const& cotangents, Describe const& describe)
{
    auto const [T, N, S] = batch;
    std::size_t const D = sizes.D, H = sizes.H, C = sizes.C;
    check_shapes(op,
        std::array{
            shape_requirement{"ct_Y", "[T, D, N, H]", {T, D, N, H}, shape_if_given(cotangents.Y)},
            shape_requirement{"ct_Y_h", "[D, N, H]", {D, N, H}, shape_if_given(cotangents.Y_h)},
            shape_requirement{"ct_Y_c", "[D, N, H]", {D, N, H}, shape_if_given(cotangents.Y_c)},
            shape_requirement{
                "ct_alignments", "[T, D, N, S]", {T, D, N, S}, shape_if_given(cotangents.alignments)},
            shape_requirement{
                "ct_Y_attention", "[D, N, C]", {D, N, C}, shape_if_given(cotangents.Y_attention)},
            shape_requirement{
                "ct_Y_alignment", "[D, N, S]", {D, N, S}, shape_if_given(cotangents.Y_alignment)},
        },
        describe);
}

template <class Item, class Describe>
void check_attn_lstm_gradients(std::string_view op, tensor_ref<Item const> const& X,
    recurrent_widths const& sizes, batch_sizes const& batch, attn_lstm_gradients<Item> const& gradients,
    std::span<operand_memory const> inputs, Describe const& describe)
{
    std::size_t const N = batch.N, S = batch.S, D = sizes.D, I = sizes.I, H = sizes.H;
    std::size_t const A = sizes.A, E = sizes.E, C = sizes.C;
    check_outputs<Item>(op, describe,
        std::array{
            output_requirement<Item>{"ct_X", "[T, N, I]", X.shape(), gradients.X},
            output_requirement<Item>{"ct_W", "[D, 4H, I + C]", {D, 4 * H, I + C}, gradients.W},
            output_requirement<Item>{"ct_R", "[D, 4H, H]", {D, 4 * H, H}, gradients.R},
            output_requirement<Item>{"ct_B", "[D, 8H]", {D, 8 * H}, gradients.B},
            output_requirement<Item>{"ct_initial_h", "[D, N, H]", {D, N, H}, gradients.initial_h},
            output_requirement<Item>{"ct_initial_c", "[D, N, H]", {D, N, H}, gradients.initial_c},
            output_requirement<Item>{"ct_P", "[D, 3H]", {D, 3 * H}, gradients.P},
            output_requirement<Item>{"ct_QW", "[D, H, A]", {D, H, A}, gradients.QW},
            output_requirement<Item>{"ct_MW", "[D, E, A]", {D, E, A}, gradients.MW},
            output_requirement<Item>{"ct_V", "[D, A]", {D, A}, gradients.V},
            output_requirement<Item>{"ct_M", "[N, S, E]", {N, S, E}, gradients.M},
            output_requirement<Item>{
                "ct_AW", "[D, H + E, L]", {D, H + E, sizes.has_layer ? C : 0}, gradients.AW},
            output_requirement<Item>{
                "ct_initial_attention", "[D, N, C]", {D, N, C}, gradients.initial_attention},
            output_requirement<Item>{
                "ct_initial_alignment", "[D, N, S]", {D, N, S}, gradients.initial_alignment},
        },
        inputs);
}

template <class Item>
void check_attn_lstm_backward(std::string_view op, tensor_ref<Item const> const& X,
    tensor_ref<Item const> const& M, attn_lstm_weights<Item> const& weights,
    attn_lstm_residuals<Item> const& residuals, attn_lstm_cotangents<Item> const& cotangents,
    attn_lstm_gradients<Item> const& gradients)
{
    std::array const inputs{named("X", X), named("M", M), named("ct_Y", cotangents.Y),
        named("ct_Y_h", cotangents.Y_h), named("ct_Y_c", cotangents.Y_c),
        named("ct_alignments", cotangents.alignments), named("ct_Y_attention", cotangents.Y_attention),
        named("ct_Y_alignment", cotangents.Y_alignment)};
    check_ranks(op, inputs);
    recurrent_widths const& sizes = weights.sizes();
    batch_sizes batch = check_X(op, X.shape(), sizes, 0);
    check_residuals(op, residuals, weights, batch, X);
    check_attention_residuals(op, residuals, sizes);
    batch.S = residuals.S();
    check_memory(op, sizes, batch.N, shape_if_given(M), false, {}, {});
    auto const describe = [&] {
        return concat("T = ", batch.T, ", N = ", batch.N, ", D = ", sizes.D, ", H = ", sizes.H,
            ", S = ", batch.S, ", A = ", sizes.A, ", E = ", sizes.E, " and C = ", sizes.C);
    };
    if (sizes.attends)
        check_shapes(op,
            std::array{shape_requirement{"M", "[N, S, E]", {batch.N, batch.S, sizes.E}, shape_if_given(M)}},
            describe);
    check_attn_lstm_cotangents(op, sizes, batch, cotangents, describe);
    check_attn_lstm_gradients(op, X, sizes, batch, gradients, inputs, describe);
}

} // namespace detail

/// Computes com.microsoft's AttnLSTM as attn_lstm_into does, with the default score and the same bits, and
/// keeps what its backward pass needs.
///
/// Errors    as attn_lstm_into; option_error: weights of a narrow storage.
/// Cost      that of attn_lstm_into with Y_attention, and writing residuals of T N D (5H + C + A + S)
///           numbers, with AW E more, fewer for shorter rows, and of N D S A keys.
template <class Input, class Item = detail::first_item_t<Input>, class... Env>
void attn_lstm_forward_into(Input const& X, attn_lstm_weights<Item> const& weights,
    std::type_identity_t<attn_lstm_start<Item>> const& start,
    std::type_identity_t<attn_lstm_outputs<Item>> const& outputs, attn_lstm_residuals<Item>& residuals,
    Env&&... env)
{
    if constexpr (detail::satisfied<detail::policy_and_workspace<attention_workspace<Item>, Env...>>()) {
        static constexpr std::string_view op = "xloom::attn_lstm_forward_into";
        tensor_ref<Item const> const input = X;
        detail::check_recorded_weights(op, weights);
        batch_sizes const sizes = detail::check_attn_lstm_call(op, input, weights, start);
        detail::check_attn_lstm_outputs(op, weights, sizes, input, start, outputs);
        bahdanau const score;
        auto&& workspace = detail::workspace_or_new<attention_workspace<Item>>(env...);
        auto const& policy = detail::policy_of(env...);
        detail::with_attn_lstm_runner(input, weights, sizes, start, outputs, score, workspace, policy,
            [&](auto& runner, auto const& states) {
                residuals.start(
                    weights, sizes, [&](std::size_t n) { return runner.operands.length(n); }, states.memory);
                runner(detail::recorded_attn_lstm_states<Item>{states, residuals, runner.groups}, policy);
            });
        residuals.finish({input, 0});
    }
}

/// Computes the vector-Jacobian product of com.microsoft's AttnLSTM with its default score: the cotangents of
/// its inputs from those of its outputs.
///
/// Shapes    those of the operands: ct_Y [T, D, N, H], ct_Y_h and ct_Y_c [D, N, H], ct_alignments [T, D, N,
///           S], ct_Y_attention [D, N, C], ct_Y_alignment [D, N, S] -> ct_X [T, N, I], ct_W [D, 4H, I + C],
///           ct_R [D, 4H, H], ct_B [D, 8H], ct_initial_h and ct_initial_c [D, N, H], ct_P [D, 3H], ct_QW [D,
///           H, A], ct_MW [D, E, A], ct_V [D, A], ct_M [N, S, E], ct_AW [D, H + E, L], ct_initial_attention
///           [D, N, C], ct_initial_alignment [D, N, S]. Each may be omitted. Any strides. The gradients of B
///           and P do not require that the forward pass has them. Without attention, M is {}.
/// Types     those of X: float, double; float16 and other storage floats, computed as float and rounded in
///           the outputs only; user-defined scalars.
/// Options   those of the weights, which are packed for_training; X and M are those of the forward pass.
/// Policy    serial, or one with threads: each thread has its own rows, then its own columns of the products.
/// Special   as lstm_vjp_into: gradients are added to, kinks, clip, and steps beyond a row's length. Memory
///           beyond a row's memory_seq_lens adds nothing to ct_M, and is not read in ct_alignments and
///           ct_Y_alignment. The initial alignment is not read by the default score: its cotangent is 0, but
///           for a row of length 0, which passes ct_Y_alignment on.
/// Errors    before anything is written: shape_error, option_error, overlap_error, as lstm_vjp_into.
/// Order     as lstm_vjp_into: the bits do not depend on the threads. The gradient of MW is a sum over
///           all memories in blocks of 512 rows, that of V a sum over the rows of the batch.
/// Cost      T N D (8H (I + C + H) + 2 A H + 2 S E + 2 (H + E) L) + 2 N D S E A multiply-adds, and for the
///           scores T N D S A times a division and seven multiplications. Allocates nothing if the workspace
///           is large enough.
/// Source    com.microsoft AttnLSTM-1; Bahdanau, Cho and Bengio (2015); Werbos (1990), backpropagation
///           through time.
/// Example
/// ```cpp
/// xt::xtensor<double, 3> const X = {{{1}}, {{3}}}, M = {{{1}, {2}}}; // T = 2, N = I = 1, S = 2, E = 1
/// xt::xtensor<double, 3> const W = xt::ones<double>({1, 4, 2}), R = xt::ones<double>({1, 4, 1}); // H = 1
/// xt::xtensor<double, 3> const QW = {{{1}}}, MW = {{{1}}};
/// xt::xtensor<double, 2> const V = {{1}};
/// xt::xtensor<double, 3> ct_M = xt::zeros<double>({1, 2, 1});
/// xloom::attn_lstm_residuals<double> residuals;
/// xloom::attention_workspace<double> workspace;
/// xloom::attn_lstm_constants<double> const constants{.W = W, .R = R, .QW = QW, .MW = MW, .V = V};
/// xloom::attn_lstm_weights<double> const weights(constants, {}, xloom::for_training);
/// xloom::attn_lstm_forward_into(X, weights, {.M = M}, {}, residuals, workspace);
/// xt::xtensor<double, 3> const ct_Y_h = {{{1}}};
/// xloom::attn_lstm_vjp_into(
///     X, M, weights, residuals, {.Y_h = ct_Y_h}, {.M = ct_M}, workspace);
/// ct_M; // = [[[0.00361237], [0.00462913]]]
/// ```
template <class Input, class Item = detail::first_item_t<Input>, class... Env>
void attn_lstm_vjp_into(Input const& X, std::type_identity_t<tensor_ref<Item const>> const& M,
    attn_lstm_weights<Item> const& weights, attn_lstm_residuals<Item> const& residuals,
    std::type_identity_t<attn_lstm_cotangents<Item>> const& cotangents,
    std::type_identity_t<attn_lstm_gradients<Item>> const& gradients, Env&&... env)
{
    if constexpr (detail::satisfied<detail::policy_and_workspace<attention_workspace<Item>, Env...>>()) {
        tensor_ref<Item const> const input = X;
        detail::check_trainable("xloom::attn_lstm_vjp_into", weights);
        detail::check_attn_lstm_backward(
            "xloom::attn_lstm_vjp_into", input, M, weights, residuals, cotangents, gradients);
        auto const& [D, I, H, K, A, E, C, attends, has_layer, projects] = weights.sizes();
        batch_sizes const batch = residuals.batch();
        auto&& workspace = detail::workspace_or_new<attention_workspace<Item>>(env...);
        detail::run_backward<detail::attn_lstm_backward_states<Item>>(
            {batch, weights.sizes(), weights.direction(), {input, 0}, {cotangents.Y, 0}, {gradients.X, 0},
                gradients.B, gradients.P,
                {{{gradients.W, 0, I}, {gradients.R, 0, H}, {gradients.W, I, C}, {gradients.QW, 0, A},
                    {gradients.AW, 0, has_layer ? C : 0}}}},
            {{{cotangents.Y_h, 0}, {cotangents.Y_c, 0}, {gradients.initial_h, 0}, {gradients.initial_c, 0}},
                batch, weights.direction(), D, E, A, C, residuals.S(), M, {cotangents.alignments, 0},
                {cotangents.Y_attention, 0}, {cotangents.Y_alignment, 0}, gradients.M, gradients.MW,
                gradients.V, {gradients.initial_attention, 0}, {gradients.initial_alignment, 0}},
            weights, residuals, workspace, detail::policy_of(env...));
    }
}

} // namespace xloom::inline XLOOM_ABI
