// The cost of a call as the work grows: LSTM and AttnLSTM with T, N and H, ScatterND with the number of
// updates, compared with ONNX Runtime.

#include "attn_lstm_operands.hpp"
#include "lstm_operands.hpp"
#include "scatter_operands.hpp"

namespace {

using namespace bench;

/// The values of the other sizes while one grows.
struct sizes {
    std::size_t T = 32, N = 8, H = 64;
};

/// The input and all of the attention are as wide as the state; the memory has 32 steps.
void add_recurrent(std::string const& grown, sizes const& s)
{
    using policy = xloom::serial_policy;
    add_case("growth/lstm/" + grown,
        [s] {
            return lstm_operands<policy>({s.T, s.N, s.H, s.H}, {});
        },
        {{"xloom", xloom_lstm<policy>}, {.impl = "onnxruntime", .model = lstm_model<policy>}});
    add_case("growth/attn_lstm/" + grown,
        [s] {
            return attn_lstm_operands<policy>({s.T, s.N, s.H, s.H, 32, s.H, s.H, s.H}, {});
        },
        {{"xloom", xloom_attn_lstm<policy>}, {.impl = "onnxruntime", .model = attn_lstm_model<policy>}});
}

/// Sums into a million items, including the copy of these.
void add_scatter(std::size_t count)
{
    using operands = items<float, std::int64_t>;
    constexpr auto add = xloom::reduction::add;
    add_case("growth/scatter_nd/updates:" + std::to_string(count),
        [count] { return make_items<float, std::int64_t>(1'000'000, count, false); },
        {{"xloom", copying<operands, xloom_in_place<operands, add>>},
            {.impl = "onnxruntime", .model = scatter_model<operands, add>}});
}

} // namespace

int main(int argc, char** argv)
{
    for (std::size_t T = 8; T <= 128; T *= 2)
        add_recurrent("T:" + std::to_string(T), {.T = T});
    for (std::size_t N = 1; N <= 32; N *= 2)
        add_recurrent("N:" + std::to_string(N), {.N = N});
    for (std::size_t H = 16; H <= 256; H *= 2)
        add_recurrent("H:" + std::to_string(H), {.H = H});
    for (std::size_t count = 1'000; count <= 1'000'000; count *= 10)
        add_scatter(count);
    return run_cases(argc, argv);
}
