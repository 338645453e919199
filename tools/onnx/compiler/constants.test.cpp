// Constants and fixed inputs in generated headers.

#include <string>
#include <tuple>
#include <utility>

#include <doctest/doctest.h>

#include "code_of.hpp"

namespace compiler {
namespace {

using runner::runner_error;

TEST_CASE("constants of one item are literals of their type")
{
    for (auto const& [type, number, literal] : {std::tuple{"int32", 6, "std::int32_t{5}"},
             {"int64", 7, "std::int64_t{5}"}, {"int8", 3, "std::int8_t{5}"}, {"int16", 5, "std::int16_t{5}"},
             {"uint8", 2, "std::uint8_t{5}"}, {"uint16", 4, "std::uint16_t{5}"},
             {"uint32", 12, "std::uint32_t{5U}"}, {"uint64", 13, "std::uint64_t{5U}"}, {"float", 1, "5.0F"},
             {"double", 11, "5.0"}, {"float16", 10, "xloom::float16::from_bits(0x4500)"},
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
    options in_file;
    in_file.weights = weights_place::file;
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
    for (options const& chosen : {options(), in_file}) {
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

TEST_CASE("a Constant that cannot be read is refused with the reason")
{
    onnx::GraphProto graph = runner::graph_of(
        "g (float[2] x) => (float[2] y) { w = Constant<value = float[2] {1, 2}>() y = Add(x, w) }");
    onnx::TensorProto& w = *graph.mutable_node(0)->mutable_attribute(0)->mutable_t();
    w.set_name("w");
    w.clear_float_data();
    w.set_data_location(onnx::TensorProto::EXTERNAL);
    CHECK_THROWS_WITH_AS(generate(runner::model_of(graph), {}),
        "Constant: the tensor 'w' keeps its items in another file, but there is no folder to find it in",
        runner_error);
    // Other nodes of constants, too.
    CHECK_THROWS_WITH_AS(header_of("g (float[2] x) => (float y) { c = Constant<value = float[2] {1, 2}>() "
                                   "s = Constant<value_ints = [3, 3]>() r = Squeeze(c, s) y = Add(x, r) }"),
        doctest::Contains("Squeeze: "), runner_error);
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
    CHECK_THROWS_WITH_AS(generate(runner::model_of(graph), {}),
        "Constant: its result is too large to be a constant", runner_error);
}

TEST_CASE("an input with a fixed value is a constant and no parameter")
{
    options chosen;
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
        options chosen;
        chosen.values = {{"b", items}};
        return header_of(
            "g (float[2, N] x, " + input + " b) => (float[2, N] y) { c = Cast<to = 1>(b) y = Add(x, c) }",
            chosen);
    };
    CHECK(has(with("float[2, M]", "1,2.5,-3e2,4"), "{1.0F, 2.5F, -300.0F, 4.0F}"));
    CHECK(has(with("float[2, M]", "1,2,3,4"), "{2, 2}"));
    CHECK(has(with("bool", "true"), "+ 1.0F"));
    CHECK_THROWS_WITH_AS(with("int8", "128"), doctest::Contains("'128' is no int8"), runner_error);
    CHECK_THROWS_WITH_AS(with("float[2]", "1,2,3"), doctest::Contains("items"), runner_error);
    CHECK_THROWS_WITH_AS(with("float[N, M]", "1"), doctest::Contains("--shape"), runner_error);
    CHECK_THROWS_WITH_AS(with("string", "a"), doctest::Contains("'b'"), runner_error);
    CHECK_THROWS_WITH_AS(with("float", "1,"), doctest::Contains("items"), runner_error);
    CHECK_THROWS_WITH_AS(with("float[2, M]", "1,2,3"),
        "the value of the input 'b': its shape [2, M] does not have 3 items", runner_error);
    CHECK(has(with("bool[4]", "true,1,false,0"), "{1.0F, 1.0F, 0.0F, 0.0F}"));
    CHECK_THROWS_WITH_AS(with("bool", "2"), "the value of the input 'b': '2' is no bool", runner_error);
    CHECK_THROWS_WITH_AS(with("float", "1x"), "the value of the input 'b': '1x' is no float", runner_error);
    CHECK(has(with("float16", "0.5"), "return x_i + 0.5F;"));
    CHECK_THROWS_WITH_AS(with("float[0, M]", "1"),
        "the value of the input 'b': its shape [0, M] does not have 1 items", runner_error);
    options chosen;
    chosen.values = {{"z", "1"}};
    CHECK_THROWS_WITH_AS(header_of("g (float[2] x) => (float[2] y) { y = Exp(x) }", chosen),
        "the model has no tensor as its input 'z'", runner_error);
    // Of unknown rank: one item is a scalar, several are a list.
    onnx::GraphProto open =
        runner::graph_of("g (float[2] x, float b) => (float[2] y, float z) { y = Add(x, b) z = Neg(b) }");
    open.mutable_input(1)->mutable_type()->mutable_tensor_type()->clear_shape();
    open.mutable_output(1)->mutable_type()->mutable_tensor_type()->clear_shape();
    for (auto const& [items, part] :
        {std::pair{"7", "        float z{};"}, {"7,8", "        xt::xtensor<float, 1> z{};"}}) {
        chosen.values = {{"b", items}};
        CHECK(has(generate(runner::model_of(open), chosen).header, part));
    }
    (void)open.mutable_input(1)->mutable_type()->mutable_sequence_type();
    CHECK_THROWS_WITH_AS(
        generate(runner::model_of(open), chosen), "the model has no tensor as its input 'b'", runner_error);
}

} // namespace
} // namespace compiler
