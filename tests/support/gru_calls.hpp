#pragma once
// GRU for tests that are written once for all recurrent operators.

#include <xloom/recurrent/gru.hpp>

#include "recurrent_calls.hpp"

struct gru_names {
    static constexpr auto name = "gru";
    static constexpr auto default_activations = textbook::gru_activations;

    template <class T>
    using operands = textbook::gru_operands<T>;
    template <class T>
    using constants = xloom::gru_constants<T>;
    template <class T>
    using start = xloom::gru_start<T>;
    template <class T>
    using inputs = xloom::gru_inputs<T>;
    template <class T>
    using outputs = xloom::gru_outputs<T>;
    template <class T>
    using weights = xloom::gru_weights<T>;
    using attributes = xloom::gru_options;

    template <class T>
    static operands<T> draw(std::mt19937& random, recurrent_sizes const& sizes, unsigned which = with_all,
        random_ranges const& ranges = {})
    {
        return random_gru<T>(random, sizes, which, ranges);
    }

    /// Sets the attribute that no other operator has.
    static void set_own(textbook::recurrent_options& options, bool own) { options.linear_before_reset = own; }

    static constexpr auto in_textbook = [](auto const&... of) { return textbook::gru(of...); };
    static constexpr auto run = [](auto const&... of) { return xloom::gru(of...); };
    static constexpr auto run_into = [](auto&&... of) { xloom::gru_into(of...); };
};

using gru_family = recurrent_family<gru_names>;
template <class T>
using gru_tensors = gru_family::tensors<T>;
