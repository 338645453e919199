// The derivatives of the recurrent operators.

#include "support/threads.hpp"
#include <xloom/gradients/attn_lstm_vjp.hpp>
#include <xloom/gradients/gru_vjp.hpp>
#include <xloom/gradients/lstm_vjp.hpp>
#include <xloom/gradients/rnn_vjp.hpp>

#include "levels.hpp"

namespace levels {
namespace {

template <class T>
using cube = xt::xtensor<T, 3>;

template <class T>
void print_lstm(std::size_t H, std::size_t N)
{
    std::size_t const steps = 5, I = 3;
    auto const X = numbers<cube<T>>({steps, N, I}, 1), W = numbers<cube<T>>({1, 4 * H, I}, 2),
               R = numbers<cube<T>>({1, 4 * H, H}, 3), ct_Y_h = numbers<cube<T>>({1, N, H}, 4);
    auto const initial = numbers<cube<T>>({1, N, H}, 5);
    xloom::lstm_constants<T> const constants{.W = W, .R = R};
    cube<T> Y_h = ct_Y_h, ct_X = X, ct_W = W, ct_R = R, ct_h = initial;
    xloom::lstm_residuals<T> residuals;
    xloom::recurrent_workspace<T> workspace;
    xloom::lstm_forward_into(X, xloom::lstm_weights<T>(constants),
        {.initial_h = initial, .initial_c = initial}, {.Y_h = Y_h}, residuals, workspace, threads_policy(2));
    xloom::lstm_vjp_into(X, xloom::lstm_weights<T>(constants, {}, xloom::for_training), residuals,
        {.Y_h = ct_Y_h}, {.X = ct_X, .W = ct_W, .R = ct_R, .initial_h = ct_h}, workspace, threads_policy(2));
    for (auto const* const result : {&Y_h, &ct_X, &ct_W, &ct_R, &ct_h})
        print("lstm_backward", H, N, *result);
}

/// A projection to K numbers.
template <class T>
void print_projected_lstm(std::size_t H, std::size_t N)
{
    std::size_t const steps = 5, I = 3, K = H / 2 + 1;
    auto const X = numbers<cube<T>>({steps, N, I}, 1), W = numbers<cube<T>>({1, 4 * H, I}, 2),
               R = numbers<cube<T>>({1, 4 * H, K}, 3), P = numbers<cube<T>>({1, K, H}, 4),
               ct_Y_h = numbers<cube<T>>({1, N, K}, 5);
    xloom::lstm_constants<T> const constants{.W = W, .R = R, .projection = P};
    cube<T> Y_h = ct_Y_h, ct_X = X, ct_R = R, ct_P = P, ct_h = ct_Y_h;
    xloom::lstm_residuals<T> residuals;
    xloom::recurrent_workspace<T> workspace;
    xloom::lstm_forward_into(
        X, xloom::lstm_weights<T>(constants), {.initial_h = ct_Y_h}, {.Y_h = Y_h}, residuals, workspace);
    xloom::lstm_vjp_into(X, xloom::lstm_weights<T>(constants, {}, xloom::for_training), residuals,
        {.Y_h = ct_Y_h}, {.X = ct_X, .R = ct_R, .initial_h = ct_h, .projection = ct_P}, workspace);
    for (auto const* const result : {&Y_h, &ct_X, &ct_R, &ct_P, &ct_h})
        print("lstm_backward of a projection", H, N, *result);
}

template <class T>
void print_gru(std::size_t H, std::size_t N)
{
    std::size_t const steps = 5, I = 3;
    auto const X = numbers<cube<T>>({steps, N, I}, 1), W = numbers<cube<T>>({1, 3 * H, I}, 2),
               R = numbers<cube<T>>({1, 3 * H, H}, 3), ct_Y_h = numbers<cube<T>>({1, N, H}, 4);
    xloom::gru_constants<T> const constants{.W = W, .R = R};
    cube<T> Y_h = ct_Y_h, ct_X = X, ct_W = W, ct_R = R;
    xloom::gru_residuals<T> residuals;
    xloom::recurrent_workspace<T> workspace;
    xloom::gru_forward_into(X, xloom::gru_weights<T>(constants), {}, {.Y_h = Y_h}, residuals, workspace);
    xloom::gru_vjp_into(X, xloom::gru_weights<T>(constants, {}, xloom::for_training), residuals,
        {.Y_h = ct_Y_h}, {.X = ct_X, .W = ct_W, .R = ct_R}, workspace);
    for (auto const* const result : {&Y_h, &ct_X, &ct_W, &ct_R})
        print("gru_backward", H, N, *result);
}

template <class T>
void print_rnn(std::size_t H, std::size_t N)
{
    std::size_t const steps = 5, I = 3;
    auto const X = numbers<cube<T>>({steps, N, I}, 1), W = numbers<cube<T>>({1, H, I}, 2),
               R = numbers<cube<T>>({1, H, H}, 3), ct_Y_h = numbers<cube<T>>({1, N, H}, 4);
    xloom::rnn_constants<T> const constants{.W = W, .R = R};
    cube<T> Y_h = ct_Y_h, ct_X = X, ct_W = W, ct_R = R;
    xloom::rnn_residuals<T> residuals;
    xloom::recurrent_workspace<T> workspace;
    xloom::rnn_forward_into(X, xloom::rnn_weights<T>(constants), {}, {.Y_h = Y_h}, residuals, workspace);
    xloom::rnn_vjp_into(X, xloom::rnn_weights<T>(constants, {}, xloom::for_training), residuals,
        {.Y_h = ct_Y_h}, {.X = ct_X, .W = ct_W, .R = ct_R}, workspace);
    for (auto const* const result : {&Y_h, &ct_X, &ct_W, &ct_R})
        print("rnn_backward", H, N, *result);
}

template <class T>
void print_attn_lstm(std::size_t H, std::size_t N)
{
    std::size_t const steps = 5, I = 3, S = 4, E = 5, A = 6, L = 7;
    auto const X = numbers<cube<T>>({steps, N, I}, 1), W = numbers<cube<T>>({1, 4 * H, I + L}, 2),
               R = numbers<cube<T>>({1, 4 * H, H}, 3), QW = numbers<cube<T>>({1, H, A}, 4),
               MW = numbers<cube<T>>({1, E, A}, 5), AW = numbers<cube<T>>({1, H + E, L}, 6),
               M = numbers<cube<T>>({N, S, E}, 7), ct_Y_h = numbers<cube<T>>({1, N, H}, 8);
    auto const V = numbers<xt::xtensor<T, 2>>({1, A}, 9);
    xloom::attn_lstm_constants<T> const constants{.W = W, .R = R, .QW = QW, .MW = MW, .V = V, .AW = AW};
    cube<T> Y_h = ct_Y_h, ct_X = X, ct_W = W, ct_MW = MW, ct_AW = AW, ct_M = M;
    xloom::attn_lstm_residuals<T> residuals;
    xloom::attention_workspace<T> workspace;
    xloom::attn_lstm_forward_into(
        X, xloom::attn_lstm_weights<T>(constants), {.M = M}, {.Y_h = Y_h}, residuals, workspace);
    xloom::attn_lstm_vjp_into(X, M, xloom::attn_lstm_weights<T>(constants, {}, xloom::for_training),
        residuals, {.Y_h = ct_Y_h}, {.X = ct_X, .W = ct_W, .MW = ct_MW, .M = ct_M, .AW = ct_AW}, workspace);
    for (auto const* const result : {&Y_h, &ct_X, &ct_W, &ct_MW, &ct_AW, &ct_M})
        print("attn_lstm_backward", H, N, *result);
}

template <class T>
void print_all(std::size_t H, std::size_t N)
{
    print_lstm<T>(H, N);
    print_projected_lstm<T>(H, N);
    print_gru<T>(H, N);
    print_rnn<T>(H, N);
    print_attn_lstm<T>(H, N);
}

} // namespace

void print_derivatives()
{
    for (std::size_t const H : {1u, 7u, 16u, 33u})
        for (std::size_t const N : {1u, 2u, 4u, 5u}) {
            print_all<float>(H, N);
            print_all<double>(H, N);
        }
}

} // namespace levels
