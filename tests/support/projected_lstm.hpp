#pragma once
// LSTM with a projection for tests that are written once for all recurrent operators.

#include "lstm_vjp_calls.hpp"

/// Replaces R and initial_h by those of a projection [D, K, H].
template <class T>
void project(std::mt19937& random, textbook::lstm_operands<T>& in, std::size_t K, random_ranges const& ranges)
{
    std::size_t const D = in.R.shape[0], H = in.R.shape[1] / 4;
    in.R = random_array<T>(random, {D, 4 * H, K}, ranges.weights);
    in.projection = random_array<T>(random, {D, K, H}, ranges.weights);
    if (!in.initial_h.shape.empty()) {
        textbook::dims shape = in.initial_h.shape;
        shape[2] = K;
        in.initial_h = random_array<T>(random, shape, ranges.inputs);
    }
}

/// Draws projections shorter than h, as long, and longer.
struct projected_lstm_family : lstm_vjp_family {
    template <class T>
    static operands<T> draw(std::mt19937& random, recurrent_sizes const& sizes, unsigned which = with_all,
        random_ranges const& ranges = {})
    {
        auto in = lstm_vjp_family::draw<T>(random, sizes, which, ranges);
        project(random, in, 1 + random() % (sizes.H + 2), ranges);
        return in;
    }
};
