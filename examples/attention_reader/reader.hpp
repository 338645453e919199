#pragma once
// An AttnLSTM with weights made by hand: it reads a text letter by letter and lingers on vowels.
//
// The memory of the text is a row [position, pace, 1] for each letter. The LSTM has one unit, whose cell is the position that it looks at:
//
//     c = c + pace of what the attention found          (gates i, f and o are open, g and h are the identity)
//     scores[m] = 8 * (tanh(2 (m - c) + 1) - tanh(2 (m - c) - 1))     a bump around c: two units of attention
//
// What it finds decides how far it goes on: the attention feeds back.

#include <algorithm>
#include <string>
#include <string_view>

#include <xloom/attn_lstm.hpp>

struct reading {
    std::string letters;              ///< what was looked at, step by step
    xt::xtensor<float, 4> alignments; ///< [T, 1, 1, S]
};

inline float pace_of(char letter) { return std::string_view("aeiou").find(letter) != std::string_view::npos ? 0.4f : 1.0f; }

/// Reads for as long as the text lasts, or `T` steps.
inline reading read_text(std::string const& text, std::size_t T)
{
    std::size_t const S = text.size();
    xt::xtensor<float, 3> M({1, S, 3});
    for (std::size_t m = 0; m < S; ++m) {
        M(0, m, 0) = static_cast<float>(m);
        M(0, m, 1) = pace_of(text[m]);
        M(0, m, 2) = 1;
    }

    // One input, which is not looked at; then the attention: position, pace, 1. The gates are i, o, f, g; only g listens.
    xt::xtensor<float, 3> const W{{{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 1, 0}}};
    xt::xtensor<float, 3> const R{{{0}, {0}, {0}, {0}}};
    xt::xtensor<float, 2> const B{{20, 20, 20, 0, 0, 0, 0, 0}};
    xt::xtensor<float, 3> const QW{{{-2, -2}}};
    xt::xtensor<float, 3> const MW{{{2, 2}, {0, 0}, {1, -1}}};
    xt::xtensor<float, 2> const V{{8, -8}};
    xloom::attn_lstm_weights<float> const weights(
        {.W = W, .R = R, .B = B, .QW = QW, .MW = MW, .V = V}, {.activations = {"Sigmoid", "Affine", "Affine"}, .activation_alpha = {1, 1}});

    xt::xtensor<float, 3> const X = xt::zeros<float>({T, std::size_t{1}, std::size_t{1}});
    reading result{"", xt::zeros<float>({T, std::size_t{1}, std::size_t{1}, S})};
    xt::xtensor<float, 4> position = xt::zeros<float>({T, std::size_t{1}, std::size_t{1}, std::size_t{1}});
    xloom::attn_lstm_workspace<float> workspace;
    xloom::attn_lstm_into(X, weights, {.M = M}, {.Y = position, .alignments = result.alignments}, workspace);

    for (std::size_t t = 0; t < T && position(t, 0, 0, 0) < static_cast<float>(S) - 0.5f; ++t) {
        float const* const weight = &result.alignments(t, 0, 0, 0);
        result.letters += text[static_cast<std::size_t>(std::max_element(weight, weight + S) - weight)];
    }
    return result;
}
