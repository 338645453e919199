#pragma once
// The backward pass of ONNX's LSTM, and the forward pass that keeps what it needs.

#include <utility>

#include <xloom/detail/recurrent/vjp.hpp>
#include <xloom/recurrent/lstm.hpp>

namespace xloom::inline XLOOM_ABI {

/// The residuals that lstm_forward_into keeps for lstm_vjp_into: the sums of the gates, c and a projected h
/// of each step that a row has, the initial states, the lengths. Grows like a workspace: a call that needs no
/// more than an earlier one allocates nothing. A backward pass only reads it.
template <class Item>
using lstm_residuals = detail::residuals_for<detail::lstm_family, Item>;

/// The cotangents of an LSTM's outputs; {} omits one, which is zeros.
template <class Item>
using lstm_cotangents = lstm_outputs<Item const>;

/// The cotangents of an LSTM's inputs, to which lstm_vjp_into adds; {} omits one.
template <class Item>
struct lstm_gradients {
    tensor_ref<Item> X{};
    tensor_ref<Item> W{};
    tensor_ref<Item> R{};
    tensor_ref<Item> B{};
    tensor_ref<Item> P{};
    tensor_ref<Item> initial_h{};
    tensor_ref<Item> initial_c{};
    tensor_ref<Item> projection{};
};

/// Computes ONNX's LSTM as lstm_into does, with the same bits, and keeps what its backward pass needs.
///
/// Errors    as lstm_into; option_error: weights of a narrow storage.
/// Cost      that of lstm_into, and writing residuals of T N D 5H numbers, with a projection T N D (5H + K),
///           fewer for shorter rows.
template <class Input, class Item = detail::first_item_t<Input>, class... Env>
void lstm_forward_into(Input const& X, lstm_weights<Item> const& weights,
    std::type_identity_t<lstm_start<Item>> const& start,
    std::type_identity_t<lstm_outputs<Item>> const& outputs, lstm_residuals<Item>& residuals, Env&&... env)
{
    detail::run_forward_into<detail::lstm_family, Item>(
        "xloom::lstm_forward_into", X, weights, start, outputs, residuals, std::forward<Env>(env)...);
}

/// Computes the vector-Jacobian product of ONNX's LSTM: the cotangents of its inputs from those of its
/// outputs.
///
///     Y, Y_h, Y_c = lstm(X, W, R, B, initial_h, initial_c, P)
///     for each operand v:
///         ct_v = ct_v + sum(ct_Y * dY/dv) + sum(ct_Y_h * dY_h/dv) + sum(ct_Y_c * dY_c/dv)
///
/// Shapes    those of the operands, in the layout of the weights: ct_Y [T, D, N, H], ct_Y_h and ct_Y_c [D, N,
///           H] -> ct_X [T, N, I], ct_W [D, 4H, I], ct_R [D, 4H, H], ct_B [D, 8H], ct_P [D, 3H], ct_initial_h
///           and ct_initial_c [D, N, H]; with a projection ct_projection [D, K, H], and K in place of H where
///           lstm has it. Each may be omitted. Any strides. The gradients of B and P do not
///           require that the forward pass has them.
/// Types     those of X: float, double; float16 and other storage floats, computed as float and rounded in
///           the outputs only; user-defined scalars.
/// Options   those of the weights, which are packed for_training; X is that of the forward pass.
/// Policy    serial, or one with threads: each thread has its own rows, then its own columns of the products.
/// Special   Gradients are added to, so that those of several calls add up: set them to zero before the
///           first. Derivatives at kinks are those of activate_vjp. Where a sum exceeds clip, its cotangent
///           is 0; at the limit it is not. Steps beyond a row's length add nothing to ct_X, and are not
///           read in ct_Y. A row of length 0 passes ct_Y_h and ct_Y_c on.
/// Errors    before anything is written: shape_error: an operand's shape, or residuals of other sizes;
///           option_error: residuals that are empty, of other attributes, or of another X, of which a sample
///           of items is compared; overlap_error: a gradient shares memory with an input or another gradient.
/// Order     The bits do not depend on the threads. Those of ct_X and of the states' cotangents depend only
///           on the row. The gradients of weights are sums over all steps of all rows: in blocks of about 512
///           steps of rows, from the last time step to the first, in a block from the first to the last and
///           by descending length, in dependency chains of 128.
/// Cost      T N D 8H (I + H) multiply-adds, half as many without ct_W and ct_R. Allocates nothing if the
///           workspace is large enough.
/// Source    ONNX LSTM-22; Werbos (1990), backpropagation through time.
/// Example
/// ```cpp
/// xt::xtensor<double, 3> const X = {{{1}}, {{3}}}; // T = 2, N = 1, I = 1
/// xt::xtensor<double, 3> const W = {{{0.5}, {0.5}, {0.5}, {0.5}}}; // H = 1
/// xt::xtensor<double, 3> const R = xt::zeros<double>({1, 4, 1});
/// xt::xtensor<double, 3> Y_h = xt::zeros<double>({1, 1, 1}), ct_X = xt::zeros<double>({2, 1, 1});
/// xloom::lstm_residuals<double> residuals;
/// xloom::recurrent_workspace<double> workspace;
/// xloom::lstm_weights<double> const weights({.W = W, .R = R}, {}, xloom::for_training);
/// xloom::lstm_forward_into(X, weights, {}, {.Y_h = Y_h}, residuals, workspace);
/// xt::xtensor<double, 3> const ct_Y_h = {{{1}}};
/// xloom::lstm_vjp_into(X, weights, residuals, {.Y_h = ct_Y_h}, {.X = ct_X}, workspace);
/// ct_X; // = [[[0.0871636]], [[0.114046]]]
/// ```
template <class Input, class Item = detail::first_item_t<Input>, class... Env>
void lstm_vjp_into(Input const& X, lstm_weights<Item> const& weights, lstm_residuals<Item> const& residuals,
    std::type_identity_t<lstm_cotangents<Item>> const& cotangents,
    std::type_identity_t<lstm_gradients<Item>> const& gradients, Env&&... env)
{
    detail::run_vjp_into<detail::lstm_family, Item>(
        "xloom::lstm_vjp_into", X, weights, residuals, cotangents, gradients, std::forward<Env>(env)...);
}

} // namespace xloom::inline XLOOM_ABI
