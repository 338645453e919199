#pragma once
// ONNX's LSTM over a batch of sequences.

#include <utility>

#include <xloom/detail/recurrent/forward.hpp>
#include <xloom/detail/recurrent/lstm_weights.hpp>

namespace xloom::inline XLOOM_ABI {

/// The inputs of an LSTM under ONNX's names, in ONNX's order; {} omits one. Tensors may have any strides.
template <class Item>
struct lstm_inputs {
    tensor_ref<Item const> W{};
    tensor_ref<Item const> R{};
    tensor_ref<Item const> B{};
    lengths_ref sequence_lens{};
    tensor_ref<Item const> initial_h{};
    tensor_ref<Item const> initial_c{};
    tensor_ref<Item const> P{};
    tensor_ref<Item const> projection{}; ///< PyTorch's, not ONNX's
};

/// The inputs of an LSTM, except X, that vary from call to call.
template <class Item>
struct lstm_start {
    lengths_ref sequence_lens{};
    tensor_ref<Item const> initial_h{};
    tensor_ref<Item const> initial_c{};
};

/// The outputs of lstm_into; {} omits one.
template <class Item>
struct lstm_outputs {
    tensor_ref<Item> Y{};
    tensor_ref<Item> Y_h{};
    tensor_ref<Item> Y_c{};
};

/// The outputs of lstm, in the shapes given there.
template <class Item>
struct lstm_result {
    xt::xtensor<Item, 4> Y;
    xt::xtensor<Item, 3> Y_h, Y_c;
};

/// Computes ONNX's LSTM.
///
///     for each direction d, each row n, each t < sequence_lens[n] (in reverse: from the last):
///         i, o, f, g = split(W[d] x_t + Wb[d] + R[d] h + Rb[d], 4)
///         i, f = act_f(i + Pi[d] * c), act_f(f + Pf[d] * c)
///         c = f * c + i * act_g(g)
///         h = act_f(o + Po[d] * c) * act_h(c)
///         h = projection[d] h        if there is a projection
///         Y[t, d, n] = h
///
/// Shapes    X [T, N, I], W [D, 4H, I], R [D, 4H, H], B [D, 8H] = [Wb, Rb], sequence_lens [N], initial_h and
///           initial_c [D, N, H], P [D, 3H] -> Y [T, D, N, H], Y_h and Y_c [D, N, H]; gates in the order i,
///           o, f, g, peepholes i, o, f. Layout 1: X [N, T, I], Y [N, T, D, H], states [N, D, H]. D is 2 for
///           bidirectional, else 1. With a projection [D, K, H], PyTorch's proj_size, K takes the place of H
///           in R [D, 4H, K], Y, Y_h and initial_h. Any strides.
/// Types     those of X: float, double; float16 and other storage floats, computed as float and rounded in Y,
///           Y_h and Y_c only; user-defined scalars.
/// Options   lstm_options; if the weights are packed, those given to lstm_weights.
/// Policy    serial, or one with threads (thread_policy, tbb_policy): each thread has its own rows and
///           directions; where there is one row in one direction, its own columns of large products.
/// Special   Steps beyond a row's length are not read.
/// NaN       stays NaN.
/// Errors    before anything is written: shape_error, option_error, index_error (a length outside [0, T]).
/// Order     each sum is bias, then the products of W, then those of R, in dependency chains of 128 products.
///           So the bits of a row depend only on the row: not on the batch, the threads, or how a sequence is
///           split into calls (float and wider types).
/// Max error float, H = 512, T = 100, weights uniform in +-1/sqrt(H), X in +-1, independent: 2e-6.
/// Cost      T N D 4H (I + H) multiply-adds, with a projection T N D H (4I + 5K), fewer for shorter rows.
///           Packing is a pass over the weights; lstm_weights are packed once. Memory: X and the sums of up
///           to 96 rows or of one step.
/// Differs   from the letter of ONNX, whose clip limits the input of every activation, and so c, the input of
///           act_h: here it limits the gates' sums alone, as in ONNX Runtime. With clip = 1 and c = 1.5, of
///           gates that are 0.5, h is 0.452574; with a limited c it would be 0.380797. Unspecified there: a
///           row of length 0 keeps its states, and surplus values of activation_alpha and activation_beta are
///           ignored.
/// Source    ONNX LSTM-1, 7, 14, 22; infer_lstm has the shape rule. Sak, Senior, Beaufays (2014), LSTM with a
///           recurrent projection layer.
/// Example
/// ```cpp
/// xt::xtensor<float, 3> const X = {{{1}}, {{3}}}; // T = 2, N = 1, I = 1
/// xt::xtensor<float, 3> const W = {{{0.5f}, {0.5f}, {0.5f}, {0.5f}}}; // H = 1
/// xt::xtensor<float, 3> const R = xt::zeros<float>({1, 4, 1});
/// auto const [Y, Y_h, Y_c] = xloom::lstm(X, {.W = W, .R = R});
/// Y; // = [[[[0.17427]]], [[[0.613983]]]]
///
/// xt::xtensor<float, 3> const zero = {{{0}}}, c = {{{3}}}; // clip does not apply to c
/// xloom::lstm(zero, {.W = W, .R = R, .initial_c = c}, {.clip = 1}).Y_h; // = [[[0.452574]]]
/// ```
template <class Input, class Item = detail::first_item_t<Input>, class Start = lstm_start<Item>, class... Env>
lstm_result<Item> lstm(Input const& X, lstm_weights<Item> const& weights, Start&& start = {}, Env&&... env)
{
    return detail::run_packed<detail::lstm_family, Item>(
        "xloom::lstm", X, weights, std::forward<Start>(start), std::forward<Env>(env)...);
}

/// Computes ONNX's LSTM with unpacked weights, which it packs first.
template <class Input, class Item = detail::first_item_t<Input>, class Options = lstm_options, class... Env>
lstm_result<Item> lstm(Input const& X, std::type_identity_t<lstm_inputs<Item>> const& inputs,
    Options&& options = {}, Env&&... env)
{
    return detail::run_unpacked<detail::lstm_family, Item>("xloom::lstm", X,
        {inputs.W, inputs.R, inputs.B, inputs.P, inputs.projection},
        {inputs.sequence_lens, inputs.initial_h, inputs.initial_c}, std::forward<Options>(options),
        std::forward<Env>(env)...);
}

/// Computes ONNX's LSTM into the caller's outputs, of any strides, and maybe with the
/// caller's workspace: it allocates nothing if that is large enough. recurrent_workspace(weights, {T, N}) is
/// for up to T steps and N rows.
///
/// Errors    as lstm; shape_error: an output's shape; overlap_error: an output shares memory with an input or
///           another output. Y_h and Y_c may be the same tensors as initial_h and initial_c, so that a stream
///           updates its state in place.
/// Real time with a workspace, on one thread, after a call of the same sizes.
template <class Input, class Item = detail::first_item_t<Input>, class... Env>
void lstm_into(Input const& X, lstm_weights<Item> const& weights,
    std::type_identity_t<lstm_start<Item>> const& start,
    std::type_identity_t<lstm_outputs<Item>> const& outputs, Env&&... env)
{
    detail::run_recurrent_into<detail::lstm_family, Item>(
        "xloom::lstm_into", X, weights, start, outputs, std::forward<Env>(env)...);
}

} // namespace xloom::inline XLOOM_ABI
