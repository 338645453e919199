#pragma once
// The numbers of the network that are learnt, and those that it carries from symbol to symbol.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "layers.hpp"

struct model_sizes {
    static constexpr std::size_t taps = 4; ///< of the convolution

    std::size_t symbols;
    std::size_t blocks = 3, heads = 4, head = 32; ///< head: of keys and of values

    std::size_t width() const { return heads * head; }
    /// Channels of a block's convolution: queries, keys, values, output gates.
    std::size_t channels() const { return 4 * width(); }
    /// Sums of a block's first product: the channels, a decay and a beta for each head.
    std::size_t sums() const { return channels() + 2 * heads; }
};

/// The parameters of a network, or a number for each of them, such as a gradient. All are zero at first.
template <class Item>
struct parameters {
    struct block {
        tensor<Item, 2> in;     ///< [width, sums]
        tensor<Item, 1> gates;  ///< [2 heads], biases of decays and betas
        tensor<Item, 2> kernel; ///< [channels, taps]
        tensor<Item, 2> out;    ///< [width, width]
    };
    tensor<Item, 2> vectors; ///< [symbols, width]
    std::vector<block> blocks;
    tensor<Item, 2> readout; ///< [width, symbols]

    explicit parameters(model_sizes const& of)
        : vectors(xt::zeros<Item>({of.symbols, of.width()})),
          blocks(of.blocks, block{xt::zeros<Item>({of.width(), of.sums()}), xt::zeros<Item>({2 * of.heads}),
                                xt::zeros<Item>({of.channels(), model_sizes::taps}),
                                xt::zeros<Item>({of.width(), of.width()})}),
          readout(xt::zeros<Item>({of.width(), of.symbols}))
    {}
};

/// Calls f with each tensor of one or several sets of parameters, in a fixed order.
template <class F, class First, class... Others>
void for_each_tensor(F&& f, First& first, Others&... others)
{
    f(first.vectors, others.vectors...);
    for (std::size_t b = 0; b < first.blocks.size(); ++b) {
        f(first.blocks[b].in, others.blocks[b].in...);
        f(first.blocks[b].gates, others.blocks[b].gates...);
        f(first.blocks[b].kernel, others.blocks[b].kernel...);
        f(first.blocks[b].out, others.blocks[b].out...);
    }
    f(first.readout, others.readout...);
}

/// Returns a number in [0, 1), the same with every standard library.
inline double uniform(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

/// Returns parameters to begin with: random ones, but heads that forget after about 8 to 150 symbols.
template <class Item>
parameters<Item> initial_parameters(model_sizes const& of, std::uint64_t seed)
{
    std::mt19937_64 random(seed);
    parameters<Item> made(of);
    auto const fill = [&](auto& matrix, double limit) {
        for (Item& item : matrix)
            item = static_cast<Item>((2 * uniform(random) - 1) * limit);
    };
    double const limit = 1 / std::sqrt(static_cast<double>(of.width()));
    fill(made.vectors, 1);
    for (auto& block : made.blocks) {
        fill(block.in, limit);
        fill(block.kernel, 0.5);
        fill(block.out, limit);
        for (std::size_t h = 0; h < of.heads; ++h)
            block.gates(h) = static_cast<Item>(2 + h % 4);
    }
    fill(made.readout, limit);
    return made;
}

/// What the network knows of the symbols that it has read.
template <class Item>
struct model_state {
    struct block {
        tensor<Item, 4> attention; ///< [B, heads, head, head]
        tensor<Item, 3> inputs;    ///< [B, channels, taps - 1], of the convolution
    };
    std::vector<block> blocks;

    /// The state of B sequences that have not begun.
    model_state(model_sizes const& of, std::size_t B)
        : blocks(of.blocks, block{xt::zeros<Item>({B, of.heads, of.head, of.head}),
                                xt::zeros<Item>({B, of.channels(), model_sizes::taps - 1})})
    {}

    std::size_t bytes() const
    {
        std::size_t items = 0;
        for (block const& each : blocks)
            items += each.attention.size() + each.inputs.size();
        return items * sizeof(Item);
    }
};
