#pragma once
// The tensors that are learnt.

#include <array>
#include <cmath>
#include <cstddef>

#include <xtensor/xbuilder.hpp>
#include <xtensor/xtensor.hpp>

#include "alphabet.hpp"
#include "random.hpp"

namespace g2p {

/// The widths of a model. The decoder's state begins as the encoder's last, so it is twice as wide.
struct model_sizes {
    std::size_t embedding = 32;
    std::size_t encoder = 96;   ///< units of each direction
    std::size_t attention = 64; ///< units that compare a state with the memory
    std::size_t context = 128;  ///< what the attention hands to the next step

    std::size_t decoder() const { return 2 * encoder; }
    bool operator==(model_sizes const&) const = default;
};

/// Named tensors: the weights of a model, or one number for each weight (gradients, Adam's averages).
template <class Item>
struct parameters {
    template <std::size_t Rank>
    using tensor = xt::xtensor<Item, Rank>;

    tensor<2> letters, phonemes; ///< a vector for each symbol
    tensor<3> encoder_W, encoder_R;
    tensor<2> encoder_B;
    tensor<3> decoder_W, decoder_R;
    tensor<2> decoder_B;
    tensor<3> decoder_QW, decoder_MW;
    tensor<2> decoder_V;
    tensor<3> decoder_AW;
    tensor<2> output_W;
    tensor<1> output_B;

    parameters() = default;

    /// Constructs zeros.
    explicit parameters(model_sizes const& sizes)
    {
        auto const [I, E, A, C] = sizes;
        std::size_t const H = sizes.decoder();
        letters = xt::zeros<Item>({g2p::letters.size(), I});
        phonemes = xt::zeros<Item>({symbols, I});
        encoder_W = xt::zeros<Item>({std::size_t{2}, 4 * E, I});
        encoder_R = xt::zeros<Item>({std::size_t{2}, 4 * E, E});
        encoder_B = xt::zeros<Item>({std::size_t{2}, 8 * E});
        decoder_W = xt::zeros<Item>({std::size_t{1}, 4 * H, I + C});
        decoder_R = xt::zeros<Item>({std::size_t{1}, 4 * H, H});
        decoder_B = xt::zeros<Item>({std::size_t{1}, 8 * H});
        decoder_QW = xt::zeros<Item>({std::size_t{1}, H, A});
        decoder_MW = xt::zeros<Item>({std::size_t{1}, 2 * E, A});
        decoder_V = xt::zeros<Item>({std::size_t{1}, A});
        decoder_AW = xt::zeros<Item>({std::size_t{1}, H + 2 * E, C});
        output_W = xt::zeros<Item>({H, symbols});
        output_B = xt::zeros<Item>({symbols});
    }

    model_sizes sizes() const
    {
        return {letters.shape()[1], encoder_R.shape()[2], decoder_V.shape()[1], decoder_AW.shape()[2]};
    }

    /// Calls f(name, tensor, the tensor of each of the others) for each tensor, in a fixed order.
    template <class F, class... Others>
    void for_each(F&& f, Others&... others)
    {
        visit(*this, f, others...);
    }
    template <class F, class... Others>
    void for_each(F&& f, Others&... others) const
    {
        visit(*this, f, others...);
    }

private:
    template <class Self, class F, class... Others>
    static void visit(Self& self, F&& f, Others&... others)
    {
        f("letters", self.letters, others.letters...);
        f("phonemes", self.phonemes, others.phonemes...);
        f("encoder_W", self.encoder_W, others.encoder_W...);
        f("encoder_R", self.encoder_R, others.encoder_R...);
        f("encoder_B", self.encoder_B, others.encoder_B...);
        f("decoder_W", self.decoder_W, others.decoder_W...);
        f("decoder_R", self.decoder_R, others.decoder_R...);
        f("decoder_B", self.decoder_B, others.decoder_B...);
        f("decoder_QW", self.decoder_QW, others.decoder_QW...);
        f("decoder_MW", self.decoder_MW, others.decoder_MW...);
        f("decoder_V", self.decoder_V, others.decoder_V...);
        f("decoder_AW", self.decoder_AW, others.decoder_AW...);
        f("output_W", self.output_W, others.output_W...);
        f("output_B", self.output_B, others.output_B...);
    }
};

/// Returns weights to begin with: uniform within 1 / sqrt(terms of a sum), but forget gates that are open.
template <class Item>
parameters<Item> initial_parameters(model_sizes const& sizes, random_bits& random)
{
    parameters<Item> values(sizes);
    auto const fill = [&](auto& tensor, double limit) {
        for (Item& item : tensor)
            item = static_cast<Item>((2 * uniform(random) - 1) * limit);
    };
    auto const within = [](std::size_t terms) { return 1 / std::sqrt(static_cast<double>(terms)); };
    std::size_t const E = sizes.encoder, H = sizes.decoder();
    fill(values.letters, 1);
    fill(values.phonemes, 1);
    fill(values.encoder_W, within(sizes.embedding));
    fill(values.encoder_R, within(E));
    fill(values.decoder_W, within(sizes.embedding + sizes.context));
    fill(values.decoder_R, within(H));
    fill(values.decoder_QW, within(H));
    fill(values.decoder_MW, within(H));
    fill(values.decoder_V, within(sizes.attention));
    fill(values.decoder_AW, within(2 * H));
    fill(values.output_W, within(H));
    for (std::size_t d = 0; d < 2; ++d)
        for (std::size_t j = 2 * E; j < 3 * E; ++j) // ONNX's gates: i, o, f, c
            values.encoder_B(d, j) = 1;
    for (std::size_t j = 2 * H; j < 3 * H; ++j)
        values.decoder_B(0, j) = 1;
    return values;
}

} // namespace g2p
