// Elementwise nodes in generated headers.

#include <string>

#include <doctest/doctest.h>

#include "code_of.hpp"

namespace compiler {
namespace {

using runner::runner_error;

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

TEST_CASE("Gelu and Swish are functions of items")
{
    CHECK(has(header_of("g (float[2] x) => (float[2] y) { y = Gelu(x) }", {}, 20), "xloom_onnx::gelu(x_i)"));
    CHECK(has(header_of("g (float[2] x) => (float[2] y) { y = Gelu<approximate = \"tanh\">(x) }", {}, 20),
        "xloom_onnx::gelu_tanh(x_i)"));
    CHECK(has(header_of("g (float[2] x) => (float[2] y) { y = Swish<alpha = 0.5>(x) }", {}, 24),
        "xloom_onnx::swish(0.5)(x_i)"));
    CHECK_THROWS_WITH_AS(
        header_of("g (float[2] x) => (float[2] y) { y = Gelu<approximate = \"erf\">(x) }", {}, 20),
        doctest::Contains("approximate is none or tanh, but is"), runner_error);
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
        // Limits that are omitted: those of the type, but of float from opset 6 to 10.
        {5, "g (double[2] a) => (double[2] y) { y = Clip<max = 1.0>(a) }",
            "return xloom_onnx::clip(a_i, std::numeric_limits<double>::lowest(), static_cast<double>(1.0));"},
        {6, "g (double[2] a) => (double[2] y) { y = Clip<max = 1.0>(a) }",
            "return xloom_onnx::clip(a_i, static_cast<double>(-3.4028234663852886e+38), "
            "static_cast<double>(1.0));"},
        {6, "g (float[2] a) => (float[2] y) { y = Clip<min = -1.0>(a) }",
            "return xloom_onnx::clip(a_i, static_cast<float>(-1.0), "
            "static_cast<float>(3.4028234663852886e+38));"},
        {11, "g (float[2] a, float h) => (float[2] y) { y = Clip(a, , h) }",
            "return xloom_onnx::clip(a_i, std::numeric_limits<float>::lowest(), h_i);"},
        {13, "g (float16[2] a, float16 l) => (float16[2] y) { y = Clip(a, l) }",
            "return xloom_onnx::clip(a_i, l_i, std::numeric_limits<xloom::float16>::max());"},
        {13, "g (float[2] a, float l, float h) => (float[2] y) { y = Clip(a, l, h) }",
            "return xloom_onnx::clip(a_i, l_i, h_i);"},
        // Limits of one item stand for scalars, and are no part of the loop.
        {13, "g (float[2, 3] a, float[1] l) => (float[2, 3] y) { y = Clip(a, l) }",
            "a, xloom_onnx::only_item(l), results.y);"},
        {13, "g (float a, float[1] l) => (float y) { y = Clip(a, l) }",
            "results.y = xloom_onnx::clip(a, xloom_onnx::only_item(l), "},
        {13, "g (float[2] a, float[2] l) => (float[2] y) { e = Exp(l) y = Clip(a, e) }",
            "a, xloom_onnx::only_item(e), results.y);"},
        {13, "g (float a, float l) => (float y) { e = Exp(l) y = Clip(a, e) }",
            "results.y = xloom_onnx::clip(a, xloom_onnx::exp(l), "},
        {13,
            "g (float[2] a, float h) => (float[2] y) { c = Constant<value = float[1] {2}>() y = Clip(a, c, "
            "h) }",
            "return xloom_onnx::clip(a_i, 2.0F, h_i);"},
        {13, "g (float[1] l) => (float[1] y) { c = Constant<value = float[1] {2}>() y = Clip(c, l) }",
            "c, xloom_onnx::only_item(l), results.y);"},
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
        {1, "g (float[2] a) => (float[2] y) { y = Selu(a) }",
            "xloom_onnx::selu(1.673200011253357, 1.0506999492645264)(a_i)"},
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
            "xloom_onnx::add(std::int64_t{2}, a_i)"},
        {14, "g (float[2] a) => (float[1, 2] y) { c = Constant<value = float[1, 1] {2}>() y = Add(a, c) }",
            "return a_i + c_i;"},
        {18,
            "g (int64 n, bool[1] c, float[2] s) => (float[2] y) { y = Loop(n, c, s)<body = b (int64 i, "
            "bool[1] f, float[2] v) => (bool[1] h, float[2] o) { keep = Constant<value = bool[1] {1}>() "
            "h = And(f, keep) o = Exp(v) }> }",
            "return xloom_onnx::and_(true, keep_i);"},
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
        {6, "g (float[2, 3] a, float[1] b) => (float[2, 3] y) { y = Add<broadcast = 1>(a, b) }",
            "a, xloom_onnx::only_item(b), results.y);"},
        {6, "g (float a, float[1] b) => (float y) { y = Add<broadcast = 1>(a, b) }",
            "results.y = a + xloom_onnx::only_item(b);"},
        {6, "g (float a, float[N] b) => (float y) { y = Add<broadcast = 1>(a, b) }",
            "results.y = a + xloom_onnx::only_item(b);"},
        {6, "g (float[2] a, float[2] b) => (float[2] y) { e = Exp(b) y = Add(a, e) }",
            "return a_i + xloom_onnx::exp(b_i);"},
        {6, "g (float[N] a, float[N] b) => (float[N] y) { e = Exp(b) y = Add(a, e) }",
            "return a_i + xloom_onnx::exp(b_i);"},
        {6,
            "g (float[N] a) => (float[N] y) { c = Constant<value = float[1] {2}>() y = Add<broadcast = 1>(a, "
            "c) }",
            "return a_i + 2.0F;"},
        // A run compares shapes that only it knows.
        {6, "g (float[N, 3] a, float[3] b) => (float[N, 3] y) { y = Add<broadcast = 1>(a, b) }",
            "a, xloom_onnx::aligned_with(a, b, true, -1), results.y);"},
        {6, "g (float[N, 3] a, float[M] b) => (bool[N, 3] y) { y = Less<broadcast = 1, axis = 0>(a, b) }",
            "a, xloom_onnx::aligned_with(a, b, true, 0), results.y);"},
        {6, "g (float[N] a, float[M] b) => (float[N] y) { e = Exp(a) f = Exp(b) y = Add(e, f) }",
            "e, xloom_onnx::aligned_with(e, f, false, -1), results.y);"},
        {6, "g (float[N] a) => (float[N] y) { c = Constant<value = float[1] {2}>() y = Add(a, c) }",
            "a, xloom_onnx::aligned_with(a, c, false, -1), results.y);"},
    });
    auto const legacy = [](std::string const& operands, std::string const& node) {
        return refusal_of("g (" + operands + ") => (y) { y = " + node + "(a, b) }", 6);
    };
    CHECK(legacy("float[2, 3] a, float[3] b", "Add") ==
          "Add: the shapes [2, 3] and [3] differ, without broadcast = 1");
    CHECK(legacy("float[N, 3] a, float[M] b", "Sub") ==
          "Sub: the shapes [N, 3] and [M] differ, without broadcast = 1");
    CHECK(legacy("float a, float[M] b", "Sub") == "Sub: the shapes [] and [M] differ, without broadcast = 1");
    CHECK(legacy("float[2, 3] a, float[1, 3] b", "Mul")
              .ends_with("the shapes [2, 3] and [1, 3] differ, without broadcast = 1"));
    CHECK(legacy("float[1, 3] a, float[2, 3] b", "Pow<broadcast = 1>")
              .ends_with("the shape [2, 3] cannot be broadcast to [1, 3]"));
    CHECK(legacy("float[2, 3] a, float[3] b", "Div<broadcast = 1, axis = 2>")
              .ends_with("from axis 2 on, the shape [2, 3] has no room for [3]"));
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

TEST_CASE("a tensor lives as long as a loop reads a view of it, which is broadcast")
{
    auto const code = [](std::string const& operand) {
        return header_of(
            "g (float[2, 2] x, float[2, 2] z) => (float[2, 2] y) { z0 = Constant<value_ints = [0]>() "
            "o = Constant<value_ints = [1]>() k = Constant<value_int = 0>() a = Softmax(x) "
            "v = Slice(a, z0, o, z0) t = Add(z, " +
            operand + ") y = CumSum(t, k) }");
    };
    CHECK(has(code("a"), "auto& t = a;"));
    CHECK(has(code("v"), "z, v, t);"));
    CHECK_FALSE(has(code("v"), "auto& t"));
}

TEST_CASE("the second operand of CastLike is not computed")
{
    CHECK_FALSE(has(
        header_of("g (int64[2] x, float[2] l) => (float[2] y) { e = Exp(l) y = CastLike(x, e) }"), "exp"));
    CHECK(has(header_of("g (float[2] x) => (float[1] y) { c = Constant<value = int64[1] {1}>() y = "
                        "CastLike(c, x) }"),
        "xloom_onnx::cast<float>()(c_i)"));
}

} // namespace
} // namespace compiler
