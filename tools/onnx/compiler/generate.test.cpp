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
    }
}

TEST_CASE("the lengths of a Scan before opset 9 are no scalar")
{
    CHECK_THROWS_WITH_AS(
        header_of("g (int64 l, float[2, 3] s, float[2, 4, 3] x) => (y, z) { y, z = Scan<num_scan_inputs = 1, "
                  "body = b (float[3] a, float[3] c) => (o, p) { o = Add(a, c) p = Identity(o) }>(l, s, x) }",
            {}, 8),
        "Scan: its sequence_lens must be a tensor, but is a scalar", runner::runner_error);
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
