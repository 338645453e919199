// lstm_into and lstm against ONNX Runtime, and against loops as one writes them down.

#include <xloom/lstm.hpp>
#include <xloom/tbb.hpp>

#include "../tests/support/xtensor_extras.hpp"
#include "recurrent_operands.hpp"

namespace {

using namespace bench;

struct case_sizes {
    std::size_t T, N, I, H;
};

recurrent_work work_of(case_sizes const& s, std::size_t threads)
{
    double const T = double(s.T), N = double(s.N), I = double(s.I), H = double(s.H);
    return {.flops = T * N * 8 * H * (I + H), .step_weights = T * 4 * H * H * sizeof(float), .threads = threads};
}

template <class Policy>
struct lstm_operands : recurrent_operands {
    case_sizes size;
    Policy policy;
    cube X, W, R;
    matrix B;
    matrix W_turned, R_turned; ///< for the loops by hand: a row for each input, so that a step of theirs is over all gates
    xloom::lstm_weights<float> packed;
    xloom::recurrent_workspace<float> workspace;

    lstm_operands(case_sizes const& s, Policy const& its_policy)
        : recurrent_operands{recurrent_results(s.T, s.N, s.H), work_of(s, its_policy.concurrency()), s.N == 1},
          size(s),
          policy(its_policy),
          X(uniform<cube>({s.T, s.N, s.I}, 1, 1.0)),
          W(uniform<cube>({1, 4 * s.H, s.I}, 2, weight_limit())),
          R(uniform<cube>({1, 4 * s.H, s.H}, 3, weight_limit())),
          B(uniform<matrix>({1, 8 * s.H}, 4, weight_limit())),
          W_turned(xt::transpose(xt::view(W, 0))),
          R_turned(xt::transpose(xt::view(R, 0))),
          packed(xloom::lstm_constants<float>{.W = W, .R = R, .B = B}),
          workspace(xloom::lstm_workspace(packed, {s.T, s.N}, policy))
    {
        if (has_onnxruntime())
            peer = std::make_unique<onnxruntime_session>(model(), policy.concurrency());
    }

    double weight_limit() const { return 1.0 / std::sqrt(static_cast<double>(size.H)); }

    onnx_model model()
    {
        return {.op = "LSTM",
            .domain = "",
            .opset = 14,
            .attributes = {{"hidden_size", static_cast<std::int64_t>(size.H)}},
            .inputs = {bound("X", X), weight("W", W), weight("R", R), weight("B", B)},
            .outputs = {bound("Y", y.Y), bound("Y_h", y.Y_h), bound("Y_c", y.Y_c)}};
    }
};

template <class Policy>
void xloom_packed(lstm_operands<Policy>& o)
{
    xloom::lstm_into(o.X, o.packed, {}, {o.y.Y, o.y.Y_h, o.y.Y_c}, o.workspace, o.policy);
}

template <class Policy>
void xloom_plain(lstm_operands<Policy>& o)
{
    o.keep(xloom::lstm(o.X, {.W = o.W, .R = o.R, .B = o.B}, {}, o.policy));
}

/// sums += item * row, over all gates.
void add_product(float* __restrict sums, float item, float const* __restrict row, std::size_t count)
{
    for (std::size_t j = 0; j < count; ++j)
        sums[j] += item * row[j];
}

float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }

template <class Policy>
void hand(lstm_operands<Policy>& o)
{
    auto const [T, N, I, H] = o.size;
    std::vector<float> sums(4 * H);
    o.y.Y_h.fill(0.0f);
    o.y.Y_c.fill(0.0f);
    for (std::size_t t = 0; t < T; ++t)
        for (std::size_t n = 0; n < N; ++n) {
            float* const h = &o.y.Y_h(0, n, 0);
            float* const c = &o.y.Y_c(0, n, 0);
            for (std::size_t j = 0; j < 4 * H; ++j)
                sums[j] = o.B(0, j) + o.B(0, 4 * H + j);
            for (std::size_t k = 0; k < I; ++k)
                add_product(sums.data(), o.X(t, n, k), &o.W_turned(k, 0), 4 * H);
            for (std::size_t k = 0; k < H; ++k)
                add_product(sums.data(), h[k], &o.R_turned(k, 0), 4 * H);
            for (std::size_t j = 0; j < H; ++j) {
                c[j] = sigmoid(sums[2 * H + j]) * c[j] + sigmoid(sums[j]) * std::tanh(sums[3 * H + j]);
                h[j] = sigmoid(sums[H + j]) * std::tanh(c[j]);
            }
            std::copy_n(h, H, &o.y.Y(t, 0, n, 0));
        }
}

template <class Policy>
void add_lstm(case_sizes const& s, Policy const& policy)
{
    using operands = lstm_operands<Policy>;
    std::vector<series<operands>> all{{"xloom", xloom_packed<Policy>}, {"xloom_plain", xloom_plain<Policy>}};
    if (policy.concurrency() == 1)
        all.push_back({"hand", hand<Policy>});
    if (has_onnxruntime())
        all.push_back({"onnxruntime", run_peer<operands>});
    add_case(
        "lstm" + text_of({{"T", s.T}, {"N", s.N}, {"I", s.I}, {"H", s.H}}), [=] { return operands(s, policy); }, all, policy.concurrency());
}

} // namespace

int main(int argc, char** argv)
{
    for (case_sizes const& s :
        {case_sizes{10, 1, 64, 64}, {50, 1, 256, 256}, {50, 16, 256, 256}, {50, 32, 512, 512}, {100, 64, 128, 128}}) {
        add_lstm(s, xloom::serial);
        add_lstm(s, xloom::tbb_policy(2));
    }
    return run_cases(argc, argv);
}
