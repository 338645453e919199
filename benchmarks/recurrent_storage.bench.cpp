// Compares an LSTM whose weights are stored in narrow types with one of floats and with ONNX Runtime's LSTM
// and DynamicQuantizeLSTM: a step of a stream (T = 1), a sequence and a batch. Then one whose R has blocks of
// zeros, without them, with the same one of all weights.

#include "lstm_operands.hpp"

namespace {

using namespace bench;
using xloom::weight_storage;

using float_operands = lstm_operands<xloom::serial_policy>;

/// Weights as DynamicQuantizeLSTM takes them: [1, depth, 4H] of 8 bits, a scale for each column.
struct quantized_weights {
    xt::xtensor<std::int8_t, 3> items;
    xt::xtensor<float, 2> scales;
    xt::xtensor<std::int8_t, 2> zeros;

    explicit quantized_weights(cube const& from)
        : items(xt::xtensor<std::int8_t, 3>::from_shape({1, from.shape(2), from.shape(1)})),
          scales(xt::xtensor<float, 2>::from_shape({1, from.shape(1)})),
          zeros(xt::zeros<std::int8_t>({std::size_t(1), from.shape(1)}))
    {
        for (std::size_t j = 0; j < from.shape(1); ++j) {
            float largest = 0;
            for (std::size_t k = 0; k < from.shape(2); ++k)
                largest = std::max(largest, std::abs(from(0, j, k)));
            scales(0, j) = largest / 127;
            for (std::size_t k = 0; k < from.shape(2); ++k)
                items(0, k, j) = static_cast<std::int8_t>(std::nearbyint(from(0, j, k) / scales(0, j)));
        }
    }
};

struct storage_operands : float_operands {
    xloom::lstm_weights<float> as_float16, as_bfloat16, as_int8, as_dynamic_int8, as_dynamic_bfloat16;
    quantized_weights quantized_W, quantized_R;

    explicit storage_operands(cell_sizes const& s)
        : float_operands(s, xloom::serial),
          as_float16({.W = W, .R = R, .B = B}, {}, weight_storage::float16),
          as_bfloat16({.W = W, .R = R, .B = B}, {}, weight_storage::bfloat16),
          as_int8({.W = W, .R = R, .B = B}, {}, weight_storage::int8),
          as_dynamic_int8({.W = W, .R = R, .B = B}, {}, weight_storage::dynamic_int8),
          as_dynamic_bfloat16({.W = W, .R = R, .B = B}, {}, weight_storage::dynamic_bfloat16),
          quantized_W(W),
          quantized_R(R)
    {}

    /// Allows for rounded weights and states, which change a state by less than this.
    bool is_close_to(recurrent_results const& expected) const
    {
        return is_within(y.Y.storage(), expected.Y.storage(), 0.02f);
    }
};

void run(float_operands& o, xloom::lstm_weights<float> const& weights)
{
    xloom::lstm_into(o.X, weights, {}, {o.y.Y, o.y.Y_h, o.y.Y_c}, o.workspace);
}

onnx_graph quantized_model(storage_operands& o)
{
    onnx_operand const omitted{};
    return model_of({.op = "DynamicQuantizeLSTM",
                        .attributes = {{"hidden_size", static_cast<std::int64_t>(o.size.H)}},
                        .domain = "com.microsoft"},
        {bound("X", o.X), weight("W", o.quantized_W.items), weight("R", o.quantized_R.items),
            weight("B", o.B), omitted, omitted, omitted, omitted, weight("W_scale", o.quantized_W.scales),
            weight("W_zero", o.quantized_W.zeros), weight("R_scale", o.quantized_R.scales),
            weight("R_zero", o.quantized_R.zeros)},
        {bound("Y", o.y.Y), bound("Y_h", o.y.Y_h), bound("Y_c", o.y.Y_c)});
}

/// How far the states are from those of float weights. ONNX Runtime's sums of 8-bit products saturate on
/// processors without VNNI, so that it is far off at times.
benchmark::UserCounters largest_error(storage_operands& o, std::function<void()> const& compute)
{
    run(o, o.packed);
    auto const expected = o.y.Y;
    compute();
    float largest = 0;
    for (std::size_t i = 0; i < expected.size(); ++i)
        largest = std::max(largest, std::abs(o.y.Y.flat(i) - expected.flat(i)));
    return {{"largest_error", double(largest)}};
}

void add_storages(cell_sizes const& s)
{
    using operands = storage_operands;
    add_case(
        "storage" + text_of(s), [=] { return operands(s); },
        std::vector<series<operands>>{{"xloom", [](operands& o) { run(o, o.packed); }},
            {"float16", [](operands& o) { run(o, o.as_float16); }},
            {"bfloat16", [](operands& o) { run(o, o.as_bfloat16); }},
            {"int8", [](operands& o) { run(o, o.as_int8); }},
            {"dynamic_int8", [](operands& o) { run(o, o.as_dynamic_int8); }},
            {"dynamic_bfloat16", [](operands& o) { run(o, o.as_dynamic_bfloat16); }},
            {.impl = "onnxruntime", .model = [](operands& o) { return lstm_model<xloom::serial_policy>(o); }},
            {.impl = "quantized_onnxruntime", .model = quantized_model, .count_errors = largest_error}},
        1);
}

/// R has zeros in blocks of 8 outputs and 4 units, but in `density` of them.
struct sparse_operands : float_operands {
    xloom::lstm_weights<float> dense, dense_int8, blocks, int8_blocks;

    sparse_operands(cell_sizes const& s, double density)
        : float_operands(s, xloom::serial),
          dense((remove_blocks(density), constants())),
          dense_int8(constants(), {}, weight_storage::int8),
          blocks(constants(), {}, weight_storage::block_sparse),
          int8_blocks(constants(), {}, weight_storage::block_sparse_int8)
    {}

    xloom::lstm_constants<float> constants() const { return {.W = W, .R = R, .B = B}; }

    bool is_close_to(recurrent_results const& expected) const
    {
        return is_within(y.Y.storage(), expected.Y.storage(), 0.02f);
    }

private:
    void remove_blocks(double density)
    {
        std::mt19937 random(1);
        std::uniform_real_distribution<double> draw(0, 1);
        for (std::size_t row = 0; row < R.shape(1); row += 8)
            for (std::size_t column = 0; column < R.shape(2); column += 4)
                if (draw(random) >= density)
                    for (std::size_t i = row; i < row + 8; ++i)
                        std::fill_n(&R(0, i, column), 4, 0.0f);
    }
};

void add_blocks(cell_sizes const& s, int percent)
{
    using operands = sparse_operands;
    add_case(
        "blocks/density:" + std::to_string(percent) + text_of(s),
        [=] { return operands(s, percent / 100.0); },
        std::vector<series<operands>>{{"xloom", [](operands& o) { run(o, o.blocks); }},
            {"all", [](operands& o) { run(o, o.dense); }},
            {"int8", [](operands& o) { run(o, o.int8_blocks); }},
            {"all_int8", [](operands& o) { run(o, o.dense_int8); }}},
        1);
}

} // namespace

int main(int argc, char** argv)
{
    for (std::size_t const H : {256, 512, 1024})
        for (auto const& [T, N] : {std::pair(1, 1), std::pair(50, 1), std::pair(50, 16)})
            add_storages({static_cast<std::size_t>(T), static_cast<std::size_t>(N), H, H});
    for (std::size_t const H : {256, 512})
        for (std::size_t const N : {1, 16})
            for (int const percent : {20, 30, 50, 80, 90})
                add_blocks({50, N, 64, H}, percent);
    return run_cases(argc, argv);
}
