// Trains an LSTM to repeat a sequence of bits four steps later, which it must remember them for: forward
// passes that keep residuals, backward passes, and steps of the Adam method. Then the LSTM repeats bits that
// it has not seen. What stderr gets, a round and its share of wrong bits, is for delayed_echo.gnuplot.

#include <cstdio>
#include <random>

#include <xtensor/xbuilder.hpp>

#include <xloom/gradients/lstm_vjp.hpp>

#include "../trained.hpp"

namespace {

using xt::xtensor;

constexpr std::size_t T = 24, N = 32, H = 24, delay = 4, rounds = 600;
constexpr float rate = 0.01f;

} // namespace

int main()
{
    std::mt19937 random(1);
    trained<3> W({1, 4 * H, 1}, 0.3f, random), R({1, 4 * H, H}, 0.2f, random);
    trained<2> B({1, 8 * H}, 0.1f, random);
    trained<1> readout({H}, 0.3f, random);

    xtensor<float, 3> X = xt::zeros<float>({T, N, std::size_t{1}});
    xtensor<float, 4> Y = xt::zeros<float>({T, std::size_t{1}, N, H}), ct_Y = Y;
    xloom::lstm_residuals<float> residuals;
    xloom::recurrent_workspace<float> workspace;
    std::size_t wrong = 0;
    xloom::lstm_weights<float> weights(
        {.W = W.weights, .R = R.weights, .B = B.weights}, {}, xloom::for_training);
    for (std::size_t round = 0; round < rounds; ++round) {
        for (float& bit : X)
            bit = random() % 2 == 0 ? -1.0f : 1.0f;
        weights.assign({.W = W.weights, .R = R.weights, .B = B.weights});
        xloom::lstm_forward_into(X, weights, {}, {.Y = Y}, residuals, workspace);

        // The loss is the mean of (readout * h - bit)^2.
        ct_Y.fill(0);
        wrong = 0;
        for (std::size_t t = delay; t < T; ++t)
            for (std::size_t n = 0; n < N; ++n) {
                float answer = 0;
                for (std::size_t j = 0; j < H; ++j)
                    answer += readout.weights(j) * Y(t, 0, n, j);
                wrong += (answer > 0) != (X(t - delay, n, 0) > 0);
                float const ct = 2 * (answer - X(t - delay, n, 0)) / float((T - delay) * N);
                for (std::size_t j = 0; j < H; ++j) {
                    ct_Y(t, 0, n, j) = ct * readout.weights(j);
                    readout.gradient(j) += ct * Y(t, 0, n, j);
                }
            }
        if (round == 0)
            std::printf("untrained: %s\n", wrong * 3 > (T - delay) * N ? "guesses" : "knows");

        xloom::lstm_vjp_into(X, weights, residuals, {.Y = ct_Y},
            {.W = W.gradient, .R = R.gradient, .B = B.gradient}, workspace);
        W.step(round, rate);
        R.step(round, rate);
        B.step(round, rate);
        readout.step(round, rate);
        if (round % 10 == 0)
            std::fprintf(stderr, "%zu %.4f\n", round, double(wrong) / double((T - delay) * N));
    }
    std::printf("trained: %zu of %zu bits are wrong\n", wrong, (T - delay) * N);
}
