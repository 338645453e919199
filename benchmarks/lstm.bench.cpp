// Compares lstm_into and lstm with ONNX Runtime and straightforward loops.

#include <xloom/interop/tbb.hpp>

#include "lstm_operands.hpp"

namespace {

using namespace bench;

template <class Policy>
void xloom_plain(lstm_operands<Policy>& o)
{
    o.keep(xloom::lstm(o.X, {.W = o.W, .R = o.R, .B = o.B}, {}, o.policy));
}

template <class Policy>
void hand(lstm_operands<Policy>& o)
{
    std::size_t const T = o.size.T, N = o.size.N, I = o.size.I, H = o.size.H;
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
void add_lstm(cell_sizes const& s, Policy const& policy)
{
    using operands = lstm_operands<Policy>;
    std::vector<series<operands>> all{{"xloom", xloom_lstm<Policy>}, {"xloom_plain", xloom_plain<Policy>}};
    if (policy.concurrency() == 1)
        all.push_back({"hand", hand<Policy>});
    all.push_back({.impl = "onnxruntime", .model = lstm_model<Policy>});
    add_case(
        "lstm" + text_of(s), [=] { return operands(s, policy); }, all, policy.concurrency());
}

} // namespace

int main(int argc, char** argv)
{
    for (cell_sizes const& s : {cell_sizes{10, 1, 64, 64}, {50, 1, 256, 256}, {50, 16, 256, 256},
             {50, 32, 512, 512}, {100, 64, 128, 128}}) {
        add_lstm(s, xloom::serial);
        add_lstm(s, xloom::tbb_policy(2));
    }
    return run_cases(argc, argv);
}
