#pragma once
// The training: truncated backpropagation through time, on several streams of a text at once.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include <xloom/interop/threads.hpp>

#include "../trained.hpp"
#include "model.hpp"

/// Trains a network for a number of steps. The same calls on the same machine give the same bits on any
/// number of threads: each computes whole parts of the streams, and the number of parts is fixed.
class language_model_training {
public:
    /// A step reads T symbols of each of B streams of each part.
    static constexpr std::size_t parts = 4, B = 4, T = 128, symbols_per_step = parts * B * T;

    language_model_training(model_sizes const& of, std::size_t steps, std::uint64_t seed, std::size_t threads)
        : of_(of),
          steps_(steps),
          weights_(initial_parameters<float>(of, seed)),
          mean_(of),
          square_(of),
          parts_(parts, part(of)),
          policy_(threads)
    {}

    parameters<float> const& weights() const { return weights_; }

    /// Learns the next symbols of all streams of a text, and returns the mean of -log2 p of them before that.
    /// The states continue from step to step, the gradients do not.
    double step(std::span<std::uint8_t const> text)
    {
        policy_.for_each(parts, [&](std::size_t p) {
            part& at = parts_[p];
            at.read(text, p, step_);
            std::swap(at.past, at.state);
            at.model.assign(weights_);
            at.model.forward(weights_, at.symbols.data(), at.past, at.state);
            at.loss = at.model.loss(at.following.data(), 1 / static_cast<float>(symbols_per_step));
            for_each_tensor([](auto& ct) { ct.fill(0); }, at.ct);
            at.model.backward(weights_, at.symbols.data(), at.past, at.ct);
        });
        parameters<float>& gradient = parts_[0].ct;
        for (std::size_t p = 1; p < parts; ++p)
            for_each_tensor([](auto& sum, auto const& ct) { sum += ct; }, gradient, parts_[p].ct);
        float const rate = next_rate();
        for_each_tensor([&](auto& weights, auto const& ct, auto& mean,
                            auto& square) { adam_step(weights, ct, mean, square, step_, rate); },
            weights_, gradient, mean_, square_);
        ++step_;
        return bits_of_parts() / symbols_per_step;
    }

    /// Returns the mean of -log2 p of a text, whose streams begin without a state.
    double bits_of(std::span<std::uint8_t const> text)
    {
        std::size_t const windows = std::max<std::size_t>(1, text.size() / symbols_per_step);
        policy_.for_each(parts, [&](std::size_t p) {
            part& at = parts_[p];
            model_state<float> state(of_, B);
            at.model.assign(weights_);
            at.loss = 0;
            for (std::size_t w = 0; w < windows; ++w) {
                at.read(text, p, w);
                at.model.forward(weights_, at.symbols.data(), state, state);
                at.loss += at.model.loss(at.following.data(), 1);
            }
        });
        return bits_of_parts() / static_cast<double>(windows * symbols_per_step);
    }

private:
    struct part {
        language_model<float> model;
        model_state<float> past, state;
        parameters<float> ct;
        std::vector<std::uint8_t> symbols, following; ///< [B, T]
        double loss = 0;

        explicit part(model_sizes const& of)
            : model(of, B, T), past(of, B), state(past), ct(of), symbols(B * T), following(B * T)
        {}

        /// Reads a window of the streams of a part. All streams begin at equal distances in the text, and
        /// continue at its beginning after its end.
        void read(std::span<std::uint8_t const> text, std::size_t number, std::size_t window)
        {
            for (std::size_t b = 0; b < B; ++b) {
                std::size_t const first = (number * B + b) * text.size() / (parts * B) + window * T;
                for (std::size_t t = 0; t < T; ++t) {
                    symbols[b * T + t] = text[(first + t) % text.size()];
                    following[b * T + t] = text[(first + t + 1) % text.size()];
                }
            }
        }
    };

    /// The rate of Adam's method: it rises in the first hundred steps, and falls to 0 at the last.
    float next_rate() const
    {
        float const step = static_cast<float>(step_);
        return 0.006f * std::min((step + 1) / 100, 1 - step / static_cast<float>(steps_));
    }

    double bits_of_parts() const
    {
        double sum = 0;
        for (part const& each : parts_)
            sum += each.loss;
        return sum / std::numbers::ln2;
    }

    model_sizes of_;
    std::size_t steps_, step_ = 0;
    parameters<float> weights_, mean_, square_;
    std::vector<part> parts_;
    xloom::thread_policy policy_;
};
