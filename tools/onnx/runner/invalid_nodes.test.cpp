// Nodes that ONNX does not have: inputs, outputs and attributes of another operator's, or of another opset's.

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "hostile_model.hpp"
#include "text_model.hpp"

using namespace runner;

namespace {

/// What y = <node>, of x float[2, 3] and i int64[2], is refused for.
std::string error_of_node(std::string const& node, std::int64_t opset = 18)
{
    tensor x(element_type::float_, {2, 3}), i(element_type::int64, {2});
    std::fill(x.items<float>().begin(), x.items<float>().end(), 1.0f);
    std::fill(i.items<std::int64_t>().begin(), i.items<std::int64_t>().end(), 0);
    return error_of("g (float[2, 3] x, int64[2] i) => (y) { y = " + node + " }", {x, i}, opset);
}

} // namespace

TEST_CASE("attributes that an operator does not have at this opset")
{
    CHECK(error_of_node("ReduceSum <axes = [0]> (x)", 11) == "none");
    CHECK(error_of_node("ReduceSum <axes = [0]> (x)", 13) ==
          "ReduceSum: it has no attribute 'axes' at opset 13, only keepdims, noop_with_empty_axes");
    CHECK(error_of_node("Squeeze <axes = [0]> (x)", 13) == "Squeeze: it has no attribute 'axes' at opset 13");
    CHECK(error_of_node("ReduceMax <axes = [0]> (x)", 17) == "none");
    CHECK(error_of_node("ReduceMax <axes = [0]> (x)", 18) ==
          "ReduceMax: it has no attribute 'axes' at opset 18, only keepdims, noop_with_empty_axes");
    CHECK(error_of_node("Split <num_outputs = 1> (x)", 17) ==
          "Split: it has no attribute 'num_outputs' at opset 17, only axis");
    CHECK(error_of_node("Split <num_outputs = 1> (x)", 18) == "none");
    CHECK(error_of_node("Elu <alfa = 0.5> (x)") == "Elu: it has no attribute 'alfa' at opset 18, only alpha");
    CHECK(error_of_node("Reshape <allowzero = 1> (x, i)", 13) ==
          "Reshape: it has no attribute 'allowzero' at opset 13");
    CHECK(error_of_node("Add <broadcast = 1> (x, x)") == "Add: it has no attribute 'broadcast' at opset 18");
    CHECK(error_of_node("LSTM <hidden_size = 3, layout = 1> (x, x, x)", 13) ==
          "LSTM: it has no attribute 'layout' at opset 13, only activation_alpha, activation_beta, "
          "activations, clip, direction, "
          "hidden_size, input_forget");
}

TEST_CASE("attributes of another type, or missing, or given twice")
{
    CHECK(error_of_node("Softmax <axis = [1]> (x)") ==
          "Softmax: its attribute 'axis' must be INT, but is INTS");
    CHECK(error_of_node("Elu <alpha = 1> (x)") == "Elu: its attribute 'alpha' must be FLOAT, but is INT");
    CHECK(error_of_node("Concat (x, x)") == "Concat: its attribute 'axis' is missing");
    CHECK(error_of_node("Cast (x)") == "Cast: its attribute 'to' is missing");
    CHECK(
        error_of_node("Concat <axis = 0, axis = 1> (x, x)") == "Concat: its attribute 'axis' is given twice");

    hostile_model built;
    built.number("a", 1).output("y");
    attribute(built.node("Softmax", "a", "y"), "axis", onnx::AttributeProto::INT)
        .set_ref_attr_name("of_a_function");
    CHECK(built.run() == "Softmax: its attribute 'axis' is to be a function's, but it is in none");
}

TEST_CASE("numbers of inputs and outputs")
{
    CHECK(error_of_node("Add (x, x, x)") == "Add: it takes 2 inputs at opset 18, but has 3");
    CHECK(error_of_node("Add (x)") == "Add: it takes 2 inputs at opset 18, but has 1");
    CHECK(error_of_node("Relu ()") == "Relu: it takes 1 input at opset 18, but has 0");
    CHECK(error_of_node("Max ()") == "Max: it takes 1 or more inputs at opset 18, but has 0");
    CHECK(error_of_node("Clip (x, x, x, x)") == "Clip: it takes 1 to 3 inputs at opset 18, but has 4");
    CHECK(error_of_node("Squeeze (x, i)", 12) == "Squeeze: it takes 1 input at opset 12, but has 2");
    CHECK(error_of("g (float[2] x) => (y) { y, z = Relu(x) }") ==
          "Relu: it gives 1 output at opset 18, but has 2");
    CHECK(error_of("g (float[2, 1, 1] x, float[1, 4, 1] w) => (y) { y, a, b, c = LSTM<hidden_size = 1>(x, w, "
                   "w) }") == "LSTM: it gives 0 to 3 outputs at opset 18, but has 4");

    hostile_model built;
    built.number("a", 1).output("y");
    auto& node = built.node("Add", " a", "y");
    CHECK(built.run() == "Add: its input 0 is missing");
    node.set_input(0, "a");
    node.set_output(0, "");
    built.node("Relu", "a", "y");
    CHECK(built.run() == "Add: its output 0 has no name");
}

TEST_CASE("inputs of which an operator takes any number may not be omitted")
{
    for (char const* const name : {"Max", "Sum", "Concat<axis = 0>", "SequenceConstruct"}) {
        std::string const node(name);
        CHECK(error_of("g (bool c, float[2] x) => (y) { y = If(c)<then_branch = a () => (u) { u = " + node +
                       "(x, ) }, else_branch = b () => (v) { v = Identity(x) }> }") ==
              node.substr(0, node.find('<')) + ": its input 1 is missing");
    }
    std::string const body = "body = b (int64 i, bool d, float[2] v) => (bool e, float[2] w) "
                             "{ e = Identity(d) w = Exp(v) }";
    CHECK(error_of("g (int64 n, bool c, float[2] x) => (y) { y = Loop(n, c, )<" + body + "> }") ==
          "Loop: its input 2 is missing");
    std::string const scan = "g (float[2] s, float[3, 2] x) => (y) { y = Scan<num_scan_inputs = 1, "
                             "body = b (float[2] v, float[2] a) => (float[2] w) { w = Add(v, a) }>";
    CHECK(error_of(scan + "(s, ) }") == "Scan: its input 1 is missing");
    CHECK(error_of("g (float[2] x) => (y) { s = SequenceConstruct(x, x) y = SequenceMap(s, )<"
                   "body = b (float[2] v, float[2] a) => (float[2] w) { w = Add(v, a) }> }") ==
          "SequenceMap: its input 1 is missing");

    hostile_model built; // the text form has no omitted input in front of another
    built.number("a", 1).output("y");
    built.node("Sum", " a", "y");
    CHECK(built.run() == "Sum: its input 0 is missing");
}

TEST_CASE("operators that are newer than the opset, or older")
{
    CHECK(error_of_node("ScatterND (x, i, x)", 10) ==
          "ScatterND: it begins with opset 11, but the model imports 10");
    CHECK(error_of_node("LessOrEqual (x, x)", 11) ==
          "LessOrEqual: it begins with opset 12, but the model imports 11");
    CHECK(
        error_of_node("Scatter (x, i, x)", 8) == "Scatter: it begins with opset 9, but the model imports 8");
    CHECK(
        error_of_node("CumProd (x, i)", 25) == "CumProd: it begins with opset 26, but the model imports 25");
    CHECK(error_of_node("Scatter (x, i, x)", 11) ==
          "Scatter: it ends before opset 11, but the model imports 11");
}

TEST_CASE("numbers that are out of an attribute's range")
{
    std::string const body = "body = b (float[3] s, float[3] e) => (t, o) { t = Add(s, e) o = Add(s, e) }";
    auto const scan = [&](std::string const& directions) {
        tensor s(element_type::float_, {3}), x(element_type::float_, {2, 3});
        std::ranges::fill(s.items<float>(), 1.0f);
        std::ranges::fill(x.items<float>(), 1.0f);
        return error_of("g (float[3] s, float[2, 3] x) => (f) { f, o = Scan<num_scan_inputs = 1, " +
                            directions + ", " + body + ">(s, x) }",
            {s, x});
    };
    CHECK(scan("scan_input_directions = [1]") == "none");
    CHECK(scan("scan_input_directions = [4294967297]") ==
          "Scan: its attribute 'scan_input_directions' must hold 0 or 1, but holds 4294967297");
    CHECK(scan("scan_output_directions = [256]") ==
          "Scan: its attribute 'scan_output_directions' must hold 0 or 1, but holds 256");
    CHECK(error_of_node("SequenceEmpty <dtype = 4294967297> ()") ==
          "SequenceEmpty: its attribute 'dtype' must be an element type, but is 4294967297");
    CHECK(error_of_node("Cast <to = 0> (x)") == "Cast: its attribute 'to' must be an element type, but is 0");
    CHECK(error_of_node("ReduceMax <keepdims = 2> (x)") ==
          "ReduceMax: its attribute 'keepdims' must be 0 or 1, but is 2");
}

TEST_CASE("initializers given twice")
{
    hostile_model built;
    built.number("a", 1).number("a", 2).node("Relu", "a", "y");
    CHECK(built.output("y").run() == "the graph has two initializers 'a'");
}

TEST_CASE("nodes of a body are checked as others")
{
    CHECK(
        error_of("g (bool c, float[2] x) => (y) { y = If(c) <then_branch = t () => (a) { a = Add(x, x, x) }, "
                 "else_branch = e () => (b) { b = Relu(x) }> }") ==
        "Add: it takes 2 inputs at opset 18, but has 3");
}
