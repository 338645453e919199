// The calls that operators on shapes, indices and axes become in generated headers.

#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "code_of.hpp"

namespace compiler {
namespace {

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
        {5,
            "g (float16[2, 3] x) => (float16[2, 6] y) { n = Constant<value = float {2}>() a = Constant<value "
            "= "
            "float {1}>() n16 = Cast<to = \"FLOAT16\">(n) a16 = Cast<to = \"FLOAT16\">(a) y = Tile(x, n16, "
            "a16) }",
            "tile_into(x, {1, 2}, results.y);"},
        {6, "g (float[2, 3] x, int64[2] n) => (float[N, M] y) { y = Tile(x, n) }",
            "tile_into(x, n, results.y);"},
    });
    for (char const* const copies : {"n", "two", "c"})
        CHECK(refusal_of("g (float[2, 3] x, float n) => (float[N, M] y) { two = Constant<value = float[2] "
                         "{1, 2}>() c = Constant<value = float {1}>() y = Tile(x, " +
                             std::string(copies) + ", n) }",
                  5) == "Tile: values that only a run knows are not implemented before opset 6");
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
        {1,
            "g (float[5] x) => (float[N] y, float[M] z) { s = Constant<value = float[2] {3, 2}>() y, z = "
            "Split(x, s) }",
            "split_into(x, std::tie(results.y, results.z), {.split = {3, 2}});"},
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
            "constant_of_shape_into(n, std::int8_t{-3}, results.y);"},
        {9, "g (int64[1] n) => (string[N] y) { y = ConstantOfShape<value = string[1] {\"a\"}>(n) }",
            "constant_of_shape_into(n, std::string(\"a\", 1), results.y);"},
    });
    struct refused {
        std::int64_t opset;
        char const *node, *why;
    };
    for (auto const& [opset, node, why] : {
             refused{18, "y, z = Split<num_outputs = 3>(x)", "Split: num_outputs is 3, but it has 2 outputs"},
             {18, "y, z = Split(x)",
                 "Split: it must have either the input split or the attribute num_outputs, but has neither"},
             {18,
                 "s = Constant<value_ints = [1]>() none = Constant<value = int64[0] {}>() y = Slice(x, s, n, "
                 "none)",
                 "Slice: starts has 1 items, but axes has none"},
             {18, "y = Pad<mode = \"wrap\">(x, n)", "Pad: its mode is 'wrap'"},
             {18, "y = Pad<mode = \"odd\">(x, n)", "Pad: its mode is 'odd'"},
             {9, "y = ConstantOfShape<value = float[2] {1, 2}>(n)",
                 "ConstantOfShape: its value has 2 items instead of 1"},
         })
        CHECK(refusal_of("g (float[4] x, int64[2] n) => (y) { " + std::string(node) + " }", opset) == why);
}

TEST_CASE("Split of opset 1 takes lengths of the type of the tensor, which are constants")
{
    CHECK(refusal_of("g (float[5] x, float[2] s) => (float[N] y, float[M] z) { y, z = Split(x, s) }", 1) ==
          "Split: lengths that only a run knows are not implemented before opset 2");
}

TEST_CASE("Split into more parts than a list has numbers: equal ones alone")
{
    auto const graph = [](std::string const& axis, std::string const& last) {
        std::string lengths, outputs;
        for (int k = 0; k < 39; ++k) {
            lengths += "2, ";
            outputs += "p" + std::to_string(k) + ", ";
        }
        return "g (float[" + axis + "] x) => (float[N] y) { " + outputs + "y = Split<split = [" + lengths +
               last + "]>(x) }";
    };
    CHECK(has(header_of(graph("80", "2"), {}, 11), "results.y));"));
    CHECK(has(header_of(graph("79", "1"), {}, 11), "results.y));"));
    for (auto const& [axis, last] : {std::pair{"81", "3"}, {"N", "2"}, {"80", "1"}})
        CHECK(refusal_of(graph(axis, last), 11) == "Split: the lengths of 40 parts are not implemented");
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
            "slice_into(x, p, {.starts = s, .ends = e, .axes = {0}, .steps = o, .has_steps = true});"},
        {13,
            "g (float[4, 3] x, int64[1] s, int64[1] e, int64[1] a) => (float[A, B] y) { p = Slice(x, s, e, "
            "a) y = Tanh(p) }",
            "slice_into(x, p, {.starts = s, .ends = e, .axes = a, .has_axes = true});"},
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
        {10, "g (int64[3] i, float[1] d, float[2] v) => (float[3, N] y) { y = OneHot(i, d, v) }",
            "v, results.y, {.wraps_negative = false});"},
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
                  13) == "Dropout: a training_mode that is not false is not implemented");
}

TEST_CASE("inputs that a version newer than the schemas adds may have any type")
{
    CHECK(has(header_of("g (float[2, 3] x) => (float[2] y) { a = Constant<value = int64[1] {1}>() "
                        "y = ReduceMax<keepdims = 0>(x, a) }"),
        "reduce_max"));
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

} // namespace
} // namespace compiler
