#pragma once
// A trained network that writes, a symbol at a time.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>

#include "model.hpp"

/// Reads and draws symbols. All that it knows of the text is a state, whose size does not depend on how long
/// the text is. Allocates nothing after the first symbol.
class text_writer {
public:
    /// A low temperature prefers what is likely, 0 the most likely symbol; 1 leaves the probabilities as they
    /// are learnt.
    text_writer(
        model_sizes const& of, parameters<float> const& weights, float temperature, std::uint64_t seed)
        : weights_(weights),
          temperature_(std::max(temperature, 1e-3f)),
          random_(seed),
          model_(of, 1, 1),
          state_(of, 1),
          probabilities_(xt::zeros<float>({of.symbols}))
    {
        model_.assign(weights);
    }

    /// Reads a symbol, and learns how likely each one is to follow.
    void read(std::uint8_t symbol)
    {
        auto const& logits = model_.forward(weights_, &symbol, state_, state_);
        for (std::size_t s = 0; s < probabilities_.size(); ++s)
            probabilities_(s) = logits(0, s) / temperature_;
        softmax(probabilities_.data(), probabilities_.size());
    }

    /// Draws one of the symbols that may follow.
    std::uint8_t draw() { return symbol_at(uniform(random_), probabilities_); }

    model_state<float> const& state() const { return state_; }

private:
    parameters<float> const& weights_;
    float temperature_;
    std::mt19937_64 random_;
    language_model<float> model_;
    model_state<float> state_;
    tensor<float, 1> probabilities_;
};
