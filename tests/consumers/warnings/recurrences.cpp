// Recurrent operators, activations and products in the forms that programs use most.

#include <cstdio>
#include <vector>

#include <xloom/recurrent/activations.hpp>
#include <xloom/recurrent/attn_lstm.hpp>
#include <xloom/recurrent/gru.hpp>
#include <xloom/recurrent/lstm.hpp>
#include <xloom/recurrent/lstm_cell.hpp>
#include <xloom/recurrent/packed_matrix.hpp>
#include <xloom/recurrent/rnn.hpp>

namespace {

float recurrences()
{
    xt::xtensor<float, 3> const X = {{{1}}, {{3}}}, M = {{{1}, {2}}}, W1 = {{{1}}};
    xt::xtensor<float, 2> const V = {{1}};
    auto const weights = [](std::size_t gates, std::size_t I) {
        return xt::xtensor<float, 3>(xt::ones<float>({std::size_t(1), gates, I}));
    };
    auto const W4 = weights(4, 1), W3 = weights(3, 1), W2 = weights(4, 2);
    auto const lstm = xloom::lstm(X, {.W = W4, .R = W4}, {.clip = 3.0});
    auto const gru = xloom::gru(X, {.W = W3, .R = W3}, {.linear_before_reset = true});
    auto const rnn = xloom::rnn(X, {.W = W1, .R = W1});
    auto const attended = xloom::attn_lstm(X, {.W = W2, .R = W4, .QW = W1, .MW = W1, .V = V, .M = M});
    xloom::lstm_cell<float> cell(xloom::lstm_weights<float>({.W = W4, .R = W4}));
    xt::xtensor<float, 1> h = {0}, c = {0};
    cell(h, c, xt::xtensor<float, 1>{1});
    return lstm.Y_h(0) + gru.Y_h(0) + rnn.Y_h(0) + attended.Y_h(0) + h(0);
}

float narrow_weights()
{
    xt::xtensor<float, 3> const X = {{{1}}, {{3}}}, W = {{{1}, {2}, {3}, {4}}};
    float sum = 0;
    for (auto const storage : xloom::weight_storages)
        sum += xloom::lstm(X, xloom::lstm_weights<float>({.W = W, .R = W}, {}, storage)).Y_h(0);
    return sum;
}

float numbers()
{
    std::vector<float> x = {-1, 0, 2};
    xloom::activate(xloom::activation::tanh, x, x);
    std::vector<double> z = {-1, 0, 2};
    xloom::activate(xloom::activation::softmax, z, z);
    xt::xtensor<float, 2> const B = {{1, 2, 3}, {4, 5, 6}};
    float C[3];
    xloom::packed_matrix<float> const multiply(B);
    multiply(1, x.data(), 2, C, 3);
    return C[0] + static_cast<float>(z[0]);
}

} // namespace

int main()
{
    std::printf("%g %g %g\n", static_cast<double>(recurrences()), static_cast<double>(narrow_weights()),
        static_cast<double>(numbers()));
}
