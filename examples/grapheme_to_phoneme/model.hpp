#pragma once
// A bidirectional LSTM reads the letters of a word; an LSTM with attention to them says its phonemes.
//
//     memory, h, c = lstm(letters[word])                          # bidirectional; both last states
//     states = attn_lstm(phonemes[symbols before], h, c, memory)  # where the attention looks, is learnt
//     p = softmax(states output_W + output_B)

#include <optional>

#include <xloom/gradients/attn_lstm_vjp.hpp>
#include <xloom/gradients/gather_nd_vjp.hpp>
#include <xloom/gradients/lstm_vjp.hpp>
#include <xloom/indexing/gather_nd.hpp>

#include "batches.hpp"
#include "buffer.hpp"
#include "cross_entropy.hpp"
#include "networks.hpp"
#include "parameters.hpp"

namespace g2p {

/// The loss of a batch by the parameters, and its gradient. Holds the memory of its calls, so that they
/// allocate nothing for a batch that is no larger than an earlier one.
template <class Item, class Policy>
class model {
public:
    explicit model(Policy policy) : policy_(std::move(policy)) {}

    /// Returns the mean of -log p over all symbols of the batch, each known those before it, and writes its
    /// derivatives.
    double gradient(parameters<Item> const& p, batch const& words, parameters<Item>& ct)
    {
        double const loss = forward(p, words);
        backward(p, words, ct);
        return loss;
    }

    /// Returns the mean of -log p over all symbols of the batch.
    double loss(parameters<Item> const& p, batch const& words) { return forward(p, words); }

private:
    /// Tensors of a batch, in shared memory: E is the width of the encoder's two directions.
    struct shapes {
        std::size_t N, S, T, I, E;

        shapes(parameters<Item> const& p, batch const& words)
            : N(words.size()),
              S(words.letters.shape()[1]),
              T(words.targets.shape()[0]),
              I(p.letters.shape()[1]),
              E(p.decoder_R.shape()[2])
        {}
        std::array<std::size_t, 3> spelling() const { return {N, S, I}; }
        std::array<std::size_t, 4> encoded() const { return {N, S, 2, E / 2}; }
        std::array<std::size_t, 3> memory() const { return {N, S, E}; }
        std::array<std::size_t, 3> encoder_state() const { return {N, 2, E / 2}; }
        std::array<std::size_t, 3> decoder_state() const { return {1, N, E}; }
        std::array<std::size_t, 3> sounds() const { return {T, N, I}; }
        std::array<std::size_t, 4> states() const { return {T, 1, N, E}; }
    };

    /// Packs weights for both passes, in the memory of the last call.
    template <class Weights, class Constants, class Options>
    static void pack(std::optional<Weights>& to, Constants const& constants, Options const& options)
    {
        if (to)
            to->assign(constants, options);
        else
            to.emplace(constants, options, xloom::for_training);
    }

    double forward(parameters<Item> const& p, batch const& words)
    {
        shapes const of(p, words);
        auto spelling = spelling_.as(of.spelling());
        xloom::gather_nd_into(p.letters, words.letters, spelling, {}, policy_);
        {
            auto Y = memory_.as(of.encoded());
            auto Y_h = h_.as(of.encoder_state()), Y_c = c_.as(of.encoder_state());
            pack(encoder_weights_, encoder_constants(p), encoder_options());
            xloom::lstm_forward_into(spelling, *encoder_weights_, {.sequence_lens = words.letter_counts},
                {.Y = Y, .Y_h = Y_h, .Y_c = Y_c}, encoder_residuals_, encoder_workspace_, policy_);
        }
        // The two directions, concatenated, are a row of the memory, and the decoder's first state.
        auto memory = memory_.as(of.memory());
        auto h = h_.as(of.decoder_state()), c = c_.as(of.decoder_state());
        auto sounds = sounds_.as(of.sounds());
        auto Y = states_.as(of.states());
        xloom::gather_nd_into(p.phonemes, words.inputs, sounds, {}, policy_);
        pack(decoder_weights_, decoder_constants(p), xloom::attn_lstm_options());
        xloom::attn_lstm_forward_into(sounds, *decoder_weights_,
            {.sequence_lens = words.symbol_counts,
                .initial_h = h,
                .initial_c = c,
                .M = memory,
                .memory_seq_lens = words.letter_counts},
            {.Y = Y}, decoder_residuals_, decoder_workspace_, policy_);
        Item const scale = 1 / static_cast<Item>(words.symbols());
        return output_(Y.data(), words.targets, words.symbol_counts, p, scale, policy_) *
               static_cast<double>(scale);
    }

    void backward(parameters<Item> const& p, batch const& words, parameters<Item>& ct)
    {
        ct.for_each([](auto const&, auto& gradient) { gradient.fill(0); }); // they are added to
        shapes const of(p, words);
        auto Y = states_.as(of.states()), ct_Y = ct_states_.as(of.states());
        output_.gradient(Y.data(), p, ct_Y.data(), ct, policy_);

        auto const sounds = sounds_.as(of.sounds());
        auto const memory = memory_.as(of.memory());
        auto ct_sounds = ct_sounds_.zeros(of.sounds());
        {
            auto ct_memory = ct_memory_.zeros(of.memory());
            auto ct_h = ct_h_.zeros(of.decoder_state()), ct_c = ct_c_.zeros(of.decoder_state());
            xloom::attn_lstm_vjp_into(sounds, memory, *decoder_weights_, decoder_residuals_, {.Y = ct_Y},
                {.X = ct_sounds,
                    .W = ct.decoder_W,
                    .R = ct.decoder_R,
                    .B = ct.decoder_B,
                    .initial_h = ct_h,
                    .initial_c = ct_c,
                    .QW = ct.decoder_QW,
                    .MW = ct.decoder_MW,
                    .V = ct.decoder_V,
                    .M = ct_memory,
                    .AW = ct.decoder_AW},
                decoder_workspace_, policy_);
        }
        ct.phonemes.fill(Item{}); // which gradients are added to
        xloom::gather_nd_vjp_into(words.inputs, ct_sounds, ct.phonemes, {}, policy_);

        auto const spelling = spelling_.as(of.spelling());
        auto const ct_encoded = ct_memory_.as(of.encoded());
        auto const ct_h = ct_h_.as(of.encoder_state()), ct_c = ct_c_.as(of.encoder_state());
        auto ct_spelling = ct_spelling_.zeros(of.spelling());
        xloom::lstm_vjp_into(spelling, *encoder_weights_, encoder_residuals_,
            {.Y = ct_encoded, .Y_h = ct_h, .Y_c = ct_c},
            {.X = ct_spelling, .W = ct.encoder_W, .R = ct.encoder_R, .B = ct.encoder_B}, encoder_workspace_,
            policy_);
        ct.letters.fill(Item{});
        xloom::gather_nd_vjp_into(words.letters, ct_spelling, ct.letters, {}, policy_);
    }

    Policy policy_;
    buffer<Item> spelling_, memory_, h_, c_, sounds_, states_;
    buffer<Item> ct_spelling_, ct_memory_, ct_h_, ct_c_, ct_sounds_, ct_states_;
    cross_entropy<Item> output_;
    std::optional<xloom::lstm_weights<Item>> encoder_weights_;
    std::optional<xloom::attn_lstm_weights<Item>> decoder_weights_;
    xloom::lstm_residuals<Item> encoder_residuals_;
    xloom::recurrent_workspace<Item> encoder_workspace_;
    xloom::attn_lstm_residuals<Item> decoder_residuals_;
    xloom::attention_workspace<Item> decoder_workspace_;
};

} // namespace g2p
