// Mistakes in the calls of the recurrent operators' backward passes.
// clang-format off
// 1: after the operands and outputs come the options, then a policy and a workspace of this operator, in any order, each at most once
// 2: after the operands and outputs come the options, then a policy and a workspace of this operator, in any order, each at most once
// 3: after the operands and outputs come the options, then a policy and a workspace of this operator, in any order, each at most once
// 4: after the operands and outputs come the options, then a policy and a workspace of this operator, in any order, each at most once
// 5: an operand that is written must not be const
// 6: x, y and cotangents must be contiguous ranges of one element type, such as std::vector or std::span, and what is written must be a variable that is not const
// 7: x, y and cotangents must be contiguous ranges of one element type, such as std::vector or std::span, and what is written must be a variable that is not const
// clang-format on
#include <utility>
#include <vector>

#include <xloom/gradients/activate_vjp.hpp>
#include <xloom/gradients/attn_lstm_vjp.hpp>
#include <xloom/gradients/gru_vjp.hpp>
#include <xloom/gradients/lstm_vjp.hpp>
#include <xloom/gradients/rnn_vjp.hpp>

using namespace xloom;

int main()
{
    xt::xtensor<float, 3> const X = xt::zeros<float>({3, 1, 2}), W = xt::zeros<float>({1, 4, 2}),
                                R = xt::zeros<float>({1, 4, 1});
    xt::xtensor<float, 3> ct = xt::zeros<float>({1, 1, 1});
    lstm_constants<float> const constants{.W = W, .R = R};
    lstm_weights<float> const weights(constants, {}, for_training);
    lstm_residuals<float> residuals;
    recurrent_workspace<float> workspace;
    attn_lstm_constants<float> const attention_constants{.W = W, .R = R};
    attn_lstm_weights<float> const attention(attention_constants, {}, for_training);
    attn_lstm_residuals<float> attention_residuals;
    attention_workspace<float> attention_memory;
    std::vector<float> x(1);

#if CASE == 0
    lstm_forward_into(X, weights, {}, {}, residuals, workspace, serial);
    lstm_vjp_into(X, weights, residuals, {.Y_h = ct}, {.initial_h = ct}, workspace, serial);
    attn_lstm_forward_into(X, attention, {}, {}, attention_residuals, attention_memory, serial);
    attn_lstm_vjp_into(
        X, {}, attention, attention_residuals, {}, {.initial_h = ct}, attention_memory, serial);
    activate_vjp(activation::relu, x, x, x);
#elif CASE == 1
    lstm_forward_into(X, weights, {}, {}, residuals, serial, serial);
#elif CASE == 2
    lstm_vjp_into(X, weights, residuals, {.Y_h = ct}, {.initial_h = ct}, attention_memory, 1);
#elif CASE == 3
    attn_lstm_forward_into(X, attention, {.M = X}, {}, attention_residuals, workspace, serial);
#elif CASE == 4
    attn_lstm_vjp_into(X, X, attention, attention_residuals, {}, {}, attention_memory, X);
#elif CASE == 5
    lstm_vjp_into(X, weights, residuals, {}, {.W = W}, workspace);
#elif CASE == 6
    activate_vjp(activation::relu, x, x, std::as_const(x));
#elif CASE == 7
    activate_vjp(activation::relu, x, std::vector<double>(1), x);
#endif
}
