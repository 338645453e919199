#pragma once
// RNN for tests that are written once for all recurrent operators.

#include <xloom/recurrent/rnn.hpp>

#include "recurrent_calls.hpp"

template <class T>
struct rnn_tensors : common_tensors<T> {
    explicit rnn_tensors(textbook::rnn_operands<T> const& from, placement how = placement::row_major)
        : common_tensors<T>(from, how)
    {}

    xloom::rnn_constants<T> constants() const { return {ref_of(this->W), ref_of(this->R), ref_of(this->B)}; }
    xloom::rnn_start<T> start() const { return {this->lengths(), ref_of(this->initial_h)}; }
    xloom::rnn_inputs<T> inputs() const
    {
        return {ref_of(this->W), ref_of(this->R), ref_of(this->B), this->lengths(), ref_of(this->initial_h)};
    }
};

struct rnn_family {
    static constexpr std::size_t activations = 1;
    static constexpr auto name = "rnn";

    template <class T>
    using operands = textbook::rnn_operands<T>;
    template <class T>
    using tensors = rnn_tensors<T>;
    template <class T>
    using weights = xloom::rnn_weights<T>;
    using options = textbook::rnn_options;

    template <class T>
    static operands<T> draw(std::mt19937& random, recurrent_sizes const& sizes, unsigned which = with_all,
        random_ranges const& ranges = {})
    {
        return random_rnn<T>(random, sizes, which, ranges);
    }

    static xloom::rnn_options options_of(options const& from)
    {
        return common_options<xloom::rnn_options>(from);
    }

    template <class T>
    static recurrent_arrays<double> textbook(operands<T> const& in, options const& how)
    {
        return arrays_of(textbook::rnn(in, how));
    }

    template <class T>
    static recurrent_arrays<T> call(
        operands<T> const& in, options const& how, placement where = placement::row_major)
    {
        tensors<T> const given(in, where);
        auto const [Y, Y_h] = xloom::rnn(given.X, given.inputs(), options_of(how));
        return {to_array(Y), to_array(Y_h)};
    }

    template <class T, class Policy = xloom::serial_policy>
    static recurrent_arrays<T> call(
        operands<T> const& in, weights<T> const& packed, Policy const& policy = {})
    {
        tensors<T> const given(in);
        auto const [Y, Y_h] = xloom::rnn(given.X, packed, given.start(), policy);
        return {to_array(Y), to_array(Y_h)};
    }

    template <class T>
    static void call_into(tensors<T> const& in, weights<T> const& packed, output_tensors<T>& out,
        xloom::recurrent_workspace<T>& workspace)
    {
        xloom::rnn_into(in.X, packed, in.start(), {ref_of(out.Y), ref_of(out.Y_h)}, workspace);
    }

    /// From the state h to the next one, in place.
    template <class T>
    static void stream(tensors<T> const& in, weights<T> const& packed, output_tensors<T>& states,
        xloom::recurrent_workspace<T>& workspace)
    {
        xloom::rnn_into(in.X, packed, {in.lengths(), states.Y_h}, {states.Y, states.Y_h}, workspace);
    }

    template <class T>
    static xloom::recurrent_workspace<T> workspace(weights<T> const& packed, xloom::batch_sizes const& batch)
    {
        return xloom::recurrent_workspace(packed, batch);
    }
};
