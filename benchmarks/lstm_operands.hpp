#pragma once
// LSTM's operands in the benchmarks, its model for the peer, and xloom's call.

#include <xloom/recurrent/lstm.hpp>

#include "recurrent_operands.hpp"

namespace bench {

template <class Policy>
struct lstm_operands : recurrent_operands, recurrent_inputs {
    cell_sizes size;
    Policy policy;
    matrix W_turned, R_turned; ///< for the loops by hand
    xloom::lstm_weights<float> packed;
    xloom::recurrent_workspace<float> workspace;

    lstm_operands(cell_sizes const& s, Policy const& its_policy)
        : recurrent_operands{recurrent_results(s.T, s.N, s.H), work_of(s, 4, its_policy.concurrency()),
              s.N == 1},
          recurrent_inputs(s, 4),
          size(s),
          policy(its_policy),
          W_turned(turned(W)),
          R_turned(turned(R)),
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
