#pragma once
// The way from the textbook's operands and options to a call of attn_lstm, and back.

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include <xloom/recurrent/attn_lstm.hpp>

#include "recurrent_calls.hpp"

template <class T>
struct attn_lstm_tensors : common_tensors<T> {
    placed_tensor<T> initial_c, P, QW, MW, V, M;
    placed_tensor<std::int32_t> memory_seq_lens;
    placed_tensor<T> AW, initial_attention, initial_alignment;

    template <class From>
    explicit attn_lstm_tensors(
        textbook::attn_lstm_operands<From> const& from, placement how = placement::row_major)
        : common_tensors<T>(from, how),
          initial_c(place<T>(from.initial_c, how)),
          P(place<T>(from.P, how)),
          QW(place<T>(from.QW, how)),
          MW(place<T>(from.MW, how)),
          V(place<T>(from.V, how)),
          M(place<T>(from.M, how)),
          memory_seq_lens(place<std::int32_t>(lengths_of(from.memory_seq_lens), how)),
          AW(place<T>(from.AW, how)),
          initial_attention(place<T>(from.initial_attention, how)),
          initial_alignment(place<T>(from.initial_alignment, how))
    {}

    xloom::lengths_ref memory_lengths() const
    {
        return memory_seq_lens.layout.dims.empty() ? xloom::lengths_ref()
                                                   : xloom::lengths_ref(memory_seq_lens);
    }
    xloom::attn_lstm_constants<T> constants() const
    {
        return {ref_of(this->W), ref_of(this->R), ref_of(this->B), ref_of(P), ref_of(QW), ref_of(MW),
            ref_of(V), ref_of(AW)};
    }
    xloom::attn_lstm_start<T> start() const
    {
        return {this->lengths(), ref_of(this->initial_h), ref_of(initial_c), ref_of(M), memory_lengths(),
            ref_of(initial_attention), ref_of(initial_alignment)};
    }
    xloom::attn_lstm_inputs<T> inputs() const
    {
        return {ref_of(this->W), ref_of(this->R), ref_of(this->B), this->lengths(), ref_of(this->initial_h),
            ref_of(initial_c), ref_of(P), ref_of(QW), ref_of(MW), ref_of(V), ref_of(M), memory_lengths(),
            ref_of(AW), ref_of(initial_attention), ref_of(initial_alignment)};
    }
};

/// All outputs of a call; one without a shape is omitted.
template <class T>
struct attn_lstm_arrays {
    textbook::array<T> Y{}, Y_h{}, Y_c{}, alignments{}, Y_attention{}, Y_alignment{};

    std::array<textbook::array<T> const*, 6> each() const
    {
        return {&Y, &Y_h, &Y_c, &alignments, &Y_attention, &Y_alignment};
    }
    std::array<textbook::array<T>*, 6> each()
    {
        return {&Y, &Y_h, &Y_c, &alignments, &Y_attention, &Y_alignment};
    }
};

inline attn_lstm_arrays<double> textbook_attn_lstm(textbook::attn_lstm_results const& from)
{
    return {from.Y, from.Y_h, from.Y_c, from.alignments, from.last_attention, from.last_alignment};
}

template <class T>
attn_lstm_arrays<double> textbook_attn_lstm(
    textbook::attn_lstm_operands<T> const& in, textbook::attn_lstm_options const& options = {})
{
    return textbook_attn_lstm(textbook::attn_lstm(in, options));
}

/// Of the outputs that were wanted.
template <class T>
double difference(attn_lstm_arrays<T> const& found, attn_lstm_arrays<double> const& expected)
{
    double largest = 0;
    for (std::size_t i = 0; i < 6; ++i)
        if (!found.each()[i]->shape.empty())
            largest = std::fmax(largest, difference(*found.each()[i], *expected.each()[i]));
    return largest;
}

template <class T>
bool have_same_bits(attn_lstm_arrays<T> const& a, attn_lstm_arrays<T> const& b)
{
    for (std::size_t i = 0; i < 6; ++i)
        if (!have_same_bits(*a.each()[i], *b.each()[i]))
            return false;
    return true;
}

/// Outputs in memory of the caller's.
template <class T>
struct attn_lstm_places {
    std::array<placed_tensor<T>, 6> tensors;

    attn_lstm_places(
        attn_lstm_arrays<double> const& like, placement how, std::array<bool, 6> const& is_wanted)
    {
        for (std::size_t i = 0; i < 6; ++i)
            if (is_wanted[i])
                tensors[i] = placed_tensor<T>(like.each()[i]->shape, how);
    }

    xloom::attn_lstm_outputs<T> outputs()
    {
        auto& [Y, Y_h, Y_c, alignments, Y_attention, Y_alignment] = tensors;
        return {ref_of(Y), ref_of(Y_h), ref_of(Y_c), ref_of(alignments), ref_of(Y_attention),
            ref_of(Y_alignment)};
    }
    attn_lstm_arrays<T> arrays() const
    {
        attn_lstm_arrays<T> result;
        for (std::size_t i = 0; i < 6; ++i)
            if (!tensors[i].layout.dims.empty())
                *result.each()[i] = to_array(tensors[i]);
        return result;
    }
    bool has_clean_gaps() const
    {
        return std::all_of(tensors.begin(), tensors.end(), [](placed_tensor<T> const& tensor) {
            return tensor.layout.dims.empty() || ::has_clean_gaps(tensor);
        });
    }
};

inline xloom::attn_lstm_options options_of(textbook::attn_lstm_options const& from)
{
    auto to = common_options<xloom::attn_lstm_options>(from);
    to.input_forget = from.input_forget;
    return to;
}

/// The shapes of all outputs.
template <class T>
attn_lstm_arrays<double> shapes_of_outputs(textbook::attn_lstm_operands<T> const& in)
{
    std::size_t const T_ = in.X.shape[0], N = in.X.shape[1], D = in.R.shape[0], H = in.R.shape[2];
    bool const attends = !in.M.shape.empty();
    std::size_t const S = attends ? in.M.shape[1] : 0, C = in.W.shape[2] - in.X.shape[2];
    return {{{T_, D, N, H}, {}}, {{D, N, H}, {}}, {{D, N, H}, {}}, {{T_, D, N, S}, {}}, {{D, N, C}, {}},
        {{D, N, S}, {}}};
}

inline constexpr std::array<bool, 6> all_outputs{true, true, true, true, true, true};

/// All six outputs, from packed weights.
template <class T, class Score = xloom::bahdanau, class Policy = xloom::serial_policy>
attn_lstm_arrays<T> call_attn_lstm(attn_lstm_tensors<T> const& in, xloom::attn_lstm_weights<T> const& weights,
    attn_lstm_arrays<double> const& like, Score const& score = {}, Policy const& policy = {},
    std::array<bool, 6> const& is_wanted = all_outputs, placement how = placement::row_major)
{
    attn_lstm_places<T> places(like, how, is_wanted);
    xloom::attention_workspace<T> workspace;
    xloom::attn_lstm_into(score, in.X, weights, in.start(), places.outputs(), workspace, policy);
    return places.arrays();
}

template <class T, class Score = xloom::bahdanau, class Policy = xloom::serial_policy>
attn_lstm_arrays<T> call_attn_lstm(textbook::attn_lstm_operands<T> const& in,
    textbook::attn_lstm_options const& options = {}, Score const& score = {}, Policy const& policy = {})
{
    attn_lstm_tensors<T> const tensors(in);
    xloom::attn_lstm_weights<T> const weights(tensors.constants(), options_of(options));
    return call_attn_lstm(tensors, weights, shapes_of_outputs(in), score, policy);
}

/// AttnLSTM for tests that are written once for all recurrent operators.
struct attn_lstm_family {
    static constexpr std::size_t activations = 3;
    static constexpr auto default_activations = textbook::lstm_activations;
    using options = textbook::attn_lstm_options;

    template <class T>
    static auto draw(std::mt19937& random, recurrent_sizes const& sizes, unsigned which)
    {
        return random_attn_lstm<T>(random, sizes, {5, 4, 3, 6}, which | with_attention);
    }
    template <class T>
    static auto textbook(textbook::attn_lstm_operands<T> const& in, options const& how)
    {
        return textbook_attn_lstm(in, how);
    }
    template <class T>
    static auto call(textbook::attn_lstm_operands<T> const& in, options const& how)
    {
        return call_attn_lstm<T>(in, how);
    }
};
