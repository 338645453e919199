#pragma once
// LSTM for tests that are written once for all recurrent operators.

#include <xloom/recurrent/lstm.hpp>

#include "recurrent_calls.hpp"

struct lstm_names {
    static constexpr auto name = "lstm";
    static constexpr auto default_activations = textbook::lstm_activations;

    template <class T>
    using operands = textbook::lstm_operands<T>;
    template <class T>
    using constants = xloom::lstm_constants<T>;
    template <class T>
    using start = xloom::lstm_start<T>;
    template <class T>
    using inputs = xloom::lstm_inputs<T>;
    template <class T>
    using outputs = xloom::lstm_outputs<T>;
    template <class T>
    using weights = xloom::lstm_weights<T>;
    using attributes = xloom::lstm_options;

    template <class T>
    static operands<T> draw(std::mt19937& random, recurrent_sizes const& sizes, unsigned which = with_all,
        random_ranges const& ranges = {})
    {
        return random_lstm<T>(random, sizes, which, ranges);
    }

    /// Sets the attribute that no other operator has.
    static void set_own(textbook::recurrent_options& options, bool own) { options.input_forget = own; }

    static constexpr auto in_textbook = [](auto const&... of) { return textbook::lstm(of...); };
    static constexpr auto run = [](auto const&... of) { return xloom::lstm(of...); };
    static constexpr auto run_into = [](auto&&... of) { xloom::lstm_into(of...); };
};

using lstm_family = recurrent_family<lstm_names>;
template <class T>
using lstm_tensors = lstm_family::tensors<T>;
