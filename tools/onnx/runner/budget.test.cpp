// The budget: what is taken, given back, and refused.

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "hostile_model.hpp"
#include "text.hpp"
#include "text_model.hpp"

using namespace runner;

TEST_CASE("bytes come back when the last copy of a tensor is gone")
{
    with_budget const limits({.bytes = 4096});
    auto const make = [] { return tensor(element_type::uint8, {2000}); };
    {
        tensor first = make();
        tensor const copy = first;
        first = tensor();
        CHECK_THROWS_WITH_AS(make(), "all tensors together would take more than 4096 bytes", runner_error);
    }
    CHECK_NOTHROW(make());
    CHECK_THROWS_AS(tensor(element_type::string, {200}), runner_error);
}

TEST_CASE("characters count once they are written")
{
    with_budget const limits({.bytes = 4096});
    tensor text(element_type::string, {1});
    text.items<std::string>()[0].assign(2000, 'a');
    text.reserve_characters();
    text.reserve_characters();
    CHECK_NOTHROW(tensor(element_type::uint8, {500}));
    CHECK_THROWS_AS(tensor(element_type::uint8, {1500}), runner_error);
    text.items<std::string>()[0].assign(4000, 'a');
    CHECK_THROWS_AS(text.reserve_characters(), runner_error);
}

TEST_CASE("steps, and products that are worth some; a budget within another")
{
    with_budget const limits({.steps = 3});
    spend_steps(2);
    {
        with_budget const inner({.steps = 2});
        spend_products(0x1p17);
        CHECK_THROWS_WITH_AS(spend_steps(), "the model takes more than 2 steps", runner_error);
    }
    spend_products(0x1p16 - 1);
    CHECK_NOTHROW(spend_steps());
    CHECK_THROWS_AS(spend_products(1e300), runner_error);
}

namespace {

/// What a model of these nodes throws within a budget.
std::string error_within(
    std::size_t bytes, std::string const& inputs, std::string const& nodes, std::vector<value> const& given)
{
    with_budget const limits({.bytes = bytes});
    return error_of("g (" + inputs + ") => (y) { " + nodes + " }", given);
}

constexpr std::size_t megabyte = 1'000'000;

/// What a model of these nodes throws within a tenth of a second.
std::string error_in_time(std::string const& nodes)
{
    with_budget const limits({.time = budget::seconds(0.1)});
    return complaint([&] {
        if (std::string const error = error_of("g () => (y) { " + nodes + " }"); error != "none")
            throw runner_error(error);
    });
}

} // namespace

TEST_CASE("time ends what does not end by itself")
{
    // As good as forever.
    CHECK(error_in_time("a = Constant<value_float = 1.0>() m = Constant<value_int = 9223372036854775807>() y "
                        "= Loop<body = b (i, c, s) => "
                        "(d, t) { d = Identity(c) t = Neg(s) }>(m, , a)")
              .ends_with("the model takes more than 0.1 s"));
    // 2^37 products.
    CHECK(error_in_time(
        "n = Constant<value_ints = [4096, 4096]>() a = ConstantOfShape(n) b = MatMul(a, a) y = MatMul(b, b)")
              .ends_with("the model takes more than 0.1 s"));
    // A sequence that is copied for each of its elements.
    CHECK(
        error_in_time("e = SequenceEmpty() a = Constant<value_float = 1.0>() m = Constant<value_int = "
                      "200000>() s = Loop<body = b (i, c, s) "
                      "=> (d, t) { d = Identity(c) t = SequenceInsert(s, a) }>(m, , e) y = SequenceLength(s)")
            .ends_with("the model takes more than 0.1 s"));
}

TEST_CASE("without a budget of its own there is no end of time, and with one for as long as it lives")
{
    CHECK_NOTHROW(require_time());
    {
        with_budget const none({.time = budget::seconds(-1)});
        CHECK_THROWS_WITH_AS(require_time(), "the model takes more than -1 s", runner_error);
        {
            with_budget const enough{budget()};
            CHECK_NOTHROW(require_time());
        }
        CHECK_THROWS_AS(spend_steps(), runner_error);
    }
    CHECK_NOTHROW(spend_steps());
    CHECK(budget().steps == 100'000'000);
    CHECK(budget().time == budget::seconds(60));
}

TEST_CASE("sequences count for each of their values, copies do not")
{
    std::string nodes = "s0 = SequenceConstruct(a, a)";
    for (int i = 0; i < 300; ++i)
        nodes += fmt::format(" s{} = SequenceInsert(s{}, a)", i + 1, i);
    std::string const last = " y = SequenceLength(s300)";
    tensor const a = tensor::scalar(1.0f);
    CHECK(error_within(megabyte, "float a", nodes + last, {a}) == "none"); // the others are freed
    for (int i = 0; i < 300; ++i)
        nodes += fmt::format(" n{} = SequenceLength(s{})", i, i);
    CHECK(error_within(megabyte, "float a", nodes + last, {a})
              .ends_with(": all tensors together would take more than 1000000 bytes"));
    CHECK(error_within(20 * megabyte, "float a", nodes + last, {a}) == "none");

    std::string copies = "s0 = SplitToSequence(a)";
    for (int i = 0; i < 300; ++i)
        copies += fmt::format(" s{} = Identity(s{})", i + 1, i);
    copies += " y = SequenceLength(s300)";
    tensor const row(element_type::float_, {100});
    CHECK(error_within(megabyte, "float[100] a", copies, {row}) == "none");
}

TEST_CASE("characters of a sequence's strings count as it gets them")
{
    with_budget const limits({.bytes = 8192});
    tensor text(element_type::string, {1});
    text.items<std::string>()[0].assign(5000, 'a');
    sequence const made{text};
    CHECK_THROWS_AS(tensor(element_type::uint8, {2500}), runner_error);
}

TEST_CASE("an initializer that is no input is held once")
{
    model const made(model_of(graph_of("g (float[2] x, float[2] w) => (float[] y) <float[2] v = {1, 2}, "
                                       "float[2] w = {3, 4}> { z = Add(x, v) y = "
                                       "Add(z, w) }")));
    CHECK(made.proto().initializer(0).name() == "v");
    CHECK(made.proto().initializer(0).float_data_size() == 0);
    CHECK(made.proto().initializer(1).float_data_size() == 2);
    std::vector<float> const x{10, 20};
    auto const y = made.run({tensor::of<float>({2}, x)}).at(0).as_tensor();
    CHECK(y.items<float>()[1] == 26);
}

TEST_CASE("the lists of what a Loop stacks count")
{
    std::string const nodes =
        "m = Constant<value = int64 {10000}>() c = Constant<value = bool {1}>() y = Loop<body = b "
        "(int64 i, bool d) => (bool d2, e) { d2 = Identity(d) e = Identity(a) }>(m, c)";
    tensor const a(element_type::uint8, {1});
    CHECK(error_within(3 * megabyte, "uint8[1] a", nodes, {a}) ==
          "Loop: all tensors together would take more than 3000000 bytes");
    CHECK(error_within(10 * megabyte, "uint8[1] a", nodes, {a}) == "none");
}

TEST_CASE("what is packed counts, before a run and in it")
{
    // 4 rows of 10,000 weights, each filled up to a vector.
    std::string const weights = "w = ConstantOfShape(w_dims)", r = "r = ConstantOfShape(r_dims)";
    std::string const dims =
        "w_dims = Constant<value_ints = [1, 4, 10000]>() r_dims = Constant<value_ints = [1, 4, 1]>() ";
    std::string nodes = dims + weights + " " + r;
    for (char const each : {'c', 'd', 'e', 'f', 'y'})
        nodes += std::string(" ") + each + " = LSTM<hidden_size = 1>(x, w, r)";
    tensor x(element_type::float_, {1, 1, 10000});
    std::fill(x.items<float>().begin(), x.items<float>().end(), 0.0f);
    CHECK(error_within(megabyte / 2, "float[1, 1, 10000] x", nodes, {x}) ==
          "LSTM: all tensors together would take more than 500000 bytes");
    CHECK(error_within(100 * megabyte, "float[1, 1, 10000] x", nodes, {x}) == "none");
}

TEST_CASE("what a product packs counts")
{
    tensor a(element_type::float_, {8, 10'000}), b(element_type::float_, {10'000, 8});
    std::fill(a.items<float>().begin(), a.items<float>().end(), 0.0f);
    std::fill(b.items<float>().begin(), b.items<float>().end(), 0.0f);
    std::string const inputs = "float[8, 10000] a, float[10000, 8] b";
    CHECK(error_within(800'000, inputs, "y = MatMul(a, b)", {a, b}) ==
          "MatMul: all tensors together would take more than 800000 bytes");
    CHECK(error_within(10 * megabyte, inputs, "y = MatMul(a, b)", {a, b}) == "none");
}

TEST_CASE("characters of what is folded count, and those of initializers")
{
    std::string const text(1000, 'a');
    std::string nodes = "t = Constant<value_string = \"" + text +
                        "\">() one = Constant<value_ints = [1]>() u = Reshape(t, one) "
                        "many = Constant<value_ints = [200]>()";
    for (char const each : {'a', 'b', 'c', 'd', 'e', 'f'})
        nodes += std::string(" ") + each + " = Tile(u, many)";
    nodes += " y = Shape(x)";
    tensor const x = tensor::scalar(1.0f);
    CHECK(error_within(megabyte, "float x", nodes, {x}) ==
          "Tile: all tensors together would take more than 1000000 bytes");
    CHECK(error_within(2 * megabyte, "float x", nodes, {x}) == "none");

    with_budget const limits({.bytes = megabyte});
    hostile_model built;
    built.text("a", std::string(2 * megabyte, 'a')).node("Shape", "a", "y");
    CHECK(built.output("y").run() == "all tensors together would take more than 1000000 bytes");
}
