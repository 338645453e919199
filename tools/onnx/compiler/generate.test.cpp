// The text of generated headers.

#include <set>
#include <string>

#include <doctest/doctest.h>

#include "code_of.hpp"
#include "custom_operators.hpp"

namespace compiler {
namespace {

using runner::runner_error;

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
        doctest::Contains("'z' must be float, as 'x', but it is double"), runner_error);
    CHECK_THROWS_WITH_AS(
        header_of("g (float[1, 1, 1] x, float[1, 4, 1] w, double[1, 1, 1] c) => (float[1, 1, 1, 1] y) "
                  "{ y, h, c2 = LSTM<hidden_size = 1>(x, w, w, , , , c) }"),
        doctest::Contains("'c' must be float, as 'x', but it is double"), runner_error);
    CHECK_THROWS_WITH_AS(
        header_of("g (int64 n, int64 go, float[2] x) => (float[2] y) { y = Loop(n, go, x) <body = b "
                  "(int64 i, bool c, float[2] v) => (bool d, float[2] w) { d = Identity(c) w = Exp(v) }> }"),
        doctest::Contains("'go' must be tensor(bool), but it is int64"), runner_error);
    CHECK_THROWS_WITH_AS(
        header_of("g (int64 n, bool go, float[2] x) => (float[2] y) { y = Loop(n, go, x) <body = b "
                  "(int64 i, bool c, float[2] v) => (int64 d, float[2] w) { d = Identity(i) w = Exp(v) }> }"),
        doctest::Contains("must be bool, as the condition of the next iteration, but it is int64"),
        runner_error);
}

TEST_CASE("sequences, tensors, indices and lengths are refused in place of each other")
{
    auto const error = [](std::string const& node) {
        return refusal_of("g (float[4, 2] x, float[2] f, int64[2] i, int32 one, float[3, 2, 4] X, "
                          "float[1, 20, 4] W, float[1, 20, 5] R, float z) => (y) { y = " +
                          node + " }");
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
    CHECK(has(generate(runner::model_of(named), {}).header, "// Transpose 'turned'\n"));
    CHECK(has(header_of("g (float[2] x) => (float[2] y) { y = ai.onnx.Neg(x) }"), "xloom_onnx::neg(x_i)"));
}

TEST_CASE("element types that an operator's function does not take are refused")
{
    auto const refuses = [](std::string const& type, std::string const& node) {
        CAPTURE(node);
        CHECK_THROWS_WITH_AS(
            header_of("g (" + type + "[3, 2] x, " + type + "[2, 3] t) => (y) { y = " + node + " }"),
            doctest::Contains((": the element type " + type + " is not possible here").c_str()),
            runner_error);
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
            doctest::Contains("is missing"), runner_error);
    }
}

TEST_CASE("element types of opsets that are newer than the installed schemas are the functions' own")
{
    check_code({
        {19, "g (int8[4] x, float16 s) => (float16[4] y) { y = DequantizeLinear(x, s) }",
            "dequantize_linear_into"},
        {21, "g (int16[4] x, float s, int16 z) => (float[4] y) { y = DequantizeLinear(x, s, z) }",
            "dequantize_linear_into"},
        {21, "g (float[4] x, float s, uint16 z) => (uint16[4] y) { y = QuantizeLinear(x, s, z) }",
            "quantize_linear_into"},
        {23, "g (float[4] x, float16 s, uint8 z) => (uint8[4] y) { y = QuantizeLinear(x, s, z) }",
            "quantize_linear_into"},
    });
    auto const error = [](std::string const& node) {
        return refusal_of("g (float[4, 2] x, double[4, 2] d, float[2] f, int64[2] i, float[3, 2, 4] X, "
                          "float[1, 20, 4] W, float[1, 20, 5] R, double[1, 2, 5] h, float one) => (y) "
                          "{ q = SequenceConstruct(x) y = " +
                              node + " }",
            23);
    };
    for (char const* const node :
        {"Slice(x, f, i)", "Slice(x, i, f)", "Gather(x, f)", "CumSum(x, one)", "Add(x, d)", "MatMul(x, d)",
            "Where(x, x, x)", "Expand(x, f)", "Reshape(x, f)", "LSTM<hidden_size = 5>(X, W, R, , , h)",
            "GRU<hidden_size = 5>(X, W, R, , f)", "SequenceAt(q, one)", "SequenceInsert(q, x, one)",
            "Concat<axis = 0>(x, d)", "TopK(x, f)", "Tile(x, f)", "DequantizeLinear(i, one)",
            "If(one)<then_branch = t () => (float[2] p) { p = Exp(f) }, else_branch = e () => (float[2] q) { "
            "q = "
            "Neg(f) }>"}) {
        CAPTURE(node);
        CHECK(error(node).starts_with(std::string(node).substr(0, std::string(node).find_first_of("<("))));
    }
}

TEST_CASE("element types that Conv and the pools do not take are refused whatever their windows are")
{
    auto const error = [](std::string const& node, std::int64_t opset) {
        return refusal_of("g (int32[1, 1, 9] x, int32[1, 1, 3] w) => (y) { y = " + node + " }", opset);
    };
    for (std::string const node :
        {"Conv<kernel_shape = [3]>(x, w)", "ConvTranspose<kernel_shape = [3]>(x, w)",
            "MaxPool<kernel_shape = [3]>(x)", "AveragePool<kernel_shape = [3]>(x)"})
        for (std::int64_t const opset : {11, 22})
            CHECK(error(node, opset) ==
                  node.substr(0, node.find('<')) + ": the element type int32 is not possible here");
}

TEST_CASE("an unknown rank is refused with node, value and remedy")
{
    onnx::GraphProto reshaped =
        runner::graph_of("g (float[2] x, int64[N] s) => (float y) { r = Reshape(x, s) y = Tanh(r) }");
    reshaped.mutable_node(0)->set_name("shaped");
    CHECK_THROWS_WITH_AS(generate(runner::model_of(reshaped), {}),
        "Reshape 'shaped': the type of its output 'r' is float[...], but code needs its element type and "
        "rank: fix "
        "inputs of the model that it depends on with --shape INPUT=DIMS or --value INPUT=ITEMS, or declare "
        "it in the "
        "model",
        runner_error);
    onnx::GraphProto graph = runner::graph_of("g (float[2] x) => (float[2] y) { y = Tanh(x) }");
    graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
    graph.mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
    CHECK_THROWS_WITH_AS(generate(runner::model_of(graph), {}),
        "the type of the model's input 'x' is float[...], but code needs its element type and rank: give its "
        "shape with "
        "--shape 'x'=DIMS or its value with --value 'x'=ITEMS, or declare it in the model",
        runner_error);
    options chosen;
    chosen.shapes = {{"x", {2, 3}}};
    CHECK(has(generate(runner::model_of(graph), chosen).header, "xt::xtensor<float, 2> const& x"));
}

TEST_CASE("a header says how its class is called")
{
    std::string const graph =
        "g (float[2] x, float[2] z) => (float[2] y, float[2] u) { y = Add(x, z) u = Tanh(x) }";
    CHECK(has(header_of(graph),
        "/// Example  tested model; auto const results = model(x, z); // results.y, results.u\n"));
    options chosen;
    chosen.weights = weights_place::file;
    CHECK(has(header_of(graph, chosen), "/// Example  tested model; auto const results")); // no weights
    CHECK(has(
        header_of("g (float[20] x) => (float[20] y) { w = Constant<value = float[20] {1, 2, 3, 4, 5, 6, 7, "
                  "8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}>() y = Add(x, w) }",
            chosen),
        "/// Example  tested model(path_of_weights); auto const results"));
}

TEST_CASE("declared dimensions that do not hold are a warning, except in a branch that cannot run")
{
    auto const warnings_of = [](std::string const& text) {
        return generate(runner::model_of(runner::graph_of(text)), {}).warnings;
    };
    CHECK(warnings_of("g (float[2] x) => (float[3] y) { t = Exp(x) y = Tanh(t) }") ==
          std::set<std::string>{"Tanh: its output 'y' is declared as float[3], but is float[2]"});
    CHECK(warnings_of("g (float[2] x, bool c) => (float[K] y) { y = If(c)<"
                      "then_branch = a () => (float[2] u) { u = Tanh(x) },"
                      "else_branch = b () => (float[1, 2] v) <float[3] n> { n = Neg(x) v = Exp(n) }> }")
              .empty());
}

TEST_CASE("inputs are checked")
{
    CHECK(has(header_of("g (float[2, N] x) => (float[2, N] y) { y = Tanh(x) }"),
        "xloom_onnx::check_input(\"tested\", \"x\", x, {2, -1});"));
    // Sequences and optionals, of which all tensors are.
    onnx::GraphProto graph =
        runner::graph_of("g (float[3, N] s, float[2] o, int64 i) => (float[3, N] y, bool h) "
                         "{ y = SequenceAt(s, i) h = OptionalHasElement(o) }");
    onnx::TypeProto const element = graph.input(0).type(), other = graph.input(1).type();
    *graph.mutable_input(0)->mutable_type()->mutable_sequence_type()->mutable_elem_type() = element;
    *graph.mutable_input(1)->mutable_type()->mutable_optional_type()->mutable_elem_type() = other;
    options chosen;
    chosen.name = "tested";
    std::string const held = generate(runner::model_of(graph), chosen).header;
    CHECK(has(held, "xloom_onnx::check_input(\"tested\", \"s\", s, {3, -1});"));
    CHECK(has(held, "xloom_onnx::check_input(\"tested\", \"o\", o, {2});"));
}

TEST_CASE("main() reads the inputs and writes the outputs of .npy files' types")
{
    options chosen;
    chosen.name = "tested";
    chosen.enclosing = "nets";
    auto const made = [&](std::string const& graph) {
        return main_of(generate(runner::model_of(runner::graph_of(graph)), chosen), chosen, "tested.hpp");
    };
    std::string const text =
        made("g (float[2, N] x, int64 n) => (float[2, N] y) { c = Cast<to = 1>(n) y = Add(x, c) }");
    CHECK(has(text, "#include \"tested.hpp\""));
    CHECK(has(text, " ::nets::tested model;")); // whatever main() declares
    CHECK(has(text, "files.run(model, files.template input<xt::xtensor<float, 2>>(\"x\"), files.template "
                    "input<std::int64_t>(\"n\"))"));
    CHECK(has(text, "files.output(\"y\", \"y.npy\", results.y);"));
    chosen.weights = weights_place::file; // of a model without weights
    std::string const with_file = made("g (float[2] x) => (float[2] y) { y = Neg(x) }");
    CHECK(has(with_file, "{\"x\", \"--weights\"}"));
    CHECK(has(with_file, " ::nets::tested model;"));
    chosen.weights = weights_place::embedded;
    CHECK(has(
        made("g (float16[2] x, string[N] s) => (float16[2] y, string[N] t) { y = Neg(x) t = Identity(s) }"),
        "files.run(model, files.template input<xt::xtensor<xloom::float16, 1>>(\"x\"), files.template "
        "input<xt::xtensor<std::string, 1>>(\"s\"))"));
    onnx::GraphProto nested = runner::graph_of("g (float[2] x) => (float[2] y) { y = Neg(x) }");
    nested.mutable_node(0)->set_output(0, "a/y");
    nested.mutable_output(0)->set_name("a/y");
    CHECK(has(main_of(generate(runner::model_of(nested), chosen), chosen, "tested.hpp"),
        "files.output(\"a/y\", \"a_y.npy\", results.a_y);"));
    nested.mutable_node(0)->set_output(0, std::string("a\0y", 3));
    nested.mutable_output(0)->set_name(std::string("a\0y", 3));
    CHECK(has(main_of(generate(runner::model_of(nested), chosen), chosen, "tested.hpp"),
        "files.output(std::string(\"a\\000y\", 3), \"a_y.npy\", results.a_y);"));
    CHECK_THROWS_WITH_AS(made("g (bfloat16[2] x) => (bfloat16[2] y) { y = Neg(x) }"),
        doctest::Contains("the input 'x': .npy files have no xt::xtensor<xloom::bfloat16, 1>"), runner_error);
    onnx::GraphProto graph =
        runner::graph_of("g (float[2] x) => (float[2] y, float[2] z) { y = Neg(x) z = Exp(x) }");
    for (int k : {0, 1}) {
        graph.mutable_node(k)->set_output(0, k == 0 ? "a/b" : "a_b");
        graph.mutable_output(k)->set_name(graph.node(k).output(0));
    }
    CHECK_THROWS_WITH_AS(main_of(generate(runner::model_of(graph), chosen), chosen, "tested.hpp"),
        "--main is not implemented for two outputs in one file of --output, 'a_b.npy'", runner_error);
}

TEST_CASE("custom operators are read from the command line")
{
    custom_operators all;
    add_custom_operator(all, "com.example::Filter=dsp::filter");
    add_custom_operator(all, "Own=f");
    CHECK(all == custom_operators{{"com.example.Filter", "dsp::filter"}, {"Own", "f"}});
    for (char const* const wrong : {"Filter", "=f", "F=", "F=f()", "F=f::", "F=::f", "F=operator", "F=a b"})
        CHECK_THROWS_WITH_AS(
            add_custom_operator(all, wrong), doctest::Contains("DOMAIN::NAME=FUNCTION"), runner_error);
    CHECK_THROWS_WITH_AS(add_custom_operator(all, "Add=f"), doctest::Contains("there already"), runner_error);
    CHECK_THROWS_WITH_AS(add_custom_operator(all, "Own=g"), doctest::Contains("twice"), runner_error);
    for (char const* const unreachable : {"com::example.Filter=f", "xloom::Filter=f"})
        CHECK_THROWS_WITH_AS(
            add_custom_operator(all, unreachable), doctest::Contains("no node"), runner_error);
}

TEST_CASE("a custom operator gets inputs, outputs and attributes in order")
{
    options chosen;
    chosen.operators = {{"Own", "my::own"}};
    chosen.includes = {"my/own.hpp"};
    std::string const text =
        header_of("g (float[2] x) => (float[2] y) { y = Own<z = 1, a = [1.5, 2.0], m = \"t\">(x) }", chosen);
    CHECK(has(text, "my::own(x, results.y, {.a = {1.5, 2.0}, .m = \"t\", .z = 1});"));
    CHECK(has(text, "#include \"my/own.hpp\"\n"));
    CHECK_THROWS_WITH_AS(header_of("g (float[2] x) => (float[2] y) { y = Own(x) }"),
        doctest::Contains("Own is not implemented"), runner_error);
    CHECK_THROWS_WITH_AS(header_of("g (float[2] x) => (float[2] y) { z = Own(x) y = Tanh(z) }", chosen),
        doctest::Contains("'z'"), runner_error);
}

TEST_CASE("attributes of a custom operator, and what it cannot have")
{
    options chosen;
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
        } catch (runner_error const& refused) {
            return std::string(refused.what());
        }
    };
    CHECK(error("class = 1") == "Own: its attribute 'class' is no name in C++: it is a keyword of C++");
    CHECK(error("t = float {1}") ==
          "Own: its attribute 't' is neither a number nor a text, nor a list of them");
    CHECK(error("a = 1", "y, z") == "Own: the type of its output 1 is not declared");
    onnx::GraphProto texts =
        runner::graph_of("g (float[2] x) => (float[2] y) { y = Own<m = \"\", n = [\"t\"]>(x) }");
    texts.mutable_node(0)->mutable_attribute(0)->set_s(std::string("a\0b", 3));
    texts.mutable_node(0)->mutable_attribute(1)->set_strings(0, std::string("\0", 1));
    CHECK(has(generate(runner::model_of(texts), chosen).header,
        "{.m = std::string(\"a\\000b\", 3), .n = {std::string(\"\\000\", 1)}}"));
    CHECK(has(header_of("g (float[2] x) => (float[2] y) <float[2] z> { y, z = Own(x) }", chosen),
        "my::own(x, results.y, unused);"));
}

} // namespace
} // namespace compiler
