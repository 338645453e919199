#pragma once
// The backward pass of ONNX's GRU, and the forward pass that keeps what it needs.

#include <utility>

#include <xloom/detail/recurrent/vjp.hpp>
#include <xloom/recurrent/gru.hpp>

namespace xloom::inline XLOOM_ABI {

/// The residuals that gru_forward_into keeps for gru_vjp_into: the sums of the gates and h of each step
/// that a row has, the initial states, the lengths. Grows like a workspace: a call that needs no more than an
/// earlier one allocates nothing. A backward pass only reads it.
template <class Item>
using gru_residuals = detail::residuals_for<detail::gru_family, Item>;

/// The cotangents of a GRU's outputs: Y, Y_h; {} omits one, which is zeros.
template <class Item>
using gru_cotangents = detail::single_state_cotangents<Item>;

/// The cotangents of a GRU's inputs, to which gru_vjp_into adds: X, W, R, B, initial_h; {} omits one.
template <class Item>
using gru_gradients = detail::single_state_gradients<Item>;

/// Computes ONNX's GRU as gru_into does, with the same bits, and keeps what its backward pass needs.
///
/// Errors    as gru_into; option_error: weights of a narrow storage.
/// Cost      that of gru_into, and writing residuals of T N D 4H, with linear_before_reset T N D 5H, numbers,
///           fewer for shorter rows.
template <class Input, class Item = detail::first_item_t<Input>, class... Env>
void gru_forward_into(Input const& X, gru_weights<Item> const& weights,
    std::type_identity_t<gru_start<Item>> const& start,
    std::type_identity_t<gru_outputs<Item>> const& outputs, gru_residuals<Item>& residuals, Env&&... env)
{
    detail::run_forward_into<detail::gru_family, Item>(
        "xloom::gru_forward_into", X, weights, start, outputs, residuals, std::forward<Env>(env)...);
}

/// Computes the vector-Jacobian product of ONNX's GRU: the cotangents of its inputs from those of its
/// outputs.
///
/// Shapes    those of the operands, in the layout of the weights: ct_Y [T, D, N, H], ct_Y_h [D, N, H] -> ct_X
///           [T, N, I], ct_W [D, 3H, I], ct_R [D, 3H, H], ct_B [D, 6H], ct_initial_h [D, N, H]. Each may be
///           omitted. Any strides.
/// Types     those of X: float, double; float16 and other storage floats, computed as float and rounded in
///           the outputs only; user-defined scalars.
/// Options   those of the weights, which are packed for_training; X is that of the forward pass.
/// Policy    serial, or one with threads: each thread has its own rows, then its own columns of the products.
/// Special   as lstm_vjp_into: gradients are added to, kinks, clip, and steps beyond a row's length.
/// Errors    before anything is written: shape_error, option_error, overlap_error, as lstm_vjp_into.
/// Order     as lstm_vjp_into: the bits do not depend on the threads.
/// Cost      T N D 6H (I + H) multiply-adds, half as many without ct_W and ct_R. Allocates nothing if the
///           workspace is large enough.
/// Source    ONNX GRU-22; Werbos (1990), backpropagation through time.
/// Example
/// ```cpp
/// xt::xtensor<double, 3> const X = {{{1}}, {{3}}}; // T = 2, N = 1, I = 1
/// xt::xtensor<double, 3> const W = {{{0.5}, {0.5}, {0.5}}}; // H = 1
/// xt::xtensor<double, 3> const R = xt::zeros<double>({1, 3, 1});
/// xt::xtensor<double, 3> ct_X = xt::zeros<double>({2, 1, 1});
/// xloom::gru_residuals<double> residuals;
/// xloom::recurrent_workspace<double> workspace;
/// xloom::gru_weights<double> const weights({.W = W, .R = R}, {}, xloom::for_training);
/// xloom::gru_forward_into(X, weights, {}, {}, residuals, workspace);
/// xt::xtensor<double, 3> const ct_Y_h = {{{1}}};
/// xloom::gru_vjp_into(X, weights, residuals, {.Y_h = ct_Y_h}, {.X = ct_X}, workspace);
/// ct_X; // = [[[0.0769815]], [[-0.0380064]]]
/// ```
template <class Input, class Item = detail::first_item_t<Input>, class... Env>
void gru_vjp_into(Input const& X, gru_weights<Item> const& weights, gru_residuals<Item> const& residuals,
    std::type_identity_t<gru_cotangents<Item>> const& cotangents,
    std::type_identity_t<gru_gradients<Item>> const& gradients, Env&&... env)
{
    detail::run_vjp_into<detail::gru_family, Item>(
        "xloom::gru_vjp_into", X, weights, residuals, cotangents, gradients, std::forward<Env>(env)...);
}

} // namespace xloom::inline XLOOM_ABI
