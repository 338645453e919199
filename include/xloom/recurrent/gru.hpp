#pragma once
// ONNX's GRU over a batch of sequences.

#include <utility>

#include <xloom/detail/recurrent/forward.hpp>
#include <xloom/detail/recurrent/gru_weights.hpp>

namespace xloom::inline XLOOM_ABI {

/// The inputs of a GRU under ONNX's names, in ONNX's order: W, R, B, sequence_lens, initial_h; {} omits one.
/// Tensors may have any strides.
template <class Item>
using gru_inputs = detail::single_state_inputs<Item>;

/// The inputs of a GRU, except X, that vary from call to call: sequence_lens, initial_h.
template <class Item>
using gru_start = detail::single_state_start<Item>;

/// The outputs of gru_into: Y, Y_h; {} omits one.
template <class Item>
using gru_outputs = detail::single_state_outputs<Item>;

/// The outputs of gru, in the shapes given there: Y, Y_h.
template <class Item>
using gru_result = detail::single_state_result<Item>;

/// Computes ONNX's GRU.
///
///     for each direction d, each row n, each t < sequence_lens[n] (in reverse: from the last):
///         z, r = act_f(split(W[d][z, r] x_t + Wb[d] + R[d][z, r] h + Rb[d], 2))
///         h' = act_g(W[d][h] x_t + Wb[d] + R[d][h] (r * h) + Rb[d])
///             # linear_before_reset: + r * (R[d][h] h + Rb[d])
///         h = (1 - z) * h' + z * h
///         Y[t, d, n] = h
///
/// Shapes    X [T, N, I], W [D, 3H, I], R [D, 3H, H], B [D, 6H] = [Wb, Rb], sequence_lens [N], initial_h [D,
///           N, H] -> Y [T, D, N, H], Y_h [D, N, H]; gates in the order z, r, h. Layout 1: X [N, T, I], Y [N,
///           T, D, H], states [N, D, H]. Any strides.
/// Types     those of X: float, double; float16 and other storage floats, computed as float and rounded in Y
///           and Y_h only; user-defined scalars.
/// Options   gru_options; if the weights are packed, those given to gru_weights.
/// Policy    serial, or one with threads (thread_policy, tbb_policy): each thread has its own rows and
///           directions; where there is one row in one direction, its own columns of large products.
/// Errors    before anything is written: shape_error, option_error, index_error (a length outside [0, T]).
/// Order     as lstm: the bits of a row depend only on the row.
/// Cost      T N D 3H (I + H) multiply-adds, fewer for shorter rows. Packing is a pass over the weights.
/// Differs   from ONNX: nothing known. Unspecified there: a row of length 0 keeps its initial state, and
///           surplus values of activation_alpha and activation_beta are ignored.
/// Source    ONNX GRU-1, 3, 7, 14, 22; infer_gru has the shape rule.
/// Example
/// ```cpp
/// xt::xtensor<float, 3> const X = {{{1}}, {{3}}}; // T = 2, N = 1, I = 1
/// xt::xtensor<float, 3> const W = {{{0.5f}, {0.5f}, {0.5f}}}; // H = 1
/// xt::xtensor<float, 3> const R = xt::zeros<float>({1, 3, 1});
/// auto const [Y, Y_h] = xloom::gru(X, {.W = W, .R = R});
/// Y; // = [[[[0.174468]]], [[[0.307763]]]]
/// ```
template <class Input, class Item = detail::first_item_t<Input>, class Start = gru_start<Item>, class... Env>
gru_result<Item> gru(Input const& X, gru_weights<Item> const& weights, Start&& start = {}, Env&&... env)
{
    return detail::run_packed<detail::gru_family, Item>(
        "xloom::gru", X, weights, std::forward<Start>(start), std::forward<Env>(env)...);
}

/// Computes ONNX's GRU with unpacked weights, which it packs first.
template <class Input, class Item = detail::first_item_t<Input>, class Options = gru_options, class... Env>
gru_result<Item> gru(Input const& X, std::type_identity_t<gru_inputs<Item>> const& inputs,
    Options&& options = {}, Env&&... env)
{
    return detail::run_unpacked<detail::gru_family, Item>("xloom::gru", X, {inputs.W, inputs.R, inputs.B},
        {inputs.sequence_lens, inputs.initial_h}, std::forward<Options>(options), std::forward<Env>(env)...);
}

/// Computes ONNX's GRU into the caller's outputs, of any strides, and maybe with the
/// caller's workspace: it allocates nothing if that is large enough. recurrent_workspace(weights, {T, N}) is
/// for up to T steps and N rows.
///
/// Errors    as gru; shape_error: an output's shape; overlap_error: an output shares memory with an input or
///           another output. Y_h may be the same tensor as initial_h.
/// Real time with a workspace, on one thread, after a call of the same sizes.
template <class Input, class Item = detail::first_item_t<Input>, class... Env>
void gru_into(Input const& X, gru_weights<Item> const& weights,
    std::type_identity_t<gru_start<Item>> const& start,
    std::type_identity_t<gru_outputs<Item>> const& outputs, Env&&... env)
{
    detail::run_recurrent_into<detail::gru_family, Item>(
        "xloom::gru_into", X, weights, start, outputs, std::forward<Env>(env)...);
}

} // namespace xloom::inline XLOOM_ABI
