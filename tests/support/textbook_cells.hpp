#pragma once
// LSTM, GRU and RNN as a textbook writes them, in float64 and with indices only: what xloom's are compared
// with. Each has its own equations of a step; one function runs any of them over a batch of sequences.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "textbook_recurrent.hpp"

namespace textbook {

/// In layout 0: X [T, N, I], W [D, gates H, I], R [D, gates H, H], B [D, 2 gates H], initial_h [D, N, H].
/// Gates in ONNX's order: z, r, h of a GRU, one of an RNN.
template <class T>
struct gru_operands {
    array<T> X{}, W{}, R{}, B{};
    std::vector<std::int32_t> sequence_lens{}; ///< none: all T
    array<T> initial_h{};
};
template <class T>
using rnn_operands = gru_operands<T>;

/// Gates in ONNX's order i, o, f, c. In layout 0, initial_c [D, N, H]; P [D, 3H], peepholes i, o, f. With
/// PyTorch's projection [D, K, H], R is [D, 4H, K] and initial_h [D, N, K].
template <class T>
struct lstm_operands {
    array<T> X{}, W{}, R{}, B{};
    std::vector<std::int32_t> sequence_lens{}; ///< none: all T
    array<T> initial_h{}, initial_c{}, P{}, projection{};
};

struct recurrent_options {
    std::string direction = "forward";
    std::vector<xloom::activation_function> activations{}; ///< f, g, h for each direction; none: the defaults
    double clip = no_clip;
    bool input_forget = false;        ///< of an LSTM
    bool linear_before_reset = false; ///< of a GRU
    int layout = 0;
};
using lstm_options = recurrent_options;
using gru_options = recurrent_options;
using rnn_options = recurrent_options;

inline constexpr std::array lstm_activations{
    xloom::activation::sigmoid, xloom::activation::tanh, xloom::activation::tanh};
inline constexpr std::array gru_activations{xloom::activation::sigmoid, xloom::activation::tanh};
inline constexpr std::array rnn_activations{xloom::activation::tanh};

/// In layout 0: Y [T, D, N, K], Y_h [D, N, K] and Y_c [D, N, H]; K is H unless h is projected. Y_c has no
/// shape where there is no c.
struct recurrent_results {
    array<double> Y, Y_h, Y_c;
};

/// One row's; c is empty where there is none.
struct cell_state {
    std::vector<double> h, c{};
};

/// One direction's: W [gates H, I], R [gates H, K], B [2 gates H], P [3H], projection [K, H] or empty.
struct cell_weights {
    std::vector<double> W, R, B, P{}, projection{};
    std::vector<xloom::activation_function> activations{}; ///< f, g, h
    double clip = no_clip;
    bool input_forget = false, linear_before_reset = false;
};

/// One step of one row of an LSTM.
inline cell_state lstm_step(cell_weights const& w, cell_state const& before, std::vector<double> const& x)
{
    std::size_t const H = before.c.size();
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
    i = activated(w.activations[0], clipped(i, w.clip));
    f = activated(w.activations[0], clipped(f, w.clip));
    g = activated(w.activations[1], clipped(g, w.clip));
    if (w.input_forget)
        for (std::size_t unit = 0; unit < H; ++unit)
            f[unit] = 1 - i[unit];

    cell_state after = before;
    for (std::size_t unit = 0; unit < H; ++unit)
        after.c[unit] = f[unit] * before.c[unit] + i[unit] * g[unit];

    for (std::size_t unit = 0; unit < H; ++unit)
        o[unit] = sum(1, unit) + w.P[H + unit] * after.c[unit]; // the new c
    o = activated(w.activations[0], clipped(o, w.clip));
    std::vector<double> hidden = activated(w.activations[2], after.c); // c is not clipped
    for (std::size_t unit = 0; unit < H; ++unit)
        hidden[unit] = o[unit] * hidden[unit];
    if (w.projection.empty())
        after.h = hidden;
    else
        for (std::size_t k = 0; k < after.h.size(); ++k)
            after.h[k] = dot(w.projection, k, hidden);
    return after;
}

/// One step of one row of a GRU.
inline cell_state gru_step(cell_weights const& w, cell_state const& before, std::vector<double> const& x)
{
    std::vector<double> const& h = before.h;
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
    z = activated(w.activations[0], clipped(z, w.clip));
    r = activated(w.activations[0], clipped(r, w.clip));

    std::vector<double> reset(H), candidate(H);
    for (std::size_t unit = 0; unit < H; ++unit)
        reset[unit] = r[unit] * h[unit];
    for (std::size_t unit = 0; unit < H; ++unit) {
        std::size_t const row = 2 * H + unit;
        candidate[unit] = of_x(row) + (w.linear_before_reset ? r[unit] * of_h(row, h) : of_h(row, reset));
    }
    candidate = activated(w.activations[1], clipped(candidate, w.clip));

    std::vector<double> after(H);
    for (std::size_t unit = 0; unit < H; ++unit)
        after[unit] = (1 - z[unit]) * candidate[unit] + z[unit] * h[unit];
    return {after};
}

/// One step of one row of an RNN.
inline cell_state rnn_step(cell_weights const& w, cell_state const& before, std::vector<double> const& x)
{
    std::size_t const H = before.h.size();
    std::vector<double> after(H);
    for (std::size_t unit = 0; unit < H; ++unit)
        after[unit] = dot(w.W, unit, x) + dot(w.R, unit, before.h) + w.B[unit] + w.B[H + unit];
    return {activated(w.activations[0], clipped(after, w.clip))};
}

/// Direction d's, of any of the operators and of AttnLSTM.
template <class Operands, class Options, std::size_t Count>
cell_weights weights_of(Operands const& in, Options const& options, std::size_t d,
    std::array<xloom::activation, Count> const& defaults)
{
    std::size_t const width = in.W.shape[2];
    std::size_t const rows = in.R.shape[1], K = in.R.shape[2];
    cell_weights w{row_of(in.W, d, rows * width), row_of(in.R, d, rows * K), row_of(in.B, d, 2 * rows)};
    w.clip = options.clip;
    w.input_forget = options.input_forget;
    if constexpr (requires { in.P; })
        w.P = row_of(in.P, d, rows / 4 * 3);
    if constexpr (requires { in.projection; })
        if (!is_absent(in.projection))
            w.projection = row_of(in.projection, d, in.projection.shape[1] * in.projection.shape[2]);
    if constexpr (requires { options.linear_before_reset; })
        w.linear_before_reset = options.linear_before_reset;
    for (std::size_t k = 0; k < Count; ++k)
        w.activations.push_back(activation_of(options.activations, d, k, Count, defaults[k]));
    return w;
}

/// Runs `step` over all rows in all directions. Steps past a row's length leave zeros in Y and do not touch
/// its state.
template <class Operands, std::size_t Count, class Step>
recurrent_results run_cell(Operands const& in, recurrent_options const& options,
    std::array<xloom::activation, Count> const& defaults, Step const& step)
{
    constexpr bool has_c = requires { in.initial_c; };
    bool const batch_first = options.layout == 1;
    auto const X = batch_first ? axis_to_front(in.X, 1) : in.X;
    auto const initial_h = batch_first ? axis_to_front(in.initial_h, 1) : in.initial_h;
    auto initial_c = initial_h;
    if constexpr (has_c)
        initial_c = batch_first ? axis_to_front(in.initial_c, 1) : in.initial_c;
    std::size_t const T = X.shape[0];
    std::size_t const N = X.shape[1];
    std::size_t const I = X.shape[2];
    std::size_t const D = in.R.shape[0];
    std::size_t const K = in.R.shape[2];
    std::size_t const H = has_c ? in.R.shape[1] / 4 : K;

    recurrent_results out{zeros({T, D, N, K}), zeros({D, N, K}), has_c ? zeros({D, N, H}) : array<double>{}};
    for (std::size_t d = 0; d < D; ++d) {
        cell_weights const w = weights_of(in, options, d, defaults);
        for (std::size_t n = 0; n < N; ++n) {
            cell_state state{row_of(initial_h, d * N + n, K)};
            if (has_c)
                state.c = row_of(initial_c, d * N + n, H);
            for (std::size_t const t : steps_of(options.direction, d, length_of(in.sequence_lens, n, T))) {
                state = step(w, state, row_of(X, t * N + n, I));
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

/// ONNX's LSTM.
template <class Real>
recurrent_results lstm(lstm_operands<Real> const& in, lstm_options const& options = {})
{
    return run_cell(in, options, lstm_activations, lstm_step);
}

/// ONNX's GRU.
template <class Real>
recurrent_results gru(gru_operands<Real> const& in, gru_options const& options = {})
{
    return run_cell(in, options, gru_activations, gru_step);
}

/// ONNX's RNN.
template <class Real>
recurrent_results rnn(rnn_operands<Real> const& in, rnn_options const& options = {})
{
    return run_cell(in, options, rnn_activations, rnn_step);
}

} // namespace textbook
