#pragma once
// The GRU as a textbook writes it, in float64 and with indices only: what xloom's is compared with.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "textbook_recurrent.hpp"

namespace textbook {

/// In layout 0: X [T, N, I], W [D, 3H, I], R [D, 3H, H], B [D, 6H], initial_h [D, N, H]. Gates in ONNX's
/// order z, r, h.
template <class T>
struct gru_operands {
    array<T> X{}, W{}, R{}, B{};
    std::vector<std::int32_t> sequence_lens{}; ///< none: all T
    array<T> initial_h{};
};

struct gru_options {
    std::string direction = "forward";
    std::vector<xloom::activation_function> activations{}; ///< f, g for each direction; none: Sigmoid, Tanh
    double clip = no_clip;
    bool linear_before_reset = false;
    int layout = 0;
};

/// In layout 0: Y [T, D, N, H], Y_h [D, N, H].
struct gru_results {
    array<double> Y, Y_h;
};

/// One direction's: W [3H, I], R [3H, H], B [6H].
struct gru_weights {
    std::vector<double> W, R, B;
    xloom::activation_function f{xloom::activation::sigmoid}, g{xloom::activation::tanh};
    double clip = no_clip;
    bool linear_before_reset = false;
};

/// One step of one row: the next h.
inline std::vector<double> gru_step(
    gru_weights const& w, std::vector<double> const& h, std::vector<double> const& x)
{
    std::size_t const H = h.size();
    auto const of_x = [&](std::size_t row) { return dot(w.W, row, x) + w.B[row]; };
    auto const of_h = [&](std::size_t row, std::vector<double> const& hidden) {
        return dot(w.R, row, hidden) + w.B[3 * H + row];
    };

    std::vector<double> z(H), r(H);
    for (std::size_t unit = 0; unit < H; ++unit) {
        z[unit] = of_x(unit) + of_h(unit, h);
        r[unit] = of_x(H + unit) + of_h(H + unit, h);
    }
    z = activated(w.f, clipped(z, w.clip));
    r = activated(w.f, clipped(r, w.clip));

    std::vector<double> reset(H), candidate(H);
    for (std::size_t unit = 0; unit < H; ++unit)
        reset[unit] = r[unit] * h[unit];
    for (std::size_t unit = 0; unit < H; ++unit) {
        std::size_t const row = 2 * H + unit;
        candidate[unit] = of_x(row) + (w.linear_before_reset ? r[unit] * of_h(row, h) : of_h(row, reset));
    }
    candidate = activated(w.g, clipped(candidate, w.clip));

    std::vector<double> after(H);
    for (std::size_t unit = 0; unit < H; ++unit)
        after[unit] = (1 - z[unit]) * candidate[unit] + z[unit] * h[unit];
    return after;
}

/// ONNX's GRU. Steps past a row's length leave zeros in Y and do not touch its state.
template <class Real>
gru_results gru(gru_operands<Real> const& in, gru_options const& options = {})
{
    bool const batch_first = options.layout == 1;
    array<Real> const X = batch_first ? axis_to_front(in.X, 1) : in.X;
    array<Real> const initial_h = batch_first ? axis_to_front(in.initial_h, 1) : in.initial_h;
    std::size_t const T = X.shape[0];
    std::size_t const N = X.shape[1];
    std::size_t const I = X.shape[2];
    std::size_t const D = in.R.shape[0];
    std::size_t const H = in.R.shape[2];

    gru_results out{zeros({T, D, N, H}), zeros({D, N, H})};
    for (std::size_t d = 0; d < D; ++d) {
        gru_weights const w{row_of(in.W, d, 3 * H * I), row_of(in.R, d, 3 * H * H), row_of(in.B, d, 6 * H),
            activation_of(options.activations, d, 0, 2, xloom::activation::sigmoid),
            activation_of(options.activations, d, 1, 2, xloom::activation::tanh), options.clip,
            options.linear_before_reset};
        for (std::size_t n = 0; n < N; ++n) {
            std::vector<double> h = row_of(initial_h, d * N + n, H);
            for (std::size_t const t : steps_of(options.direction, d, length_of(in.sequence_lens, n, T))) {
                h = gru_step(w, h, row_of(X, t * N + n, I));
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
