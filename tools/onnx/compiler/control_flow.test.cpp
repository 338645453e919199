// Loop, Scan and If in generated headers.

#include <string>

#include <doctest/doctest.h>

#include "code_of.hpp"

namespace compiler {
namespace {

using runner::runner_error;

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

TEST_CASE("the lengths of a Scan before opset 9 are no scalar")
{
    CHECK_THROWS_WITH_AS(
        header_of("g (int64 l, float[2, 3] s, float[2, 4, 3] x) => (y, z) { y, z = Scan<num_scan_inputs = 1, "
                  "body = b (float[3] a, float[3] c) => (o, p) { o = Add(a, c) p = Identity(o) }>(l, s, x) }",
            {}, 8),
        "Scan: its sequence_lens must be a tensor, but is a scalar", runner_error);
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
        "Scan: outputs whose shapes only a run knows are not implemented before opset 9",
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

TEST_CASE("a Loop whose condition is a constant before the first iteration")
{
    auto const code = [](char const* cond) {
        return header_of(std::string("g (int64 n, float[2] s) => (float[2] y, float[k, 2] z) { c = "
                                     "Constant<value = bool {") +
                         cond +
                         "}>() y, z = Loop(n, c, s)<body = b (int64 i, bool f, float[2] v) => (bool h, "
                         "float[2] o, float[2] e) { h = Identity(f) o = Exp(v) e = Tanh(v) }> }");
    };
    CHECK(has(code("0"), "xloom_onnx::trip_count(n, false);"));
    CHECK(has(code("0"), ".cond = false"));
    CHECK(has(code("1"), "xloom_onnx::trip_count(n);"));
    CHECK_FALSE(has(code("1"), ".cond"));
}

TEST_CASE("a Loop's condition in memory of a state is read before the states are replaced")
{
    std::string const text = header_of(
        "g (int64 n, bool c, bool[1] s) => (bool[1] y) { y = Loop(n, c, s)<body = b (int64 i, bool f, "
        "bool[1] t) => (bool[1] d, bool[1] u) { d = Not(t) u = Not(d) }> }");
    std::size_t const kept = text.find("bool const continues = xloom_onnx::only_item(t);"),
                      replaced = text.find("std::swap(t, u);");
    CHECK_MESSAGE(replaced != std::string::npos, text);
    CHECK_MESSAGE(kept < replaced, text);
    CHECK(has(text, "return continues;"));
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

TEST_CASE("a branch gives every output that is named, also of types that inference does not know")
{
    options chosen;
    chosen.operators = {{"Own", "my::own"}};
    auto const code = [&](std::string const& condition, std::string const& type) {
        return header_of(
            "g (float[2] s, bool b) => (float[2] z) { yes = Constant<value = bool {1}>() y, w = If(" +
                condition + ")<then_branch = t () => (" + type +
                "p) { p = Own(s) }, else_branch = e () => (" + type + "q) { q = Own(s) }> z = Neg(w) }",
            chosen);
    };
    for (char const* const condition : {"yes", "b"})
        for (char const* const type : {"", "float[2] "})
            CHECK_THROWS_WITH_AS(
                code(condition, type), "If: its then_branch gives 1 outputs, but 2 are named", runner_error);
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
    options chosen;
    chosen.name = "tested";
    chosen.shapes = {{"x", {512}}};
    std::string const text = generate(runner::model_of(graph), chosen).header;
    CHECK(has(text, "tanh"));
    CHECK(has(text, "xloom_onnx::fail_in_impossible_branch(\"tested\", \"If\", \"Neg: its output \'v\' is "
                    "declared as float[1, 256], but is float[512]\");"));
    CHECK(has(text, "xt::xtensor<float, 1> y{};"));
    chosen.shapes = {{"x", {2, 3, 4}}};
    CHECK_THROWS_WITH_AS(generate(runner::model_of(graph), chosen),
        "If: neither branch can run: Tanh: its output 'u' is declared as float[512], but is float[2, 3, 4]",
        runner_error);
    // The rank of the result is declared, as exporters do for a squeeze of an axis of any length.
    check_code("g (float[N, 3] x, bool c) => (float[K] y) { z = Constant<value_ints = [0]>() "
               "y = If(c)<then_branch = t () => (float[A] p) { p = Squeeze(x, z) },"
               "else_branch = e () => (float[B, C] q) { q = Identity(x) }> }",
        "xloom_onnx::fail_in_impossible_branch(\"tested\", \"If\", \"its output 'x' is float[N, 3], but 'y' "
        "is float[\\?]\");");
    // In an iteration that runs, the condition is true; inference does not know that.
    check_code(
        "g (int64 n, bool c, float[2] s) => (float[2] y) { y = Loop(n, c, s)<body = b (int64 i, bool f, "
        "float[2] v) => (bool h, float[2] o) { h = Identity(f) "
        "p = If(f)<then_branch = t () => (float[1, 2] q) { q = Neg(v) },"
        "else_branch = u () => (float[2] r) { r = Tanh(v) }> o = Exp(p) }> }",
        "if (true) {");
}

TEST_CASE("what no iteration makes has the dimensions that the body declares")
{
    check_code(
        "g (int64 n, bool t, float[N] x) => (float[A, 3] y) { y = Loop(n, t)<body = b (int64 i, bool c) => "
        "(bool d, float[3] e) { d = Identity(c) e = Neg(x) }> }",
        "xloom_onnx::growing_stack<float, 1> e_stack{{3}};");
}

TEST_CASE("a Loop whose states have no one rank, or whose body lacks inputs, is refused")
{
    CHECK(has(
        refusal_of("g (int64 n, float[2, 3] x) => (float[K] y) { y = Loop(n, , x)<body = b (int64 i, bool c, "
                   "float[] s) => (bool d, float[3] w) { d = Identity(c) "
                   "w = Constant<value = float[3] {1, 2, 3}>() }> }"),
        "its state 's' would hold"));
    std::string states, next, nodes, outputs; // more than are inferred
    for (int i = 0; i < 40; ++i) {
        std::string const at = std::to_string(i);
        states += ", x";
        next += ", float[2] w" + at;
        nodes += " w" + at + " = Neg(x)";
        outputs += (i == 0 ? "y" : ", y") + at;
    }
    CHECK(has(refusal_of("g (int64 n, bool c, float[2] x) => (float[2] y0) { " + outputs + " = Loop(n, c" +
                         states + ")<body = b (int64 i, bool d) => (bool e" + next + ") { e = Identity(d)" +
                         nodes + " }> }"),
        "its body takes 2 inputs, but must take 42"));
}

} // namespace
} // namespace compiler
