#pragma once
// A network that predicts the next symbol of a text.
//
//     x = vectors[symbol]
//     for each block: x = block(x)
//     p = softmax(normalise(x) @ readout)

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "block.hpp"

/// Turns logits into probabilities.
template <class Item>
void softmax(Item* row, std::size_t size)
{
    Item const largest = *std::max_element(row, row + size);
    Item sum = 0;
    for (std::size_t s = 0; s < size; ++s)
        sum += row[s] = std::exp(row[s] - largest);
    for (std::size_t s = 0; s < size; ++s)
        row[s] /= sum;
}

/// Returns the symbol s for which a number from 0 to 1 is in the s-th of intervals, as long as the
/// probabilities, one after the other.
inline std::uint8_t symbol_at(double number, std::span<float const> probabilities)
{
    std::size_t s = 0;
    while (s + 1 < probabilities.size() && (number -= static_cast<double>(probabilities[s])) >= 0)
        ++s;
    return static_cast<std::uint8_t>(s);
}

/// The network for B sequences of T symbols at a time. Holds the memory of its calls, which allocate nothing
/// after the first.
template <class Item>
class language_model {
public:
    language_model(model_sizes const& of, std::size_t B, std::size_t T)
        : D_(of.width()),
          symbols_(of.symbols),
          rows_(B * T),
          blocks_(of.blocks, delta_block<Item>(of, B, T)),
          x_(xt::zeros<Item>({rows_, D_})),
          ct_x_(x_),
          scales_(xt::zeros<Item>({rows_})),
          logits_(xt::zeros<Item>({rows_, symbols_}))
    {}

    /// Packs the matrices.
    void assign(parameters<Item> const& weights)
    {
        for (std::size_t b = 0; b < blocks_.size(); ++b)
            blocks_[b].assign(weights.blocks[b]);
        readout_.assign(weights.readout);
    }

    /// Reads symbols [B, T] after a past state, and writes the present state, in place if it is the same.
    /// Returns the logits of what follows each symbol, [B T, symbols].
    tensor<Item, 2>& forward(parameters<Item> const& weights, std::uint8_t const* symbols,
        model_state<Item> const& past, model_state<Item>& present)
    {
        for (std::size_t n = 0; n < rows_; ++n)
            std::copy_n(&weights.vectors(symbols[n], 0), D_, &x_(n, 0));
        for (std::size_t b = 0; b < blocks_.size(); ++b)
            blocks_[b].forward(weights.blocks[b], past.blocks[b], present.blocks[b], x_);
        normalise_rows(x_, D_, std::sqrt(Item(D_)), scales_);
        readout_(rows_, x_.data(), logits_.data());
        return logits_;
    }

    /// Returns the sum of -log p of the symbols that follow those of the last call of forward. Turns the
    /// logits into its derivatives, times `scale`.
    double loss(std::uint8_t const* following, Item scale)
    {
        double loss = 0;
        for (std::size_t n = 0; n < rows_; ++n) {
            Item* const row = &logits_(n, 0);
            softmax(row, symbols_);
            loss -= std::log(static_cast<double>(row[following[n]]));
            row[following[n]] -= 1;
            for (std::size_t s = 0; s < symbols_; ++s)
                row[s] *= scale;
        }
        return loss;
    }

    /// Adds the derivatives of the last call of loss to `ct`; the other arguments are those of forward. The
    /// past state is a constant.
    void backward(parameters<Item> const& weights, std::uint8_t const* symbols, model_state<Item> const& past,
        parameters<Item>& ct)
    {
        readout_.vjp(rows_, x_.data(), logits_.data(), ct_x_.data(), ct.readout);
        normalise_rows_vjp(x_, D_, std::sqrt(Item(D_)), scales_, ct_x_);
        for (std::size_t b = blocks_.size(); b-- > 0;)
            blocks_[b].backward(weights.blocks[b], past.blocks[b], ct_x_, ct.blocks[b]);
        for (std::size_t n = 0; n < rows_; ++n)
            for (std::size_t i = 0; i < D_; ++i)
                ct.vectors(symbols[n], i) += ct_x_(n, i);
    }

private:
    std::size_t D_, symbols_, rows_;
    std::vector<delta_block<Item>> blocks_;
    product<Item> readout_;
    tensor<Item, 2> x_, ct_x_;
    tensor<Item, 1> scales_;
    tensor<Item, 2> logits_;
};
