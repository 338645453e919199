#pragma once
// Which of the parameters are the weights of which network.

#include <xloom/recurrent/attn_lstm.hpp>
#include <xloom/recurrent/lstm.hpp>

#include "parameters.hpp"

namespace g2p {

/// The encoder reads a word in both directions; its operands are [N, S, ...].
inline constexpr xloom::lstm_options encoder_options()
{
    return {.direction = xloom::direction::bidirectional, .layout = 1};
}

/// Returns the encoder's weights.
template <class Item>
xloom::lstm_constants<Item> encoder_constants(parameters<Item> const& p)
{
    return {.W = p.encoder_W, .R = p.encoder_R, .B = p.encoder_B};
}

/// Returns the decoder's weights.
template <class Item>
xloom::attn_lstm_constants<Item> decoder_constants(parameters<Item> const& p)
{
    return {.W = p.decoder_W,
        .R = p.decoder_R,
        .B = p.decoder_B,
        .QW = p.decoder_QW,
        .MW = p.decoder_MW,
        .V = p.decoder_V,
        .AW = p.decoder_AW};
}

} // namespace g2p
