// The calls that the layers of networks become in generated headers.

#include <string>

#include <doctest/doctest.h>

#include "code_of.hpp"

namespace compiler {
namespace {

using runner::runner_error;

TEST_CASE("pools, normalization, PRelu and OneHot are one call")
{
    CHECK(has(
        header_of(
            "g (float[1, 2, 4, 4] x) => (float[1, 2, 2, 2] y) { y = MaxPool<kernel_shape = [2, 2], strides = "
            "[2, 2], auto_pad = \"SAME_LOWER\">(x) }"),
        "xloom_onnx::max_pool_into(x, results.y, {.strides = {2, 2}, .auto_pad = "
        "xloom_onnx::auto_pad::same_lower, "
        ".kernel_shape = {2, 2}}, scratch);"));
    CHECK(has(header_of("g (float[1, 2, 4] x) => (int64[1, 2, 3] i) { y, i = MaxPool<kernel_shape = [2], "
                        "storage_order = 1>(x) }"),
        "xloom_onnx::max_pool_with_indices_into(x, largest, results.i, {.kernel_shape = {2}, .column_major = "
        "true});"));
    std::string const channels =
        header_of("g (float[1, 2, 4] x, float[2] s) => (float[1, 2, 4] y) { y = PRelu(x, s) }", {}, 6);
    CHECK(has(channels, "xloom_onnx::prelu_into(x, xloom_onnx::with_trailing_axes(s, 1), results.y);"));
    CHECK(has(header_of("g (int64[3] i, float d, float[2] v) => (float[3, N] y) { y = OneHot(i, d, v) }"),
        "xloom_onnx::one_hot_into(i, xloom_onnx::cast_item<std::int64_t>(d), v, results.y);"));
    CHECK(
        has(header_of(
                "g (float[1, 2] x, float[2] p) => (float[1, 2] y) { y = BatchNormalization(x, p, p, p, p) }"),
            "xloom_onnx::batch_normalization_into(x, p, p, p, p, results.y, {.epsilon = "));
    CHECK(
        has(header_of("g (float[1, 2] x, float[2] s) => (float[1, 1] m) { y, m = LayerNormalization(x, s) }"),
            "layer_normalization_with_moments_into(x, s, std::nullopt, unused, results.m, unused"));
    CHECK(has(header_of("g (float[1, 2] x, double[2] s) => (double[1, 2] y) { y = RMSNormalization<axis = 0, "
                        "epsilon = 0.5>(x, s) }",
                  {}, 23),
        "xloom_onnx::rms_normalization_into(x, s, results.y, {.axis = 0, .epsilon = 0.5});"));
    CHECK(has(header_of("g (string[2, 3] x) => (int64[2, N] y) { y = NonZero(x) }"),
        "xloom_onnx::nonzero_into(x, results.y);"));
    CHECK(
        has(header_of("g (float[2, 3] x, int64[1] k) => (int64[2, N] i) { y, i = TopK<largest = 0>(x, k) }"),
            "results.i, {.largest = false}, scratch);"));
    CHECK(has(header_of("g (float[2, 3] x) => (float[1, 3] y) { y, i = TopK<k = 1, axis = 0>(x) }", {}, 9),
        "xloom_onnx::top_k_into(x, 1, results.y, unused, {.axis = 0}, scratch);"));
    CHECK(has(header_of("g (float[2, 3] x) => (float[3] y) { s = Constant<value = float {2}>() "
                        "y = Einsum<equation = \"ij, -> j\">(x, s) }"),
        "xloom_onnx::einsum_into(\"ij, -> j\", std::forward_as_tuple(x, 2.0F), results.y, scratch);"));
    std::string const dropout =
        header_of("g (float[2] x, bool t) => (float[2] y, bool[2] m) { y, m = Dropout(x) }");
    CHECK(has(dropout, "xloom_onnx::map_into([](float const&) { return true; }, x, results.m);"));
    CHECK(has(header_of("g (float[2] x, float r) => (float[2] y) { y = Dropout(x, r) }"), "float /*r*/"));
    CHECK_THROWS_WITH_AS(
        header_of("g (float[2] x, float r, bool t) => (float[2] y) { y = Dropout(x, r, t) }"),
        doctest::Contains("Dropout: a training_mode that is not false is not implemented"), runner_error);
    CHECK(refusal_of("g (float[1, 2] x, float[2] s) => (float[1, 2] y) { y = LayerNormalization<stash_type = "
                     "11>(x, s) }") == "LayerNormalization with stash_type = 11 is not implemented");
    CHECK(refusal_of("g (float[1, 2] x, float[2] s) => (float[1, 2] y) { y = RMSNormalization<stash_type = "
                     "16>(x, s) }",
              23) == "RMSNormalization with stash_type = 16 is not implemented");
    CHECK_THROWS_WITH_AS(header_of("g (float[1, 2] x, float[2] p) => (float[1, 2] y) { y, m, v = "
                                   "BatchNormalization<training_mode = 1>(x, p, p, p, p) }"),
        doctest::Contains("in training (training_mode = 1) is not implemented"), runner_error);
}

TEST_CASE("weights of a product are packed where they are constant floats, else operands")
{
    std::string const constants =
        "w = Constant<value = float[2, 2] {1, 2, 3, 4}>() "
        "d = Constant<value = double[2, 2] {1, 2, 3, 4}>() "
        "i = Constant<value = int32[2, 2] {1, 2, 3, 4}>() "
        "z = Constant<value = float[2, 0] {}>() "
        "w3 = Constant<value = float[1, 2, 2] {1, 2, 3, 4}>() "
        "item = Constant<value = float {5}>() one = Constant<value = float[1] {5}>() "
        "row = Constant<value = float[2] {5, 6}>() "
        "row2 = Constant<value = float[1, 2] {5, 6}>() "
        "column = Constant<value = float[2, 1] {5, 6}>() "
        "rows = Constant<value = float[2, 2] {5, 6, 7, 8}>() ";
    struct expected {
        char const *type, *node, *part;
    };
    for (auto const& [type, node, part] : {
             expected{"float", "MatMul(x, w)", "xloom_onnx::packed_gemm<float> const y_layer{w};"},
             {"float", "MatMul(t, w) t = MatMul(x, w)", "xloom_onnx::packed_gemm<float> const y_layer{w};"},
             {"double", "MatMul(x, d)", "xloom_onnx::packed_gemm<double> const y_layer{d};"},
             {"int32", "MatMul(x, i)", "matmul_into(x, i, results.y, scratch);"},
             {"float", "MatMul(x, z)", "matmul_into(x, z, results.y, scratch);"},
             {"float", "MatMul(x, row)", "matmul_into(x, row, results.y, scratch);"},
             {"float", "MatMul(x, w3)", "matmul_into(x, w3, results.y, scratch);"},
             {"float", "Gemm<transB = 1>(x, w)",
                 "xloom_onnx::packed_gemm<float> const y_layer{w, {.transB = true}};"},
             {"float", "Gemm<alpha = 0.5, beta = 2.0>(x, w, item)",
                 "y_layer{w, 5.0F, {.alpha = 0.5, .beta = 2.0}};"},
             {"float", "Gemm<alpha = 3e38>(x, w)", "gemm_into(x, w, results.y, {.alpha = "},
             {"float", "Gemm(x, w, one)", "y_layer{w, one};"},
             {"float", "Gemm(x, w, row)", "y_layer{w, row};"},
             {"float", "Gemm<transB = 1>(x, w, row2)", "y_layer{w, row2, {.transB = true}};"},
             {"float", "Gemm(x, w, column)", "gemm_into(x, w, column, results.y, {}, scratch);"},
             {"float", "Gemm(x, w, rows)", "gemm_into(x, w, rows, results.y, {}, scratch);"},
             {"float", "Gemm(x, w, x)", "gemm_into(x, w, x, results.y, {}, scratch);"},
             {"float", "Gemm<transA = 1>(x, w)", "gemm_into(x, w, results.y, {.transA = true}, scratch);"},
         })
        check_code(
            "g (" + std::string(type) + "[2, 2] x) => (y) { " + constants + "y = " + node + " }", part);
}

TEST_CASE("convolutions and pools pass their windows")
{
    check_code({
        {11,
            "g (float[1, 2, 9] x, float[2, 1, 3] w, float[2] b) => (float[1, 2, M] y) { y = Conv<group = 2, "
            "strides = [2], dilations = [2], pads = [1, 0], kernel_shape = [3]>(x, w, b) }",
            "conv_into(x, w, b, results.y, {.strides = {2}, .dilations = {2}, .pads = {1, 0}, .kernel_shape "
            "= "
            "{3}, .group = 2"},
        {11, "g (float[1, 1, N] x, float[1, 1, 1] w) => (float[1, 1, M] y) { y = Conv(x, w) }",
            "conv_into(x, w, results.y);"},
        {11,
            "g (float[1, 1, N] x) => (float[1, 1, M] y) { w = Constant<value = float[1, 1, 1] {3}>() "
            "b = Constant<value = float[1] {4}>() y = Conv<auto_pad = \"SAME_UPPER\">(x, w, b) }",
            "packed_conv<float> const y_layer{w, b, {.auto_pad = xloom_onnx::auto_pad::same_upper}};"},
        {11,
            "g (float[1, 1, N] x, float[1] b) => (float[1, 1, M] y) { w = Constant<value = float[1, 1, 1] "
            "{3}>() y = Conv<auto_pad = \"VALID\">(x, w, b) }",
            "conv_into(x, w, b, results.y, {.auto_pad = xloom_onnx::auto_pad::valid});"},
        {11,
            "g (float[1, 1, N] x, float[1, 1, 2] w) => (float[1, 1, M] y) { y = ConvTranspose<output_padding "
            "= [1], strides = [2], auto_pad = \"NOTSET\">(x, w) }",
            "conv_transpose_into(x, w, results.y, {.strides = {2}, .output_padding = {1}});"},
        {19,
            "g (float[1, 1, 9] x) => (float[1, 1, M] y) { y = AveragePool<kernel_shape = [2], ceil_mode = 1, "
            "count_include_pad = 1>(x) }",
            "average_pool_into(x, results.y, {.kernel_shape = {2}, .ceil_mode = true, .count_include_pad = "
            "true}, scratch);"},
        {12,
            "g (float[1, 1, 9] x) => (float[1, 1, 8] y, int64[1, 1, 8] i) { y, i = MaxPool<kernel_shape = "
            "[2]>(x) }",
            "max_pool_with_indices_into(x, results.y, results.i, {.kernel_shape = {2}});"},
        {1, "g (float[1, 1, 9] x) => (float[1, 1, 1] y) { y = GlobalMaxPool(x) }",
            "global_max_pool_into(x, results.y);"},
    });
    for (char const* const node :
        {"Conv<auto_pad = \"SAME\">(x, x)", "ConvTranspose<auto_pad = \"SAME\">(x, x)",
            "MaxPool<auto_pad = \"SAME\", kernel_shape = [1]>(x)"}) {
        std::string const text = node;
        CHECK(refusal_of("g (float[1, 1, N] x) => (float[1, 1, M] y) { y = " + text + " }", 11) ==
              text.substr(0, text.find('<')) + ": its auto_pad is 'SAME'");
    }
}

TEST_CASE("quantization, MatMulInteger and ConvTranspose are one call")
{
    CHECK(has(
        header_of("g (float[2, 4] x, float[2, 2] s) => (uint8[2, 4] y) { y = QuantizeLinear<block_size = 2, "
                  "saturate = 0, precision = 1>(x, s) }",
            {}, 23),
        "xloom_onnx::quantize_linear_into(x, s, std::nullopt, results.y, {.block_size = 2, .saturate = "
        "false, "
        ".precision = xloom::element_type_of<float>});"));
    for (char const* const number : {"999", "-1", "4294967297"})
        CHECK(refusal_of("g (float[4] x, float s) => (uint8[4] y) { y = QuantizeLinear<precision = " +
                             std::string(number) + ">(x, s) }",
                  23) ==
              "QuantizeLinear: its precision is " + std::string(number) + ", which is no element type");
    CHECK(refusal_of("g (float[4] x, float s) => (uint8[4] y) { y = QuantizeLinear<precision = 11>(x, s) }",
              23) == "QuantizeLinear: its precision must be float, float16 or bfloat16, but is double");
    CHECK(
        has(header_of(
                "g (int8[4] x, float[4] s, int8[4] z) => (float[4] y) { y = DequantizeLinear<axis = 0>(x, s, "
                "z) }"),
            "xloom_onnx::dequantize_linear_into(x, s, z, results.y, {.axis = 0});"));
    CHECK(has(
        header_of("g (float[4] x) => (uint8[4] y, float s, uint8 z) { y, s, z = DynamicQuantizeLinear(x) }"),
        "xloom_onnx::dynamic_quantize_linear_into(x, results.y, results.s, results.z);"));
    CHECK(has(header_of("g (float[4] x) => (uint8[4] y, float s) { y, s, z = DynamicQuantizeLinear(x) }"),
        "xloom_onnx::dynamic_quantize_linear_into(x, results.y, results.s, unused);"));
    CHECK(has(
        header_of(
            "g (uint8[2, 3] a, int8[3, 4] b, int8 z) => (int32[2, 4] y) { y = MatMulInteger(a, b, , z) }"),
        "xloom_onnx::matmul_integer_into(a, b, std::nullopt, z, results.y, scratch);"));
    CHECK(has(header_of("g (float[1, 1, 3] x, float[1, 1, 2] w) => (float[1, 1, 5] y) { y = "
                        "ConvTranspose<strides = [2], output_shape = [5]>(x, w) }"),
        "xloom_onnx::conv_transpose_into(x, w, results.y, {.strides = {2}, .output_shape = {5}});"));
    std::string const constant = header_of(
        "g (float[1, 1, 3] x) => (float[1, 1, 4] y) { w = Constant<value = float[1, 1, 2] {1, 2}>() y = "
        "ConvTranspose(x, w) }");
    CHECK(has(constant, "xloom_onnx::packed_conv_transpose<float> const y_layer{"));
    CHECK(has(constant, "y_layer(x, results.y, scratch);"));
    CHECK_THROWS_AS(
        header_of("g (float[4] x, double s) => (uint8[4] y) { y = QuantizeLinear(x, s) }"), runner_error);
}

TEST_CASE("LinearAttention and CausalConvWithState without a state, and without what nothing reads")
{
    std::string const attention =
        header_of("g (float[1, T, 2] q, float[1, T, 2] k, float[1, T, 4] v) => (y) { y = "
                  "LinearAttention<update_rule = \"linear\", q_num_heads = 1, kv_num_heads = 1>(q, k, v) }",
            {}, 27);
    CHECK(has(attention, "xloom::linear_attention_into<float>(q, k, v, {}, {.output = results.y}, "));
    std::string const convolution =
        header_of("g (float[1, 2, T] x, float[2, 1, 3] w, float[1, 2, 2] s) => (t) { y, t = "
                  "CausalConvWithState<activation = \"silu\">(x, w, , s) }",
            {}, 27);
    CHECK(has(convolution, "{.past_state = s}, {.present_state = results.t}"));
    CHECK(has(convolution, "{.activation = xloom::conv_activation::silu}"));
    CHECK(refusal_of(
        "g (float[1, 2] x, float[2, 1, 3] w) => (float[1, 2, 3] y) { y = CausalConvWithState(x, w) }", 27)
              .ends_with("input must have rank 3, but input is float[1, 2]. Give it that rank."));
}

TEST_CASE("attributes, shapes and omitted operands of recurrent operators")
{
    std::string const weights = "float[D, M, 3] w, float[D, M, 4] r";
    auto const code = [&](std::string const& inputs, std::string const& outputs, std::string const& node,
                          std::int64_t opset = 14) {
        return header_of(
            "g (" + inputs + ") => (" + outputs + ") { " + outputs + " = " + node + " }", {}, opset);
    };
    std::string const all = code(
        "float[5, 2, 3] x, float[2, 12, 3] w, float[2, 12, 4] r, float[2, 24] b, int32[2] l", "y, h",
        "GRU<hidden_size = 4, direction = \"bidirectional\", linear_before_reset = 1, layout = 1, clip = "
        "3.0, "
        "activations = [\"Sigmoid\", \"Tanh\", \"LeakyRelu\", \"Affine\"], activation_alpha = [0.5, 2.0], "
        "activation_beta = [0.25]>(x, w, r, b, l)");
    CHECK(has(all,
        "xloom::gru_options{.direction = xloom::direction::bidirectional, .activations = {\"Sigmoid\", "
        "\"Tanh\", "
        "\"LeakyRelu\", \"Affine\"}, .activation_alpha = {0.5, 2.0}, .activation_beta = {0.25}, .clip = 3.0, "
        ".hidden_size = 4, .linear_before_reset = true, .layout = 1}"));
    CHECK(has(all, "give_shape(\"GRU\", results.y, xloom::shape{5, 2, 2, 4});"));
    CHECK(has(all, "give_shape(\"GRU\", results.h, xloom::shape{5, 2, 4});"));
    CHECK(has(all, "{.sequence_lens = l}, {.Y = results.y, .Y_h = results.h}"));
    std::string const open =
        code("float[T, N, 3] x, " + weights, "y, h", "RNN<direction = \"reverse\">(x, w, r)");
    CHECK(has(open, "xloom::rnn_options{.direction = xloom::direction::reverse}"));
    CHECK(has(open, "give_shape(\"RNN\", results.y, xloom::shape{x.shape()[0], 1, x.shape()[1], 4});"));
    CHECK(has(open, "give_shape(\"RNN\", results.h, xloom::shape{1, x.shape()[1], 4});"));
    std::string const last =
        header_of("g (float[T, N, 3] x, float[1, M, 3] w, float[1, M, H] r) => (h) { y, h, c = "
                  "LSTM<input_forget = 1>(x, w, r) }",
            {}, 14);
    CHECK(has(last, "xloom::lstm_options{.input_forget = true}"));
    CHECK(has(last, "xloom::shape{1, x.shape()[1], r.shape()[2]}"));
    CHECK(has(last, "{.Y_h = results.h}"));
    CHECK(has(header_of("g (float[T, N, 3] x, " + weights +
                            ") => (float[T, 1, N, 4] y, float[1, N, 4] h) "
                            "{ y, h = GRU<direction = \"foward\">(x, w, r) }",
                  {}, 1),
        "xloom::gru_options{}"));
    CHECK(refusal_of("g (float[T, 3] x, " + weights + ") => (float[A, B, C, E] y) { y = RNN(x, w, r) }", 14)
              .starts_with("RNN: "));
}

} // namespace
} // namespace compiler
