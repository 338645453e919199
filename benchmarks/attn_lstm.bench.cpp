// Compares attn_lstm_into and attn_lstm with ONNX Runtime.

#include <xloom/interop/tbb.hpp>

#include "attn_lstm_operands.hpp"

namespace {

using namespace bench;

template <class Policy>
void xloom_plain(attn_lstm_operands<Policy>& o)
{
    o.keep(xloom::attn_lstm(o.X, o.inputs(), {}, o.policy));
}

template <class Policy>
void add_attn_lstm(attn_lstm_sizes const& s, Policy const& policy)
{
    using operands = attn_lstm_operands<Policy>;
    std::vector<series<operands>> all{{"xloom", xloom_attn_lstm<Policy>},
        {"xloom_plain", xloom_plain<Policy>}, {.impl = "onnxruntime", .model = attn_lstm_model<Policy>}};
    add_case(
        "attn_lstm" + text_of(s), [=] { return operands(s, policy); }, all, policy.concurrency());
}

} // namespace

int main(int argc, char** argv)
{
    for (attn_lstm_sizes const& s :
        {attn_lstm_sizes{10, 1, 64, 64, 20, 64, 64, 64}, {50, 1, 256, 256, 50, 256, 256, 256},
            {50, 16, 256, 256, 50, 256, 256, 0}, {50, 16, 256, 256, 50, 256, 256, 256},
            {50, 32, 512, 512, 50, 512, 512, 512}, {100, 64, 128, 128, 30, 128, 128, 128}}) {
        add_attn_lstm(s, xloom::serial);
        add_attn_lstm(s, xloom::tbb_policy(2));
    }
    return run_cases(argc, argv);
}
