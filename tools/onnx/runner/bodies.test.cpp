// Operators with a body, and sequences: axes, directions and batches of Scan, and what only a run can refuse.

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "hostile_model.hpp"
#include "text.hpp"
#include "text_model.hpp"

namespace {

using namespace runner;

tensor of(xloom::shape const& dims, std::vector<float> const& items)
{
    return tensor::of<float>(dims, items);
}

tensor integers(std::vector<std::int64_t> const& items)
{
    return tensor::of<std::int64_t>({items.size()}, items);
}

/// An output as text: its type, its shape and its items.
std::string text_of(value const& v)
{
    auto const items = v.as_tensor().items<float>();
    return fmt::format("{} {}", describe(v), fmt::join(items.begin(), items.end(), " "));
}

/// The final state and the scan output of a Scan whose body adds an element to the state; `omitted`, input 0.
std::string sums(std::string const& declared, std::string const& inputs, std::string const& attributes,
    std::vector<value> const& given, std::int64_t opset)
{
    onnx::GraphProto graph =
        graph_of("g (" + declared + ") => (f, o) { f, o = Scan<num_scan_inputs = 1" + attributes +
                 ", body = b (v, e) => (t, u) { t = Add(v, e) u = Identity(t) }>(" + inputs + ") }");
    if (std::string& first = *graph.mutable_node(0)->mutable_input(0); first == "omitted")
        first.clear();
    std::vector<value> const results = model(model_of(graph, opset)).run(given);
    return text_of(results.at(0)) + "; " + text_of(results.at(1));
}

} // namespace

TEST_CASE("Scan along any axis, forwards and backwards")
{
    std::vector<value> const given{of({2}, {0, 0}), of({2, 3}, {1, 2, 3, 4, 5, 6})};
    auto const scan = [&](std::string const& attributes) {
        return sums("s, x", "s, x", ", scan_input_axes = [-1]" + attributes, given, 18);
    };
    CHECK(scan("") == "float[2] 6 15; float[3, 2] 1 4 3 9 6 15");
    CHECK(scan(", scan_input_directions = [1]") == "float[2] 6 15; float[3, 2] 3 6 5 11 6 15");
    CHECK(scan(", scan_output_axes = [1]") == "float[2] 6 15; float[2, 3] 1 3 6 4 9 15");
    CHECK(scan(", scan_output_axes = [-1], scan_output_directions = [1]") ==
          "float[2] 6 15; float[2, 3] 6 3 1 15 9 4");
}

TEST_CASE("Scan before opset 9: each row of a batch, padded past its length")
{
    tensor const s = of({2}, {0, 100}), x = of({2, 3}, {1, 2, 3, 10, 20, 30});
    auto const scan = [&](std::vector<std::int64_t> const& lengths) {
        return sums("int64[2] l, float[2] s, float[2, 3] x", "l, s, x", "", {integers(lengths), s, x}, 8);
    };
    CHECK(scan({2, 3}) == "float[2] 3 160; float[2, 3] 1 3 0 110 130 160");
    CHECK(scan({0, 1}) == "float[2] 0 110; float[2, 3] 0 0 0 110 0 0");
    CHECK(sums("s, x", "omitted, s, x", "", {s, x}, 8) == "float[2] 6 160; float[2, 3] 1 3 6 110 130 160");
    CHECK(sums("s, x", "omitted, s, x", ", directions = [1]", {s, x}, 8) ==
          "float[2] 6 160; float[2, 3] 3 5 6 130 150 160");
}

TEST_CASE("a Scan that only a run finds wrong")
{
    tensor const s = of({2}, {0, 0}), x = of({3, 2}, {1, 2, 3, 4, 5, 6}),
                 longer = of({4, 2}, std::vector<float>(8));
    std::string const body = "b (v, e) => (t, u) { t = Add(v, e) u = Identity(t) }";
    auto const error = [&](std::string const& attributes, std::vector<value> const& given = {},
                           std::int64_t opset = 18) {
        std::string inputs = opset < 9 ? "l, s, x" : "s, x";
        std::string names = given.size() == 3 && opset >= 9 ? "s, x, y" : inputs;
        return error_of("g (" + names + ") => (f, o) { f, o = Scan<" + attributes +
                            (attributes.find("body") == std::string::npos ? ", body = " + body : "") + ">(" +
                            names + ") }",
            given.empty() ? std::vector<value>{s, x} : given, opset);
    };
    std::string const one = "num_scan_inputs = 1, ";
    CHECK(error("num_scan_inputs = 1") == "none");
    for (char const* const count : {"-1", "3"})
        CHECK(error("num_scan_inputs = " + std::string(count)) ==
              "Scan: num_scan_inputs must be given, and no larger than the number of its inputs");
    for (std::string const name :
        {"scan_input_axes", "scan_input_directions", "scan_output_axes", "scan_output_directions"})
        CHECK(error(one + name + " = [0, 0]") ==
              "Scan: " + name + " must have 1 entries or none, but it has 2");
    CHECK(error(one + "scan_input_axes = [2]") == "Scan: the axis 2 is none of a tensor of rank 2");
    CHECK(error(one + "scan_output_axes = [-3]") == "Scan: scan_output_axes has -3 for an output of rank 2");
    CHECK(error("num_scan_inputs = 0, body = b (v, e) => (t, u) { t = Neg(v) u = Neg(e) }") ==
          "Scan: it has no scan inputs");
    CHECK(error(one + "body = b (v, e) => () { t = Add(v, e) }") ==
          "Scan: its body must have at least 1 outputs, but it has 0");
    CHECK(error(one + "body = b (v, e) => (t, u) { t = Concat<axis = 0>(v, e) u = Identity(e) }") ==
          "Scan: state 0 must keep its element type and shape, but it was float[2] and the body made it "
          "float[4]");
    CHECK(error(one + "body = b (v, e) => (t, u) { t = Cast<to = 11>(v) u = Identity(e) }") ==
          "Scan: state 0 must keep its element type and shape, but it was float[2] and the body made it "
          "double[2]");
    CHECK(error("num_scan_inputs = 2, body = b (v, e, h) => (t, u) { t = Add(v, e) u = Identity(h) }",
              {s, x, longer}) ==
          "Scan: all scan inputs must have the same sequence length, but they have 3 and 4");

    tensor const states = of({2}, {0, 0}), rows = of({2, 3}, {1, 2, 3, 4, 5, 6});
    auto const batched = [&](value const& lengths, tensor const& initial, tensor const& batch,
                             std::string const& count = "1") {
        return error("num_scan_inputs = " + count, {lengths, initial, batch}, 8);
    };
    CHECK(batched(integers({3, 1}), states, rows) == "none");
    CHECK(batched(integers({3, 4}), states, rows) == "Scan: sequence_lens[1] is 4 for sequences of 3");
    CHECK(batched(integers({-1, 3}), states, rows) == "Scan: sequence_lens[0] is -1 for sequences of 3");
    CHECK(batched(integers({3}), states, rows) ==
          "Scan: sequence_lens must have a length for each row of the batch");
    CHECK(batched(integers({3, 3}), states, of({3, 3}, std::vector<float>(9))) ==
          "Scan: all inputs must have the same batch size");
    CHECK(batched(integers({}), of({0}, {}), of({0, 3}, {})) ==
          "Scan: the batch is empty, so the shapes of the outputs are unknown");
    CHECK(batched(integers({3, 3}), tensor::scalar(0.0f), rows) ==
          "Scan: a tensor with an axis is needed, but it is a scalar");
    CHECK(batched(integers({3, 3}), states, of({0, 3}, {})) ==
          "Scan: a tensor of the shape [0, 3] has no slice 0");
    CHECK(batched(integers({0, 0}), states, rows, "0") == "Scan: it has no scan inputs");
    CHECK(batched(integers({3, 3}), states, rows, "3") ==
          "Scan: num_scan_inputs must be given, and no larger than the number of its inputs");
}

TEST_CASE("a Loop or If that only a run finds wrong")
{
    tensor const s = of({2}, {1, 2}), yes = tensor::scalar(true), twice = tensor::scalar(std::int64_t{2});
    auto const error = [&](std::string const& body, value const& trips, value const& condition) {
        return error_of("g (m, c, s) => (y) { y = Loop<body = b (i, d, v) => " + body + ">(m, c, s) }",
            {trips, condition, s});
    };
    std::string const negates = "(e, w) { e = Identity(d) w = Neg(v) }";
    CHECK(error(negates, twice, yes) == "none");
    CHECK(error(negates, integers({1, 2}), yes) == "Loop: M must have one element, but its shape is [2]");
    CHECK(error(negates, twice, s) == "Loop: cond must have one element, but its shape is [2]");
    CHECK(error("(e) { e = Identity(d) }", twice, yes) ==
          "Loop: its body must have at least 2 outputs, but it has 1");
    CHECK(error("(e, w) { e = Not(v) w = Neg(v) }", twice, yes) ==
          "Loop: Not: a tensor of bool is needed, but it holds float");
    auto const stacks = [&](std::string const& element) {
        return error_of("g (m, c, s) => (o) { y, o = Loop<body = b (i, d, v) => (e, w, u) { e = Identity(d) "
                        "w = Concat<axis = 0>(v, v) " +
                            element + " }>(m, c, s) }",
            {twice, yes, s});
    };
    CHECK(stacks("u = Identity(v)") ==
          "Loop: scan output 0 must keep its shape, but it was [2] and the body made it [4]");
    CHECK(stacks("n = Size(v) l = Size(s) k = Greater(n, l) u = If(k)<then_branch = t () => (p) { p = "
                 "Identity(n) }, "
                 "else_branch = f () => (q) { q = Identity(d) }>") ==
          "Loop: scan output 0 must keep its element type, but it was bool and the body made it int64");
    std::string const choice =
        "g (c, s) => (y) { y = If(c)<then_branch = t () => (p) { p = Neg(s) }, else_branch = f () => "
        "(q) { q = Abs(s) }> }";
    CHECK(error_of(choice, {s, s}) == "If: cond must have one element, but its shape is [2]");
}

TEST_CASE("the states of a Loop may change their shapes beside outputs whose types are not known")
{
    onnx::GraphProto const graph =
        graph_of("g (int64 m, float[1] v, u) => (y, e) { y, e = Loop<body = b (i, d, s) => (d2, s2, t) "
                 "{ d2 = Identity(d) s2 = Concat<axis = 0>(s, s) t = Exp(u) }>(m, , v) }");
    std::vector<value> const results =
        model(model_of(graph, 18)).run({tensor::scalar<std::int64_t>(2), of({1}, {3}), of({1}, {0})});
    CHECK(text_of(results.at(0)) == "float[4] 3 3 3 3");
    CHECK(text_of(results.at(1)) == "float[2, 1] 1 1");
}

TEST_CASE("the number of an iteration and the condition have the rank that the body declares")
{
    value const twice = tensor::scalar(std::int64_t{2}), yes = tensor::scalar(true);
    auto const numbers = [&](std::string const& rank) {
        model const made(model_of(
            graph_of("g (m, c) => (o, p) { o, p = Loop<body = b (int64" + rank + " i, bool" + rank +
                     " d) => (e, n, k) { e = Identity(d) n = Identity(i) k = Identity(d) }>(m, c) }")));
        auto const results = made.run({twice, yes});
        return describe(results.at(0)) + " " + describe(results.at(1));
    };
    CHECK(numbers("") == "int64[2] bool[2]");
    CHECK(numbers("[1]") == "int64[2, 1] bool[2, 1]");
}

TEST_CASE("sequences and optionals that only a run finds wrong")
{
    value const two(sequence{of({2}, {1, 2}), of({2}, {3, 4})}), none{sequence()},
        mixed(sequence{of({2}, {1, 2}), tensor::scalar(1.0f)});
    tensor const x = of({4}, {1, 2, 3, 4});
    struct row {
        char const* node;
        std::vector<value> given;
        char const* error;
    };
    for (row const& each : {
             row{"SequenceAt(a, b)", {two, integers({1})}, "none"},
             {"SequenceAt(a, b)", {two, integers({1, 0})}, "SequenceAt: its position must be one number"},
             {"SequenceErase(a)", {none}, "SequenceErase: nothing can be taken out of an empty sequence"},
             {"SequenceErase(a)", {two}, "none"},
             {"ConcatFromSequence<axis = 0>(a)", {none},
                 "ConcatFromSequence: the sequence is empty, so the shape of its items is unknown"},
             {"ConcatFromSequence<axis = 1, new_axis = 1>(a)", {mixed},
                 "ConcatFromSequence: the tensors of the sequence must have one rank"},
             {"SplitToSequence(a, b)", {x, tensor::scalar(std::int64_t{0})},
                 "SplitToSequence: the length of a part must be positive, but it is 0"},
             {"SplitToSequence(a, b)", {x, tensor::scalar(std::int64_t{3})}, "none"},
             {"SplitToSequence(a, b)", {x, tensor::scalar(std::int64_t{1} << 32)}, "none"},
             {"SequenceMap<body = m (p, q) => (r) { r = Add(p, q) }>(a, b)", {two, none},
                 "SequenceMap: all sequences must be equally long"},
             {"SequenceMap<body = m (p, q) => (r) { r = Add(p, q) }>(a, b)", {none, two},
                 "SequenceMap: all sequences must be equally long"},
             {"SequenceMap<body = m (p, q) => (r) { r = Add(p, q) }>(a, b)", {two, two}, "none"},
             {"Optional(a)", {value(value::optional_value{})},
                 "Optional: an optional holds a tensor or a sequence, but this one an optional"},
             {"OptionalGetElement(a)", {value(value::optional_value{})},
                 "OptionalGetElement: an empty optional has no element"},
             {"OptionalGetElement(a)", {x}, "none"},
         }) {
        CAPTURE(each.node);
        std::string const inputs = each.given.size() == 1 ? "a" : "a, b";
        CHECK(error_of("g (" + inputs + ") => (y) { y = " + each.node + " }", each.given) == each.error);
    }
    CHECK(error_of("g (a) => (y, z) { y, z = SequenceMap<body = m (p) => (r) { r = Neg(p) }>(a) }", {two}) ==
          "SequenceMap: its body gives 1 outputs, but 2 are named");
}
