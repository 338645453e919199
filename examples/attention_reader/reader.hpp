#pragma once
// An AttnLSTM with weights made by hand: it reads a text letter by letter and lingers on vowels.
//
// The memory of the text is a row [position, pace, 1] for each letter. The LSTM has one unit, whose cell is
// the attended position:
//
//     c = c + pace of what the attention found          (gates i, f and o are open, g and h are the identity)
//     scores[m] = 8 * (tanh(2 (m - c) + 1) - tanh(2 (m - c) - 1))     a bump around c: two units of attention
//
// The attended pace determines the next position: the attention feeds back.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <xloom/recurrent/attn_lstm_cell.hpp>

struct reading {
    std::string letters;              ///< what was looked at, step by step
    xt::xtensor<float, 4> alignments; ///< [T, 1, 1, S]
};

inline float pace_of(char letter)
{
    return std::string_view("aeiou").find(letter) != std::string_view::npos ? 0.4f : 1.0f;
}

/// Returns a row for each letter: its position, its pace, 1.
inline xt::xtensor<float, 3> memory_of(std::string const& text)
{
    xt::xtensor<float, 3> M({1, text.size(), 3});
    for (std::size_t m = 0; m < text.size(); ++m) {
        M(0, m, 0) = static_cast<float>(m);
        M(0, m, 1) = pace_of(text[m]);
        M(0, m, 2) = 1;
    }
    return M;
}

inline xloom::attn_lstm_weights<float> reader_weights()
{
    // One input, which is ignored; then the attention: position, pace, 1. The gates are i, o, f, g; only g
    // depends on the attention.
    xt::xtensor<float, 3> const W{{{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 1, 0}}};
    xt::xtensor<float, 3> const R{{{0}, {0}, {0}, {0}}};
    xt::xtensor<float, 2> const B{{20, 20, 20, 0, 0, 0, 0, 0}};
    xt::xtensor<float, 3> const QW{{{-2, -2}}};
    xt::xtensor<float, 3> const MW{{{2, 2}, {0, 0}, {1, -1}}};
    xt::xtensor<float, 2> const V{{8, -8}};
    return xloom::attn_lstm_weights<float>({.W = W, .R = R, .B = B, .QW = QW, .MW = MW, .V = V},
        {.activations = {"Sigmoid", "Affine", "Affine"}, .activation_alpha = {1, 1}});
}

inline bool is_over(float position, std::string const& text)
{
    return position >= static_cast<float>(text.size()) - 0.5f;
}

inline char letter_at(std::string const& text, float const* alignment)
{
    return text[static_cast<std::size_t>(std::max_element(alignment, alignment + text.size()) - alignment)];
}

/// Reads `T` steps at once; only the steps within the text count.
inline reading read_text(std::string const& text, std::size_t T)
{
    xt::xtensor<float, 3> const X = xt::zeros<float>({T, std::size_t{1}, std::size_t{1}}),
                                M = memory_of(text);
    reading result{"", xt::zeros<float>({T, std::size_t{1}, std::size_t{1}, text.size()})};
    xt::xtensor<float, 4> position = xt::zeros<float>({T, std::size_t{1}, std::size_t{1}, std::size_t{1}});
    xloom::attention_workspace<float> workspace;
    xloom::attn_lstm_into(
        X, reader_weights(), {.M = M}, {.Y = position, .alignments = result.alignments}, workspace);
    for (std::size_t t = 0; t < T && !is_over(position(t, 0, 0, 0), text); ++t)
        result.letters += letter_at(text, &result.alignments(t, 0, 0, 0));
    return result;
}

/// Reads step by step and stops at the end of the text, after at most `T` steps; bitwise equal to read_text.
inline reading stream_text(std::string const& text, std::size_t T)
{
    xt::xtensor<float, 3> const M = memory_of(text);
    xloom::attn_lstm_cell<float> step(reader_weights(), M);
    reading result{"", xt::zeros<float>({T, std::size_t{1}, std::size_t{1}, text.size()})};
    std::array<float, 1> h{}, c{}, x{}, position{};
    std::array<float, 3> attention{};
    std::vector<float> alignment(text.size());
    for (std::size_t t = 0; t < T; ++t) {
        step(h, c, attention, alignment, x, position);
        if (is_over(position[0], text))
            break;
        result.letters += letter_at(text, alignment.data());
        std::copy(alignment.begin(), alignment.end(), &result.alignments(t, 0, 0, 0));
    }
    return result;
}
