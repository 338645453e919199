#pragma once
// com.microsoft's AttnLSTM as a textbook writes it, in float64 and with indices only: what xloom's is
// compared with.
//
// Further dimensions: S memory steps, Md memory depth, A attention size, C width of the attention: Aw with
// AW, else Md.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "textbook_cells.hpp"

namespace textbook {

/// X [T, N, I], W [D, 4H, I + C], R [D, 4H, H], B [D, 8H], initial_h and initial_c [D, N, H], P [D, 3H], QW
/// [D, H, A], MW [D, Md, A], V [D, A], M [N, S, Md], AW [D, H + Md, Aw], initial_attention [D, N, C],
/// initial_alignment [D, N, S]. QW, MW, V and M all absent: an LSTM, with S = C = 0.
template <class T>
struct attn_lstm_operands {
    array<T> X{}, W{}, R{}, B{};
    std::vector<std::int32_t> sequence_lens{}; ///< none: all T
    array<T> initial_h{}, initial_c{}, P{}, QW{}, MW{}, V{}, M{};
    std::vector<std::int32_t> memory_seq_lens{}; ///< none: all S
    array<T> AW{}, initial_attention{}, initial_alignment{};
};

/// The scores of a row's s memory steps, of keys [s][A], query [A] and the last alignment [s].
using attention_score = std::function<std::vector<double>(std::vector<std::vector<double>> const& keys,
    std::vector<double> const& query, std::vector<double> const& last_alignment)>;

struct attn_lstm_options {
    std::string direction = "forward";
    std::vector<xloom::activation_function>
        activations{}; ///< f, g, h for each direction; none: Sigmoid, Tanh, Tanh
    double clip = no_clip;
    bool input_forget = false;
    attention_score score{}; ///< none: Bahdanau's, with V
};

/// Y [T, D, N, H], Y_h and Y_c [D, N, H]; alignments [T, D, N, S], the weights of each step; and each row's
/// after its last step: last_attention [D, N, C], last_alignment [D, N, S].
struct attn_lstm_results {
    array<double> Y, Y_h, Y_c, alignments, last_attention, last_alignment;
};

/// Bahdanau's score: sum_a V_a tanh(key_a + query_a).
inline std::vector<double> bahdanau(std::vector<double> const& V,
    std::vector<std::vector<double>> const& keys, std::vector<double> const& query)
{
    std::vector<double> scores;
    for (std::vector<double> const& key : keys) {
        double score = 0;
        for (std::size_t a = 0; a < query.size(); ++a)
            score += V[a] * std::tanh(key[a] + query[a]);
        scores.push_back(score);
    }
    return scores;
}

/// x [rows] times matrix [rows, columns].
inline std::vector<double> times(
    std::vector<double> const& x, std::vector<double> const& matrix, std::size_t columns)
{
    std::vector<double> product(columns);
    double* const sums = product.data();
    for (std::size_t row = 0; row < x.size(); ++row) {
        double const* const weights = matrix.data() + row * columns;
        for (std::size_t column = 0; column < columns; ++column)
            sums[column] += x[row] * weights[column];
    }
    return product;
}

inline std::vector<double> joined(std::vector<double> first, std::vector<double> const& second)
{
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

/// com.microsoft's AttnLSTM. A step reads [x_t, the attention of the step before]; the attention of a step
/// looks with the new h. Memory past a row's memory_seq_lens is never read; where there is none, weights and
/// context are zeros.
template <class Real>
attn_lstm_results attn_lstm(attn_lstm_operands<Real> const& in, attn_lstm_options const& options = {})
{
    std::size_t const T = in.X.shape[0];
    std::size_t const N = in.X.shape[1];
    std::size_t const I = in.X.shape[2];
    std::size_t const D = in.R.shape[0];
    std::size_t const H = in.R.shape[2];
    std::size_t const S = is_absent(in.M) ? 0 : in.M.shape[1];
    std::size_t const Md = is_absent(in.M) ? 0 : in.M.shape[2];
    std::size_t const A = is_absent(in.QW) ? 0 : in.QW.shape[2];
    std::size_t const C = is_absent(in.AW) ? Md : in.AW.shape[2];

    attn_lstm_results out{zeros({T, D, N, H}), zeros({D, N, H}), zeros({D, N, H}), zeros({T, D, N, S}),
        zeros({D, N, C}), zeros({D, N, S})};
    for (std::size_t d = 0; d < D; ++d) {
        cell_weights const w = weights_of(in, options, d, lstm_activations);
        std::vector<double> const QW = row_of(in.QW, d, H * A);
        std::vector<double> const MW = row_of(in.MW, d, Md * A);
        std::vector<double> const V = row_of(in.V, d, A);
        std::vector<double> const AW = row_of(in.AW, d, (H + Md) * C);
        for (std::size_t n = 0; n < N; ++n) {
            std::size_t const s = length_of(in.memory_seq_lens, n, S);
            std::vector<std::vector<double>> memory, keys;
            for (std::size_t m = 0; m < s; ++m) {
                memory.push_back(row_of(in.M, n * S + m, Md));
                keys.push_back(times(memory[m], MW, A));
            }

            cell_state state{row_of(in.initial_h, d * N + n, H), row_of(in.initial_c, d * N + n, H)};
            std::vector<double> attention = row_of(in.initial_attention, d * N + n, C);
            std::vector<double> alignment = row_of(in.initial_alignment, d * N + n, S);
            alignment.resize(s);
            for (std::size_t const t : steps_of(options.direction, d, length_of(in.sequence_lens, n, T))) {
                state = lstm_step(w, state, joined(row_of(in.X, t * N + n, I), attention));

                std::vector<double> const query = times(state.h, QW, A);
                if (s > 0)
                    alignment = softmax(
                        options.score ? options.score(keys, query, alignment) : bahdanau(V, keys, query));
                std::vector<double> context(Md);
                for (std::size_t m = 0; m < s; ++m)
                    for (std::size_t k = 0; k < Md; ++k)
                        context[k] += alignment[m] * memory[m][k];
                attention = is_absent(in.AW) ? context : times(joined(state.h, context), AW, C);

                put_row(out.Y, (t * D + d) * N + n, state.h);
                std::vector<double> weights = alignment;
                weights.resize(S);
                put_row(out.alignments, (t * D + d) * N + n, weights);
            }
            put_row(out.Y_h, d * N + n, state.h);
            put_row(out.Y_c, d * N + n, state.c);
            put_row(out.last_attention, d * N + n, attention);
            alignment.resize(S);
            put_row(out.last_alignment, d * N + n, alignment);
        }
    }
    return out;
}

} // namespace textbook
