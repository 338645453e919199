// attn_lstm_into and attn_lstm against ONNX Runtime.

#include <xloom/attn_lstm.hpp>
#include <xloom/tbb.hpp>

#include "recurrent_operands.hpp"

namespace {

using namespace bench;

/// L is 0 without AW: then the attention is the context.
struct case_sizes {
    std::size_t T, N, I, H, S, E, A, L;

    std::size_t C() const { return L != 0 ? L : E; }
};

recurrent_work work_of(case_sizes const& s, std::size_t threads)
{
    double const T = double(s.T), N = double(s.N), I = double(s.I), H = double(s.H), S = double(s.S), E = double(s.E), A = double(s.A),
                 L = double(s.L), C = double(s.C());
    double const keys = 2 * S * E * A, gates = 8 * H * (I + C + H), attention = 2 * H * A + 3 * S * A + 2 * S * E + 2 * (H + E) * L;
    return {.flops = N * (keys + T * (gates + attention)),
        .step_weights = T * (4 * H * (C + H) + H * A + (H + E) * L) * sizeof(float),
        .score_elements = T * N * S * A,
        .threads = threads};
}

template <class Policy>
struct attn_lstm_operands : recurrent_operands {
    case_sizes size;
    Policy policy;
    cube X, W, R;
    matrix B;
    cube QW, MW;
    matrix V;
    cube M, AW;
    xloom::attn_lstm_weights<float> packed;
    xloom::attn_lstm_workspace<float> workspace;

    attn_lstm_operands(case_sizes const& s, Policy const& its_policy)
        : recurrent_operands{recurrent_results(s.T, s.N, s.H), work_of(s, its_policy.concurrency()), s.N == 1},
          size(s),
          policy(its_policy),
          X(uniform<cube>({s.T, s.N, s.I}, 1, 1.0)),
          W(uniform<cube>({1, 4 * s.H, s.I + s.C()}, 2, weight_limit())),
          R(uniform<cube>({1, 4 * s.H, s.H}, 3, weight_limit())),
          B(uniform<matrix>({1, 8 * s.H}, 4, weight_limit())),
          QW(uniform<cube>({1, s.H, s.A}, 5, weight_limit())),
          MW(uniform<cube>({1, s.E, s.A}, 6, weight_limit())),
          V(uniform<matrix>({1, s.A}, 7, weight_limit())),
          M(uniform<cube>({s.N, s.S, s.E}, 8, 1.0)),
          AW(uniform<cube>({1, s.H + s.E, s.L}, 9, weight_limit())),
          packed(constants()),
          workspace(xloom::attn_lstm_workspace_for(packed, {s.T, s.N, s.S}, xloom::bahdanau(), policy))
    {
        if (has_onnxruntime())
            peer = std::make_unique<onnxruntime_session>(model(), policy.concurrency());
    }

    double weight_limit() const { return 1.0 / std::sqrt(static_cast<double>(size.H)); }

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
        return {.W = all.W, .R = all.R, .B = all.B, .QW = all.QW, .MW = all.MW, .V = all.V, .M = M, .AW = all.AW};
    }

    onnx_model model()
    {
        onnx_operand const none;
        onnx_model all{.op = "AttnLSTM",
            .domain = "com.microsoft",
            .opset = 1,
            .attributes = {{"hidden_size", static_cast<std::int64_t>(size.H)}},
            .inputs = {bound("X", X), weight("W", W), weight("R", R), weight("B", B), none, none, none, none, weight("QW", QW),
                weight("MW", MW), weight("V", V), bound("M", M)},
            .outputs = {bound("Y", y.Y), bound("Y_h", y.Y_h), bound("Y_c", y.Y_c)}};
        if (size.L != 0)
            all.inputs.insert(all.inputs.end(), {none, weight("AW", AW)});
        return all;
    }
};

template <class Policy>
void xloom_packed(attn_lstm_operands<Policy>& o)
{
    xloom::attn_lstm_into(o.X, o.packed, {.M = o.M}, {o.y.Y, o.y.Y_h, o.y.Y_c}, o.workspace, xloom::bahdanau(), o.policy);
}

template <class Policy>
void xloom_plain(attn_lstm_operands<Policy>& o)
{
    o.keep(xloom::attn_lstm(o.X, o.inputs(), {}, o.policy));
}

template <class Policy>
void add_attn_lstm(case_sizes const& s, Policy const& policy)
{
    using operands = attn_lstm_operands<Policy>;
    std::vector<series<operands>> all{{"xloom", xloom_packed<Policy>}, {"xloom_plain", xloom_plain<Policy>}};
    if (has_onnxruntime())
        all.push_back({"onnxruntime", run_peer<operands>});
    add_case(
        "attn_lstm" + text_of({{"T", s.T}, {"N", s.N}, {"I", s.I}, {"H", s.H}, {"S", s.S}, {"E", s.E}, {"A", s.A}, {"L", s.L}}),
        [=] { return operands(s, policy); }, all, policy.concurrency());
}

} // namespace

int main(int argc, char** argv)
{
    for (case_sizes const& s :
        {case_sizes{10, 1, 64, 64, 20, 64, 64, 64}, {50, 1, 256, 256, 50, 256, 256, 256}, {50, 16, 256, 256, 50, 256, 256, 0},
            {50, 16, 256, 256, 50, 256, 256, 256}, {50, 32, 512, 512, 50, 512, 512, 512}, {100, 64, 128, 128, 30, 128, 128, 128}}) {
        add_attn_lstm(s, xloom::serial);
        add_attn_lstm(s, xloom::tbb_policy(2));
    }
    return run_cases(argc, argv);
}
