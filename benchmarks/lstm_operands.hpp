#pragma once
// LSTM's operands in the benchmarks, its model for the peer, and xloom's call.

#include <xloom/recurrent/lstm.hpp>

#include "../tests/support/xtensor_extras.hpp"
#include "recurrent_operands.hpp"

namespace bench {

struct lstm_sizes {
    std::size_t T, N, I, H;
};

inline recurrent_work work_of(lstm_sizes const& s, std::size_t threads)
{
    double const T = double(s.T), N = double(s.N), I = double(s.I), H = double(s.H);
    return {
        .flops = T * N * 8 * H * (I + H), .step_weights = T * 4 * H * H * sizeof(float), .threads = threads};
}

template <class Policy>
struct lstm_operands : recurrent_operands {
    lstm_sizes size;
    Policy policy;
    cube X, W, R;
    matrix B;
    matrix W_turned,
        R_turned; ///< for the loops by hand: a row for each input, so that a step of theirs is over all gates
    xloom::lstm_weights<float> packed;
    xloom::recurrent_workspace<float> workspace;

    lstm_operands(lstm_sizes const& s, Policy const& its_policy)
        : recurrent_operands{recurrent_results(s.T, s.N, s.H), work_of(s, its_policy.concurrency()),
              s.N == 1},
          size(s),
          policy(its_policy),
          X(uniform<cube>({s.T, s.N, s.I}, 1, 1.0)),
          W(uniform<cube>({1, 4 * s.H, s.I}, 2, weight_limit(s.H))),
          R(uniform<cube>({1, 4 * s.H, s.H}, 3, weight_limit(s.H))),
          B(uniform<matrix>({1, 8 * s.H}, 4, weight_limit(s.H))),
          W_turned(xt::transpose(xt::view(W, 0))),
          R_turned(xt::transpose(xt::view(R, 0))),
          packed(xloom::lstm_constants<float>{.W = W, .R = R, .B = B}),
          workspace(xloom::recurrent_workspace(packed, {s.T, s.N}, policy))
    {}
};

template <class Policy>
onnx_graph lstm_model(lstm_operands<Policy>& o)
{
    return model_of({.op = "LSTM", .attributes = {{"hidden_size", static_cast<std::int64_t>(o.size.H)}}},
        {bound("X", o.X), weight("W", o.W), weight("R", o.R), weight("B", o.B)},
        {bound("Y", o.y.Y), bound("Y_h", o.y.Y_h), bound("Y_c", o.y.Y_c)});
}

template <class Policy>
void xloom_lstm(lstm_operands<Policy>& o)
{
    xloom::lstm_into(o.X, o.packed, {}, {o.y.Y, o.y.Y_h, o.y.Y_c}, o.workspace, o.policy);
}

} // namespace bench
