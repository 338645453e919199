// Values that are freed after their last use, and results in the memory of what nothing reads any more.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "hostile_model.hpp"
#include "text_model.hpp"

using namespace runner;

namespace {

tensor of(xloom::shape const& dims, std::vector<float> const& items)
{
    return tensor::of<float>(dims, items);
}

/// The items of output y of a graph.
std::vector<float> result_of(std::string const& graph, std::vector<value> const& inputs)
{
    auto const results = model(model_of(graph_of(graph), 24)).run(inputs);
    auto const items = results.at(0).as_tensor().items<float>();
    return {items.begin(), items.end()};
}

using floats = std::vector<float>;

} // namespace

TEST_CASE("an input of a run keeps its items")
{
    tensor const x = of({2}, {1, -2});
    CHECK(result_of("g (float[2] x) => (float[2] y) { y = Neg(x) }", {x}) == floats{-1, 2});
    CHECK(result_of("g (float[2] x) => (float[2] y) { a = Identity(x) y = Neg(a) }", {x}) == floats{-1, 2});
    CHECK(x.items<float>()[0] == 1);
    CHECK(x.items<float>()[1] == -2);
}

TEST_CASE("what a later node, a body, an output or another value reads keeps its items")
{
    tensor const x = of({2}, {1, -2});
    auto const run = [&](std::string const& nodes) {
        return result_of("g (float[2] x) => (float[2] y) { " + nodes + " }", {x});
    };
    CHECK(run("a = Neg(x) b = Neg(a) y = Sub(a, b)") == floats{-2, 4});
    CHECK(run("a = Neg(x) y = Mul(a, a)") == floats{1, 4});
    CHECK(run("a = Neg(x) n = Constant<value_ints = [2, 1]>() v = Reshape(a, n) b = Abs(a) "
              "m = Constant<value_ints = [2]>() w = Reshape(v, m) y = Add(w, b)") == floats{0, 4});
    CHECK(run("a = Neg(x) s = SequenceConstruct(a, x) b = Abs(a) i = Constant<value_int = 0>() "
              "c = SequenceAt(s, i) y = Add(c, b)") == floats{0, 4});
    CHECK(
        run("a = Neg(x) n = Size(x) o = Cast<to = 9>(n) b = Abs(a) y = If<then_branch = t () => (float[2] z) "
            "{ z = Add(a, b) }, else_branch = e () => (float[2] z) { z = Neg(b) }>(o)") == floats{0, 4});

    auto const both = model(model_of(graph_of("g (float[2] x) => (float[2] y, float[2] z) { y = Neg(x) "
                                              "z = Exp(y) }")))
                          .run({x});
    CHECK(both[0].as_tensor().items<float>()[1] == 2);
}

TEST_CASE("an initializer and a folded constant keep their items from run to run")
{
    model const twice(model_of(graph_of("g (float[2] x) => (float[2] y) { a = Constant<value_floats = [1.0, "
                                        "2.0]>() b = Neg(a) c = Add(b, x) y = Neg(c) }")));
    for (int run = 0; run < 2; ++run) {
        auto const items = twice.run({of({2}, {1, 1})})[0].as_tensor();
        CHECK(items.items<float>()[0] == 0);
        CHECK(items.items<float>()[1] == 1);
    }
}

TEST_CASE("the states of a Scan and of a Loop are updated in place, their stacked values are all kept")
{
    tensor const s = of({2}, {1, 2}), x = of({3, 2}, {1, 1, 10, 10, 100, 100});
    std::string const scan = "Scan<num_scan_inputs = 1, body = b (float[2] h, float[2] e) => (float[2] n, "
                             "float[2] o) { d = Add(h, h) n = Add(d, e) o = Identity(n) }>(s, x)";
    CHECK(result_of("g (float[2] s, float[3, 2] x) => (float[2] y, float[3, 2] z) { y, z = " + scan + " }",
              {s, x}) == floats{132, 140});
    CHECK(result_of("g (float[2] s, float[3, 2] x) => (float[3, 2] z, float[2] y) { y, z = " + scan + " }",
              {s, x}) == floats{3, 5, 16, 20, 132, 140});
    CHECK(s.items<float>()[0] == 1);

    std::string const loop =
        "n = Constant<value_int = 3>() y, z = Loop<body = b (int64 i, bool c, float[2] h) => (bool d, "
        "float[2] "
        "m, float[2] o) { d = Identity(c) e = Add(h, h) m = Neg(e) o = Identity(m) }>(n, , s)";
    CHECK(
        result_of("g (float[2] s) => (float[2] y, float[3, 2] z) { " + loop + " }", {s}) == floats{-8, -16});
    CHECK(result_of("g (float[2] s) => (float[3, 2] z, float[2] y) { " + loop + " }", {s}) ==
          floats{-2, -4, 4, 8, -8, -16});
    CHECK(s.items<float>()[1] == 2);
}

TEST_CASE("a cache, and what is scattered into, is written in place where nothing else reads it")
{
    tensor const s = of({1, 3, 1}, {1, 2, 3}), x = of({2, 1, 1, 1}, {7, 8});
    std::string const scan = "y = Scan<num_scan_inputs = 1, body = b (float[1, 3, 1] h, float[1, 1, 1] e) => "
                             "(float[1, 3, 1] n) { a = Neg(h) n = TensorScatter(a, e) }>(s, x)";
    CHECK(result_of("g (float[1, 3, 1] s, float[2, 1, 1, 1] x) => (float[1, 3, 1] y) { " + scan + " }",
              {s, x}) == floats{8, 2, 3});
    CHECK(s.items<float>()[0] == 1);
    CHECK(result_of("g (float[1, 3, 1] s, float[1, 1, 1] x) => (float[1, 3, 1] y) { a = Neg(s) "
                    "b = TensorScatter(a, x) y = Add(a, b) }",
              {s, of({1, 1, 1}, {5})}) == floats{4, -4, -6});
}

TEST_CASE("a value is freed after its last use")
{
    std::string nodes = "a0 = Transpose(x)";
    for (int i = 0; i < 20; ++i)
        nodes += fmt::format(" a{} = Transpose(a{})", i + 1, i);
    tensor x(element_type::float_, {100, 1000});
    std::ranges::fill(x.items<float>(), 1.0f);
    with_budget const limits({.bytes = 1'500'000});
    CHECK(error_of("g (float[100, 1000] x) => (y) { " + nodes + " y = Transpose(a20) }", {x}) == "none");
}

TEST_CASE("the result of two inputs takes the memory of one that nothing reads any more")
{
    tensor x(element_type::float_, {100, 1000});
    std::ranges::fill(x.items<float>(), 1.0f);
    with_budget const limits({.bytes = 1'000'000});
    for (char const* const node : {"Sub(x, v)", "Sub(v, x)"})
        CHECK(error_of(fmt::format("g (float[100, 1000] x) => (y) {{ v = Neg(x) y = {} }}", node), {x}) ==
              "none");
    CHECK(result_of("g (float[2] x) => (float[2] y) { v = Neg(x) y = Sub(x, v) }", {of({2}, {1, -2})}) ==
          floats{2, -4});
}

TEST_CASE("a sequence is changed in place where nothing else reads it")
{
    std::string const start = "g (float[2] x) => (int64 p, int64 q) { a = SequenceConstruct(x, x) ";
    using counts = std::pair<std::int64_t, std::int64_t>;
    auto const lengths = [&](std::string const& nodes) {
        auto const results = model(model_of(graph_of(start + nodes + " }"), 24)).run({of({2}, {1, -2})});
        return counts(results.at(0).as_tensor().items<std::int64_t>()[0],
            results.at(1).as_tensor().items<std::int64_t>()[0]);
    };
    CHECK(lengths("b = SequenceInsert(a, x) p = SequenceLength(a) q = SequenceLength(b)") == counts(2, 3));
    CHECK(lengths("b = SequenceErase(a) p = SequenceLength(a) q = SequenceLength(b)") == counts(2, 1));
    CHECK(lengths("s = Identity(a) b = SequenceInsert(a, x) p = SequenceLength(s) q = SequenceLength(b)") ==
          counts(2, 3));
    CHECK(lengths("b = SequenceInsert(a, x) c = SequenceErase(b) p = SequenceLength(c) q = Identity(p)") ==
          counts(2, 2));
}

TEST_CASE("a list that grows in a loop costs what it gains")
{
    onnx::GraphProto grows = graph_of(
        "g (int64 n, float[2] x) => (int64 p) { c = Constant<value = bool {1}>() none = SequenceEmpty() "
        "all = Loop<body = b (int64 i, bool go, float[2] s) => (bool go2, float[2] t) "
        "{ go2 = Identity(go) t = SequenceInsert(s, x) }>(n, c, none) p = SequenceLength(all) }");
    onnx::GraphProto& body = *grows.mutable_node(2)->mutable_attribute(0)->mutable_g();
    body.mutable_input(2)->clear_type(); // a sequence, which the text form has not
    body.mutable_output(1)->clear_type();
    double const before = own_seconds();
    auto const results =
        model(model_of(grows, 24)).run({tensor::scalar(std::int64_t{10'000}), of({2}, {1, 2})});
    CHECK(results.at(0).as_tensor().items<std::int64_t>()[0] == 10'000);
    CHECK(own_seconds() - before < patience); // minutes, if each iteration copied or checked all items
}
