// Sequences and optionals in generated headers.

#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "code_of.hpp"

namespace compiler {
namespace {

using runner::runner_error;

TEST_CASE("sequences and optionals: what is given and what is not")
{
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
        })
        check_code("g (" + std::string(inputs) + ") => (y) { " + nodes + " }", part);
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

TEST_CASE("SequenceMap of bools: the items of std::vector<bool> are proxies")
{
    std::string const text = header_of(
        "g (bool a) => (y) { s = SequenceConstruct(a, a) y = SequenceMap(s, s)<body = b (bool p, bool q) "
        "=> (bool u) { u = Not(p) }> }");
    CHECK(has(text, "std::vector<bool> y{};"));
    CHECK(has(text, "bool const p = s[position];"));
    CHECK(has(text, "bool const u = xloom_onnx::not_(p);"));
    CHECK(has(text, "results.y[position] = u;"));
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

TEST_CASE("what is inserted into a sequence tells the ranks after it")
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
        doctest::Contains("its input 'none'"), runner_error);
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
        doctest::Contains("SequenceConstruct"), runner_error);
}

} // namespace
} // namespace compiler
