#pragma once
// Random operands for LSTM, GRU, RNN and AttnLSTM: the same ones for the same state of the generator.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "textbook_attn_lstm.hpp"
#include "textbook_cells.hpp"
#include "uniform_int.hpp"

/// T steps, N batch rows, I input, H hidden, D directions.
struct recurrent_sizes {
    std::size_t T = 1, N = 1, I = 1, H = 1;
    std::size_t D = 1;
};

/// S memory steps, Md memory depth, A attention size, Aw width of the attention with AW.
struct attention_sizes {
    std::size_t S = 1, Md = 1, A = 1, Aw = 1;
};

/// The operands that may be omitted: any sum of these. All are drawn, then some are omitted, so that the
/// others do not depend on it; only the width of W and initial_attention depends on attention and AW.
enum optional_operand : unsigned {
    with_none = 0,
    with_B = 1,
    with_sequence_lens = 2,
    with_initial_h = 4,
    with_initial_c = 8,
    with_P = 16,
    with_attention = 32, ///< QW, MW, V and M; without them the ones below are omitted too
    with_memory_seq_lens = 64,
    with_AW = 128,
    with_initial_attention = 256,
    with_initial_alignment = 512,
    with_all = 1023
};

/// The weights, biases and peepholes are uniform in +-weights; X, M and the initial states in +-inputs.
struct random_ranges {
    double weights = 0.5;
    double inputs = 1;
    std::int32_t shortest = 0; ///< of the lengths
    int layout = 0;            ///< of X, initial_h and initial_c
};

template <class Real>
textbook::array<Real> random_array(
    std::mt19937& random, textbook::dims const& shape, double lowest, double highest)
{
    std::uniform_real_distribution<double> draw(lowest, highest);
    textbook::array<Real> result{shape, {}};
    for (std::size_t i = 0; i < textbook::size_of(shape); ++i)
        result.items.push_back(static_cast<Real>(draw(random)));
    return result;
}

template <class Real>
textbook::array<Real> random_array(std::mt19937& random, textbook::dims const& shape, double bound)
{
    return random_array<Real>(random, shape, -bound, bound);
}

/// N lengths from `shortest` to `longest`, both among them if N is 2 or more.
inline std::vector<std::int32_t> random_lengths(
    std::mt19937& random, std::size_t N, std::size_t longest, std::int32_t shortest = 0)
{
    auto const most = static_cast<std::int32_t>(longest);
    std::int32_t const least = std::min(shortest, most);
    uniform_int<std::int32_t> draw(least, most);
    std::vector<std::int32_t> lengths;
    for (std::size_t n = 0; n < N; ++n)
        lengths.push_back(draw(random));
    if (N >= 2) {
        std::size_t const full = random() % N;
        std::size_t const other = (full + 1 + random() % (N - 1)) % N;
        lengths[full] = most;
        lengths[other] = least;
    }
    return lengths;
}

/// Any of ONNX's twelve, `count` for each direction, with parameters from 0.1 to 1.
inline std::vector<xloom::activation_function> random_activations(
    std::mt19937& random, std::size_t D, std::size_t count)
{
    std::uniform_real_distribution<double> draw(0.1, 1);
    std::vector<xloom::activation_function> functions;
    for (std::size_t i = 0; i < D * count; ++i) {
        auto const kind = static_cast<xloom::activation>(random() % xloom::activation_count);
        double const alpha = draw(random);
        double const beta = draw(random);
        functions.push_back({kind, alpha, beta});
    }
    return functions;
}

template <class Operand>
void keep_if(bool given, Operand& operand)
{
    if (!given)
        operand = {};
}

/// [D, N, H], or with layout 1 [N, D, H].
template <class Real>
textbook::array<Real> random_state(
    std::mt19937& random, recurrent_sizes const& sizes, random_ranges const& ranges)
{
    auto const& [T, N, I, H, D] = sizes;
    return random_array<Real>(
        random, ranges.layout == 1 ? textbook::dims{N, D, H} : textbook::dims{D, N, H}, ranges.inputs);
}

/// The operands that all four operators have; W is [D, gates * H, width].
template <class Real, class Operands>
void draw_common(std::mt19937& random, Operands& operands, recurrent_sizes const& sizes, std::size_t gates,
    std::size_t width, unsigned which, random_ranges const& ranges)
{
    auto const& [T, N, I, H, D] = sizes;
    operands.X = random_array<Real>(
        random, ranges.layout == 1 ? textbook::dims{N, T, I} : textbook::dims{T, N, I}, ranges.inputs);
    operands.W = random_array<Real>(random, {D, gates * H, width}, ranges.weights);
    operands.R = random_array<Real>(random, {D, gates * H, H}, ranges.weights);
    operands.B = random_array<Real>(random, {D, 2 * gates * H}, ranges.weights);
    operands.sequence_lens = random_lengths(random, N, T, ranges.shortest);
    operands.initial_h = random_state<Real>(random, sizes, ranges);
    keep_if(which & with_B, operands.B);
    keep_if(which & with_sequence_lens, operands.sequence_lens);
    keep_if(which & with_initial_h, operands.initial_h);
}

/// What LSTM and AttnLSTM have besides.
template <class Real, class Operands>
void draw_cell(std::mt19937& random, Operands& operands, recurrent_sizes const& sizes, unsigned which,
    random_ranges const& ranges)
{
    operands.initial_c = random_state<Real>(random, sizes, ranges);
    operands.P = random_array<Real>(random, {sizes.D, 3 * sizes.H}, ranges.weights);
    keep_if(which & with_initial_c, operands.initial_c);
    keep_if(which & with_P, operands.P);
}

template <class Real>
textbook::lstm_operands<Real> random_lstm(std::mt19937& random, recurrent_sizes const& sizes,
    unsigned which = with_all, random_ranges const& ranges = {})
{
    textbook::lstm_operands<Real> operands;
    draw_common<Real>(random, operands, sizes, 4, sizes.I, which, ranges);
    draw_cell<Real>(random, operands, sizes, which, ranges);
    return operands;
}

/// Of a GRU with three gates, or of an RNN with one.
template <class Real>
textbook::gru_operands<Real> random_gru(std::mt19937& random, recurrent_sizes const& sizes,
    unsigned which = with_all, random_ranges const& ranges = {}, std::size_t gates = 3)
{
    textbook::gru_operands<Real> operands;
    draw_common<Real>(random, operands, sizes, gates, sizes.I, which, ranges);
    return operands;
}

template <class Real>
textbook::rnn_operands<Real> random_rnn(std::mt19937& random, recurrent_sizes const& sizes,
    unsigned which = with_all, random_ranges const& ranges = {})
{
    return random_gru<Real>(random, sizes, which, ranges, 1);
}

template <class Real>
textbook::attn_lstm_operands<Real> random_attn_lstm(std::mt19937& random, recurrent_sizes const& sizes,
    attention_sizes const& attention, unsigned which = with_all, random_ranges const& ranges = {})
{
    auto const& [T, N, I, H, D] = sizes;
    auto const& [S, Md, A, Aw] = attention;
    bool const attends = which & with_attention;
    std::size_t const C = !attends ? 0 : which & with_AW ? Aw : Md;

    textbook::attn_lstm_operands<Real> operands;
    draw_common<Real>(random, operands, sizes, 4, I + C, which, ranges);
    draw_cell<Real>(random, operands, sizes, which, ranges);
    operands.QW = random_array<Real>(random, {D, H, A}, ranges.weights);
    operands.MW = random_array<Real>(random, {D, Md, A}, ranges.weights);
    operands.V = random_array<Real>(random, {D, A}, ranges.weights);
    operands.M = random_array<Real>(random, {N, S, Md}, ranges.inputs);
    operands.memory_seq_lens = random_lengths(random, N, S, ranges.shortest);
    operands.AW = random_array<Real>(random, {D, H + Md, Aw}, ranges.weights);
    operands.initial_attention = random_array<Real>(random, {D, N, C}, ranges.inputs);
    operands.initial_alignment = random_array<Real>(random, {D, N, S}, 0, 1);
    keep_if(attends, operands.QW);
    keep_if(attends, operands.MW);
    keep_if(attends, operands.V);
    keep_if(attends, operands.M);
    keep_if(attends && which & with_memory_seq_lens, operands.memory_seq_lens);
    keep_if(attends && which & with_AW, operands.AW);
    keep_if(attends && which & with_initial_attention, operands.initial_attention);
    keep_if(attends && which & with_initial_alignment, operands.initial_alignment);
    return operands;
}
