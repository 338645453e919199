#pragma once
// The training: plucked strings, what the circuit makes of them, and truncated backpropagation through time.
//
// Source    Wright, Damskägg, Juvela and Välimäki (2020), Real-time guitar amplifier emulation with deep
//           learning.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <xloom/gradients/lstm_vjp.hpp>

#include "../trained.hpp"
#include "amplifier.hpp"
#include "overdrive.hpp"

/// Returns what the circuit makes of a signal of `rate` samples a second.
inline std::vector<float> circuit_output(std::span<float const> dry, double rate)
{
    std::vector<float> wet;
    overdrive circuit(rate);
    for (float const in : dry)
        wet.push_back(static_cast<float>(circuit(in)));
    return wet;
}

/// Returns the energy of wet - expected over that of expected: the error-to-signal ratio.
inline double error_to_signal(std::span<float const> wet, std::span<float const> expected)
{
    double error = 0, signal = 0;
    for (std::size_t t = 0; t < wet.size(); ++t) {
        error += std::pow(double(wet[t]) - double(expected[t]), 2);
        signal += std::pow(double(expected[t]), 2);
    }
    return error / signal;
}

/// Returns `size` samples of a string that is plucked again and again, high or low, loud or soft: noise in a
/// delay line, which is averaged each time around (Karplus and Strong, 1983).
inline std::vector<float> plucked_string(std::size_t size, double rate, std::mt19937& random)
{
    std::uniform_real_distribution<double> uniform;
    std::vector<float> dry;
    while (dry.size() < size) {
        double const pitch = 70 * std::pow(2, 4 * uniform(random)); // Hz
        double const loudness = std::pow(10, -2 * uniform(random));
        std::vector<float> line(static_cast<std::size_t>(rate / pitch));
        for (float& item : line)
            item = static_cast<float>(loudness * (2 * uniform(random) - 1));
        std::size_t const end = std::min(size, dry.size() + static_cast<std::size_t>(rate * uniform(random)));
        for (std::size_t i = 0; dry.size() < end; i = (i + 1) % line.size()) {
            dry.push_back(line[i]);
            line[i] = 0.498f * (line[i] + line[(i + 1) % line.size()]);
        }
    }
    return dry;
}

/// Trains a model of H units on N strings at once, in windows of T samples. The same calls on the same
/// machine give the same bits.
class amplifier_training {
public:
    /// Makes the strings, at `rate` samples a second.
    explicit amplifier_training(double rate)
        : weights_({.W = W_.weights, .R = R_.weights, .B = B_.weights}, {}, xloom::for_training)
    {
        for (std::size_t n = 0; n < N; ++n) {
            auto const string = plucked_string(windows * T, rate, random_),
                       distorted = circuit_output(string, rate);
            for (std::size_t t = 0; t < windows * T; ++t) {
                dry_(t, n) = string[t];
                wet_(t, n) = distorted[t];
            }
        }
    }

    /// Trains for a number of steps, whose rate falls to 0, and prints how far it is.
    void run(std::size_t steps)
    {
        double error = 0;
        for (std::size_t step = 0; step < steps; ++step) {
            error += backpropagate(step % windows * T);
            float const rate = 0.01f * (1 - float(step) / float(steps));
            W_.step(step, rate);
            R_.step(step, rate);
            B_.step(step, rate);
            readout_.step(step, rate);
            if ((step + 1) % 1000 == 0)
                std::printf("step %zu of %zu: error-to-signal ratio %.4f\n", step + 1, steps,
                    std::exchange(error, 0) / 1000);
        }
    }

    /// Returns the model as it is now.
    amplifier_model model() const
    {
        return {xloom::lstm_weights<float>({.W = W_.weights, .R = R_.weights, .B = B_.weights}),
            {readout_.weights.begin(), readout_.weights.end()}};
    }

private:
    static constexpr std::size_t H = 24, N = 16, T = 128, windows = 512;

    /// Computes the gradients of the error-to-signal ratio of the window that begins at sample `first`, and
    /// returns the ratio. The states continue from window to window, the gradients do not.
    double backpropagate(std::size_t first)
    {
        if (first == 0) {
            h_.fill(0);
            c_.fill(0);
        }
        std::copy_n(&dry_(first, 0), T * N, X_.begin()); // time is the first axis of both
        weights_.assign({.W = W_.weights, .R = R_.weights, .B = B_.weights});
        xloom::lstm_forward_into(X_, weights_, {.initial_h = h_, .initial_c = c_},
            {.Y = Y_, .Y_h = h_, .Y_c = c_}, residuals_, workspace_);

        float const* const expected = &wet_(first, 0);
        float const signal = std::inner_product(expected, expected + T * N, expected, 1.0f); // never 0
        float error = 0;
        for (std::size_t t = 0; t < T; ++t)
            for (std::size_t n = 0; n < N; ++n) {
                float difference = X_(t, n, 0) - wet_(first + t, n);
                for (std::size_t j = 0; j < H; ++j)
                    difference += readout_.weights(j) * Y_(t, 0, n, j);
                error += difference * difference;
                float const ct = 2 * difference / signal;
                for (std::size_t j = 0; j < H; ++j) {
                    ct_Y_(t, 0, n, j) = ct * readout_.weights(j);
                    readout_.gradient(j) += ct * Y_(t, 0, n, j);
                }
            }
        xloom::lstm_vjp_into(X_, weights_, residuals_, {.Y = ct_Y_},
            {.W = W_.gradient, .R = R_.gradient, .B = B_.gradient}, workspace_);
        return double(error / signal);
    }

    std::mt19937 random_{1};
    xt::xtensor<float, 2> dry_ = xt::zeros<float>({windows * T, N}), wet_ = dry_;
    trained<3> W_{{1, 4 * H, 1}, 0.2f, random_}, R_{{1, 4 * H, H}, 0.2f, random_};
    trained<2> B_{{1, 8 * H}, 0.2f, random_};
    trained<1> readout_{{H}, 0.2f, random_};
    xloom::lstm_weights<float> weights_;
    xt::xtensor<float, 3> X_ = xt::zeros<float>({T, N, std::size_t{1}}),
                          h_ = xt::zeros<float>({std::size_t{1}, N, H}), c_ = h_;
    xt::xtensor<float, 4> Y_ = xt::zeros<float>({T, std::size_t{1}, N, H}), ct_Y_ = Y_;
    xloom::lstm_residuals<float> residuals_;
    xloom::recurrent_workspace<float> workspace_;
};
