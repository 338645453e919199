// DynamicQuantizeLSTM: the results of the textbook's LSTM with dequantized weights, and X in 8 bits.

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/larger_error.hpp"
#include "support/textbook_cells.hpp"
#include "support/textbook_quantized.hpp"
#include "text_model.hpp"

namespace {

using namespace runner;

/// A model of one node whose weights are inputs, as tensors [D, I, 4H] and [D, H, 4H] of 8 bits.
template <class T>
struct quantized_lstm {
    std::size_t T_ = 1, N = 2, I = 4, H = 3, D = 1;
    bool has_scale_for_each_column = false;
    int zero_W = 0, zero_R = 0;

    std::string text() const
    {
        std::string const type = std::is_signed_v<T> ? "int8" : "uint8",
                          scale = has_scale_for_each_column ? "D, G" : "D";
        return fmt::format(
            "g (float[T, N, I] X, {0}[D, I, G] W, {0}[D, H, G] R, float[{1}] ws, {0}[{1}] wz, "
            "float[{1}] rs, {0}[{1}] rz) => (float[] Y, float[] Y_h, float[] Y_c) {{ Y, Y_h, Y_c = "
            "com.microsoft.DynamicQuantizeLSTM<hidden_size = {2}, direction = \"{3}\">"
            "(X, W, R, , , , , , ws, wz, rs, rz) }}",
            type, scale, H, D == 2 ? "bidirectional" : "reverse");
    }

    /// With one step the results are those of operands that are rounded to 8 bits: h is zero. With more, they
    /// are close to those of operands that are not rounded.
    void check() const
    {
        bool const is_rounded = T_ == 1;
        std::mt19937 random(5);
        auto const bytes = [&](std::size_t count) {
            std::vector<T> items(count);
            for (T& item : items)
                item = static_cast<T>(random());
            return items;
        };
        auto const floats = [&](std::size_t count, float largest) {
            std::vector<float> items(count);
            for (float& item : items)
                item = largest * (static_cast<float>(random() % 1000 + 1) / 1000);
            return items;
        };
        std::size_t const G = 4 * H, scales = has_scale_for_each_column ? D * G : D;
        auto const X = floats(T_ * N * I, 1), ws = floats(scales, 0.01f), rs = floats(scales, 0.01f);
        auto const W = bytes(D * I * G), R = bytes(D * H * G);
        std::vector<T> const wz(scales, static_cast<T>(zero_W)), rz(scales, static_cast<T>(zero_R));

        auto const real = [&](std::vector<T> const& from, std::size_t depth, std::vector<float> const& scale,
                              int zero) {
            textbook::array<float> to{{D, G, depth}, std::vector<float>(D * G * depth)};
            for (std::size_t d = 0; d < D; ++d)
                for (std::size_t i = 0; i < depth; ++i)
                    for (std::size_t g = 0; g < G; ++g)
                        to.items[(d * G + g) * depth + i] =
                            static_cast<float>(from[(d * depth + i) * G + g] - zero) *
                            scale[has_scale_for_each_column ? d * G + g : d];
            if (is_rounded)
                textbook::round_rows_to_8_bits(to.items, depth);
            return to;
        };
        textbook::lstm_options options;
        options.direction = D == 2 ? "bidirectional" : "reverse";
        auto rounded_X = X;
        if (is_rounded)
            textbook::round_rows_to_8_bits(rounded_X, I);
        auto const expected = textbook::lstm(textbook::lstm_operands<float>{{{T_, N, I}, rounded_X},
                                                 real(W, I, ws, zero_W), real(R, H, rs, zero_R)},
            options);

        xloom::shape const scale_dims = has_scale_for_each_column ? xloom::shape{D, G} : xloom::shape{D};
        auto const results = model(model_of(text()))
                                 .run({tensor::of<float>({T_, N, I}, X), tensor::of<T>({D, I, G}, W),
                                     tensor::of<T>({D, H, G}, R), tensor::of<float>(scale_dims, ws),
                                     tensor::of<T>(scale_dims, wz), tensor::of<float>(scale_dims, rs),
                                     tensor::of<T>(scale_dims, rz)});
        REQUIRE(results.size() == 3);
        double const most = is_rounded ? 1e-6 : 0.01;
        CHECK(largest_error(results[0], expected.Y) < most);
        CHECK(largest_error(results[1], expected.Y_h) < most);
        CHECK(largest_error(results[2], expected.Y_c) < most);
        if (!is_rounded)
            CHECK(largest_error(results[0], expected.Y) > 1e-5);
    }

    static onnx::ModelProto model_of(std::string const& text)
    {
        onnx::ModelProto proto = runner::model_of(graph_of(text), 13);
        auto& import = *proto.add_opset_import();
        import.set_domain("com.microsoft");
        import.set_version(1);
        return proto;
    }

    static double largest_error(value const& found, textbook::array<double> const& expected)
    {
        auto const items = found.as_tensor().items<float>();
        REQUIRE(items.size() == expected.items.size());
        double largest = 0;
        for (std::size_t i = 0; i < items.size(); ++i)
            largest = larger_error(largest, std::fabs(static_cast<double>(items[i]) - expected.items[i]));
        return largest;
    }
};

std::string error_of_text(std::string const& text)
try {
    model(quantized_lstm<std::int8_t>::model_of(text));
    return "none";
} catch (runner_error const& error) {
    return error.what();
}

} // namespace

TEST_CASE("DynamicQuantizeLSTM: int8 and uint8, a scale for each direction or each column, zero points")
{
    for (std::size_t const T : {1u, 3u}) {
        quantized_lstm<std::int8_t>{.T_ = T}.check();
        quantized_lstm<std::int8_t>{.T_ = T, .D = 2, .has_scale_for_each_column = true}.check();
        quantized_lstm<std::uint8_t>{.T_ = T, .zero_W = 128, .zero_R = 131}.check();
        quantized_lstm<std::uint8_t>{
            .T_ = T, .D = 2, .has_scale_for_each_column = true, .zero_W = 1, .zero_R = 255}
            .check();
    }
}

TEST_CASE("DynamicQuantizeLSTM in a body, beside names that its parts would have")
{
    // Then and else are the same.
    std::string const node =
        "com.microsoft.DynamicQuantizeLSTM<hidden_size = 1>(X, W, R, , , , , , s, z, s, z)";
    std::string const text =
        "g (bool b, float[1, 1, 1] X, int8[1, 1, 4] W, int8[1, 1, 4] R, float[1] s, int8[1] z, float[1] "
        "W_Cast) => "
        "(float[] y, float[] W_Cast_Sub) { y = If<then_branch = t () => (float[] p) { p = " +
        node + " }, else_branch = e () => (float[] q) { q = " + node +
        " }>(b) W_Cast_Sub = Identity(W_Cast) }";
    auto const four = tensor::of<std::int8_t>({1, 1, 4}, std::vector<std::int8_t>{50, 50, 50, 50});
    auto const results = model(quantized_lstm<std::int8_t>::model_of(text))
                             .run({tensor::scalar(true), tensor::of<float>({1, 1, 1}, std::vector{1.0f}),
                                 four, four, tensor::of<float>({1}, std::vector{0.01f}),
                                 tensor::of<std::int8_t>({1}, std::vector<std::int8_t>{0}),
                                 tensor::of<float>({1}, std::vector{7.0f})});
    double const gate = 1 / (1 + std::exp(-0.5)), c = gate * std::tanh(0.5);
    CHECK(results[0].as_tensor().items<float>()[0] == doctest::Approx(gate * std::tanh(c)));
    CHECK(results[1].as_tensor().items<float>()[0] == 7);
}

TEST_CASE("DynamicQuantizeLSTM: a model's functions hide it, but none of its parts; any opset")
{
    auto const items = tensor::of<std::int8_t>({1, 1, 4}, std::vector<std::int8_t>{1, 1, 1, 1});
    auto const run = [&](std::string const& function, std::string const& domain, std::int64_t opset) {
        onnx::ModelProto proto = quantized_lstm<std::int8_t>::model_of(
            "g (float[1, 1, 1] X, int8[1, 1, 4] W, float[1] s, int8[1] z) => (float[] y) { "
            "y = com.microsoft.DynamicQuantizeLSTM<hidden_size = 1>(X, W, W, , , , , , s, z, s, z) }");
        proto.mutable_opset_import(0)->set_version(opset);
        auto const status = onnx::OnnxParser::Parse(*proto.add_functions(),
            ("<domain: \"" + domain + "\", opset_import: [\"\" : 13]> " + function).c_str());
        REQUIRE_MESSAGE(status.IsOK(), status.ErrorMessage());
        auto const results = model(proto).run({tensor::of<float>({1, 1, 1}, std::vector{1.0f}), items,
            tensor::of<float>({1}, std::vector{0.1f}),
            tensor::of<std::int8_t>({1}, std::vector<std::int8_t>{0})});
        return results[0].as_tensor().items<float>()[0];
    };
    double const gate = 1 / (1 + std::exp(-0.1)), expected = gate * std::tanh(gate * std::tanh(0.1));
    for (std::int64_t const opset : {6, 13})
        CHECK(run("Mul (a, b) => (c) { c = Add(a, b) }", "", opset) == doctest::Approx(expected));
    CHECK(run("DynamicQuantizeLSTM <hidden_size> (X, W, R, B, l, h, c, P, ws, wz, rs, rz) => (Y) { Y = "
              "Neg(X) }",
              "com.microsoft", 13) == -1);
}

TEST_CASE("DynamicQuantizeLSTM: what is wrong with a node")
{
    std::string text = quantized_lstm<std::int8_t>{}.text();
    auto const with = [&](std::string const& old, std::string const& replacement) {
        std::string changed = text;
        return changed.replace(changed.find(old), old.size(), replacement);
    };
    CHECK(error_of_text(text) == "none");
    CHECK(error_of_text(with("int8[D, I, G] W", "float[D, I, G] W")) ==
          "DynamicQuantizeLSTM: its input 'W' must be int8 or uint8");
    CHECK(error_of_text(with(", ws, wz, rs, rz)", ", ws, wz, rs)")) ==
          "DynamicQuantizeLSTM: it takes 12 inputs at opset 1, but has 11");
    CHECK(error_of_text(with("hidden_size = 3", "layout = 0"))
              .starts_with("DynamicQuantizeLSTM: it has no attribute 'layout' at opset 1"));
}
