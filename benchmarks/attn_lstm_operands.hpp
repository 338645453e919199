#pragma once
// AttnLSTM's operands in the benchmarks, its model for the peer, and xloom's call.

#include <xloom/recurrent/attn_lstm.hpp>

#include "recurrent_operands.hpp"

namespace bench {

/// The sizes of a case. L is 0 without AW: then the attention is the context.
struct attn_lstm_sizes {
    std::size_t T, N, I, H, S, E, A, L;

    std::size_t C() const { return L != 0 ? L : E; }
};

inline recurrent_work work_of(attn_lstm_sizes const& s, std::size_t threads)
{
    double const T = double(s.T), N = double(s.N), I = double(s.I), H = double(s.H), S = double(s.S),
                 E = double(s.E), A = double(s.A), L = double(s.L), C = double(s.C());
    double const keys = 2 * S * E * A, gates = 8 * H * (I + C + H),
                 attention = 2 * H * A + 3 * S * A + 2 * S * E + 2 * (H + E) * L;
    return {.flops = N * (keys + T * (gates + attention)),
        .step_weights = T * (4 * H * (C + H) + H * A + (H + E) * L) * sizeof(float),
        .score_elements = T * N * S * A,
        .threads = threads};
}

inline std::string text_of(attn_lstm_sizes const& s)
{
    return text_of(
        {{"T", s.T}, {"N", s.N}, {"I", s.I}, {"H", s.H}, {"S", s.S}, {"E", s.E}, {"A", s.A}, {"L", s.L}});
}

template <class Policy>
struct attn_lstm_operands : recurrent_operands, recurrent_inputs {
    attn_lstm_sizes size;
    Policy policy;
    cube QW, MW;
    matrix V;
    cube M, AW;
    xloom::attn_lstm_weights<float> packed;
    xloom::attention_workspace<float> workspace;

    attn_lstm_operands(attn_lstm_sizes const& s, Policy const& its_policy)
        : recurrent_operands{recurrent_results(s.T, s.N, s.H), work_of(s, its_policy.concurrency()),
              s.N == 1},
          recurrent_inputs(s.T, s.N, s.I, s.H, 4, s.I + s.C()),
          size(s),
          policy(its_policy),
          QW(uniform<cube>({1, s.H, s.A}, 5, weight_limit(s.H))),
          MW(uniform<cube>({1, s.E, s.A}, 6, weight_limit(s.H))),
          V(uniform<matrix>({1, s.A}, 7, weight_limit(s.H))),
          M(uniform<cube>({s.N, s.S, s.E}, 8, 1.0)),
          AW(uniform<cube>({1, s.H + s.E, s.L}, 9, weight_limit(s.H))),
          packed(constants()),
          workspace(xloom::attention_workspace(packed, {s.T, s.N, s.S}, policy))
    {}

    xloom::attn_lstm_constants<float> constants() const
    {
        xloom::attn_lstm_constants<float> all{.W = W, .R = R, .B = B, .QW = QW, .MW = MW, .V = V};
        if (size.L != 0)
            all.AW = AW;
        return all;
    }

    xloom::attn_lstm_inputs<float> inputs() const
    {
        auto const all = constants();
        return {
            .W = all.W, .R = all.R, .B = all.B, .QW = all.QW, .MW = all.MW, .V = all.V, .M = M, .AW = all.AW};
    }
};

template <class Policy>
onnx_graph attn_lstm_model(attn_lstm_operands<Policy>& o)
{
    onnx_operand const none;
    std::vector<onnx_operand> inputs{bound("X", o.X), weight("W", o.W), weight("R", o.R), weight("B", o.B),
        none, none, none, none, weight("QW", o.QW), weight("MW", o.MW), weight("V", o.V), bound("M", o.M)};
    if (o.size.L != 0)
        inputs.insert(inputs.end(), {none, weight("AW", o.AW)});
    return model_of({.op = "AttnLSTM",
                        .attributes = {{"hidden_size", static_cast<std::int64_t>(o.size.H)}},
                        .domain = "com.microsoft"},
        inputs, {bound("Y", o.y.Y), bound("Y_h", o.y.Y_h), bound("Y_c", o.y.Y_c)});
}

template <class Policy>
void xloom_attn_lstm(attn_lstm_operands<Policy>& o)
{
    xloom::attn_lstm_into(o.X, o.packed, {.M = o.M}, {o.y.Y, o.y.Y_h, o.y.Y_c}, o.workspace, o.policy);
}

} // namespace bench
