#pragma once
// The LSTM as a textbook writes it, in float64 and with indices only: what xloom's is compared with.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "textbook_recurrent.hpp"

namespace textbook {

/// In layout 0: X [T, N, I], W [D, 4H, I], R [D, 4H, H], B [D, 8H], initial_h and initial_c [D, N, H], P [D,
/// 3H]. Gates in ONNX's order i, o, f, c; peepholes i, o, f.
template <class T>
struct lstm_operands {
    array<T> X{}, W{}, R{}, B{};
    std::vector<std::int32_t> sequence_lens{}; ///< none: all T
    array<T> initial_h{}, initial_c{}, P{};
};

struct lstm_options {
    std::string direction = "forward";
    std::vector<xloom::activation_function>
        activations{}; ///< f, g, h for each direction; none: Sigmoid, Tanh, Tanh
    double clip = no_clip;
    bool input_forget = false;
    int layout = 0;
};

/// In layout 0: Y [T, D, N, H], Y_h and Y_c [D, N, H].
struct lstm_results {
    array<double> Y, Y_h, Y_c;
};

/// One row's.
struct lstm_state {
    std::vector<double> h, c;
};

/// One direction's: W [4H, I], R [4H, H], B [8H], P [3H].
struct lstm_weights {
    std::vector<double> W, R, B, P;
    xloom::activation_function f{xloom::activation::sigmoid}, g{xloom::activation::tanh},
        h{xloom::activation::tanh};
    double clip = no_clip;
    bool input_forget = false;
};

/// One step of one row.
inline lstm_state lstm_step(lstm_weights const& w, lstm_state const& before, std::vector<double> const& x)
{
    std::size_t const H = before.h.size();
    auto const sum = [&](std::size_t gate, std::size_t unit) {
        std::size_t const row = gate * H + unit;
        return dot(w.W, row, x) + dot(w.R, row, before.h) + w.B[row] + w.B[4 * H + row];
    };

    std::vector<double> i(H), o(H), f(H), g(H);
    for (std::size_t unit = 0; unit < H; ++unit) {
        i[unit] = sum(0, unit) + w.P[unit] * before.c[unit];
        f[unit] = sum(2, unit) + w.P[2 * H + unit] * before.c[unit];
        g[unit] = sum(3, unit);
    }
    i = activated(w.f, clipped(i, w.clip));
    f = activated(w.f, clipped(f, w.clip));
    g = activated(w.g, clipped(g, w.clip));
    if (w.input_forget)
        for (std::size_t unit = 0; unit < H; ++unit)
            f[unit] = 1 - i[unit];

    lstm_state after = before;
    for (std::size_t unit = 0; unit < H; ++unit)
        after.c[unit] = f[unit] * before.c[unit] + i[unit] * g[unit];

    for (std::size_t unit = 0; unit < H; ++unit)
        o[unit] = sum(1, unit) + w.P[H + unit] * after.c[unit]; // the new c
    o = activated(w.f, clipped(o, w.clip));
    std::vector<double> const hidden = activated(w.h, after.c); // c is not clipped
    for (std::size_t unit = 0; unit < H; ++unit)
        after.h[unit] = o[unit] * hidden[unit];
    return after;
}

/// One step with the default activations. W [4H, I], R [4H, H], B [8H].
template <class T>
lstm_state lstm_step(std::vector<T> const& W, std::vector<T> const& R, std::vector<T> const& B,
    lstm_state const& before, std::vector<T> const& x)
{
    lstm_weights const w{.W = {W.begin(), W.end()},
        .R = {R.begin(), R.end()},
        .B = {B.begin(), B.end()},
        .P = std::vector<double>(3 * before.h.size())};
    return lstm_step(w, before, std::vector<double>(x.begin(), x.end()));
}

/// What direction d of an LSTM or AttnLSTM has.
template <class Operands, class Options>
lstm_weights lstm_weights_of(Operands const& in, Options const& options, std::size_t d)
{
    std::size_t const width = in.W.shape[2];
    std::size_t const H = in.R.shape[2];
    return {row_of(in.W, d, 4 * H * width), row_of(in.R, d, 4 * H * H), row_of(in.B, d, 8 * H),
        row_of(in.P, d, 3 * H), activation_of(options.activations, d, 0, 3, xloom::activation::sigmoid),
        activation_of(options.activations, d, 1, 3, xloom::activation::tanh),
        activation_of(options.activations, d, 2, 3, xloom::activation::tanh), options.clip,
        options.input_forget};
}

/// ONNX's LSTM. Steps past a row's length leave zeros in Y and do not touch its state.
template <class Real>
lstm_results lstm(lstm_operands<Real> const& in, lstm_options const& options = {})
{
    bool const batch_first = options.layout == 1;
    array<Real> const X = batch_first ? axis_to_front(in.X, 1) : in.X;
    array<Real> const initial_h = batch_first ? axis_to_front(in.initial_h, 1) : in.initial_h;
    array<Real> const initial_c = batch_first ? axis_to_front(in.initial_c, 1) : in.initial_c;
    std::size_t const T = X.shape[0];
    std::size_t const N = X.shape[1];
    std::size_t const I = X.shape[2];
    std::size_t const D = in.R.shape[0];
    std::size_t const H = in.R.shape[2];

    lstm_results out{zeros({T, D, N, H}), zeros({D, N, H}), zeros({D, N, H})};
    for (std::size_t d = 0; d < D; ++d) {
        lstm_weights const w = lstm_weights_of(in, options, d);
        for (std::size_t n = 0; n < N; ++n) {
            lstm_state state{row_of(initial_h, d * N + n, H), row_of(initial_c, d * N + n, H)};
            for (std::size_t const t : steps_of(options.direction, d, length_of(in.sequence_lens, n, T))) {
                state = lstm_step(w, state, row_of(X, t * N + n, I));
                put_row(out.Y, (t * D + d) * N + n, state.h);
            }
            put_row(out.Y_h, d * N + n, state.h);
            put_row(out.Y_c, d * N + n, state.c);
        }
    }
    if (batch_first)
        return {axis_to_front(out.Y, 2), axis_to_front(out.Y_h, 1), axis_to_front(out.Y_c, 1)};
    return out;
}

} // namespace textbook
