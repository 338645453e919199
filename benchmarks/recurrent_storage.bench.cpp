// Compares an LSTM whose weights are stored as float16, bfloat16 and int8 with one of floats and with ONNX
// Runtime: a step of a stream (T = 1), a sequence and a batch.

#include "lstm_operands.hpp"

namespace {

using namespace bench;
using xloom::weight_storage;

using float_operands = lstm_operands<xloom::serial_policy>;

struct storage_operands : float_operands {
    xloom::lstm_weights<float> as_float16, as_bfloat16, as_int8;

    explicit storage_operands(lstm_sizes const& s)
        : float_operands(s, xloom::serial),
          as_float16({.W = W, .R = R, .B = B}, {}, weight_storage::float16),
          as_bfloat16({.W = W, .R = R, .B = B}, {}, weight_storage::bfloat16),
          as_int8({.W = W, .R = R, .B = B}, {}, weight_storage::int8)
    {}

    /// Allows for rounded weights, which change a state by less than this.
    bool is_close_to(recurrent_results const& expected) const
    {
        return std::equal(y.Y.storage().begin(), y.Y.storage().end(), expected.Y.storage().begin(),
            [](float a, float b) { return std::abs(a - b) <= 0.02f; });
    }
};

void run(storage_operands& o, xloom::lstm_weights<float> const& weights)
{
    xloom::lstm_into(o.X, weights, {}, {o.y.Y, o.y.Y_h, o.y.Y_c}, o.workspace);
}

void add_storages(lstm_sizes const& s)
{
    using operands = storage_operands;
    add_case(
        "storage" + text_of({{"T", s.T}, {"N", s.N}, {"I", s.I}, {"H", s.H}}), [=] { return operands(s); },
        std::vector<series<operands>>{{"xloom", [](operands& o) { run(o, o.packed); }},
            {"float16", [](operands& o) { run(o, o.as_float16); }},
            {"bfloat16", [](operands& o) { run(o, o.as_bfloat16); }},
            {"int8", [](operands& o) { run(o, o.as_int8); }},
            {.impl = "onnxruntime",
                .model = [](operands& o) { return lstm_model<xloom::serial_policy>(o); }}},
        1);
}

} // namespace

int main(int argc, char** argv)
{
    for (std::size_t const H : {256, 512, 1024})
        for (auto const& [T, N] : {std::pair(1, 1), std::pair(50, 1), std::pair(50, 16)})
            add_storages({static_cast<std::size_t>(T), static_cast<std::size_t>(N), H, H});
    return run_cases(argc, argv);
}
