// What is inferred before a run, and what a run is checked against.

#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "text.hpp"
#include "text_model.hpp"

namespace {

using namespace runner;

opsets const versions{{"", 18}, {"com.microsoft", 1}};

/// The type of a graph's output 0.
std::string inferred(std::string const& text, opsets const& imported = versions)
{
    onnx::GraphProto const proto = graph_of(text);
    warning_list warnings;
    preparation const shared{.model_bytes = proto.ByteSizeLong(), .warnings = &warnings};
    graph ready(proto, imported, shared);
    return fmt::format("{}", ready.infer(types(static_cast<std::size_t>(proto.input_size()))).at(0));
}

/// The type of y, from the inputs' types and one node.
std::string inferred(
    std::string const& inputs, std::string const& declared, std::string const& node, std::int64_t opset = 18)
{
    return inferred("g (" + inputs + ") => (" + declared + " y) { y = " + node + " }",
        {{"", opset}, {"com.microsoft", 1}});
}

tensor floats(xloom::shape const& dims)
{
    tensor t(element_type::float_, dims);
    std::fill(t.items<float>().begin(), t.items<float>().end(), 1.0f);
    return t;
}

} // namespace

TEST_CASE("inferred: items one by one, with broadcasting")
{
    CHECK(inferred("float[2, N] a, float[N] b", "float[]", "Add(a, b)") == "float[2, N]");
    CHECK(inferred("float[2, 1] a, float[3] b", "float[]", "Mul(a, b)") == "float[2, 3]");
    CHECK(inferred("float[2, M] a, float[N] b", "float[]", "Sub(a, b)") == "float[2, ?]");
    CHECK(inferred("float[2, 3] a, float[3] b", "float[]", "Div(a, b)", 6) == "float[2, 3]");
    CHECK(inferred("float[2, 3] a, float[] b", "float[]", "Add(a, b)") == "float[...]");
    CHECK(inferred("float[1] a, float[3] b, float[2, 1] c", "float[]", "Max(a, b, c)") == "float[2, 3]");
    CHECK(inferred("float[N] a, float[3] b", "float[]", "Add(a, b)") == "float[3]"); // N is 3 or 1
    CHECK(inferred("float[3] a, float[N] b", "float[]", "Add(a, b)") == "float[3]");
    CHECK(inferred("float[3] a, float[2] b", "float[]", "Add(a, b)") == "float[?]"); // the run reports it
    CHECK(inferred("int64[2, N] a, int64[N] b", "bool[]", "Less(a, b)") == "bool[2, N]");
    CHECK(inferred("bool[4] c, string[2, 4] a, string[2, 1] b", "string[]", "Where(c, a, b)") ==
          "string[2, 4]");
    CHECK(inferred("float[2, N] a", "float[]", "Tanh(a)") == "float[2, N]");
    CHECK(inferred("float[2, N] a", "int8[]", "Cast<to = 3>(a)") == "int8[2, N]");
    CHECK(inferred("float[2, N] a, double[7] b", "double[]", "CastLike(a, b)") == "double[2, N]");
}

TEST_CASE("inferred: shapes from shapes, and from numbers that are known before a run")
{
    CHECK(inferred("float[2, N, 3] a", "int64[]", "Shape(a)") == "int64[3]");
    CHECK(inferred("float[2, N, 3] a", "int64[]", "Shape<start = -2>(a)") == "int64[2]");
    CHECK(inferred("float[2, N, 3] a", "int64[]", "Size(a)") == "int64[]");
    CHECK(inferred("float[2, N, 3] a", "float[]", "Transpose(a)") == "float[3, N, 2]");
    CHECK(inferred("float[2, N, 3] a", "float[]", "Transpose<perm = [1, 0, 2]>(a)") == "float[N, 2, 3]");
    CHECK(inferred("float[2, N, 3] a", "float[]", "Flatten(a)") == "float[?, ?]");
    CHECK(inferred("float[2, N, 3] a, int64[4] s", "float[]", "Reshape(a, s)") == "float[?, ?, ?, ?]");
    CHECK(inferred("float[2, N, 3] a, int64[K] s", "float[]", "Reshape(a, s)") == "float[...]");
    CHECK(inferred("g (float[2, N] a) => (float[] y) { s = Constant<value = int64[3] {0, -1, 4}>() y = "
                   "Reshape(a, s) }") == "float[2, ?, 4]");
    CHECK(inferred("g (float[2, N] a) => (float[] y) { s = Constant<value = int64[2] {0, -1}>() y = "
                   "Unsqueeze(a, s) }") == "float[1, 2, N, 1]");
    CHECK(inferred("float[1, N, 1] a", "float[]", "Squeeze<axes = [2]>(a)", 11) == "float[1, N]");
    CHECK(inferred("float[1, N, 1] a", "float[]", "Squeeze(a)") == "float[...]");
    CHECK(inferred("float[1, 2, 1] a", "float[]", "Squeeze(a)") == "float[2]");
    CHECK(inferred("g (float[2, 1] a) => (float[] y) { s = Constant<value = int64[3] {4, 1, 3}>() y = "
                   "Expand(a, s) }") == "float[4, 2, 3]");
    CHECK(
        inferred(
            "g (float[2, N] a) => (float[] y) { s = Constant<value = int64[2] {3, 1}>() y = Tile(a, s) }") ==
        "float[6, ?]");
    CHECK(inferred("g () => (int32[] y) { s = Constant<value = int64[2] {3, 1}>() y = ConstantOfShape<value "
                   "= int32[1] {7}>(s) }") == "int32[3, 1]");
    CHECK(inferred("int32 a, int32 b, int32 c", "int32[]", "Range(a, b, c)") == "int32[?]");
    CHECK(inferred("float[2, N] a, int64[1] s", "float[]", "Unsqueeze(a, s)") == "float[...]");
    CHECK(inferred("int64[2, 2] s", "float[]", "ConstantOfShape(s)") == "float[...]"); // the run reports it
}

TEST_CASE("nodes that only see constants run before anything else")
{
    CHECK(inferred("g (float[2, 6] a) => (float[] y) { s = Constant<value = int64[2] {3, 2}>() t = "
                   "Identity(s) u = Max(s, t) "
                   "y = Reshape(a, u) }") == "float[3, 2]");
    // What is constant outside is so in a body.
    CHECK(inferred("g (bool c, float[6] a) => (float[] y) { s = Constant<value = int64[2] {3, 2}>() y = "
                   "If(c) <then_branch = t () => "
                   "(float[] z) { z = Reshape(a, s) }, else_branch = e () => (float[] w) { w = Reshape(a, s) "
                   "}> }") == "float[3, 2]");
    // An input is not, even if it has a default.
    CHECK(inferred("g (float[6] a, int64[2] s = {3, 2}) => (float[] y) { y = Reshape(a, s) }") ==
          "float[?, ?]");
    // One that fails does so where it is reached.
    std::string const branches =
        "then_branch = t () => (int64[] z) { o = Constant<value = int64 {0}>() z = Div(o, o) }, "
        "else_branch = e () => (int64[] w) { w = Constant<value = int64 {7}>() }";
    std::string const choice = "g (bool c) => (int64[] y) { y = If(c) <" + branches + "> }";
    CHECK(error_of(choice, {tensor::scalar(false)}) == "none");
    CHECK(error_of(choice, {tensor::scalar(true)}) == "If: Div: a whole number is divided by zero");
    // The types of a branch that never runs may contradict what it declares.
    std::string const excluded = "y = If(c) <then_branch = t () => (float[3] z) { z = Neg(a) }, else_branch "
                                 "= e () => (float[2] w) { w = "
                                 "Neg(a) }> }";
    CHECK(inferred("g (float[2] a) => (float[] y) { c = Constant<value = bool {0}>() " + excluded) ==
          "float[2]");
    CHECK(error_of("g (float[2] a) => (float[] y) { c = Constant<value = bool {1}>() " + excluded) != "none");
}

TEST_CASE("inferred: pieces, reductions, products")
{
    CHECK(inferred("float[2, N] a, float[3, N] b", "float[]", "Concat<axis = 0>(a, b)") == "float[5, N]");
    CHECK(inferred("float[2, N] a, float[2, M] b", "float[]", "Concat<axis = -1>(a, b)") == "float[2, ?]");
    CHECK(inferred("float[2, N] a, float[2] b", "float[]", "Concat<axis = 0>(a, b)") == "float[?, N]");
    CHECK(inferred("float[9223372036854775807] a", "float[]", "Concat<axis = 0>(a, a)") == "float[?]");
    CHECK(inferred("g (float[5] a) => (float[] y) { y, z = Split(a) }", {{"", 13}}) == "float[?]");
    CHECK(inferred("g (float[5] a) => (float[] y) { s = Constant<value = int64[2] {6, -1}>() y, z = Split(a, "
                   "s) }") == "float[?]");
    CHECK(inferred("float[4, N] a", "float[]", "Split<axis = 0, num_outputs = 1>(a)") == "float[4, N]");
    CHECK(inferred("float[M, N] a", "float[]", "Split<axis = 0, num_outputs = 1>(a)") == "float[?, N]");
    CHECK(
        inferred("g (float[5] a) => (float[] y) { s = Constant<value = float[2] {3, 2}>() y, z = Split(a, s) "
                 "}",
            {{"", 1}}) == "float[?]");
    CHECK(inferred("g (float[5] a) => (float[] y) { z, y = Split<num_outputs = 2>(a) }") == "float[2]");
    CHECK(inferred("float[4, 5] a", "float[]", "Slice<starts = [1], ends = [2], axes = [1]>(a)", 9) ==
          "float[4, ?]");
    CHECK(inferred("float[4, 5] a, int64[1] s, int64[1] e", "float[]", "Slice(a, s, e)") == "float[?, ?]");
    auto const sliced = [](std::string const& node) {
        return inferred(
            "g (float[4, 5] a, int64[1] open) => (float[] y) { zero = Constant<value_ints = [0]>() "
            "two = Constant<value_ints = [2]>() y = Slice(" +
            node + ") }");
    };
    CHECK(sliced("a, zero, two, zero") == "float[2, 5]");
    CHECK(sliced("a, zero, open, zero") == "float[?, 5]");
    CHECK(sliced("a, zero, two, open") == "float[?, ?]");
    CHECK(sliced("a, zero, two, zero, open") == "float[?, 5]");
    CHECK(inferred("g (float[9223372036854775807, 9223372036854775807, 3] a) => (float[] y) "
                   "{ one = Constant<value = int64[1] {1}>() three = Constant<value = int64[1] {3}>() "
                   "y = Slice(a, one, three, one) }") == "float[9223372036854775807, 2, 3]");
    CHECK(inferred("g (float[2, N] a) => (float[] y) { s = Constant<value = int64[4] {1, 0, 2, -1}>() y = "
                   "Pad(a, s) }") == "float[5, ?]");
    CHECK(inferred("g (float[2, N] a) => (float[] y) { s = Constant<value = int64[3] {1, 0, 2}>() y = Pad(a, "
                   "s) }") == "float[?, ?]"); // the run reports it
    CHECK(inferred("float[2, N, 3] a", "float[]", "ReduceMax<axes = [-1]>(a)", 13) == "float[2, N, 1]");
    CHECK(inferred("float[2, N, 3] a", "float[]", "ReduceMax<axes = [0], keepdims = 0>(a)", 13) ==
          "float[N, 3]");
    CHECK(inferred("float[2, N, 3] a", "float[]", "ReduceSum(a)") == "float[1, 1, 1]");
    CHECK(inferred("float[2, N, 3] a", "float[]", "ReduceSum<noop_with_empty_axes = 1>(a)") ==
          "float[2, N, 3]");
    CHECK(inferred("float[2, N] a, int64[1] axes", "float[]", "ReduceSum(a, axes)") == "float[?, ?]");
    CHECK(inferred("float[2, N] a, int64[1] axes", "float[]", "ReduceSum<keepdims = 0>(a, axes)") ==
          "float[...]");
    CHECK(inferred("float[2, N, 3] a", "int64[]", "ArgMax<axis = 1, keepdims = 0>(a)") == "int64[2, 3]");
    CHECK(inferred("float[2, N] a, int64 axis", "float[]", "CumSum(a, axis)") == "float[2, N]");
    CHECK(inferred("float[5, 2, K] a, float[K, M] b", "float[]", "MatMul(a, b)") == "float[5, 2, M]");
    CHECK(inferred("float[K] a, float[5, K, M] b", "float[]", "MatMul(a, b)") == "float[5, M]");
    CHECK(inferred("float[5, 2, K] a, float[K] b", "float[]", "MatMul(a, b)") == "float[5, 2]");
    CHECK(inferred("float[2, 3] a, float[] b", "float[]", "MatMul(a, b)") == "float[...]");
    CHECK(inferred("float[N, 3, 8, 8] a, float[] w", "float[]", "Conv(a, w)") == "float[N, ?, ?, ?]");
    CHECK(
        inferred("float[N, 3, 8, 8] a, float[] w", "float[]", "ConvTranspose(a, w)") == "float[N, ?, ?, ?]");
    CHECK(inferred("float[K, 2] a, float[3, K] b", "float[]", "Gemm<transA = 1, transB = 1>(a, b)") ==
          "float[2, 3]");
    CHECK(inferred("float[N, 3, K] a, float[1, 3, 5] b", "float[]",
              "Einsum<equation = \"...ij,...ik -> ...jk\">(a, b)", 12) == "float[N, K, 5]");
    CHECK(inferred("float[N, N] a", "float[]", "Einsum<equation = \"ii\">(a)", 12) == "float[]");
    CHECK(inferred("float[] a", "float[]", "Einsum<equation = \"ij->j\">(a)", 12) == "float[...]");
    CHECK(inferred("float[N, 3, 8, 8] a, float[16, 3, 2, 2] w", "float[]", "Conv(a, w)") ==
          "float[N, 16, ?, ?]");
}

TEST_CASE("inferred: quantization, products of integers, ConvTranspose")
{
    CHECK(inferred("float[N, 3] a, float s", "uint8[]", "QuantizeLinear(a, s)", 13) == "uint8[N, 3]");
    CHECK(
        inferred("float[N, 3] a, float s, int8 z", "int8[]", "QuantizeLinear(a, s, z)", 13) == "int8[N, 3]");
    CHECK(inferred("float[N, 3] a, float s", "int16[]", "QuantizeLinear<output_dtype = 5>(a, s)", 21) ==
          "int16[N, 3]");
    CHECK(inferred("int8[N, 3] a, float16 s", "float16[]", "DequantizeLinear(a, s)", 19) == "float16[N, 3]");
    CHECK(inferred("int8[N, 3] a, float16 s", "float[]", "DequantizeLinear<output_dtype = 1>(a, s)", 23) ==
          "float[N, 3]");
    CHECK(
        inferred("g (float[N, 3] a) => (uint8[] y) { y, s, z = DynamicQuantizeLinear(a) }") == "uint8[N, 3]");
    CHECK(inferred("g (float[N, 3] a) => (float[] s) { y, s, z = DynamicQuantizeLinear(a) }") == "float[]");
    CHECK(inferred("g (float[N, 3] a) => (uint8[] z) { y, s, z = DynamicQuantizeLinear(a) }") == "uint8[]");
    CHECK(inferred("uint8[B, N, 3] a, int8[3, 5] b", "int32[]", "MatMulInteger(a, b)") == "int32[B, N, 5]");
    std::string const transposed =
        "ConvTranspose<strides = [2, 1], pads = [1, 0, 0, 0], output_padding = [1, 0], group = 2>(a, w)";
    CHECK(
        inferred("float[1, 4, 3, 8] a, float[4, 5, 3, 2] w", "float[]", transposed) == "float[1, 10, 7, 9]");
    CHECK(
        inferred("float[N, 4, 3, 8] a, float[4, 5, 3, 2] w", "float[]", transposed) == "float[N, 10, ?, ?]");
    CHECK(inferred("float[N, 4, 3, 8] a, float[4, M, 3, 2] w", "float[]", transposed) == "float[N, ?, ?, ?]");
}

TEST_CASE("inferred: pools, normalization, OneHot")
{
    std::string const pool = "MaxPool<kernel_shape = [3, 2], strides = [2, 1], pads = [1, 0, 0, 0]>(a)";
    CHECK(inferred("float[N, C, 8, 8] a", "float[]", pool) == "float[N, C, 4, 7]");
    CHECK(inferred("float[N, 3, H, 8] a", "float[]", pool) == "float[N, 3, ?, 7]");
    CHECK(inferred("float[N, 3, 1, 8] a", "float[]", pool) == "float[N, 3, ?, 7]"); // the run reports it
    CHECK(inferred("g (float[N, 3, 8] a) => (int64[] i) { y, i = MaxPool<kernel_shape = [2], strides = [2], "
                   "ceil_mode = 1, pads = [1, 0]>(a) }") == "int64[N, 3, 5]");
    CHECK(inferred("float[N, 3, 8] a", "float[]",
              "AveragePool<kernel_shape = [2], auto_pad = \"SAME_UPPER\">(a)") == "float[N, 3, 8]");
    CHECK(
        inferred("float[N, 3, 8] a", "float[]", "AveragePool<kernel_shape = [2, 2]>(a)") == "float[N, 3, ?]");
    CHECK(inferred("float[N, 3, H, 8] a", "float[]", "GlobalMaxPool(a)") == "float[N, 3, 1, 1]");
    CHECK(inferred("float[N, 3, 8] a, float[3] p", "float[]", "BatchNormalization(a, p, p, p, p)") ==
          "float[N, 3, 8]");
    CHECK(inferred("g (double[N, 3, 8] a, double[8] s) => (float[] m) { y, m = LayerNormalization<axis = "
                   "1>(a, s) }") == "float[N, 1, 1]");
    CHECK(inferred("float[N, 3] a, double[3] s", "double[]", "RMSNormalization(a, s)", 23) == "double[N, 3]");
    CHECK(inferred("g (float[N, 3] a) => (bool[] m) { y, m = Dropout(a) }") == "bool[N, 3]");
    CHECK(inferred("float[N, 3] a, float[3] p", "float[]", "PRelu(a, p)") == "float[N, 3]");
    CHECK(inferred("float[N, 3] a", "float[]", "Gelu<approximate = \"tanh\">(a)", 20) == "float[N, 3]");
    CHECK(inferred("float[N, 3] a", "float[]", "Swish(a)", 24) == "float[N, 3]");
    CHECK(inferred("g (int64[N, 3] a, double[2] v) => (double[] y) { d = Constant<value = int64 {4}>() "
                   "y = OneHot<axis = 1>(a, d, v) }") == "double[N, 4, 3]");
    CHECK(inferred("float[N, 3] a", "int64[]", "NonZero(a)") == "int64[2, ?]");
    CHECK(inferred("float a", "int64[]", "NonZero(a)") == "int64[0, ?]");
    CHECK(inferred("g (double[N, 3] a, int64[1] k) => (double[] y) { y, i = TopK<axis = 0>(a, k) }") ==
          "double[?, 3]");
    CHECK(inferred("g (double[N, 3] a) => (double[] y, int64[] i) { y, i = TopK<k = 2>(a) }",
              {{"", 9}, {"com.microsoft", 1}}) == "double[N, 2]");
    CHECK(
        inferred(
            "g (double[N, 3] a) => (int64[] i) { k = Constant<value = int64[1] {2}>() y, i = TopK(a, k) }") ==
        "int64[N, 2]");
    CHECK(inferred("int64[N, 3] a, int64 d, float[2] v", "float[]", "OneHot(a, d, v)") == "float[N, 3, ?]");
    for (char const* const depth : {"float {4}", "int64[2] {4, 5}"})
        CHECK(inferred("g (int64[N, 3] a, double[2] v) => (double[] y) { d = Constant<value = " +
                       std::string(depth) + ">() y = OneHot(a, d, v) }") == "double[N, 3, ?]");
    for (char const* const k : {"int32[1] {2}", "int64[2] {2, 3}"})
        CHECK(inferred("g (double[N, 3] a) => (double[] y) { k = Constant<value = " + std::string(k) +
                       ">() y, i = TopK(a, k) }") == "double[N, ?]");
    CHECK(error_of("g (float[1, 1] x, float[1] p) => (y) { y = BatchNormalization<training_mode = 1>(x, p, "
                   "p, p, p) }",
              {}) == "BatchNormalization in training (training_mode = 1) is not implemented");
    CHECK(error_of("g (float[2, 2] x, float[2] s) => (y) { y = LayerNormalization<stash_type = 16>(x, s) }",
              {}) == "LayerNormalization with stash_type = 16 is not implemented");
    CHECK(error_of("g (float[2, 2] x, float[2] s) => (y) { y = RMSNormalization<stash_type = 16>(x, s) }", {},
              23) == "RMSNormalization with stash_type = 16 is not implemented");
}

TEST_CASE("inferred: xloom's operators, by its infer_*")
{
    CHECK(inferred("float[4, N] d, int64[5, 1] i, float[5, N] u", "float[]", "ScatterND(d, i, u)") ==
          "float[4, N]");
    CHECK(inferred("float[4, N] d, int64[5, 1] i", "float[]", "GatherND(d, i)") == "float[5, N]");
    CHECK(inferred("float[4, N] d, int64[5, 6] i", "float[]", "Gather<axis = 1>(d, i)") == "float[4, 5, 6]");
    CHECK(inferred("float[4, N] d, int64[5, 6] i", "float[]", "GatherElements(d, i)") == "float[5, 6]");
    CHECK(inferred("float[4, N] d, int64[] i", "float[]", "Gather(d, i)") == "float[...]");
    std::string const operands = "float[T, N, 3] x, float[1, 16, 3] w, float[1, 16, 4] r";
    CHECK(inferred(operands, "float[]", "LSTM<hidden_size = 4>(x, w, r)") == "float[T, 1, N, 4]");
    CHECK(inferred(operands, "float[]", "GRU<hidden_size = 4, layout = 1>(x, w, r)") == "float[T, N, 1, 4]");
    CHECK(inferred(operands, "float[]", "RNN<hidden_size = 4>(x, w, r)") == "float[T, 1, N, 4]");

    CHECK(inferred("bool c, float[2, 3] a, float[2, 4] b", "float[]",
              "If(c) <then_branch = t () => (float[] z) { z = Neg(a) }, else_branch = e () => (float[] w) { "
              "w = Neg(b) }>") == "float[2, ?]");
    std::string const body = "body = b (int64 i, bool c, float[] s) => (bool c2, float[] s2, float[] o) "
                             "{ c2 = Identity(c) s2 = Add(s, s) o = Add(a, a) }";
    CHECK(inferred("g (int64 m, bool c, float[2] a) => (float[] o) { f, o = Loop<" + body + ">(m, c, a) }") ==
          "float[?, 2]");
    CHECK(inferred("g (int64 m, bool c, float[2] a) => (float[] f) { f, o = Loop<" + body + ">(m, c, a) }") ==
          "float[2]"); // no iteration changes it
    CHECK(inferred("g (float[2] s, float[T, 3] x) => (float[] o) { f, o = Scan<num_scan_inputs = 1, body = b "
                   "(float[] s1, float[] x1) => "
                   "(float[] s2, float[] o1) { s2 = Identity(s1) o1 = Exp(x1) }>(s, x) }") == "float[T, 3]");
}

TEST_CASE("inferred: states that a Loop changes in many iterations, and loops in loops")
{
    // Each state is the one before it in the next iteration; the first one grows.
    auto const last_of = [](int count) {
        std::string inputs = "a", parameters = "float[] v0", next = "float[] w0",
                    body = "w0 = Concat<axis = 0>(v0, v0) ", outputs = "y0";
        for (int i = 1; i < count; ++i) {
            std::string const at = std::to_string(i);
            inputs += ", a";
            parameters += ", float[] v" + at;
            next += ", float[] w" + at;
            body += "w" + at + " = Identity(v" + std::to_string(i - 1) + ") ";
            outputs += i + 1 == count ? ", y" : ", y" + at;
        }
        return inferred("g (int64 m, bool c, float[2] a) => (float[] y) { " + outputs + " = Loop(m, c, " +
                        inputs + ")<body = b (int64 i, bool d, " + parameters + ") => (bool e, " + next +
                        ") { e = Identity(d) " + body + "}> }");
    };
    CHECK(last_of(3) == "float[?]");
    CHECK(last_of(7) == "float[?]");
    CHECK(last_of(12) == "float[...]"); // more rounds than inference takes
    auto const nested = [](int depth) {
        std::string text = "w = Neg(v) ";
        for (int i = 0; i < depth; ++i)
            text = "w = Loop(m, c, v)<body = b" + std::to_string(i) +
                   " (int64 i, bool d, float[] v) => (bool e, float[] w) "
                   "{ e = Identity(d) " +
                   text + "}> ";
        return inferred("g (int64 m, bool c, float[2] v) => (float[] w) { " + text + "}");
    };
    CHECK(nested(1) == "float[2]");
    CHECK(nested(4) == "float[2]");
    CHECK(nested(6) == "float[...]"); // deeper than inference goes
    // A state grows beside more scan outputs than inference takes.
    auto const beside = [](int count) {
        std::string outputs = "y", declared, body;
        for (int i = 0; i < count; ++i) {
            std::string const name = "t" + std::to_string(i);
            outputs += ", s" + std::to_string(i);
            declared += ", float " + name;
            body += name + " = Constant<value_float = 1.0>() ";
        }
        return inferred("g (int64 m, float[1] a) => (float[] y) { " + outputs +
                        " = Loop(m, , a)<body = b (int64 i, "
                        "bool d, float[] v) => (bool e, float[] w" +
                        declared + ") { e = Identity(d) w = Concat<axis = 0>(v, v) " + body + "}> }");
    };
    CHECK(beside(1) == "float[?]");
    CHECK(beside(31) == "float[...]");
    CHECK(beside(32) == "float[...]");
}

TEST_CASE("values agree with types, or not")
{
    using xloom::tensor_type;
    auto const of = [](element_type type, xloom::partial_shape const& dims) {
        return tensor_type(type, dims);
    };
    constexpr element_type f = element_type::float_;
    value const x = floats({2}), two(sequence{floats({2}), floats({2})}),
                mixed(sequence{floats({2}), floats({3, 1})}),
                held(value::optional_value{std::make_shared<value const>(x)}), none(value::optional_value{});
    struct row {
        value const& v;
        xloom::partial_type type;
        bool agree;
    };
    for (row const& each :
        {row{x, of(f, {2}), true}, {x, of(f, {"N"}), true}, {x, of(f, {3}), false}, {x, of(f, {2, 1}), false},
            {x, of(element_type::int64, {2}), false}, {x, tensor_type(element_type::undefined), true},
            {x, xloom::untyped, true}, {x, xloom::sparse_tensor_type(f, {2}), false},
            {x, sequence_of(of(f, {2})), false}, {x, optional_of(of(f, {2})), true},
            {x, optional_of(of(f, {3})), false}, {two, of(f, {2}), false},
            {two, sequence_of(of(f, {2})), true}, {two, sequence_of(of(f, {"N"})), true},
            {two, sequence_of(tensor_type(f)), true}, {two, sequence_of(of(f, {3})), false},
            {two, sequence_of(of(f, {2, 2})), false}, {two, sequence_of(of(element_type::int64, {2})), false},
            {two, sequence_of(tensor_type(element_type::undefined)), true},
            {mixed, sequence_of(tensor_type(f)), true}, {mixed, sequence_of(of(f, {2})), false},
            {mixed, sequence_of(of(f, {"N", 1})), false}, {held, optional_of(of(f, {2})), true},
            {held, optional_of(of(f, {3})), false}, {none, optional_of(of(f, {3})), true},
            {held, of(f, {2}), false}}) {
        CAPTURE(describe(each.v));
        CAPTURE(fmt::format("{}", each.type));
        CHECK(agrees(each.v, each.type) == each.agree);
    }
}

TEST_CASE("declared types that are none, or that say less")
{
    onnx::GraphProto graph = graph_of("g (float[2] a) => (float[2] y) { y = Neg(a) }");
    auto const error = [&] {
        try {
            model(model_of(graph)).run({floats({2})});
            return std::string("none");
        } catch (runner_error const& refused) {
            return std::string(refused.what());
        }
    };
    auto& type = *graph.mutable_input(0)->mutable_type()->mutable_tensor_type();
    type.mutable_shape()->mutable_dim(0)->set_dim_value(-1); // as if it were unknown
    CHECK(error() == "none");
    for (int const number : {-1, 99}) {
        type.set_elem_type(number);
        CHECK(error() == "the element type " + std::to_string(number) + " is none of ONNX's");
    }
    auto& sparse = *graph.mutable_input(0)->mutable_type()->mutable_sparse_tensor_type();
    sparse.set_elem_type(onnx::TensorProto::FLOAT);
    sparse.mutable_shape()->add_dim()->set_dim_value(2);
    CHECK(error() == "Neg: its output 'y' is declared as float[2], but is sparse float[2]");
}

TEST_CASE("inferred: the dimension -1 of Reshape")
{
    auto const reshaped = [](std::string const& x, std::string const& shape) {
        return inferred("g (float[" + x + "] x) => (float[] y) { s = Constant<value_ints = [" + shape +
                        "]>() y = Reshape(x, s) }");
    };
    CHECK(reshaped("1, 120, 1, 40", "1, 120, -1") == "float[1, 120, 40]");
    CHECK(reshaped("N, 3, 4", "0, -1") == "float[N, 12]"); // N is kept
    CHECK(reshaped("3, N, 4", "-1, 0, 2") == "float[6, N, 2]");
    CHECK(reshaped("N, 3, 4", "-1, 12") == "float[?, 12]");
    CHECK(reshaped("0, 3", "-1, 5") == "float[0, 5]");
    CHECK(reshaped("2, 3", "-1, 4") == "float[?, 4]"); // the run reports it
    CHECK(reshaped("2, 3", "-1, 4611686018427387904, 4") == "float[?, 4611686018427387904, 4]");
    for (auto const& [shape, type] : {std::pair{"0, 3", "float[0, 3]"}, {"-1, 0", "float[?, 0]"}})
        CHECK(inferred("g (float[2, 3] x) => (float[] y) { s = Constant<value_ints = [" + std::string(shape) +
                       "]>() y = Reshape<allowzero = 1>(x, s) }") == type);
}

TEST_CASE("inferred: sequences and optionals")
{
    CHECK(inferred("g (float[2, 3] a, float[2, 4] b, int64 i) => (float[] y) { s = SequenceConstruct(a, b) y "
                   "= SequenceAt(s, i) }") == "float[2, ?]");
    CHECK(inferred("g (float[2, 3] a, int64 i) => (float[] y) { e = SequenceEmpty() s = SequenceInsert(e, a) "
                   "y = SequenceAt(s, i) }") == "float[...]");
    CHECK(inferred("g (float[2, 3] a) => (int64[] y) { s = SequenceConstruct(a) y = SequenceLength(s) }") ==
          "int64[]");
    CHECK(inferred("g (float[2, 3] a) => (float[] y) { s = SequenceConstruct(a, a) y = "
                   "ConcatFromSequence<axis = 1>(s) }") == "float[2, ?]");
    CHECK(inferred("g (float[2, 3] a) => (float[] y) { s = SequenceConstruct(a, a) y = "
                   "ConcatFromSequence<axis = -1, new_axis = 1>(s) }") == "float[2, 3, ?]");
    CHECK(inferred("g (float[2, N] a, int64 i) => (float[] y) { s = SplitToSequence<axis = 0, keepdims = "
                   "0>(a) y = SequenceAt(s, i) }") == "float[N]");
    CHECK(inferred("g (float[2, 3] a, int64 i) => (float[] y) { s = SequenceConstruct(a) t = "
                   "SequenceMap<body = b (float[] x) => (float[] z) "
                   "{ z = Transpose(x) }>(s) y = SequenceAt(t, i) }") == "float[3, 2]");
    CHECK(inferred("g (float[2, 3] a) => (float[] y) { o = Optional(a) y = OptionalGetElement(o) }") ==
          "float[2, 3]");
    CHECK(inferred("g (float[2, 3] a) => (bool[] y) { o = Optional(a) y = OptionalHasElement(o) }") ==
          "bool[]");
}

TEST_CASE("what is declared and what follows must agree, before a run")
{
    CHECK(error_of("g (float[2] a) => (int64[] y) { y = Neg(a) }") ==
          "Neg: its output 'y' is declared as int64[...], but is float[2]");
    CHECK(error_of("g (float[2] a) => (float[2, 1] y) { y = Neg(a) }") ==
          "Neg: its output 'y' is declared as float[2, 1], but is float[2]");
    // A branch that they exclude fails where it runs.
    std::string const choice = "g (bool c, float[2] a) => (float[] y) { y = If(c) <then_branch = t () => "
                               "(int64[2] z) { z = Neg(a) }, "
                               "else_branch = e () => (float[2] w) { w = Abs(a) }> }";
    CHECK(error_of(choice, {tensor::scalar(false), floats({2})}) == "none");
    CHECK(error_of(choice, {tensor::scalar(true), floats({2})}) ==
          "If: the inputs' types exclude this branch: Neg: its output 'z' is declared as int64[2], but is "
          "float[2]");
    CHECK(error_of(
        "g (int64 m, bool c, float[2] a) => (float[] y) { y = Loop<body = b (int64 i, bool d, float[] s) => "
        "(bool d2, int32[] s2) { d2 = Identity(d) s2 = Cast<to = 6>(s) }>(m, c, a) }")
              .starts_with("Loop: xloom::infer_loop: a carried value must keep its element type"));
}

TEST_CASE("types that an operator takes at this opset")
{
    std::string const operands = "bfloat16[2] d, int64[1, 1] i, bfloat16[1] u";
    CHECK(inferred(operands, "bfloat16[]", "ScatterND(d, i, u)", 13) == "bfloat16[2]");
    CHECK_THROWS_WITH(inferred(operands, "bfloat16[]", "ScatterND(d, i, u)", 11),
        "ScatterND: ScatterND does not take bfloat16 at opset 11");
    CHECK_THROWS_WITH(inferred(operands, "bfloat16[]", "GatherND(d, i)", 11),
        "GatherND: GatherND does not take bfloat16 at opset 11");
    CHECK_THROWS_WITH(inferred("float16[2] d, int64 a", "float16[]", "CumSum(d, a)", 11),
        "CumSum: CumSum does not take float16 at opset 11");
    std::string const sequences = "bfloat16[T, N, 3] x, bfloat16[1, 16, 3] w, bfloat16[1, 16, 4] r";
    CHECK_THROWS_WITH(inferred(sequences, "bfloat16[]", "LSTM<hidden_size = 4>(x, w, r)", 21),
        "LSTM: LSTM does not take bfloat16 at opset 21");
    std::string const choice = "If(c) <then_branch = t () => (bfloat16[] z) { z = Identity(d) }, else_branch "
                               "= e () => (bfloat16[] w) { w = "
                               "Identity(d) }>";
    CHECK(inferred("bool c, bfloat16[2] d", "bfloat16[]", choice, 16) == "bfloat16[2]");
    CHECK_THROWS_WITH(inferred("bool c, bfloat16[2] d", "bfloat16[]", choice, 13),
        "If: If does not take bfloat16[2] at opset 13");
}

TEST_CASE("what is made must agree with what was inferred")
{
    std::string const doubled = "g (float[2, N] a) => (float[] y) { y = Add(a, a) }";
    CHECK(error_of(doubled, {floats({2, 5})}) == "none");
    CHECK(error_of(doubled, {floats({3, 5})}) == "the input 'a' is float[3, 5], but must be float[2, N]");
    CHECK(error_of(doubled, {floats({2})}) == "the input 'a' is float[2], but must be float[2, N]");
    CHECK(error_of(doubled, {tensor::scalar(std::int64_t{1})}) ==
          "the input 'a' is int64[], but must be float[2, N]");
    CHECK(error_of(doubled, {value(sequence{floats({2, 5})})}) ==
          "the input 'a' is sequence of 1, but must be float[2, N]");

    // An initial value, too, whether a run gives another one or not.
    CHECK(error_of("g (float[2] x) => (int64[] y) <float[3] x = {1, 2, 3}> { y = Shape(x) }") ==
          "the initializer 'x' is float[3], but must be float[2]");
    CHECK(error_of("g (int64[3] x) => (int64[] y) <float[3] x = {1, 2, 3}> { y = Shape(x) }") ==
          "the initializer 'x' is float[3], but must be int64[3]");
    CHECK(error_of("g (float[N] x) => (int64[] y) <float[3] x = {1, 2, 3}> { y = Shape(x) }") == "none");

    // A model may declare one element type where nothing is known.
    CHECK(error_of("g (a) => (int64[] y) { y = Neg(a) }", {floats({2})}) ==
          "Neg: its output 'y' is float[2], but must be int64[...]");
}

TEST_CASE("declared dimensions that do not hold are a warning")
{
    auto const warnings_of = [](std::string const& text, std::vector<value> const& inputs) {
        model const made(model_of(graph_of(text)));
        std::vector<std::string> all(made.warnings().begin(), made.warnings().end());
        auto const after = made.warnings_of(made.run(inputs));
        all.insert(all.end(), after.begin(), after.end());
        return fmt::format("{}", fmt::join(all, "; "));
    };
    CHECK(warnings_of("g (float[2, N] a) => (float[2, M] y) { y = Neg(a) }", {floats({2, 3})}).empty());
    CHECK(warnings_of("g (float[2] a) => (float[3] y) { y = Neg(a) }", {floats({2})}) ==
          "Neg: its output 'y' is declared as float[3], but is float[2]");
    // Nothing is known of the shape before a run.
    std::string const claimed = "g (float[] a) => (float[2, 2] y) { y = Neg(a) }";
    CHECK(warnings_of(claimed, {floats({2, 2})}).empty());
    CHECK(warnings_of(claimed, {floats({2, 3})}) ==
          "the output 'y' is declared as float[2, 2], but is float[2, 3]");
    CHECK(warnings_of("g (float[N] a) => (float[M] y) { y = Neg(a) }", {floats({7})}).empty());

    // A body's input grows.
    std::string const grows =
        "g (int64 m, bool c, float[1] a) => (float[] y) { y = Loop<body = b (int64 i, bool d, float[1] s) => "
        "(bool d2, float[2] s2) { d2 = Identity(d) s2 = Concat<axis = 0>(s, s) }>(m, c, a) }";
    value const twice = tensor::scalar(std::int64_t{2}), yes = tensor::scalar(true);
    CHECK(warnings_of(grows, {twice, yes, floats({1})}).empty()); // its length follows in no iteration
    std::string const transposed =
        "g (int64 m, bool c, float[2, 3] a) => (float[] y) { y = Loop<body = b (int64 i, bool d, float[1, 3] "
        "s) => (bool d2, float[3, 1] s2) { d2 = Identity(d) s2 = Neg(s) }>(m, c, a) }";
    CHECK(warnings_of(transposed, {twice, yes, floats({2, 3})}) ==
          "Neg: its output 's2' is declared as float[3, 1], but is float[2, 3]; "
          "the graph 'b': its input 's' is declared as float[1, 3], but is float[2, 3]");
}

TEST_CASE("graphs that are not as they must be")
{
    CHECK(error_of("g (float[2] a) => (float[] y) { y = Neg(z) z = Neg(y) }") ==
          "2 nodes form a cycle, each of which reads what the next one makes: Neg, Neg");
    CHECK(error_of("g (float[2] a) => (float[] y) { y = Neg(y) }") ==
          "Neg: its input 'y' is made by no node before it");
    CHECK(error_of("g (float[2] a) => (float[] y) { y = Neg(a) y = Abs(a) }") ==
          "Abs: its output 'y' is there already");
    CHECK(error_of("g (float[2] a) => (float[] a) { a = Neg(a) }") == "Neg: its output 'a' is there already");
    CHECK(error_of("g (float[2] a, float[2] a) => (float[] y) { y = Neg(a) }") ==
          "the graph has two inputs 'a'");
    CHECK(error_of("g (float[2] a) => (float[] z) { y = Neg(a) }") ==
          "the graph's output 'z' is made by no node");
    CHECK(error_of("g (float[2] a) => (float[] y) { y = Concat<axis = 0.5>(a, a) }") ==
          "Concat: its attribute 'axis' must be INT, but is FLOAT");
    CHECK(error_of(
              "g (bool c) => (bool[] y) { y = If(c) <then_branch = t () => (bool[] z) { z = Not(c) }> }") ==
          "If: its graph 'else_branch' is missing");
    CHECK(error_of("g (float[2] a) => (float[] y) { y = Neg(a) }") == "Neg: its input 'a' is not given");
}

TEST_CASE("a scan output of no iterations is of the type that is inferred, or declared around its operator")
{
    tensor const never = tensor::scalar(std::int64_t{0}), yes = tensor::scalar(true);
    auto const output_of_loop = [&](std::string const& declared, std::string const& inputs,
                                    std::string const& made) {
        std::string const body =
            "body = b (i, d, s) => (d2, s2, e) { d2 = Identity(d) s2 = Identity(s) e = " + made + " }";
        std::string const text =
            "g (" + inputs + ") => (" + declared + " o) { f, o = Loop<" + body + ">(m, c, a) }";
        return describe(model(model_of(graph_of(text))).run({never, yes, floats({2, 3})}).at(0));
    };
    std::string const typed = "int64 m, bool c, float[2, 3] a";
    CHECK(output_of_loop("", typed, "Exp(a)") == "float[0, 2, 3]");
    CHECK(output_of_loop("", typed, "Cast<to = 7>(s)") == "int64[0, 2, 3]"); // no iteration changes s
    CHECK(output_of_loop("int64[T, J, K]", typed, "Cast<to = 7>(s)") == "int64[0, 2, 3]");
    CHECK(output_of_loop("float[T, 5]", "m, c, a", "Exp(s)") == "float[0, 5]");
    CHECK(output_of_loop("float[]", "m, c, a", "Exp(s)") == "float[0]");
    CHECK_THROWS_WITH_AS(output_of_loop("", "m, c, a", "Exp(s)"),
        "Loop: it makes no element of scan output 0, and nothing tells its element type", runner_error);

    auto const output_of_scan = [&](std::string const& declared, std::string const& inputs,
                                    std::string const& attributes) {
        std::string const body = "body = b (s, x) => (s2, e) { s2 = Identity(s) e = Exp(x) }";
        std::string const text = "g (" + inputs + ") => (" + declared +
                                 " o) { f, o = Scan<num_scan_inputs = 1" + attributes + ", " + body +
                                 ">(a, b) }";
        return describe(model(model_of(graph_of(text))).run({floats({2}), floats({0, 3})}).at(0));
    };
    CHECK(output_of_scan("", "float[2] a, float[T, 3] b", "") == "float[0, 3]");
    CHECK(output_of_scan("", "float[2] a, float[T, 3] b", ", scan_output_axes = [-1]") == "float[3, 0]");
    CHECK(output_of_scan("float[3, T]", "a, b", ", scan_output_axes = [1]") == "float[3, 0]");
}
