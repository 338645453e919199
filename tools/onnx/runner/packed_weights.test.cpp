// Weights that are constants, packed once for all runs.

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "model.hpp"
#include "operators.hpp"
#include "text.hpp"
#include "text_model.hpp"

namespace {

using namespace runner;

/// Small integers, so that sums of products are exact in every type.
int item(std::size_t i, int seed)
{
    return static_cast<int>((i * 7 + static_cast<std::size_t>(seed)) % 11) - 5;
}

std::size_t count_of(xloom::shape const& dims) { return xloom::element_count(dims); }

template <class T>
tensor operand(xloom::shape const& dims, int seed)
{
    tensor made(xloom::element_type_of<T>, dims);
    for (std::size_t i = 0; i < made.size(); ++i)
        made.items<T>()[i] = static_cast<T>(item(i, seed));
    return made;
}

/// A Constant of a graph's text; float16 and double are cast.
std::string constant(
    std::string const& name, xloom::shape const& dims, int seed, std::string const& cast = "")
{
    std::vector<int> items;
    for (std::size_t i = 0; i < count_of(dims); ++i)
        items.push_back(item(i, seed));
    std::string const text = fmt::format("Constant<value = float{} {{{}}}>()", dims, fmt::join(items, ", "));
    return cast.empty() ? fmt::format("{} = {} ", name, text)
                        : fmt::format("{0}f = {1} {0} = Cast<to = {2}>({0}f) ", name, text, cast);
}

/// Runs nodes on one input and requires that they are one prepared node after the constants are folded.
tensor run(std::string const& type, std::string const& nodes, tensor const& x)
{
    model const made(model_of(graph_of("g (" + type + "[] x) => (" + type + "[] y) { " + nodes + " }")));
    REQUIRE(made.prepared().steps().size() == 1);
    CHECK(made.prepared().steps()[0].prepared != nullptr);
    return made.run({x}).at(0).as_tensor();
}

template <class T>
void check(tensor const& y, xloom::shape const& dims, std::vector<int> const& expected)
{
    REQUIRE(y.shape() == dims);
    for (std::size_t i = 0; i < expected.size(); ++i)
        CHECK(static_cast<float>(y.items<T>()[i]) == static_cast<float>(expected[i]));
}

/// A product of rows [M, K] with W [K, N] (or [N, K]^T), with c [N] added.
std::vector<int> product(
    std::size_t M, std::size_t K, std::size_t N, bool is_transposed, int alpha, int c_seed)
{
    std::vector<int> y;
    for (std::size_t m = 0; m < M; ++m)
        for (std::size_t n = 0; n < N; ++n) {
            int sum = c_seed == 0 ? 0 : item(n, c_seed);
            for (std::size_t k = 0; k < K; ++k)
                sum += alpha * item(m * K + k, 1) * item(is_transposed ? n * K + k : k * N + n, 2);
            y.push_back(sum);
        }
    return y;
}

} // namespace

TEST_CASE("MatMul with a constant matrix: rows, a vector, stacks, nothing, every type")
{
    std::string const w = constant("w", {4, 5}, 2);
    check<float>(run("float", w + "y = MatMul(x, w)", operand<float>({3, 4}, 1)), {3, 5},
        product(3, 4, 5, false, 1, 0));
    check<float>(
        run("float", w + "y = MatMul(x, w)", operand<float>({4}, 1)), {5}, product(1, 4, 5, false, 1, 0));
    check<float>(run("float", w + "y = MatMul(x, w)", operand<float>({2, 3, 4}, 1)), {2, 3, 5},
        product(6, 4, 5, false, 1, 0));
    check<float>(run("float", w + "y = MatMul(x, w)", operand<float>({0, 4}, 1)), {0, 5}, {});
    check<double>(
        run("double", constant("w", {4, 5}, 2, "11") + "y = MatMul(x, w)", operand<double>({3, 4}, 1)),
        {3, 5}, product(3, 4, 5, false, 1, 0));
    check<xloom::float16>(run("float16", constant("w", {4, 5}, 2, "10") + "y = MatMul(x, w)",
                              operand<xloom::float16>({3, 4}, 1)),
        {3, 5}, product(3, 4, 5, false, 1, 0));
    CHECK(error_of("g (float[] x) => (float[] y) { " + w + "y = MatMul(x, w) }", {operand<float>({3}, 1)}) ==
          "MatMul: matrices of the shapes [3] and [4, 5] cannot be multiplied");
}

TEST_CASE("Gemm with constant B and C")
{
    tensor const x = operand<float>({3, 4}, 1);
    std::string const transposed = constant("w", {5, 4}, 2);
    check<float>(
        run("float", transposed + constant("c", {5}, 3) + "y = Gemm<transB = 1, alpha = 2.0>(x, w, c)", x),
        {3, 5}, product(3, 4, 5, true, 2, 3));
    check<float>(
        run("float", transposed + "y = Gemm<transB = 1>(x, w)", x), {3, 5}, product(3, 4, 5, true, 1, 0));
    check<float>(run("float", constant("w", {4, 5}, 2) + constant("c", {1, 5}, 3) + "y = Gemm(x, w, c)", x),
        {3, 5}, product(3, 4, 5, false, 1, 3));
    CHECK(error_of("g (float[] x) => (float[] y) { " + transposed + "y = Gemm(x, w) }",
              {operand<float>({3, 2}, 1)}) ==
          "Gemm: matrices of the shapes [3, 2] and [5, 4] cannot be multiplied");
    std::string const halves = constant("h", {4, 5}, 2, "10"), w = constant("w", {4, 5}, 2);
    for (auto const& [node, error] : {std::pair{"MatMul(x, h)", "MatMul: A and B must be of one type"},
             {"Gemm(x, h)", "Gemm: A and B must be of one type"},
             {"Gemm(x, w, h)", "Gemm: A, B and C must be of one type"}})
        CHECK(error_of("g (float[] x) => (y) { " + halves + w + "y = " + node + " }", {x}) == error);
    // 16 * 1e38 is no float, 16 (0.0625 * 1e38) is one.
    tensor small(element_type::float_, {1, 1});
    small.items<float>()[0] = 0.0625f;
    model const large(model_of(graph_of("g (float[1, 1] x) => (float[] y) { w = Constant<value = float[1, 1] "
                                        "{1e38}>() y = Gemm<alpha = 16.0>(x, w) }")));
    CHECK(large.run({small}).at(0).as_tensor().items<float>()[0] == 1e38f);
}

TEST_CASE("Conv with constant W and B: strides, padding, groups, every type")
{
    // W [M, C / G, 3] along one axis of x [2, C, 7], stride 2, padded by 1.
    auto const expected = [](std::size_t C, std::size_t M, std::size_t G, bool has_bias) {
        std::vector<int> y;
        for (std::size_t n = 0; n < 2; ++n)
            for (std::size_t m = 0; m < M; ++m)
                for (std::size_t o = 0; o < 4; ++o) {
                    int sum = has_bias ? item(m, 3) : 0;
                    for (std::size_t c = 0; c < C / G; ++c)
                        for (std::size_t k = 0; k < 3; ++k)
                            if (std::size_t const at = 2 * o + k; at >= 1 && at <= 7)
                                sum += item((m * (C / G) + c) * 3 + k, 2) *
                                       item((n * C + m / (M / G) * (C / G) + c) * 7 + at - 1, 1);
                    y.push_back(sum);
                }
        return y;
    };
    std::string const options = "strides = [2], pads = [1, 1]";
    check<float>(run("float", constant("w", {6, 4, 3}, 2) + "y = Conv<" + options + ">(x, w)",
                     operand<float>({2, 4, 7}, 1)),
        {2, 6, 4}, expected(4, 6, 1, false));
    std::string const weights = constant("w", {6, 2, 3}, 2) + constant("b", {6}, 3);
    check<float>(
        run("float", weights + "y = Conv<group = 2, " + options + ">(x, w, b)", operand<float>({2, 4, 7}, 1)),
        {2, 6, 4}, expected(4, 6, 2, true));
    std::string const halves = constant("w", {6, 4, 3}, 2, "10") + constant("b", {6}, 3, "10");
    check<xloom::float16>(
        run("float16", halves + "y = Conv<" + options + ">(x, w, b)", operand<xloom::float16>({2, 4, 7}, 1)),
        {2, 6, 4}, expected(4, 6, 1, true));
    std::string const doubles = constant("w", {6, 4, 3}, 2, "11");
    check<double>(run("double", doubles + "y = Conv<" + options + ">(x, w)", operand<double>({2, 4, 7}, 1)),
        {2, 6, 4}, expected(4, 6, 1, false));
    CHECK(error_of("g (float[] x) => (float[] y) { " + weights + "y = Conv(x, w, b) }",
              {operand<float>({2, 4, 7}, 1)}) ==
          "Conv: X and W have the shapes [2, 4, 7] and [6, 2, 3] in 1 groups");
}

TEST_CASE("weights are packed once all types are known, not while they are tentative")
{
    onnx::GraphProto const proto =
        graph_of("g (float[2, 2] x) => (float[] y) { " + constant("w", {2, 2}, 2) + "y = MatMul(x, w) }");
    warning_list warnings;
    preparation const shared{proto.ByteSizeLong(), nullptr, &warnings};
    graph made(proto, {{"", 18}}, shared);
    auto const is_packed = [&](certainty of_types) {
        (void)made.infer({xloom::untyped}, nullptr, of_types);
        return made.steps().back().prepared != nullptr;
    };
    CHECK_FALSE(is_packed(certainty::tentative));
    CHECK(is_packed(certainty::final));
}
