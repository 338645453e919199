#pragma once
// LSTM for tests that are written once for all recurrent operators.

#include <xloom/recurrent/lstm.hpp>

#include "recurrent_calls.hpp"

template <class T>
struct lstm_tensors : common_tensors<T> {
    placed_tensor<T> initial_c, P;

    explicit lstm_tensors(textbook::lstm_operands<T> const& from, placement how = placement::row_major)
        : common_tensors<T>(from, how), initial_c(place<T>(from.initial_c, how)), P(place<T>(from.P, how))
    {}

    xloom::lstm_constants<T> constants() const
    {
        return {ref_of(this->W), ref_of(this->R), ref_of(this->B), ref_of(P)};
    }
    xloom::lstm_start<T> start() const
    {
        return {this->lengths(), ref_of(this->initial_h), ref_of(initial_c)};
    }
    xloom::lstm_inputs<T> inputs() const
    {
        return {ref_of(this->W), ref_of(this->R), ref_of(this->B), this->lengths(), ref_of(this->initial_h),
            ref_of(initial_c), ref_of(P)};
    }
};

struct lstm_family {
    static constexpr std::size_t activations = 3;
    static constexpr auto name = "lstm";

    template <class T>
    using operands = textbook::lstm_operands<T>;
    template <class T>
    using tensors = lstm_tensors<T>;
    template <class T>
    using weights = xloom::lstm_weights<T>;
    using options = textbook::lstm_options;

    template <class T>
    static operands<T> draw(std::mt19937& random, recurrent_sizes const& sizes, unsigned which = with_all,
        random_ranges const& ranges = {})
    {
        return random_lstm<T>(random, sizes, which, ranges);
    }

    static xloom::lstm_options options_of(options const& from)
    {
        auto to = common_options<xloom::lstm_options>(from);
        to.input_forget = from.input_forget;
        return to;
    }

    template <class T>
    static recurrent_arrays<double> textbook(operands<T> const& in, options const& how)
    {
        return arrays_of(textbook::lstm(in, how));
    }

    template <class T>
    static recurrent_arrays<T> call(
        operands<T> const& in, options const& how, placement where = placement::row_major)
    {
        tensors<T> const given(in, where);
        auto const [Y, Y_h, Y_c] = xloom::lstm(given.X, given.inputs(), options_of(how));
        return {to_array(Y), to_array(Y_h), to_array(Y_c)};
    }

    template <class T, class Policy = xloom::serial_policy>
    static recurrent_arrays<T> call(
        operands<T> const& in, weights<T> const& packed, Policy const& policy = {})
    {
        tensors<T> const given(in);
        auto const [Y, Y_h, Y_c] = xloom::lstm(given.X, packed, given.start(), policy);
        return {to_array(Y), to_array(Y_h), to_array(Y_c)};
    }

    template <class T>
    static void call_into(tensors<T> const& in, weights<T> const& packed, output_tensors<T>& out,
        xloom::recurrent_workspace<T>& workspace)
    {
        xloom::lstm_into(
            in.X, packed, in.start(), {ref_of(out.Y), ref_of(out.Y_h), ref_of(out.Y_c)}, workspace);
    }

    /// From the states h and c to the next ones, in place.
    template <class T>
    static void stream(tensors<T> const& in, weights<T> const& packed, output_tensors<T>& states,
        xloom::recurrent_workspace<T>& workspace)
    {
        xloom::lstm_into(in.X, packed, {in.lengths(), states.Y_h, states.Y_c},
            {states.Y, states.Y_h, states.Y_c}, workspace);
    }

    template <class T>
    static xloom::recurrent_workspace<T> workspace(weights<T> const& packed, xloom::batch_sizes const& batch)
    {
        return xloom::recurrent_workspace(packed, batch);
    }
};
