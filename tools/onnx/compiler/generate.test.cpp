// The text of generated headers.

#include <string>

#include <doctest/doctest.h>

#include "custom_operators.hpp"
#include "generate.hpp"
#include "node.hpp"
#include "text_model.hpp"

namespace {

std::string header_of(std::string const& graph, compiler::options chosen = {}, std::int64_t opset = 18)
{
    chosen.name = "tested";
    onnx::ModelProto model = runner::model_of(runner::graph_of(graph), opset);
    for (auto& node : *model.mutable_graph()->mutable_node())
        if (node.input_size() != 0 && node.input(0) == "omitted") // the text form cannot omit the first one
            node.set_input(0, "");
    auto& microsofts = *model.add_opset_import();
    microsofts.set_domain("com.microsoft");
    microsofts.set_version(1);
    return compiler::generate(model, chosen).header;
}

bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

TEST_CASE("a chain of elementwise nodes is one loop")
{
    std::string const text = header_of(
        "g (float[2, 3] x, float[3] b) => (float[2, 3] y) { s = Add(x, b) t = Tanh(s) y = Mul(t, x) }");
    CHECK(has(text, "[](auto x_i, auto b_i) { return xloom_onnx::tanh((x_i + b_i)) * x_i; }"));
    CHECK(has(text, "x, b, results.y);"));
}

TEST_CASE("what is broadcast is computed before, where a dimension says so")
{
    for (char const* const dims : {"float[2, 3]", "float[2, N]"}) {
        std::string const text = header_of("g (" + std::string(dims) + " x, float[2, 1] s) => (" + dims +
                                           " y) { e = Exp(s) y = Mul(x, e) }");
        CHECK(has(text, "xloom_onnx::map_into([](auto s_i) { return xloom_onnx::exp(s_i); }, s, e);"));
        CHECK(has(text, "[](auto x_i, auto e_i) { return x_i * e_i; }"));
    }
    CHECK(has(header_of("g (float[2, N] x, float[2, N] s) => (float[2, N] y) { e = Exp(s) y = Mul(x, e) }"),
        "return x_i * xloom_onnx::exp(s_i);"));
}

TEST_CASE("the product of a column and a row is elementwise")
{
    std::string const text = header_of("g (float[4, M, 1] k, float[4, 1, N] v, float[4, M, N] s) => "
                                       "(float[4, M, N] y) { u = MatMul(k, v) y = Add(s, u) }");
    CHECK(has(text, "[](auto s_i, auto k_i, auto v_i) { return s_i + (k_i * v_i); }"));
    CHECK_FALSE(has(text, "matmul"));
    CHECK(
        has(header_of("g (float[1] k, float[1, 3] v) => (float[3] y) { y = MatMul(k, v) }"), "matmul_into"));
}

TEST_CASE("the next value of a state takes its memory where nothing else needs that")
{
    auto const scan_of = [](std::string const& state, std::string const& body) {
        return header_of("g (" + state + " s, float[T, 2] x) => (" + state +
                             " y) { y = Scan<num_scan_inputs = 1, body = b (" + state +
                             " h, float[2] e) => (" + state + " n) { " + body + " }>(s, x) }",
            {}, 27);
    };
    for (char const* const state : {"float[2]", "float[N]"})
        CHECK(has(scan_of(state, "n = Tanh(h)"), "{ return xloom_onnx::tanh(h_i); }, h, h);"));
    CHECK_FALSE(has(scan_of("float[2]", "n = Tanh(h)"), "std::swap"));
    CHECK(has(scan_of("float[2]", "a = Tanh(h) k = Add(a, e) n = Mul(k, h)"), ", h);"));
    // A shape that may be another; a reader of a view.
    CHECK(has(scan_of("float[N]", "n = Add(h, e)"), "std::swap(h, n);"));
    CHECK(has(scan_of("float[2, 2]", "z = Constant<value_ints = [0]>() o = Constant<value_ints = [1]>() "
                                     "v = Slice(h, z, o) n = Add(h, v)"),
        "std::swap(h, n);"));
    CHECK(
        has(scan_of("float[1, 1, 2, 2]",
                "d = Constant<value_ints = [1, 1, 2]>() q = Reshape(e, d) a, n = LinearAttention<update_rule "
                "= \"linear\", q_num_heads = 1, kv_num_heads = 1>(q, q, q, h)"),
            ".past_state = h}, {.present_state = h}"));
    CHECK(has(scan_of("float[1, 4, 2]",
                  "d = Constant<value_ints = [1, 1, 2]>() q = Reshape(e, d) n = TensorScatter(h, q)"),
        "tensor_scatter_into(h, q, h);"));
}

TEST_CASE("Gelu and Swish are functions of items")
{
    CHECK(has(header_of("g (float[2] x) => (float[2] y) { y = Gelu(x) }", {}, 20), "xloom_onnx::gelu(x_i)"));
    CHECK(has(header_of("g (float[2] x) => (float[2] y) { y = Gelu<approximate = \"tanh\">(x) }", {}, 20),
        "xloom_onnx::gelu_tanh(x_i)"));
    CHECK(has(header_of("g (float[2] x) => (float[2] y) { y = Swish<alpha = 0.5>(x) }", {}, 24),
        "xloom_onnx::swish(0.5)(x_i)"));
    CHECK_THROWS_WITH_AS(
        header_of("g (float[2] x) => (float[2] y) { y = Gelu<approximate = \"erf\">(x) }", {}, 20),
        doctest::Contains("approximate is none or tanh, but is"), runner::runner_error);
}

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
    CHECK_THROWS_WITH_AS(
        header_of("g (float[2] x, float r, bool t) => (float[2] y) { y = Dropout(x, r, t) }"),
        doctest::Contains("training_mode that is not false is not implemented"), runner::runner_error);
    CHECK_THROWS_WITH_AS(header_of("g (float[1, 2] x, float[2] p) => (float[1, 2] y) { y, m, v = "
                                   "BatchNormalization<training_mode = 1>(x, p, p, p, p) }"),
        doctest::Contains("in training (training_mode = 1) is not implemented"), runner::runner_error);
}

/// The opset and text of a graph, and a part of the code that is made of it.
struct expected_code {
    std::int64_t opset;
    char const* graph;
    char const* part;
};

void check_code(std::initializer_list<expected_code> all)
{
    for (expected_code const& each : all) {
        CAPTURE(each.graph);
        std::string const text = header_of(each.graph, {}, each.opset);
        CHECK_MESSAGE(has(text, each.part), text);
    }
}

/// Returns the error of a graph; an empty text if there is none.
std::string refusal_of(std::string const& graph, std::int64_t opset)
try {
    header_of(graph, {}, opset);
    return "";
} catch (runner::runner_error const& refused) {
    return refused.what();
}

TEST_CASE("Shape, Trilu and Tile pass what their version has")
{
    check_code({
        {14, "g (float[2, N] x) => (int64[2] y) { y = Shape(x) }", "shape_into(x, results.y);"},
        {15, "g (float[2, N] x) => (int64[1] y) { y = Shape<start = 1>(x) }",
            "shape_into(x, results.y, {.start = 1});"},
        {15, "g (float[N, 2] x) => (int64[1] y) { y = Shape<end = -1>(x) }",
            "shape_into(x, results.y, {.end = -1});"},
        {14, "g (float[2, 3] x) => (float[2, 3] y) { y = Trilu(x) }", "trilu_into(x, 0, results.y);"},
        {14, "g (float[2, 3] x, int64 k) => (float[2, 3] y) { y = Trilu<upper = 0>(x, k) }",
            "trilu_into(x, k, results.y, {.upper = false});"},
        {14, "g (float[2, 3] x, int64[1] k) => (float[2, 3] y) { y = Trilu(x, k) }",
            "trilu_into(x, xloom_onnx::only_item(k), results.y);"},
        {5,
            "g (float[2, 3] x) => (float[2, 6] y) { n = Constant<value = float {2}>() "
            "a = Constant<value = float {-1}>() y = Tile(x, n, a) }",
            "tile_into(x, {1, 2}, results.y);"},
        {6, "g (float[2, 3] x, int64[2] n) => (float[N, M] y) { y = Tile(x, n) }",
            "tile_into(x, n, results.y);"},
    });
    for (char const* const copies : {"n", "two", "c"})
        CHECK(refusal_of("g (float[2, 3] x, float n) => (float[N, M] y) { two = Constant<value = float[2] "
                         "{1, 2}>() c = Constant<value = float {1}>() y = Tile(x, " +
                             std::string(copies) + ", n) }",
                  5) == "operator Tile before opset 6 is not implemented for values that only a run knows");
    CHECK(refusal_of(
              "g (float[2, 3] x) => (float[N, M] y) { n = Constant<value = float {2}>() y = Tile(x, n, n) }",
              5) == "Tile: the axis 2 is none of a tensor of rank 2");
}

TEST_CASE("Concat, Split, Pad, ReverseSequence and ConstantOfShape pass what their version has")
{
    check_code({
        {3, "g (float[2, 3] x) => (float[2, 6] y) { y = Concat(x, x) }",
            "concat_into(std::tie(x, x), results.y, {.axis = 1});"},
        {4, "g (float[2, 3] x) => (float[4, 3] y) { y = Concat<axis = 0>(x, x) }",
            "concat_into(std::tie(x, x), results.y);"},
        {2, "g (float[4, 3] x) => (float[2, 3] y, float[2, 3] z) { y, z = Split(x) }",
            "split_into(x, std::tie(results.y, results.z), {.uneven = false});"},
        {11,
            "g (float[2, 3] x) => (float[2, 1] y, float[2, 2] z) { y, z = Split<axis = 1, split = [1, 2]>(x) "
            "}",
            "split_into(x, std::tie(results.y, results.z), {.axis = 1, .split = {1, 2}});"},
        {13, "g (float[4, 3] x, int64[2] n) => (float[N, 3] z) { y, z = Split(x, n) }",
            "split_into(x, std::tie(part, results.z), {.split = n});"},
        {18, "g (float[3, 3] x) => (float[2, 3] y, float[1, 3] z) { y, z = Split<num_outputs = 2>(x) }",
            "split_into(x, std::tie(results.y, results.z));"},
        {1, "g (float[3] x) => (float[4] y) { y = Pad<paddings = [1, 0], value = 7.0>(x) }",
            "pad_into(x, static_cast<float>(7.0F), results.y, {.pads = {1, 0}});"},
        {2, "g (double[3] x) => (double[4] y) { y = Pad<pads = [1, 0], mode = \"edge\">(x) }",
            "pad_into(x, results.y, {.pads = {1, 0}, .mode = xloom_onnx::pad_mode::edge});"},
        {11, "g (float[3] x, int64[2] p, float v) => (float[N] y) { y = Pad<mode = \"constant\">(x, p, v) }",
            "pad_into(x, v, results.y, {.pads = p});"},
        {18,
            "g (float[2, 3] x, int64[2] p, int64[1] a) => (float[N, M] y) { y = Pad<mode = \"reflect\">(x, "
            "p, , a) }",
            "pad_into(x, results.y, {.pads = p, .axes = a, .has_axes = true, .mode = "
            "xloom_onnx::pad_mode::reflect});"},
        {19, "g (float[3] x, int64[2] p) => (float[N] y) { y = Pad<mode = \"wrap\">(x, p) }",
            ".mode = xloom_onnx::pad_mode::wrap});"},
        {10,
            "g (float[2, 3] x, int64[2] l) => (float[2, 3] y) { y = ReverseSequence<time_axis = 1, "
            "batch_axis = 0>(x, l) }",
            "reverse_sequence_into(x, l, results.y, {.time_axis = 1, .batch_axis = 0});"},
        {10, "g (float[2, 3] x, int64[3] l) => (float[2, 3] y) { y = ReverseSequence(x, l) }",
            "reverse_sequence_into(x, l, results.y);"},
        {9, "g (int64[1] n) => (float[N] y) { y = ConstantOfShape(n) }",
            "constant_of_shape_into(n, 0.0F, results.y);"},
        {9, "g (int64[1] n) => (bool[N] y) { y = ConstantOfShape<value = bool[1] {1}>(n) }",
            "constant_of_shape_into(n, true, results.y);"},
        {9, "g (int64[1] n) => (double[N] y) { y = ConstantOfShape<value = double[1] {2}>(n) }",
            "constant_of_shape_into(n, 2.0, results.y);"},
        {9, "g (int64[1] n) => (int8[N] y) { y = ConstantOfShape<value = int8[1] {-3}>(n) }",
            "constant_of_shape_into(n, std::int8_t(-3), results.y);"},
        {9, "g (int64[1] n) => (string[N] y) { y = ConstantOfShape<value = string[1] {\"a\"}>(n) }",
            "constant_of_shape_into(n, std::string(\"a\"), results.y);"},
    });
    struct refused {
        std::int64_t opset;
        char const *node, *why;
    };
    for (auto const& [opset, node, why] : {
             refused{18, "y, z = Split<num_outputs = 3>(x)", "Split: num_outputs is 3, but it has 2 outputs"},
             {18, "y = Pad<mode = \"wrap\">(x, n)", "Pad: its mode is 'wrap'"},
             {18, "y = Pad<mode = \"odd\">(x, n)", "Pad: its mode is 'odd'"},
             {9, "y = ConstantOfShape<value = float[2] {1, 2}>(n)",
                 "ConstantOfShape: its value has 2 items instead of 1"},
         })
        CHECK(refusal_of("g (float[4] x, int64[2] n) => (y) { " + std::string(node) + " }", opset) == why);
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
             {"float", "Gemm(x, w, one)", "y_layer{w, one};"},
             {"float", "Gemm(x, w, row)", "y_layer{w, row};"},
             {"float", "Gemm<transB = 1>(x, w, row2)", "y_layer{w, row2, {.transB = true}};"},
             {"float", "Gemm(x, w, column)", "gemm_into(x, w, column, results.y, {}, scratch);"},
             {"float", "Gemm(x, w, rows)", "gemm_into(x, w, rows, results.y, {}, scratch);"},
             {"float", "Gemm(x, w, x)", "gemm_into(x, w, x, results.y, {}, scratch);"},
             {"float", "Gemm<transA = 1>(x, w)", "gemm_into(x, w, results.y, {.transA = true}, scratch);"},
         }) {
        std::string const text =
            header_of("g (" + std::string(type) + "[2, 2] x) => (y) { " + constants + "y = " + node + " }");
        CHECK_MESSAGE(has(text, part), text);
    }
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

TEST_CASE("sequences and optionals: what is given and what is not")
{
    auto const code = [](std::string const& inputs, std::string const& nodes) {
        return header_of("g (" + inputs + ") => (y) { " + nodes + " }");
    };
    struct expected {
        char const *inputs, *nodes, *part;
    };
    for (auto const& [inputs, nodes, part] :
        {
            expected{"float[N] x, int64 i", "s = SequenceConstruct(x, x) y = SequenceInsert(s, x, i)",
                "sequence_insert(results.y, xt::xtensor<float, 1>(x), i);"},
            {"float[N] x", "s = SequenceConstruct(x, x) y = SequenceInsert(s, x)",
                "sequence_insert(results.y, xt::xtensor<float, 1>(x));"},
            {"float[N] x, int64[1] i", "s = SequenceConstruct(x, x) y = SequenceErase(s, i)",
                "sequence_erase(results.y, xloom_onnx::only_item(i));"},
            {"float[N] x", "s = SequenceConstruct(x, x) y = SequenceErase(s)", "sequence_erase(results.y);"},
            {"float[N] x", "s = SequenceConstruct(x, x) y = SequenceLength(s)",
                "results.y = static_cast<std::int64_t>(s.size());"},
            {"float[N] x", "s = SequenceConstruct(x, x) y = ConcatFromSequence<axis = -1, new_axis = 1>(s)",
                "concat_from_sequence_into(s, results.y, {.axis = -1, .new_axis = true});"},
            {"float[N, 2] x", "y = SplitToSequence(x)", "split_to_sequence_into(x, results.y, {.axis = 0});"},
            {"float[2, N] x", "y = SplitToSequence<axis = 1, keepdims = 0>(x)",
                "split_to_sequence_into(x, results.y, {.axis = 1, .keepdims = false});"},
            {"float[N, 2] x, int64[2] l", "y = SplitToSequence<keepdims = 0>(x, l)",
                "split_to_sequence_into(x, l, results.y, {.axis = 0});"},
            {"float[N, 2] x, int64 l", "y = SplitToSequence(x, l)",
                "split_to_sequence_into(x, std::int64_t{l}, results.y, {.axis = 0});"},
            {"float[N] x", "o = Optional(x) y = OptionalHasElement(o)", "results.y = o.has_value();"},
            {"float[N] x", "y = OptionalHasElement(x)", "results.y = true;"},
            {"float[N] x", "y = OptionalHasElement(omitted)", "results.y = false;"},
            {"float[N] x", "o = Optional(x) y = OptionalGetElement(o)",
                "xt::noalias(results.y) = xloom_onnx::optional_get_element(o);"},
            {"float[N] x", "y = OptionalGetElement(x)", "xt::noalias(results.y) = x;"},
        }) {
        std::string const text = code(inputs, nodes);
        CHECK_MESSAGE(has(text, part), text);
    }
}

TEST_CASE("SequenceMap of two sequences, of whose outputs one is read")
{
    std::string const text = header_of(
        "g (float[N] x) => (y) { s = SequenceConstruct(x, x) t = SequenceConstruct(x, x) y, z = "
        "SequenceMap(s, t)"
        "<body = b (float[N] p, float[N] q) => (float[N] u, float[N] v) { u = Add(p, q) v = Exp(p) }> }");
    CHECK(has(text, "xloom_onnx::require_length(t, s.size());"));
    CHECK(has(text, "results.y.resize(s.size());"));
    CHECK(has(text, "s[position], t[position], "));
    CHECK_FALSE(has(text, "exp("));
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
    CHECK(
        has(header_of(
                "g (int8[4] x, float[4] s, int8[4] z) => (float[4] y) { y = DequantizeLinear<axis = 0>(x, s, "
                "z) }"),
            "xloom_onnx::dequantize_linear_into(x, s, z, results.y, {.axis = 0});"));
    CHECK(has(
        header_of("g (float[4] x) => (uint8[4] y, float s, uint8 z) { y, s, z = DynamicQuantizeLinear(x) }"),
        "xloom_onnx::dynamic_quantize_linear_into(x, results.y, results.s, results.z);"));
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
    CHECK_THROWS_AS(header_of("g (float[4] x, double s) => (uint8[4] y) { y = QuantizeLinear(x, s) }"),
        runner::runner_error);
}

TEST_CASE("a value that is used twice is stored")
{
    std::string const text = header_of(
        "g (float[2] x) => (float[2] y) { s = Exp(x) t = ReduceSum<keepdims = 0>(s) y = Div(s, t) }");
    CHECK(has(text, "xt::xtensor<float, 1> s{};"));
}

TEST_CASE("memory serves another value once its own is used")
{
    std::string const text =
        header_of("g (float[2, 2] x) => (float[2, 2] y) { a = Transpose(x) b = Transpose(a) "
                  "c = Transpose(b) y = Transpose(c) }");
    CHECK(has(text, "auto& c = a;"));
}

TEST_CASE("the same model gives the same text")
{
    std::string const graph = "g (float[2, 3] x) => (float[2, 3] y) { s = Softmax(x) y = Tanh(s) }";
    CHECK(header_of(graph) == header_of(graph));
}

TEST_CASE("nodes whose results are not used are omitted")
{
    CHECK_FALSE(has(header_of("g (float[2] x) => (float[2] y) { z = Exp(x) y = Tanh(x) }"), "exp"));
}

TEST_CASE("element types that differ where ONNX has one are refused")
{
    CHECK_THROWS_WITH_AS(header_of("g (float[2] x, double[2] z) => (float[2] y) { y = Add(x, z) }"),
        doctest::Contains("'z' must be float, as 'x', but it is double"), runner::runner_error);
    CHECK_THROWS_WITH_AS(
        header_of("g (float[1, 1, 1] x, float[1, 4, 1] w, double[1, 1, 1] c) => (float[1, 1, 1, 1] y) "
                  "{ y, h, c2 = LSTM<hidden_size = 1>(x, w, w, , , , c) }"),
        doctest::Contains("'c' must be float, as 'x', but it is double"), runner::runner_error);
    CHECK_THROWS_WITH_AS(
        header_of("g (int64 n, int64 go, float[2] x) => (float[2] y) { y = Loop(n, go, x) <body = b "
                  "(int64 i, bool c, float[2] v) => (bool d, float[2] w) { d = Identity(c) w = Exp(v) }> }"),
        doctest::Contains("'go' must be tensor(bool), but it is int64"), runner::runner_error);
    CHECK_THROWS_WITH_AS(
        header_of("g (int64 n, bool go, float[2] x) => (float[2] y) { y = Loop(n, go, x) <body = b "
                  "(int64 i, bool c, float[2] v) => (int64 d, float[2] w) { d = Identity(i) w = Exp(v) }> }"),
        doctest::Contains("must be bool, as the condition of the next iteration, but it is int64"),
        runner::runner_error);
}

TEST_CASE("sequences, tensors, indices and lengths are refused in place of each other")
{
    auto const error = [](std::string const& node) {
        try {
            return header_of("g (float[4, 2] x, float[2] f, int64[2] i, int32 one, float[3, 2, 4] X, "
                             "float[1, 20, 4] W, float[1, 20, 5] R, float z) => (y) { y = " +
                             node + " }");
        } catch (runner::runner_error const& refused) {
            return std::string(refused.what());
        }
    };
    CHECK(error("Slice(x, f, i)") == "Slice: 'f' must be tensor(int32) or tensor(int64), but it is float");
    CHECK(error("Slice(x, i, f)") == "Slice: 'f' must be tensor(int32) or tensor(int64), but it is float");
    CHECK(error("Gather(x, f)") == "Gather: 'f' must be tensor(int32) or tensor(int64), but it is float");
    CHECK(
        error("com.microsoft.GatherND(x, x)") == "GatherND: a tensor of int64 is needed, but it holds float");
    CHECK(error("CumSum(x, z)") == "CumSum: 'z' must be tensor(int32) or tensor(int64), but it is float");
    CHECK(error("SequenceLength(x)") == "SequenceLength: 'x' must be a sequence, but it is float");
    CHECK(error("SequenceAt(x, one)") == "SequenceAt: 'x' must be a sequence, but it is float");
    CHECK(error("SequenceErase(x)") == "SequenceErase: 'x' must be a sequence, but it is float");
    CHECK(error("ConcatFromSequence<axis = 0>(x)") ==
          "ConcatFromSequence: 'x' must be a sequence, but it is float");
    for (std::string const name : {"LSTM", "com.microsoft.AttnLSTM"}) {
        std::string const plain = name.substr(name.find_last_of('.') + 1);
        CHECK(error(name + "<hidden_size = 5>(X, W, R, , one)") ==
              plain + ": its sequence_lens must be a tensor, but is a scalar");
        CHECK(error(name + "<hidden_size = 5>(X, W, R, , f)")
                  .starts_with(plain + ": 'f' must be tensor(int32)"));
        CHECK(error(name + "<hidden_size = 5>(X, W, R, z)") ==
              plain + ": its B must be a tensor, but is a scalar");
        CHECK(error(name + "<hidden_size = 5>(X, W, x)") == plain + ": R must have rank 3");
    }
    CHECK(error("com.microsoft.AttnLSTM<hidden_size = 5>(X, W, R, , , , , , , , , , f)") ==
          "AttnLSTM: 'f' must be tensor(int32) or tensor(int64), but it is float");
}

TEST_CASE("the lengths of a Scan before opset 9 are no scalar")
{
    CHECK_THROWS_WITH_AS(
        header_of("g (int64 l, float[2, 3] s, float[2, 4, 3] x) => (y, z) { y, z = Scan<num_scan_inputs = 1, "
                  "body = b (float[3] a, float[3] c) => (o, p) { o = Add(a, c) p = Identity(o) }>(l, s, x) }",
            {}, 8),
        "Scan: its sequence_lens must be a tensor, but is a scalar", runner::runner_error);
}

TEST_CASE("axes and directions of a Scan, where they are not the default")
{
    std::string const body = ", body = b (float[K] v, float[K] e) => (float[K] w, float[K] o) "
                             "{ w = Add(v, e) o = Identity(w) }>";
    auto const code = [&](std::string const& length, std::string const& attributes) {
        std::string dims = body;
        for (std::size_t at = dims.find('K'); at != std::string::npos; at = dims.find('K'))
            dims.replace(at, 1, length);
        return header_of("g (float[" + length + "] s, float[" + length + ", 3] x) => (float[" + length +
                         "] y, float[A, B] z) { y, z = Scan<num_scan_inputs = 1, scan_input_axes = [-1]" +
                         attributes + dims + "(s, x) }");
    };
    CHECK(has(code("2", ""), "results.y, x, results.z, {.scan_input_axes = {1}}, elements);"));
    CHECK(has(code("2", ", scan_output_axes = [0], scan_input_directions = [0]"),
        "results.y, x, results.z, {.scan_input_axes = {1}}, elements);"));
    std::string const all =
        ", scan_output_axes = [-1], scan_input_directions = [1], scan_output_directions = [1]";
    CHECK(has(code("2", all), "{.scan_input_axes = {1}, .scan_output_axes = {1}, .scan_input_directions = "
                              "{xloom::direction::reverse}, "
                              ".scan_output_directions = {xloom::direction::reverse}}, elements);"));
    // Elements whose shape only a run knows are stacked.
    CHECK(has(code("N", all), "w_stack.copy_to(results.z, 1, true);"));
    CHECK(has(code("N", ", scan_output_axes = [1]"), "w_stack.copy_to(results.z, 1);"));
    CHECK(has(code("N", ", scan_output_directions = [1]"), "w_stack.copy_to(results.z, 0, true);"));
    CHECK(has(code("N", ""), "w_stack.copy_to(results.z);"));
}

TEST_CASE("a Scan before opset 9 is one of a batch")
{
    auto const code = [](std::string const& lengths, std::string const& attributes, std::string const& dim) {
        return header_of("g (int64[2] l, float[2, " + dim + "] s, float[2, T, " + dim +
                             "] x) => (y, z) "
                             "{ y, z = Scan<num_scan_inputs = 1" +
                             attributes + ", body = b (float[" + dim + "] a, float[" + dim +
                             "] c) => (float[" + dim + "] o, float[" + dim +
                             "] p) { o = Add(a, c) p = Identity(o) }>(" + lengths + ", s, x) }",
            {}, 8);
    };
    std::string const given = code("l", ", directions = [1]", "3");
    CHECK(has(given, "xloom::scan_batched_into("));
    CHECK(has(given, "x.shape()[0]"));
    CHECK(has(given, "x.shape()[1]"));
    CHECK(has(given, "results.y, x, l, results.z, {.scan_input_directions = {xloom::direction::reverse}});"));
    CHECK(has(code("omitted", "", "3"), "results.y, x, std::nullopt, results.z);"));
    CHECK_THROWS_WITH_AS(code("l", "", "N"),
        "Scan before opset 9 is not implemented for outputs whose shapes only a run knows",
        runner::not_implemented);
}

TEST_CASE("a Scan of more operands than inference takes is checked nevertheless")
{
    constexpr std::size_t states = xloom::max_operands;
    auto const error = [&](std::string const& attributes, std::size_t taken = states) {
        std::string inputs, operands, parameters, next;
        for (std::size_t i = 0; i < states; ++i) {
            inputs += "float[2] s" + std::to_string(i) + ", ";
            operands += "s" + std::to_string(i) + ", ";
            if (i < taken)
                parameters += "float[2] a" + std::to_string(i) + ", ";
            if (i != 0)
                next += ", a" + std::to_string(i % taken);
        }
        return refusal_of("g (" + inputs + "float[4, 2] x) => (float[2] y) { y = Scan<" + attributes +
                              ", body = b (" + parameters + "float[2] e) => (w" + next +
                              ") { w = Add(a0, e) }>(" + operands + "x) }",
            18);
    };
    CHECK(error("num_scan_inputs = 1") == "");
    for (char const* const count : {"-1", "34"})
        CHECK(error("num_scan_inputs = " + std::string(count)) ==
              "Scan: num_scan_inputs must be given, and no larger than the number of its inputs");
    CHECK(error("num_scan_inputs = 0") == "Scan: it has no scan inputs");
    CHECK(error("num_scan_inputs = 1", 31) ==
          "Scan: its body takes 32 inputs and gives 32 outputs for 32 states and 1 scan inputs");
    CHECK(error("num_scan_inputs = 1, scan_input_axes = [0, 0]") ==
          "Scan: scan_input_axes has 2 entries for 1 operands");
    CHECK(error("num_scan_inputs = 1, scan_input_axes = [2]") ==
          "Scan: scan_input_axes[0] is 2 for a tensor of rank 2");
    CHECK(error("num_scan_inputs = 1, scan_output_directions = [1]") ==
          "Scan: scan_output_directions has 1 entries for 0 operands");
}

TEST_CASE("expressions of items: operands, constants, attributes of each version")
{
    check_code({
        {14, "g (double[2] a, double[2] b) => (double[2] y) { s = Sub(a, b) y = Div(s, s) }",
            "[](auto a_i, auto b_i) { return a_i - b_i; }"},
        {14, "g (int64[2] a, int64[2] b) => (int64[2] y) { y = Mul(a, b) }", "xloom_onnx::mul(a_i, b_i)"},
        {14, "g (float[2] a) => (float[2] y) { y = Mul(a, a) }",
            "[](auto a_i) { return a_i * a_i; }, a, results.y);"},
        {14, "g (float a, float b) => (float y) { y = Add(a, b) }", "results.y = a + b;"},
        {8, "g (float[2] a) => (float[2] y) { y = Sum(a) }", "[](auto a_i) { return a_i; }"},
        {8, "g (float[2] a) => (float[2] y) { y = Sum(a, a) }", "return a_i + a_i;"},
        {8, "g (float[2] a) => (float[2] y) { y = Sum(a, a, a) }", "return xloom_onnx::add(a_i, a_i, a_i);"},
        {13, "g (float[2] a) => (float[2] y) { y = Mod<fmod = 1>(a, a) }", "xloom_onnx::fmod(a_i, a_i)"},
        {13, "g (int8[2] a) => (int8[2] y) { y = Mod(a, a) }",
            "[](std::int8_t a_i) { return xloom_onnx::mod(a_i, a_i); }"},
        {10, "g (float[2] a) => (bool[2] y) { y = IsInf<detect_negative = 0>(a) }",
            "xloom_onnx::is_inf(false, true)(a_i)"},
        {10, "g (float[2] a) => (bool[2] y) { y = IsInf<detect_positive = 0>(a) }",
            "xloom_onnx::is_inf(true, false)(a_i)"},
        {6, "g (float[2] a) => (float[2] y) { y = Clip<min = -1.0>(a) }",
            "return xloom_onnx::max(a_i, static_cast<float>(-1.0));"},
        {6, "g (double[2] a) => (double[2] y) { y = Clip<max = 1.0>(a) }",
            "return xloom_onnx::min(static_cast<double>(1.0), a_i);"},
        {11, "g (float[2] a, float h) => (float[2] y) { y = Clip(a, , h) }",
            "return xloom_onnx::min(h_i, a_i);"},
        {11, "g (float[2] a, float l) => (float[2] y) { y = Clip(a, l) }",
            "return xloom_onnx::max(a_i, l_i);"},
        {19, "g (float[2] a) => (y) { y = Cast<to = 17, saturate = 0>(a) }",
            "xloom_onnx::cast<xloom::float8_e4m3fn>({.saturate = false})(a_i)"},
        {24,
            "g (float[2] a) => (y) { y = Cast<to = 24, saturate = 0, round_mode = \"down\">(a) "
            "}",
            "({.saturate = false, .round_mode = xloom::round_mode::down})(a_i)"},
        {24, "g (float[2] a) => (y) { y = Cast<to = 24, round_mode = \"nearest\">(a) }",
            "({.round_mode = xloom::round_mode::nearest})(a_i)"},
        {24, "g (float[2] a) => (y) { y = Cast<to = 24, round_mode = \"up\">(a) }",
            "cast<xloom::float8_e8m0>()(a_i)"},
        {18, "g (float[2] a) => (float[2] y) { c = Cast<to = 1>(a) y = Exp(c) }",
            "return xloom_onnx::exp(a_i);"},
        {1, "g (float[2] a) => (float[2] y) { y = Selu(a) }", "xloom_onnx::selu(1.6732, 1.0507)(a_i)"},
        {6, "g (float[2] a) => (float[2] y) { y = Selu<alpha = 2.0>(a) }",
            "xloom_onnx::selu(2.0, 1.0507010221481323)(a_i)"},
        {15, "g (float[2] a, double[2] b) => (float[2] y) { y = Pow(a, b) }",
            "[](float a_i, double b_i) { return xloom_onnx::pow(a_i, b_i); }"},
        {13, "g (float[2, 1] a, float[N, 3] b) => (float[2, 3] y) { y = MatMul(a, b) }",
            "matmul_into(a, b, "},
        {16, "g (bool[2] c, string[2] s) => (string[2] y) { y = Where(c, s, s) }",
            "[](bool c_i, std::string const& s_i) { return xloom_onnx::where(c_i, s_i, s_i); }"},
        // A constant of one item is part of the expression, unless the result's shape comes from it.
        {14, "g (float[2] a) => (float[2] y) { c = Constant<value_floats = [2.0]>() y = Add(a, c) }",
            "return a_i + 2.0F;"},
        {14, "g (int64[2] a) => (int64[2] y) { c = Constant<value_ints = [2]>() y = Add(c, a) }",
            "xloom_onnx::add(std::int64_t(2), a_i)"},
        {14, "g (float[2] a) => (float[1, 2] y) { c = Constant<value = float[1, 1] {2}>() y = Add(a, c) }",
            "return a_i + c_i;"},
        {16,
            "g (bool[2] b, float[2] a) => (float[2] y) { c = Constant<value_floats = [2.0]>() y = Where(b, "
            "a, c) }",
            "[](bool b_i, float a_i, float c_i)"},
        {16,
            "g (string[2] a) => (bool[2] y) { c = Constant<value_string = \"t\">() e = Equal(a, c) y = "
            "Not(e) }",
            "[](std::string const& a_i, std::string const& c_i)"},
        // Up to opset 6 an attribute aligns the second operand.
        {6, "g (float[2, 3] a, float[2] b) => (float[2, 3] y) { y = Add<broadcast = 1, axis = 0>(a, b) }",
            "a, xloom_onnx::with_trailing_axes(b, 1), results.y);"},
        {6, "g (float[2, 3] a, float[3] b) => (float[2, 3] y) { y = Add<broadcast = 1, axis = 1>(a, b) }",
            "a, b, results.y);"},
        {6, "g (float[2, 3] a, float b) => (float[2, 3] y) { y = Add<broadcast = 1, axis = 0>(a, b) }",
            "a, b, results.y);"},
        {6,
            "g (float[2, 3] a, float[2] b) => (float[2, 3] y) { e = Exp(b) y = Mul<broadcast = 1, axis = "
            "0>(a, e) }",
            "xloom_onnx::with_trailing_axes(e, 1)"},
        {6, "g (float[2, 3] a, float[3] b) => (float[2, 3] y) { e = Exp(b) y = Mul<broadcast = 1>(a, e) }",
            "a, e, results.y);"},
    });
    CHECK(refusal_of("g (float[2] a) => (y) { y = Cast<to = 24, round_mode = \"odd\">(a) }", 24) ==
          "Cast: round_mode is up, down or nearest, but is 'odd'");
    for (char const* const type : {"float", "double", "float16", "bfloat16"})
        CHECK(refusal_of("g (" + std::string(type) + "[2] a) => (y) { y = Mod(a, a) }", 13) ==
              "Mod: Mod of floating-point numbers needs the attribute fmod = 1");
}

TEST_CASE("a long chain is several loops, and so is what is no number")
{
    auto const loops = [](std::string const& graph) {
        std::string const text = header_of(graph);
        std::size_t count = 0;
        for (std::size_t at = text.find("map_into("); at != std::string::npos;
             at = text.find("map_into(", at + 1))
            ++count;
        return count;
    };
    std::string chain = "g (float[2] x) => (float[2] y) { a0 = Tanh(x) ";
    for (int i = 1; i < 24; ++i)
        chain += "a" + std::to_string(i) + " = Tanh(a" + std::to_string(i - 1) + ") ";
    CHECK(loops(chain + "y = Identity(a23) }") == 1); // 24 nodes
    CHECK(loops(chain + "y = Tanh(a23) }") == 2);
    CHECK(loops("g (bool[2] c, string[2] s, string[2] t) => (string[2] y) { w = Where(c, s, t) y = Where(c, "
                "t, w) }") == 2);
    CHECK(loops("g (bool[2] c, float[2] s, float[2] t) => (float[2] y) { w = Where(c, s, t) y = Where(c, t, "
                "w) }") == 1);
    // A value that a body reads belongs to the graph around it.
    CHECK(loops("g (bool c, float[2] s) => (float[2] y) { e = Exp(s) y = If(c)<then_branch = t () => "
                "(float[2] p) "
                "{ p = Neg(e) }, else_branch = f () => (float[2] q) { q = Identity(s) }> }") == 2);
    CHECK(has(header_of("g (bool c, float[2] s) => (float[2] y) { e = Exp(s) y = If(c)<then_branch = t () => "
                        "(float[2] p) "
                        "{ p = Neg(e) }, else_branch = f () => (float[2] q) { q = Identity(e) }> }"),
        "xt::noalias(results.y) = e;"));
}

TEST_CASE("Reshape, Squeeze, Unsqueeze, Flatten and Slice of each version")
{
    check_code({
        {1, "g (float[6] x) => (float[2, 3] y) { r = Reshape<shape = [2, 3]>(x) y = Tanh(r) }",
            "xloom_onnx::reshaped<2>(x, {2, 3})"},
        {14, "g (float[N] x, int64[2] s) => (float[A, B] y) { y = Reshape<allowzero = 1>(x, s) }",
            "reshape_into(x, s, results.y, {.allowzero = true});"},
        {11, "g (float[1, 2] x) => (float[2] y) { r = Squeeze<axes = [0]>(x) y = Tanh(r) }",
            "xloom_onnx::squeezed<1>(x, {0})"},
        {11, "g (float[1, 2] x) => (float[2] y) { r = Squeeze(x) y = Tanh(r) }",
            "xloom_onnx::squeezed<1>(x)"},
        {13, "g (float[1, 2] x) => (float[2] y) { r = Squeeze(x) y = Tanh(r) }",
            "xloom_onnx::squeezed<1>(x)"},
        {11, "g (float[2] x) => (float[1, 2] y) { r = Unsqueeze<axes = [0]>(x) y = Tanh(r) }",
            "xloom_onnx::unsqueezed<2>(x, {0})"},
        {11, "g (float x) => (float[1] y) { y = Unsqueeze<axes = [0]>(x) }",
            "unsqueeze_into(x, {0}, results.y);"},
        {13,
            "g (string[2, 3] x) => (string[1, 6] y) { r = Flatten<axis = 0>(x) y = Transpose<perm = [0, "
            "1]>(r) }",
            "flatten_into(x, r, 0);"},
        {13,
            "g (float[1] x) => (float y) { d = Constant<value = int64[0] {}>() r = Reshape(x, d) y = Exp(r) "
            "}",
            "reshape_into(x, {}, r);"},
        {13, "g (float[2, 3] x) => (float[2, 3] y) { r = Flatten(x) y = Tanh(r) }",
            "xloom_onnx::flattened<2>(x)"},
        {9,
            "g (float[4, 3] x) => (float[2, 3] y) { p = Slice<starts = [1], ends = [3], axes = [0]>(x) y = "
            "Tanh(p) }",
            "xloom_onnx::sliced<2>(x, {.starts = {1}, .ends = {3}, .axes = {0}})"},
        {9,
            "g (float[4, 3] x) => (float[2, 3] y) { p = Slice<starts = [1, 0], ends = [3, 3]>(x) y = Tanh(p) "
            "}",
            "xloom_onnx::sliced<2>(x, {.starts = {1, 0}, .ends = {3, 3}})"},
        {9,
            "g (float[4, 3] x) => (float[4, 2] y) { p = Slice<starts = [0, 1], ends = [4, 3]>(x) y = Tanh(p) "
            "}",
            "slice_into(x, p, {.starts = {0, 1}, .ends = {4, 3}});"},
        {13,
            "g (float[N, 3] x, int64[1] s, int64[1] e) => (float[A, 3] y) { a = Constant<value_ints = [0]>() "
            "p = Slice(x, s, e, a) y = Tanh(p) }",
            "xloom_onnx::sliced<2>(x, {.starts = s, .ends = e, .axes = {0}})"},
        {13,
            "g (float[1, N] x, int64[1] s, int64[1] e) => (float[1, A] y) { a = Constant<value_ints = "
            "[-1]>() "
            "o = Constant<value_ints = [1]>() p = Slice(x, s, e, a, o) y = Tanh(p) }",
            "xloom_onnx::sliced<2>(x, {.starts = s, .ends = e, .axes = {-1}, .steps = {1}})"},
        {13,
            "g (float[N, 3] x, int64[1] s, int64[1] e) => (float[A, 3] y) { a = Constant<value_ints = [0]>() "
            "o = Constant<value_ints = [2]>() p = Slice(x, s, e, a, o) y = Tanh(p) }",
            "slice_into(x, p, {.starts = s, .ends = e, .axes = {0}, .steps = {2}});"},
        {13,
            "g (float[N, 3] x, int64[1] s, int64[1] e, int64[1] o) => (float[A, 3] y) { a = "
            "Constant<value_ints = [0]>() "
            "p = Slice(x, s, e, a, o) y = Tanh(p) }",
            "slice_into(x, p, {.starts = s, .ends = e, .axes = {0}, .steps = o});"},
        {13,
            "g (float[4, 3] x, int64[1] s, int64[1] e, int64[1] a) => (float[A, B] y) { p = Slice(x, s, e, "
            "a) y = Tanh(p) }",
            "slice_into(x, p, {.starts = s, .ends = e, .axes = a});"},
        {9,
            "g (float[4611686018427387904, 4611686018427387904] x) => (float[A, B] y) "
            "{ p = Slice<starts = [0, 0], ends = [1, 1]>(x) y = Tanh(p) }",
            "slice_into(x, p, "},
    });
}

TEST_CASE("Gather, Scatter, OneHot and TopK pass what their version has")
{
    check_code({
        {16,
            "g (float[4] d, int64[2, 1] i, float[2] u) => (float[4] y) { y = ScatterND<reduction = "
            "\"add\">(d, i, u) }",
            "scatter_nd_into(d, i, u, results.y, {.reduction = xloom::reduction::add});"},
        {16,
            "g (float[4] d, int64[2, 1] i, float[2] u) => (float[4] y) { y = ScatterND<reduction = "
            "\"none\">(d, i, u) }",
            "scatter_nd_into(d, i, u, results.y);"},
        {18,
            "g (float[4] d, int64[2] i, float[2] u) => (float[4] y) { y = ScatterElements<axis = -1, "
            "reduction = \"max\">(d, i, u) }",
            "scatter_elements_into(d, i, u, results.y, {.axis = -1, .reduction = xloom::reduction::max});"},
        {10, "g (float[4] d, int64[2] i, float[2] u) => (float[4] y) { y = Scatter(d, i, u) }",
            "scatter_elements_into(d, i, u, results.y);"},
        {24,
            "g (float[2, 3, 1] c, float[2, 2, 1] u) => (float[2, 3, 1] y) { y = TensorScatter<axis = 1>(c, "
            "u) }",
            "tensor_scatter_into(c, u, results.y, {.axis = 1});"},
        {11,
            "g (int64[3] i, float[2] v) => (float[3, 4] y) { d = Constant<value = int64 {4}>() y = "
            "OneHot<axis = "
            "1>(i, d, v) }",
            "one_hot_into(i, 4, v, results.y, {.axis = 1});"},
        {11, "g (int64[3] i, float[1] d, float[2] v) => (float[3, N] y) { y = OneHot(i, d, v) }",
            "one_hot_into(i, xloom_onnx::cast_item<std::int64_t>(xloom_onnx::only_item(d)), v, results.y);"},
        {11,
            "g (int64[3] i, float[2] v) => (float[3, N] y) { d = Constant<value = float {4}>() y = OneHot(i, "
            "d, v) }",
            "one_hot_into(i, xloom_onnx::cast_item<std::int64_t>(4.0F), v, results.y);"},
        {11,
            "g (int64[3] i, float[2] v) => (float[3, N] y) { d = Constant<value = int32[1] {4}>() y = "
            "OneHot(i, d, v) }",
            "one_hot_into(i, 4, v, results.y);"},
        {16,
            "g (float[N] d, int64[2, 1] i, float[2] u) => (float[N] y) { s = ScatterND(d, i, u) y = Add(s, "
            "d) }",
            "scatter_nd_into(d, i, u, s);"},
        {11,
            "g (float[2, 3] x) => (int64[2, 2] i) { k = Constant<value = int64[1] {2}>() y, i = TopK(x, k) }",
            "top_k_into(x, 2, unused, results.i, {}, scratch);"},
    });
    for (auto const& [node, why] : {std::pair{"ScatterND<reduction = \"max\">(d, i, u)",
                                        "ScatterND: the reduction max does not exist at opset 16"},
             {"ScatterND<reduction = \"sum\">(d, i, u)", "ScatterND: the reduction 'sum' does not exist"}})
        CHECK(refusal_of("g (float[4] d, int64[2, 1] i, float[2] u) => (float[4] y) { y = " +
                             std::string(node) + " }",
                  16) == why);
}

TEST_CASE("Softmax, reductions and normalizations of each version")
{
    check_code({
        {11, "g (float[2, N] x) => (float[2, N] y) { y = Softmax(x) }",
            "softmax_into(x, results.y, {.axis = 1, .flattens = true});"},
        {13, "g (float[2, N] x) => (float[2, N] y) { y = LogSoftmax<axis = 0>(x) }",
            "log_softmax_into(x, results.y, {.axis = 0});"},
        {11, "g (float[2, N] x) => (float[1, 1] y) { y = ReduceSum(x) }",
            "reduce_into(xloom_onnx::reduce_sum, x, results.y);"},
        {11, "g (float[2, N] x) => (float[2] y) { y = ReduceMax<axes = [1], keepdims = 0>(x) }",
            "reduce_into(xloom_onnx::reduce_max, x, results.y, {.axes = {1}, .keepdims = false});"},
        {18,
            "g (float[2, N] x) => (float[2, N] y) { a = Constant<value = int64[0] {}>() "
            "y = ReduceMax<noop_with_empty_axes = 1>(x, a) }",
            "reduce_into(xloom_onnx::reduce_max, x, results.y, {.noop_with_empty_axes = true});"},
        {7,
            "g (float[2, 3] x, float[3] p) => (float[2, 3] y) { y = BatchNormalization<spatial = 0>(x, p, p, "
            "p, p) }",
            ".spatial = false}, scratch);"},
        {17,
            "g (float[2, 3] x, float[3] s, float[3] b) => (float[2, 3] y) { y = LayerNormalization<axis = "
            "1>(x, s, b) }",
            "xloom_onnx::layer_normalization_into(x, s, b, results.y, {.axis = 1, .epsilon = "},
        {17, "g (float[2, 3] x, float[3] s) => (float[2, 1] d) { y, m, d = LayerNormalization(x, s) }",
            "layer_normalization_with_moments_into(x, s, std::nullopt, unused, unused_2, results.d, "},
        {6, "g (float[1, 2] x, float[2] s) => (float[1, 2] y) { y = PRelu(x, s) }",
            "prelu_into(x, s, results.y);"},
        {6, "g (float[1, 2, 4] x, float[2, 4] s) => (float[1, 2, 4] y) { y = PRelu(x, s) }",
            "prelu_into(x, s, results.y);"},
        {7, "g (float[1, 2, 4] x, float[4] s) => (float[1, 2, 4] y) { y = PRelu(x, s) }",
            "prelu_into(x, s, results.y);"},
        {13,
            "g (float[2] x, float r) => (bool[2] m) { f = Constant<value = bool {0}>() y, m = Dropout(x, r, "
            "f) }",
            "xloom_onnx::map_into([](float const&) { return true; }, x, results.m);"},
        {13, "g (float[2] x) => (float[2] y) { y = Dropout(x) }", "xt::noalias(results.y) = x;"},
        {7, "g (float[2] x) => (float[2] m) { y, m = Dropout(x) }", "return float(1.0F); }, x, results.m);"},
        {13, "g (float x) => (bool m) { y, m = Dropout(x) }", "results.m = true;"},
    });
    for (char const* const training : {"bool {1}", "bool[2] {0, 0}"})
        CHECK(refusal_of("g (float[2] x, float r) => (float[2] y) { t = Constant<value = " +
                             std::string(training) + ">() y = Dropout(x, r, t) }",
                  13) == "Dropout with a training_mode that is not false is not implemented");
}

TEST_CASE("If: values that are outputs twice, conditions of one item and of another type")
{
    auto const code = [](std::string const& outputs, std::string const& condition) {
        return header_of("g (float[2] s, bool[1] c) => (" + outputs +
                         ") { k = Constant<value = bool[1] {1}>() "
                         "never = Constant<value = bool {0}>() two = Constant<value = bool[2] {1, 0}>() "
                         "x, y = If(" +
                         condition +
                         ")<then_branch = t () => (p, p) { p = Exp(s) }, "
                         "else_branch = e () => (q, r) { q = Neg(s) r = Abs(s) }> }");
    };
    std::string const both = code("x, y", "c");
    CHECK(has(both, "if (xloom_onnx::only_item(c)) {"));
    CHECK(has(both, "s, results.x);"));
    CHECK(has(both, "xt::noalias(results.y) = results.x;"));
    std::string const last = code("y", "c");
    CHECK(has(last, "return xloom_onnx::exp(s_i); }, s, results.y);"));
    CHECK_FALSE(has(last, "neg"));
    CHECK_FALSE(has(code("y", "k"), "if ("));
    CHECK(has(code("y", "never"), "return xloom_onnx::abs(s_i); }, s, results.y);"));
    CHECK(has(code("y", "two"), "if (xloom_onnx::only_item(two)) {"));
    CHECK(refusal_of("g (float[2] s) => (float[2] y) { k = Constant<value_int = 1>() y = If(k)<then_branch = "
                     "t () => (p) "
                     "{ p = Exp(s) }, else_branch = e () => (q) { q = Neg(s) }> }",
              18) == "If: 'k' must be tensor(bool), but it is int64");
}

TEST_CASE("states of a Loop or Scan that become each other, an outer value or a view")
{
    auto const loop = [](std::string const& type, std::string const& body,
                          std::string const& inputs = "n, ") {
        return header_of("g (int64 n, bool c, " + type + " a, " + type + " b) => (" + type + " y, " + type +
                         " z) { y, z = Loop(" + inputs + ", a, b)<body = l (int64 i, bool d, " + type +
                         " u, " + type + " v) => (bool e, " + type + " w, " + type + " x) { " + body +
                         " }> }");
    };
    std::string const goes_on = "e = Identity(d) ";
    std::string const scalars = loop("float", goes_on + "w = Identity(v) x = Identity(u)");
    for (char const* const line :
        {"float const next_v = v;", "float const next_u = u;", "u = next_v;", "v = next_u;"})
        CHECK_MESSAGE(has(scalars, line), scalars);
    std::string const rows = loop("float[2]", goes_on + "w = Tanh(v) x = Exp(u)");
    for (char const* const line :
        {"}, v, v);", "}, u, u);", "std::swap(u, next_w);", "std::swap(v, next_x);"})
        CHECK_MESSAGE(has(rows, line), rows);
    CHECK(has(loop("float[2]", goes_on + "w = Identity(b) x = Add(u, v)"), "xt::noalias(u) = b;"));
    CHECK(has(loop("float[2]", goes_on + "w = Identity(u) x = Add(u, v)"),
        "[&](std::int64_t, xt::xtensor<float, 1>& u, xt::xtensor<float, 1>& v) {"));
    CHECK(
        has(loop("float[2, 2]",
                goes_on +
                    "k = Constant<value_ints = [2, 2]>() t = Transpose(v) w = Reshape(t, k) x = Identity(v)"),
            "xt::noalias(u) = w;"));
    // Conditions.
    CHECK(has(
        loop("float[2]", goes_on + "w = Neg(u) x = Neg(v)"), "{.max_trip_count = n, .cond = std::nullopt}"));
    CHECK(has(loop("float[2]", goes_on + "w = Neg(u) x = Neg(v)", "omitted, c"), "{.cond = c}"));
    CHECK(has(
        loop("float[2]", "e = Constant<value = bool {0}>() w = Neg(u) x = Neg(v)", "n, c"), "return false;"));
    auto const with = [](std::string const& condition, std::string const& number) {
        return header_of(
            "g (int64 n, bool a) => (bool y, int64[A" + std::string(number.empty() ? "" : ", 1") +
            "] z) { k = Constant<value = " + condition + ">() y, z = Loop(n, k, a)<body = l (int64" + number +
            " i, bool d, bool u) => (bool e, bool w, int64" + number +
            " o) { e = Identity(u) w = Not(u) o = Neg(i) }> }");
    };
    CHECK(has(with("bool {0}", ""), "{.max_trip_count = n, .cond = false}"));
    CHECK(has(with("bool[2] {1, 1}", ""), ".cond = xloom_onnx::only_item(k)}"));
    CHECK(has(with("bool {1}", ""), "{.max_trip_count = n}"));
    CHECK(has(with("bool {1}", ""), "bool const continues = u;"));
    CHECK(has(with("bool {1}", ""), "return continues;"));
    CHECK(has(with("bool {1}", "[1]"), "xloom_onnx::copy_into(i, {1}, i_2);"));
    // Without M a scan output grows.
    std::string const strings =
        header_of("g (bool c, string s) => (bool[A] y) { u, z = Loop(omitted, c, s)<body = l "
                  "(int64 i, bool d, string v) => (bool e, string w, string o) { e = Identity(d) "
                  "w = Identity(v) o = Identity(v) }> y = Equal(z, z) }",
            {}, 19);
    CHECK(has(strings, "xloom_onnx::growing_stack<std::string, 0> "));
    CHECK(has(strings, "_stack.copy_to(z);"));
}

TEST_CASE("a Scan's second directions and outputs, and its axes of outputs alone")
{
    std::string const text = header_of("g (float[4, 2] x, float[4, 2] z) => (float[4, 2] p, float[2, 4] q) { "
                                       "p, q, r = Scan<num_scan_inputs = 2, "
                                       "scan_input_directions = [1, 0], scan_output_directions = [0, 1, 0], "
                                       "scan_output_axes = [0, 1, 0], body = b "
                                       "(float[2] e, float[2] f) => (float[2] o, float[2] o, float[2] r) { o "
                                       "= Add(e, f) r = Exp(o) }>(x, z) }");
    CHECK(has(text, ".scan_output_axes = {0, 1}, .scan_input_directions = {xloom::direction::reverse, "
                    "xloom::direction::forward}, .scan_output_directions = {xloom::direction::forward, "
                    "xloom::direction::reverse}}, elements);"));
    CHECK(has(text, "xt::noalias(o_t_2) = o_t;"));
    CHECK_FALSE(has(text, "exp("));
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
              .ends_with("input must have rank 3, but input is float[1, 2]. Give it three axes."));
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

TEST_CASE("inputs and outputs that nothing reads or makes")
{
    CHECK(has(header_of("g (float[2] x, float[N] u) => (float[2] y) { y = Exp(x) }"),
        "run_into(outputs& results, xt::xtensor<float, 1> const& x, xt::xtensor<float, 1> const& /*u*/)"));
    CHECK(has(header_of("g (float[2] x, float u) => (float[2] y) { y = Exp(x) }"),
        "run_into(outputs& results, xt::xtensor<float, 1> const& x, float /*u*/)"));
    CHECK(
        has(header_of("g (float[2] x) => (float[2] y) { y = Identity(x) }"), "xt::noalias(results.y) = x;"));
    CHECK(has(header_of("g (float[2] x) => () { y = Exp(x) }"), "run_into(outputs& /*results*/, "));
    CHECK(has(header_of("g (string s) => (string y) { y = Identity(s) }"), "std::string const& s) const"));
    CHECK(has(header_of("g (float[2] x) => (float[2] y, float[2] z) { y = Exp(x) z = Identity(y) }"),
        "xt::noalias(results.z) = results.y;"));
    // A default is a constant.
    CHECK(has(header_of("g (float[2] x, float[2] w = {1, 2}) => (float[2] y) { y = Add(x, w) }"),
        "run_into(outputs& results, xt::xtensor<float, 1> const& x)"));
    onnx::GraphProto named = runner::graph_of("g (float[2, 3] x) => (float[3, 2] y) { y = Transpose(x) }");
    named.mutable_node(0)->set_name("turned");
    CHECK(has(compiler::generate(runner::model_of(named), {}).header, "// Transpose 'turned'\n"));
    CHECK(has(header_of("g (float[2] x) => (float[2] y) { y = ai.onnx.Neg(x) }"), "xloom_onnx::neg(x_i)"));
}

TEST_CASE("constants of one item are literals of their type")
{
    for (auto const& [type, number, literal] : {std::tuple{"int32", 6, "5"}, {"int64", 7, "std::int64_t{5}"},
             {"int8", 3, "std::int8_t{5}"}, {"int16", 5, "std::int16_t{5}"}, {"uint8", 2, "std::uint8_t{5}"},
             {"uint16", 4, "std::uint16_t{5}"}, {"uint32", 12, "std::uint32_t{5U}"},
             {"uint64", 13, "std::uint64_t{5U}"}, {"float", 1, "5.0F"}, {"double", 11, "5.0"},
             {"float16", 10, "xloom::float16::from_bits(0x4500)"},
             {"bfloat16", 16, "xloom::bfloat16::from_bits(0x40a0)"}}) {
        std::string const text = header_of("g (" + std::string(type) +
                                               "[2] x) => (bool[2] y) { five = Constant<value_int = 5>() "
                                               "c = Cast<to = " +
                                               std::to_string(number) + ">(five) y = Equal(x, c) }",
            {}, 19);
        CHECK_MESSAGE(has(text, "xloom_onnx::equal(x_i, " + std::string(literal) + ")"), text);
    }
    CHECK(has(header_of("g (bool[2] x) => (bool[2] y) { c = Constant<value = bool {1}>() y = Equal(x, c) }"),
        "xloom_onnx::equal(x_i, true)"));
}

TEST_CASE("constants are stored by their size and type")
{
    compiler::options in_file;
    in_file.weights = compiler::weights_place::file;
    std::string items = "1";
    for (int i = 2; i <= 17; ++i)
        items += ", " + std::to_string(i);
    std::string const
        large = "g (float[17] x) => (float[17] y) { w = Constant<value = float[17] {" + items +
                "}>() y = Add(x, w) }",
        small = "g (float[2] x) => (float[2] y) { w = Constant<value = float[2] {1, 2}>() y = Add(x, w) }";
    CHECK(has(header_of(large), "alignas(64) static constexpr float w_items[]{"));
    CHECK(has(header_of(large, in_file),
        "xloom::element_view<float const, 1> const w{weights.items<float>(0), {17}}; // 'w'"));
    for (compiler::options const& chosen : {compiler::options(), in_file}) {
        CHECK(has(header_of(small, chosen), "    static constexpr float w_items[]{1.0F, 2.0F};"));
        CHECK(has(header_of("g (float[2] x) => (float[2] y) { w = Constant<value = float[0] {}>() y = "
                            "Concat<axis = 0>(x, w) }",
                      chosen),
            "xloom::element_view<float const, 1> const w{nullptr, {0}}; // 'w'"));
        CHECK(has(header_of("g (string[2] x) => (bool[2] y) { w = Constant<value_strings = [\"a\", "
                            "\"bc\"]>() y = Equal(x, w) }",
                      chosen),
            "xloom_onnx::string_constant<1>({2}, {std::string(\"a\", 1), std::string(\"bc\", 2)});"));
    }
}

TEST_CASE("optionals of constants and of values; sequences and optionals of one rank")
{
    auto const choice = [](std::string const& then, std::string const& otherwise) {
        return "g (bool c, float[N] x, float[N, M] z) => (y) { y = If(c)<then_branch = t () => (u) { " +
               then + " }, else_branch = e () => (v) { " + otherwise + " }> }";
    };
    std::string const constant = "k = Constant<value_floats = [1.0, 2.0]>() ";
    std::string const text = header_of(choice(constant + "u = Optional(k)", "v = Optional(x)"));
    CHECK(has(text, "std::optional<xt::xtensor<float, 1>> y{};"));
    CHECK(has(text, "= std::optional<xt::xtensor<float, 1>>(xt::xtensor<float, 1>(element));"));
    CHECK(has(header_of(choice(constant + "s = SequenceConstruct(k) u = Optional(s)",
                  "s = SequenceConstruct(x) v = Optional(s)")),
        "std::optional<std::vector<xt::xtensor<float, 1>>> y{};"));
    for (auto const& [then, otherwise] : {std::pair{"u = SequenceConstruct(x)", "v = SequenceConstruct(z)"},
             {"u = Optional(x)", "v = Optional(z)"}}) {
        std::string const why = refusal_of(choice(then, otherwise), 18);
        CHECK_MESSAGE(why.starts_with("If: "), why);
        CHECK_MESSAGE(why.ends_with("but code needs one rank"), why);
    }
    std::string const ranks = refusal_of(
        "g (float[N] x, float[N, M] z) => (y) { s = SequenceConstruct(x) y = SequenceInsert(s, z) }", 18);
    CHECK(ranks == "SequenceInsert: a sequence or an optional would hold float[N] and float[N, M], but code "
                   "needs one rank");
    CHECK(has(
        header_of(choice("u = Optional()", "v = Optional(x)")), "= std::optional<xt::xtensor<float, 1>>();"));
    CHECK(refusal_of("g (float[N] x) => (y) { o = Optional(x) y = SequenceInsert(o, x) }", 18) ==
          "SequenceInsert: 'o' must be a sequence, but it is optional(float[N])");
    CHECK(refusal_of("g (float[N] x) => (y) { s = SequenceConstruct(x, x) y = Tanh(s) }", 18) ==
          "Tanh: 's' must be a tensor, but it is seq(float[N])");
    CHECK(refusal_of("g (float[N] x) => (y) { o = Optional(x) y = Optional(o) }", 18) ==
          "Optional: an optional holds a tensor or a sequence, but this one an optional");
}

TEST_CASE("element types that an operator's function does not take are refused")
{
    auto const refuses = [](std::string const& type, std::string const& node) {
        CAPTURE(node);
        CHECK_THROWS_WITH_AS(
            header_of("g (" + type + "[3, 2] x, " + type + "[2, 3] t) => (y) { y = " + node + " }"),
            doctest::Contains((": the element type " + type + " is not possible here").c_str()),
            runner::runner_error);
    };
    refuses("bool", "Exp(x)");
    refuses("bool", "Add(x, x)");
    refuses("bool", "MatMul(x, t)");
    refuses("int64", "Tanh(x)");
    refuses("int64", "Softmax(x)");
    refuses("string", "Neg(x)");
    refuses("string", "ArgMax(x)");
    refuses("string", "Gemm(x, t)");
    CHECK(has(header_of("g (int64[3, 2] x) => (y) { y = ReduceSum(x) }"), "reduce_sum"));
    CHECK(has(header_of("g (string[3, 2] x) => (y) { y = Equal(x, x) }"), "equal"));
}

TEST_CASE("what is inserted into a sequence tells the ranks behind it")
{
    auto const loop = [](std::string const& result) {
        return "none = SequenceEmpty() all = Loop(n, , none)<body = b (int64 i, bool c, s) => (bool d, t) "
               "{ d = Identity(c) t = SequenceInsert(s, x) }> joined = ConcatFromSequence<axis = 0>(all) " +
               result + " = Tanh(joined)";
    };
    auto const branch_of = [&](std::string const& condition) {
        return "y = If(" + condition + ")<then_branch = t () => (p) { " + loop("p") +
               " }, else_branch = e () => (q) { q = Neg(x) }>";
    };
    for (std::string const& nodes :
        {loop("y"), branch_of("go"), "yes = Constant<value = bool {1}>() " + branch_of("yes")}) {
        CAPTURE(nodes);
        CHECK(has(header_of("g (int64 n, bool go, float[N, 3] x) => (float[K, 3] y) { " + nodes + " }"),
            "xt::xtensor<float, 2> joined{};"));
    }
    CHECK_THROWS_WITH_AS(
        header_of(
            "g () => (y) { none = SequenceEmpty() j = ConcatFromSequence<axis = 0>(none) y = Tanh(j) }"),
        doctest::Contains("its input 'none'"), runner::runner_error);
}

TEST_CASE("an If on a loop's own condition is the branch that runs")
{
    std::string const text =
        header_of("g (int64 n, bool[1] c, float[2] s) => (float[2] y) { y = Loop(n, c, s)<body = b (int64 i, "
                  "bool[1] f, "
                  "float[2] v) => (bool[1] h, float[2] o) { h = Identity(f) o = If(f)<then_branch = t () => "
                  "(float[2] p) "
                  "{ p = Exp(v) }, else_branch = u () => (float[2] r) { r = Tanh(v) }> }> }");
    CHECK(has(text, "xloom_onnx::exp"));
    CHECK_FALSE(has(text, "if ("));
    CHECK_FALSE(has(text, "tanh"));
}

TEST_CASE("what a branch or a body makes for an output that nobody uses is omitted")
{
    std::string const text = header_of(
        "g (bool c, int64 n, float[2] s) => (float[2] y) { x, z = If(c)<then_branch = t () => (float[2] p, "
        "float[2] q) { p = Exp(s) q = Tanh(s) }, else_branch = u () => (float[2] r, float[2] w) { r = Neg(s) "
        "w = Sin(s) }> y, k = Loop(n, , x)<body = b (int64 i, bool f, float[2] v) => (bool h, float[2] o, "
        "float[2] l) { h = Identity(f) o = Sqrt(v) l = Cos(v) }> }");
    for (char const* const used : {"exp(", "neg(", "sqrt("})
        CHECK(has(text, used));
    for (char const* const unused : {"tanh(", "sin(", "cos("})
        CHECK_FALSE(has(text, unused));
}

TEST_CASE("operators without an input that they require are refused")
{
    for (char const* const node : {"Concat<axis = 0>(x, )", "Sum(x, )", "SequenceConstruct(x, )",
             "Loop(n, c, )<body = b (int64 i, bool d, float[2] v) => (bool e, float[2] w) "
             "{ e = Identity(d) w = Exp(v) }>",
             "Scan<num_scan_inputs = 1, body = b (float[2] v, float a) => (float[2] w) { w = Add(v, a) }>"
             "(x, )"}) {
        CAPTURE(node);
        CHECK_THROWS_WITH_AS(
            header_of("g (int64 n, bool c, float[2] x) => (y) { y = " + std::string(node) + " }"),
            doctest::Contains("is missing"), runner::runner_error);
    }
}

TEST_CASE("inputs that a version newer than the schemas adds may have any type")
{
    CHECK(has(header_of("g (float[2, 3] x) => (float[2] y) { a = Constant<value = int64[1] {1}>() "
                        "y = ReduceMax<keepdims = 0>(x, a) }"),
        "reduce_max"));
}

TEST_CASE("the second operand of CastLike is not computed")
{
    CHECK_FALSE(has(
        header_of("g (int64[2] x, float[2] l) => (float[2] y) { e = Exp(l) y = CastLike(x, e) }"), "exp"));
}

TEST_CASE("an unknown rank is refused with node, value and remedy")
{
    onnx::GraphProto reshaped =
        runner::graph_of("g (float[2] x, int64[N] s) => (float y) { r = Reshape(x, s) y = Tanh(r) }");
    reshaped.mutable_node(0)->set_name("shaped");
    CHECK_THROWS_WITH_AS(compiler::generate(runner::model_of(reshaped), {}),
        "Reshape 'shaped': the type of its output 'r' is float[...], but code needs its element type and "
        "rank: fix "
        "inputs of the model that it depends on with --shape INPUT=DIMS or --value INPUT=ITEMS, or declare "
        "it in the "
        "model",
        runner::runner_error);
    onnx::GraphProto graph = runner::graph_of("g (float[2] x) => (float[2] y) { y = Tanh(x) }");
    graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
    graph.mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
    CHECK_THROWS_WITH_AS(compiler::generate(runner::model_of(graph), {}),
        "the type of the model's input 'x' is float[...], but code needs its element type and rank: give its "
        "shape with "
        "--shape 'x'=DIMS or its value with --value 'x'=ITEMS, or declare it in the model",
        runner::runner_error);
    compiler::options chosen;
    chosen.shapes = {{"x", {2, 3}}};
    CHECK(has(compiler::generate(runner::model_of(graph), chosen).header, "xt::xtensor<float, 2> const& x"));
}

TEST_CASE("a Constant that cannot be read is refused with the reason")
{
    onnx::GraphProto graph = runner::graph_of(
        "g (float[2] x) => (float[2] y) { w = Constant<value = float[2] {1, 2}>() y = Add(x, w) }");
    onnx::TensorProto& w = *graph.mutable_node(0)->mutable_attribute(0)->mutable_t();
    w.set_name("w");
    w.clear_float_data();
    w.set_data_location(onnx::TensorProto::EXTERNAL);
    CHECK_THROWS_WITH_AS(compiler::generate(runner::model_of(graph), {}),
        "Constant: the tensor 'w' keeps its items in another file, but there is no folder to find it in",
        runner::runner_error);
    // Other nodes of constants, too.
    CHECK_THROWS_WITH_AS(header_of("g (float[2] x) => (float y) { c = Constant<value = float[2] {1, 2}>() "
                                   "s = Constant<value_ints = [3, 3]>() r = Squeeze(c, s) y = Add(x, r) }"),
        doctest::Contains("Squeeze: "), runner::runner_error);
}

TEST_CASE("a branch that the shapes exclude throws where it runs")
{
    // The ranks of both chunks are declared in the branches; the rate stays free.
    onnx::GraphProto graph =
        runner::graph_of("g (float[N] x, int64 sr) => (float[] y) { wide = Constant<value_int = 16000>() "
                         "is_wide = Equal(sr, wide) y = If(is_wide)<"
                         "then_branch = a () => (float[512] u) { u = Tanh(x) },"
                         "else_branch = b () => (float[1, 256] v) { v = Neg(x) }> }");
    graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
    compiler::options chosen;
    chosen.name = "tested";
    chosen.shapes = {{"x", {512}}};
    std::string const text = compiler::generate(runner::model_of(graph), chosen).header;
    CHECK(has(text, "tanh"));
    CHECK(has(text, "xloom_onnx::fail_in_impossible_branch(\"tested\", \"If\", \"Neg: its output \'v\' is "
                    "declared as float[1, 256], but is float[512]\");"));
    CHECK(has(text, "xt::xtensor<float, 1> y{};"));
    chosen.shapes = {{"x", {2, 3, 4}}};
    CHECK_THROWS_WITH_AS(compiler::generate(runner::model_of(graph), chosen),
        "If: neither branch can run: Tanh: its output 'u' is declared as float[512], but is float[2, 3, 4]",
        runner::runner_error);
}

TEST_CASE("a header says how its class is called")
{
    std::string const graph =
        "g (float[2] x, float[2] z) => (float[2] y, float[2] u) { y = Add(x, z) u = Tanh(x) }";
    CHECK(has(header_of(graph),
        "/// Example  tested model; auto const results = model(x, z); // results.y, results.u\n"));
    compiler::options chosen;
    chosen.weights = compiler::weights_place::file;
    CHECK(has(header_of(graph, chosen), "/// Example  tested model(path_of_weights); auto const results"));
}

TEST_CASE("declared dimensions that do not hold are a warning, except in a branch that cannot run")
{
    auto const warnings_of = [](std::string const& text) {
        return compiler::generate(runner::model_of(runner::graph_of(text)), {}).warnings;
    };
    CHECK(warnings_of("g (float[2] x) => (float[3] y) { t = Exp(x) y = Tanh(t) }") ==
          std::set<std::string>{"Tanh: its output 'y' is declared as float[3], but is float[2]"});
    CHECK(warnings_of("g (float[2] x, bool c) => (float[K] y) { y = If(c)<"
                      "then_branch = a () => (float[2] u) { u = Tanh(x) },"
                      "else_branch = b () => (float[1, 2] v) <float[3] n> { n = Neg(x) v = Exp(n) }> }")
              .empty());
}

TEST_CASE("what is larger than it is made of is computed at run time")
{
    auto const is_computed = [](std::string const& nodes, std::string const& function) {
        std::string const text =
            header_of("g (float x) => (float[N, M] y) { n = Constant<value_ints = [128, 129]>() " + nodes +
                      " y = Add(x, c) }");
        CHECK(text.size() < 1'000'000);
        return has(text, function + "_into(");
    };
    // 128 x 128 floats are 64 KiB.
    std::string const start = "m = Constant<value_ints = [128, 128]>() a = ConstantOfShape(m) ";
    CHECK_FALSE(is_computed(start + "c = Neg(a)", "constant_of_shape"));
    CHECK(is_computed("c = ConstantOfShape(n)", "constant_of_shape"));
    CHECK(is_computed("o = Constant<value_float = 1.0>() c = Expand(o, n)", "expand"));
    CHECK(is_computed("o = Constant<value = float[1, 1] {1}>() c = Tile(o, n)", "tile"));
    // Copies of one value, and of values that are made of it.
    CHECK(is_computed(start + "c = Concat<axis = 0>(a, a)", "concat"));
    CHECK(is_computed(start + "b = Exp(a) c = Concat<axis = 0>(a, b)", "concat"));
    // A conversion is none larger, nor are values of the model together.
    std::string items = "1";
    for (int i = 1; i < 20'000; ++i)
        items += ", 1";
    std::string const given = "<value = float[200, 100] {" + items + "}>() ";
    CHECK_FALSE(is_computed("a = Constant" + given + "h = Cast<to = 10>(a) c = Cast<to = 1>(h)", "cast"));
    CHECK_FALSE(is_computed(
        "a = Constant" + given + "b = Constant" + given + "c = Concat<axis = 1>(a, b)", "concat"));
    // Its shape is known nevertheless.
    CHECK(has(header_of("g (float x) => (float[N] y) { s = Constant<value_float = 0.0>() "
                        "l = Constant<value_float = 100000.0>() d = Constant<value_float = 1.0>() "
                        "r = Range(s, l, d) y = Add(r, x) }"),
        "/// Outputs  y: float[100000]"));
}

TEST_CASE("a sparse Constant that is larger than the model is refused")
{
    onnx::GraphProto graph = runner::graph_of(
        "g (float[2] x) => (float[2] y) { w = Constant<value_float = 1.0>() y = Add(x, w) }");
    onnx::AttributeProto& value = *graph.mutable_node(0)->mutable_attribute(0);
    value.Clear();
    value.set_name("sparse_value");
    value.set_type(onnx::AttributeProto::SPARSE_TENSOR);
    onnx::SparseTensorProto& sparse = *value.mutable_sparse_tensor();
    sparse.add_dims(1'000'000);
    sparse.mutable_values()->set_data_type(onnx::TensorProto::FLOAT);
    sparse.mutable_values()->add_dims(0);
    sparse.mutable_indices()->set_data_type(onnx::TensorProto::INT64);
    sparse.mutable_indices()->add_dims(0);
    graph.mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
    graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->clear_dim();
    CHECK_THROWS_WITH_AS(compiler::generate(runner::model_of(graph), {}),
        "Constant: its result is too large to be a constant", runner::runner_error);
}

TEST_CASE("inputs are checked")
{
    CHECK(has(header_of("g (float[2, N] x) => (float[2, N] y) { y = Tanh(x) }"),
        "xloom_onnx::check_input(\"tested\", \"x\", x, {2, -1});"));
}

TEST_CASE("an input with a fixed value is a constant and no parameter")
{
    compiler::options chosen;
    chosen.values = {{"sr", "16000"}};
    std::string const graph =
        "g (float[2] x, int64 sr) => (float[2] y) { wide = Constant<value_int = 16000>() "
        "is_wide = Equal(sr, wide) y = If(is_wide)<"
        "then_branch = a () => (float[2] u) { u = Tanh(x) },"
        "else_branch = b () => (float[2] v) { v = Exp(x) }> }";
    std::string const text = header_of(graph, chosen);
    CHECK(has(text, "tanh"));
    CHECK_FALSE(has(text, "exp"));
    CHECK_FALSE(has(text, "sr"));
}

TEST_CASE("fixed values have the declared element type and shape")
{
    auto const with = [](std::string const& input, std::string const& items) {
        compiler::options chosen;
        chosen.values = {{"b", items}};
        return header_of(
            "g (float[2, N] x, " + input + " b) => (float[2, N] y) { c = Cast<to = 1>(b) y = Add(x, c) }",
            chosen);
    };
    CHECK(has(with("float[2, M]", "1,2.5,-3e2,4"), "{1.0F, 2.5F, -300.0F, 4.0F}"));
    CHECK(has(with("float[2, M]", "1,2,3,4"), "{2, 2}"));
    CHECK(has(with("bool", "true"), "+ 1.0F"));
    CHECK_THROWS_WITH_AS(with("int8", "128"), doctest::Contains("'128' is no int8"), runner::runner_error);
    CHECK_THROWS_WITH_AS(with("float[2]", "1,2,3"), doctest::Contains("items"), runner::runner_error);
    CHECK_THROWS_WITH_AS(with("float[N, M]", "1"), doctest::Contains("--shape"), runner::runner_error);
    CHECK_THROWS_WITH_AS(with("string", "a"), doctest::Contains("'b'"), runner::runner_error);
    CHECK_THROWS_WITH_AS(with("float", "1,"), doctest::Contains("items"), runner::runner_error);
    CHECK_THROWS_WITH_AS(with("float[2, M]", "1,2,3"),
        "the value of the input 'b': its shape [2, M] does not have 3 items", runner::runner_error);
    CHECK(has(with("bool[4]", "true,1,false,0"), "{1.0F, 1.0F, 0.0F, 0.0F}"));
    CHECK_THROWS_WITH_AS(
        with("bool", "2"), "the value of the input 'b': '2' is no bool", runner::runner_error);
    CHECK_THROWS_WITH_AS(
        with("float", "1x"), "the value of the input 'b': '1x' is no float", runner::runner_error);
    CHECK(has(with("float16", "0.5"), "return x_i + 0.5F;"));
    CHECK_THROWS_WITH_AS(with("float[0, M]", "1"),
        "the value of the input 'b': its shape [0, M] does not have 1 items", runner::runner_error);
    compiler::options chosen;
    chosen.values = {{"z", "1"}};
    CHECK_THROWS_WITH_AS(header_of("g (float[2] x) => (float[2] y) { y = Exp(x) }", chosen),
        "the model has no tensor as its input 'z'", runner::runner_error);
    // Of unknown rank: one item is a scalar, several are a list.
    onnx::GraphProto open =
        runner::graph_of("g (float[2] x, float b) => (float[2] y, float z) { y = Add(x, b) z = Neg(b) }");
    open.mutable_input(1)->mutable_type()->mutable_tensor_type()->clear_shape();
    open.mutable_output(1)->mutable_type()->mutable_tensor_type()->clear_shape();
    for (auto const& [items, part] :
        {std::pair{"7", "        float z{};"}, {"7,8", "        xt::xtensor<float, 1> z{};"}}) {
        chosen.values = {{"b", items}};
        CHECK(has(compiler::generate(runner::model_of(open), chosen).header, part));
    }
    (void)open.mutable_input(1)->mutable_type()->mutable_sequence_type();
    CHECK_THROWS_WITH_AS(compiler::generate(runner::model_of(open), chosen),
        "the model has no tensor as its input 'b'", runner::runner_error);
}

TEST_CASE("a sequence has the rank of the tensors that are put into it")
{
    std::string const text = header_of("g (int64 trips, float[N] x) => (y) {"
                                       "yes = Constant<value = bool {1}>() empty = SequenceEmpty() "
                                       "y = Loop(trips, yes, empty)<body = b (int64 i, bool c, s) => "
                                       "(bool d, t) { d = Identity(c) t = SequenceInsert(s, x) }> }");
    CHECK(
        has(text, "std::vector<xt::xtensor<float, 1>> const empty = std::vector<xt::xtensor<float, 1>>{};"));
    CHECK(has(text, "std::vector<xt::xtensor<float, 1>> y{};"));
}

TEST_CASE("a constant sequence is a member")
{
    CHECK(has(header_of("g (bool c) => (y) { y = If(c)<"
                        "then_branch = t () => (u) { a = Constant<value_floats = [1.0, 2.0]>() "
                        "u = SequenceConstruct(a, a) },"
                        "else_branch = e () => (v) { v = SequenceEmpty() }> }"),
        "std::vector<xt::xtensor<float, 1>>{xt::xtensor<float, 1>(element), xt::xtensor<float, "
        "1>(element_2)};"));
}

TEST_CASE("a sequence of several ranks is refused with its node")
{
    CHECK_THROWS_WITH_AS(header_of("g (float[2] a, float[2, 2] b) => (y) { y = SequenceConstruct(a, b) }"),
        doctest::Contains("SequenceConstruct"), runner::runner_error);
}

TEST_CASE("a slice of neighbours is a view, another one a copy")
{
    auto const sliced = [](std::string const& starts, std::string const& ends, std::string const& axes) {
        return header_of("g (float[1, 4, 3] x) => (float[N, M, K] y) { s = Constant<value_ints = " + starts +
                         ">() e = Constant<value_ints = " + ends + ">() a = Constant<value_ints = " + axes +
                         ">() p = Slice(x, s, e, a) y = Tanh(p) }");
    };
    CHECK(has(sliced("[1]", "[3]", "[1]"), "xloom_onnx::sliced<3>(x, "));
    CHECK(has(sliced("[0, 1]", "[1, 3]", "[0, 1]"), "xloom_onnx::sliced<3>(x, "));
    CHECK(has(sliced("[1]", "[3]", "[2]"), "xloom_onnx::slice_into(x, p, "));
}

TEST_CASE("custom operators are read from the command line")
{
    compiler::custom_operators all;
    compiler::add_custom_operator(all, "com.example::Filter=dsp::filter");
    compiler::add_custom_operator(all, "Own=f");
    CHECK(all == compiler::custom_operators{{"com.example.Filter", "dsp::filter"}, {"Own", "f"}});
    for (char const* const wrong : {"Filter", "=f", "F=", "F=f()", "F=f::", "F=::f", "F=operator", "F=a b"})
        CHECK_THROWS_WITH_AS(compiler::add_custom_operator(all, wrong),
            doctest::Contains("DOMAIN::NAME=FUNCTION"), runner::runner_error);
    CHECK_THROWS_WITH_AS(compiler::add_custom_operator(all, "Add=f"), doctest::Contains("there already"),
        runner::runner_error);
    CHECK_THROWS_WITH_AS(
        compiler::add_custom_operator(all, "Own=g"), doctest::Contains("twice"), runner::runner_error);
}

TEST_CASE("a custom operator gets inputs, outputs and attributes in order")
{
    compiler::options chosen;
    chosen.operators = {{"Own", "my::own"}};
    chosen.includes = {"my/own.hpp"};
    std::string const text =
        header_of("g (float[2] x) => (float[2] y) { y = Own<z = 1, a = [1.5, 2.0], m = \"t\">(x) }", chosen);
    CHECK(has(text, "my::own(x, results.y, {.a = {1.5, 2.0}, .m = \"t\", .z = 1});"));
    CHECK(has(text, "#include \"my/own.hpp\"\n"));
    CHECK_THROWS_WITH_AS(header_of("g (float[2] x) => (float[2] y) { y = Own(x) }"),
        doctest::Contains("Own is not implemented"), runner::runner_error);
    CHECK_THROWS_WITH_AS(header_of("g (float[2] x) => (float[2] y) { z = Own(x) y = Tanh(z) }", chosen),
        doctest::Contains("'z'"), runner::runner_error);
}

TEST_CASE("attributes of a custom operator, and what it cannot have")
{
    compiler::options chosen;
    chosen.operators = {{"Own", "my::own"}};
    auto const with = [&](std::string const& attributes, std::string const& outputs = "y") {
        return header_of(
            "g (float[2] x) => (float[2] y) { " + outputs + " = Own<" + attributes + ">(x, , x) }", chosen);
    };
    CHECK(has(with("a = 1, b = 0.5, c = [1, 2], d = [\"s\", \"t\"], e = [0.5]"),
        "my::own(x, std::nullopt, x, results.y, {.a = 1, .b = 0.5, .c = {1, 2}, .d = {\"s\", \"t\"}, .e = "
        "{0.5}});"));
    auto const error = [&](std::string const& attributes, std::string const& outputs = "y") {
        try {
            return with(attributes, outputs);
        } catch (runner::runner_error const& refused) {
            return std::string(refused.what());
        }
    };
    CHECK(error("class = 1") == "Own: its attribute 'class' is no name in C++: it is a keyword of C++");
    CHECK(error("t = float {1}") == "its attribute 't' is neither a number nor a text, nor a list of them");
    CHECK(error("a = 1", "y, z") == "Own: the type of its output 1 is not declared");
    CHECK(has(header_of("g (float[2] x) => (float[2] y) <float[2] z> { y, z = Own(x) }", chosen),
        "my::own(x, results.y, unused);"));
}

TEST_CASE("main() reads the inputs and writes the outputs of .npy files' types")
{
    compiler::options chosen;
    chosen.name = "tested";
    chosen.enclosing = "nets";
    auto const made = [&](std::string const& graph) {
        return compiler::main_of(
            compiler::generate(runner::model_of(runner::graph_of(graph)), chosen), chosen, "tested.hpp");
    };
    std::string const text =
        made("g (float[2, N] x, int64 n) => (float[2, N] y) { c = Cast<to = 1>(n) y = Add(x, c) }");
    CHECK(has(text, "#include \"tested.hpp\""));
    CHECK(has(text, "nets::tested model;"));
    CHECK(has(text, "files.run(model, files.template input<xt::xtensor<float, 2>>(\"x\"), files.template "
                    "input<std::int64_t>(\"n\"))"));
    CHECK(has(text, "files.output(\"y\", results.y);"));
    CHECK(has(
        made("g (float16[2] x, string[N] s) => (float16[2] y, string[N] t) { y = Neg(x) t = Identity(s) }"),
        "files.run(model, files.template input<xt::xtensor<xloom::float16, 1>>(\"x\"), files.template "
        "input<xt::xtensor<std::string, 1>>(\"s\"))"));
    CHECK_THROWS_WITH_AS(made("g (bfloat16[2] x) => (bfloat16[2] y) { y = Neg(x) }"),
        doctest::Contains("the input 'x': .npy files have no xt::xtensor<xloom::bfloat16, 1>"),
        runner::runner_error);
}

} // namespace
