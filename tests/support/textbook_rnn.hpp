#pragma once
// The simple RNN as a textbook writes it, in float64 and with indices only: what xloom's is compared with.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "textbook_recurrent.hpp"

namespace textbook {

/// In layout 0: X [T, N, I], W [D, H, I], R [D, H, H], B [D, 2H], initial_h [D, N, H].
template <class T>
struct rnn_operands {
    array<T> X{}, W{}, R{}, B{};
    std::vector<std::int32_t> sequence_lens{}; ///< none: all T
    array<T> initial_h{};
};

struct rnn_options {
    std::string direction = "forward";
    std::vector<xloom::activation_function> activations{}; ///< f for each direction; none: Tanh
    double clip = no_clip;
    int layout = 0;
};

/// In layout 0: Y [T, D, N, H], Y_h [D, N, H].
struct rnn_results {
    array<double> Y, Y_h;
};

/// One direction's: W [H, I], R [H, H], B [2H].
struct rnn_weights {
    std::vector<double> W, R, B;
    xloom::activation_function f{xloom::activation::tanh};
    double clip = no_clip;
};

/// One step of one row: the next h.
inline std::vector<double> rnn_step(
    rnn_weights const& w, std::vector<double> const& h, std::vector<double> const& x)
{
    std::size_t const H = h.size();
    std::vector<double> after(H);
    for (std::size_t unit = 0; unit < H; ++unit)
        after[unit] = dot(w.W, unit, x) + dot(w.R, unit, h) + w.B[unit] + w.B[H + unit];
    return activated(w.f, clipped(after, w.clip));
}

/// ONNX's RNN. Steps past a row's length leave zeros in Y and do not touch its state.
template <class Real>
rnn_results rnn(rnn_operands<Real> const& in, rnn_options const& options = {})
{
    bool const batch_first = options.layout == 1;
    array<Real> const X = batch_first ? axis_to_front(in.X, 1) : in.X;
    array<Real> const initial_h = batch_first ? axis_to_front(in.initial_h, 1) : in.initial_h;
    std::size_t const T = X.shape[0];
    std::size_t const N = X.shape[1];
    std::size_t const I = X.shape[2];
    std::size_t const D = in.R.shape[0];
    std::size_t const H = in.R.shape[2];

    rnn_results out{zeros({T, D, N, H}), zeros({D, N, H})};
    for (std::size_t d = 0; d < D; ++d) {
        rnn_weights const w{row_of(in.W, d, H * I), row_of(in.R, d, H * H), row_of(in.B, d, 2 * H),
            activation_of(options.activations, d, 0, 1, xloom::activation::tanh), options.clip};
        for (std::size_t n = 0; n < N; ++n) {
            std::vector<double> h = row_of(initial_h, d * N + n, H);
            for (std::size_t const t : steps_of(options.direction, d, length_of(in.sequence_lens, n, T))) {
                h = rnn_step(w, h, row_of(X, t * N + n, I));
                put_row(out.Y, (t * D + d) * N + n, h);
            }
            put_row(out.Y_h, d * N + n, h);
        }
    }
    if (batch_first)
        return {axis_to_front(out.Y, 2), axis_to_front(out.Y_h, 1)};
    return out;
}

} // namespace textbook
