#pragma once
// Stacks of recurrent layers, each of whose input is the output of the layer below.

#include <span>
#include <type_traits>
#include <utility>

#include <xloom/detail/recurrent/stack_run.hpp>
#include <xloom/recurrent/gru.hpp>
#include <xloom/recurrent/lstm.hpp>
#include <xloom/recurrent/rnn.hpp>

namespace xloom::inline XLOOM_ABI {

/// Computes a stack of LSTMs, such as PyTorch's with num_layers.
///
///     for each layer l:
///         Y, Y_h[l D : (l + 1) D], Y_c[l D : (l + 1) D] =
///             lstm(X, layers[l], initial_h[l D : (l + 1) D], initial_c[l D : (l + 1) D])
///         X[t, n] = concatenate(Y[t, d, n] for each direction d)
///
/// Shapes    X [T, N, I], layers L weights with one D, one H and, but for the first, I = D H, sequence_lens
///           [N], initial_h and initial_c [L D, N, H] -> Y [T, D, N, H] of the last layer, Y_h and Y_c [L D,
///           N, H]. Layout 1: X [N, T, I], Y [N, T, D, H], states [N, L D, H]. With projections as in lstm.
/// Types     as lstm; between two layers is the type of X.
/// Policy    serial, or one with threads: where there are more threads than rows, and all layers are forward,
///           layer l computes a step while layer l - 1 computes a later one; else as lstm, layer by layer.
/// Errors    before anything is written: as lstm; shape_error: no layers, or sizes that differ; option_error:
///           layouts that differ.
/// Order     the bits are those of one call of lstm after the other.
/// Cost      that of the layers. L layers on as many threads take the time of the slowest one, and of 1/32 of
///           its steps for each layer before it. Memory: the outputs of two layers, and a workspace for each
///           one that runs at once.
/// Source    torch.nn.LSTM; ONNX has one layer.
/// Example
/// ```cpp
/// xt::xtensor<float, 3> const X = {{{1}}, {{3}}}; // T = 2, N = 1, I = 1
/// xt::xtensor<float, 3> const W = {{{0.5f}, {0.5f}, {0.5f}, {0.5f}}}; // H = 1
/// xt::xtensor<float, 3> const R = xt::zeros<float>({1, 4, 1});
/// xloom::lstm_weights<float> const layer({.W = W, .R = R});
/// std::vector const layers(2, layer);
/// auto const [Y, Y_h, Y_c] = xloom::lstm_stack(X, layers);
/// Y_h; // = [[[0.613983]], [[0.112414]]]
/// ```
template <class Input, class Item = detail::first_item_t<Input>, class Start = lstm_start<Item>, class... Env>
lstm_result<Item> lstm_stack(Input const& X, std::type_identity_t<std::span<lstm_weights<Item> const>> layers,
    Start&& start = {}, Env&&... env)
{
    return detail::run_stack_call<detail::lstm_family, Item>(
        "xloom::lstm_stack", X, layers, std::forward<Start>(start), std::forward<Env>(env)...);
}

/// Computes a stack of LSTMs into the caller's outputs, of any strides, and maybe with the caller's
/// workspace, a stack_workspace<Item>: on one thread it allocates nothing if that is large enough.
/// stack_workspace(layers, {T, N}) is for up to T steps and N rows.
///
/// Errors    as lstm_stack; shape_error: an output's shape; overlap_error: an output shares memory with an
///           input or another output. Y_h and Y_c may be the same tensors as initial_h and initial_c.
/// Real time with a workspace, on one thread, after a call of the same sizes.
template <class Input, class Item = detail::first_item_t<Input>, class... Env>
void lstm_stack_into(Input const& X, std::type_identity_t<std::span<lstm_weights<Item> const>> layers,
    std::type_identity_t<lstm_start<Item>> const& start,
    std::type_identity_t<lstm_outputs<Item>> const& outputs, Env&&... env)
{
    detail::run_stack_into<detail::lstm_family, Item>(
        "xloom::lstm_stack_into", X, layers, start, outputs, std::forward<Env>(env)...);
}

/// Computes a stack of GRUs: as lstm_stack, without c.
///
/// Example
/// ```cpp
/// xt::xtensor<float, 3> const X = {{{1}}, {{3}}}; // T = 2, N = 1, I = 1
/// xt::xtensor<float, 3> const W = {{{0.5f}, {0.5f}, {0.5f}}}; // H = 1
/// xt::xtensor<float, 3> const R = xt::zeros<float>({1, 3, 1});
/// xloom::gru_weights<float> const layer({.W = W, .R = R});
/// std::vector const layers(2, layer);
/// xloom::gru_stack(X, layers).Y_h; // = [[[0.307763]], [[0.0928798]]]
/// ```
template <class Input, class Item = detail::first_item_t<Input>, class Start = gru_start<Item>, class... Env>
gru_result<Item> gru_stack(Input const& X, std::type_identity_t<std::span<gru_weights<Item> const>> layers,
    Start&& start = {}, Env&&... env)
{
    return detail::run_stack_call<detail::gru_family, Item>(
        "xloom::gru_stack", X, layers, std::forward<Start>(start), std::forward<Env>(env)...);
}

/// Computes a stack of GRUs into the caller's outputs: as lstm_stack_into, without c.
template <class Input, class Item = detail::first_item_t<Input>, class... Env>
void gru_stack_into(Input const& X, std::type_identity_t<std::span<gru_weights<Item> const>> layers,
    std::type_identity_t<gru_start<Item>> const& start,
    std::type_identity_t<gru_outputs<Item>> const& outputs, Env&&... env)
{
    detail::run_stack_into<detail::gru_family, Item>(
        "xloom::gru_stack_into", X, layers, start, outputs, std::forward<Env>(env)...);
}

/// Computes a stack of RNNs: as lstm_stack, without c.
///
/// Example
/// ```cpp
/// xt::xtensor<float, 3> const X = {{{1}}, {{3}}}; // T = 2, N = 1, I = 1
/// xt::xtensor<float, 3> const W = {{{0.5f}}}, R = {{{1}}}; // H = 1
/// xloom::rnn_weights<float> const layer({.W = W, .R = R});
/// std::vector const layers(2, layer);
/// xloom::rnn_stack(X, layers).Y_h; // = [[[0.961251]], [[0.609206]]]
/// ```
template <class Input, class Item = detail::first_item_t<Input>, class Start = rnn_start<Item>, class... Env>
rnn_result<Item> rnn_stack(Input const& X, std::type_identity_t<std::span<rnn_weights<Item> const>> layers,
    Start&& start = {}, Env&&... env)
{
    return detail::run_stack_call<detail::rnn_family, Item>(
        "xloom::rnn_stack", X, layers, std::forward<Start>(start), std::forward<Env>(env)...);
}

/// Computes a stack of RNNs into the caller's outputs: as lstm_stack_into, without c.
template <class Input, class Item = detail::first_item_t<Input>, class... Env>
void rnn_stack_into(Input const& X, std::type_identity_t<std::span<rnn_weights<Item> const>> layers,
    std::type_identity_t<rnn_start<Item>> const& start,
    std::type_identity_t<rnn_outputs<Item>> const& outputs, Env&&... env)
{
    detail::run_stack_into<detail::rnn_family, Item>(
        "xloom::rnn_stack_into", X, layers, start, outputs, std::forward<Env>(env)...);
}

} // namespace xloom::inline XLOOM_ABI
