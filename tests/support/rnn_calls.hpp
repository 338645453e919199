#pragma once
// RNN for tests that are written once for all recurrent operators.

#include <xloom/recurrent/rnn.hpp>

#include "recurrent_calls.hpp"

struct rnn_names {
    static constexpr auto name = "rnn";
    static constexpr auto default_activations = textbook::rnn_activations;

    template <class T>
    using operands = textbook::rnn_operands<T>;
    template <class T>
    using constants = xloom::rnn_constants<T>;
    template <class T>
    using start = xloom::rnn_start<T>;
    template <class T>
    using inputs = xloom::rnn_inputs<T>;
    template <class T>
    using outputs = xloom::rnn_outputs<T>;
    template <class T>
    using weights = xloom::rnn_weights<T>;
    using attributes = xloom::rnn_options;

    template <class T>
    static operands<T> draw(std::mt19937& random, recurrent_sizes const& sizes, unsigned which = with_all,
        random_ranges const& ranges = {})
    {
        return random_rnn<T>(random, sizes, which, ranges);
    }

    /// There is no attribute that no other operator has.
    static void set_own(textbook::recurrent_options&, bool) {}

    static constexpr auto in_textbook = [](auto const&... of) { return textbook::rnn(of...); };
    static constexpr auto run = [](auto const&... of) { return xloom::rnn(of...); };
    static constexpr auto run_into = [](auto&&... of) { xloom::rnn_into(of...); };
};

using rnn_family = recurrent_family<rnn_names>;
template <class T>
using rnn_tensors = rnn_family::tensors<T>;
