// Malformed files: each must give an error within a second.

#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "hostile_model.hpp"
#include "proto.hpp"

namespace {

using namespace runner;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

/// Returns the error of one node for these initializers, a and so on.
template <class... Lists>
std::string of_integers(char const* type, Lists const&... lists)
{
    hostile_model built;
    char name[] = "a";
    std::string inputs;
    auto const add = [&](std::vector<std::int64_t> const& list) {
        built.integers(name, list);
        inputs += name[0]++;
    };
    (add(lists), ...);
    built.node(type, inputs, "y");
    return built.output("y").run();
}

using list = std::vector<std::int64_t>;

} // namespace

TEST_CASE("a file that ends anywhere")
{
    hostile_model built;
    built.integers("a", {1, 2, 3}).text("b", "text").node("Add", "aa", "c");
    attribute(built.node("Gather", "ca", "d"), "axis", onnx::AttributeProto::INT).set_i(0);
    std::string const bytes = built.output("d").proto().SerializeAsString();
    std::size_t refused = 0;
    for (std::size_t length = 0; length < bytes.size(); length += 7)
        if (complaint([&] {
                std::istringstream file(bytes.substr(0, length));
                model(read_model(file, "m")).run({});
            }) != "none")
            ++refused;
    CHECK(refused >= bytes.size() / 7 - 1);
}

TEST_CASE("sizes that are too large")
{
    CHECK(of_integers("ConstantOfShape", list{most, most}) ==
          "ConstantOfShape: a tensor of the shape [9223372036854775807, 9223372036854775807] would take more "
          "than 268435456 bytes");
    CHECK(of_integers("ConstantOfShape", list{1 << 28}) ==
          "ConstantOfShape: a tensor of the shape [268435456] would take more than 268435456 bytes");
    CHECK(of_integers("ConstantOfShape", list{0, most}) ==
          "ConstantOfShape: a tensor of the shape [0, 9223372036854775807] does not fit in memory");
    CHECK(of_integers("ConstantOfShape", list{-1}) ==
          "ConstantOfShape: a dimension of the shape [-1] is negative");
    CHECK(
        of_integers("ConstantOfShape", list(17, 1)) ==
        "ConstantOfShape: xloom: a list holds at most 16 items (max_rank, max_operands), but was given 17.");
    CHECK(of_integers("Expand", list{7}, list{most, 2}) ==
          "Expand: a tensor of the shape [9223372036854775807, 2] would take more than 268435456 bytes");
    CHECK(of_integers("Range", list{0}, list{most}, list{1}) ==
          "Range: a tensor of the shape [9223372036854775807] would take more than 268435456 bytes");
    CHECK(of_integers("Tile", list{7}, list{most}) ==
          "Tile: a tensor of the shape [9223372036854775807] would take more than 268435456 bytes");
    CHECK(of_integers("Pad", list{7}, list{most, most}) ==
          "Pad: the pads 9223372036854775807 and 9223372036854775807 are too large");
    CHECK(of_integers("Reshape", list{7}, list{1 << 30, 1 << 30, 1 << 30}) ==
          "Reshape: a tensor of the shape [1] cannot be reshaped to [1073741824, 1073741824, 1073741824]");
    CHECK(of_integers("Reshape", list{}, list{most, 0}) ==
          "Reshape: a tensor of the shape [0] cannot be reshaped to [9223372036854775807, 0]");
    CHECK(of_integers("Slice", list{7}, list{-most - 1}, list{most}, list{-most - 1}) ==
          "Slice: the axis -9223372036854775808 is none of a tensor of rank 1");
    CHECK(of_integers("Slice", list{7}, list{-most - 1}, list{most}, list{0}, list{most}) == "none");
    CHECK(of_integers("Split", list{7}, list{most, most}) ==
          "Split: an axis of 1 cannot be split into these 2 parts");
    CHECK(of_integers("Unsqueeze", list{7}, list{most}) ==
          "Unsqueeze: the axis 9223372036854775807 is none of a tensor of rank 2");
    CHECK(of_integers("Gather", list{7}, list{-most - 1}) ==
          "Gather: an index into an axis of length 1 is -9223372036854775808");
    CHECK(of_integers("GatherND", list{7}, list{-most - 1}) ==
          "GatherND: xloom::gather_nd_into: an index into an axis of length d must be in [-d, d - 1], but "
          "indices[0] is -9223372036854775808 (axis 0 of length 1). Correct it, or choose bounds::drop or "
          "bounds::clip.");
    CHECK(of_integers("CumSum", list{7}, list{-most - 1}) ==
          "CumSum: the axis -9223372036854775808 is none of a tensor of rank 1");
    CHECK(of_integers("SplitToSequence", list{7}, list{most}) ==
          "SplitToSequence: an axis of 1 cannot be split into these 1 parts");
}

TEST_CASE("tensors whose bytes do not bear out their shapes")
{
    auto const complaint_of = [](list const& dims) {
        hostile_model built;
        built.initializer("a", onnx::TensorProto::FLOAT, dims).set_raw_data("abcd");
        return built.output("a").run();
    };
    CHECK(complaint_of({1, -1}) == "the tensor 'a' has the negative dimension -1");
    CHECK(complaint_of({1 << 30}) ==
          "the tensor 'a' is float[1073741824] and needs 4294967296 bytes, but has 4");
    CHECK(complaint_of({most, most}) == "the tensor 'a' has the shape [9223372036854775807, "
                                        "9223372036854775807], which has more items than can be counted");
    CHECK(complaint_of({0, most}) ==
          "the tensor 'a' has the shape [0, 9223372036854775807], which has more items than can be counted");
    CHECK(
        complaint_of({0, 1 << 30}) == "the tensor 'a' is float[0, 1073741824] and needs 0 bytes, but has 4");
    CHECK(complaint_of(list(17, 1)) == "the tensor 'a' has rank 17, more than 16");
    CHECK(complaint_of({1}) == "none");
}

TEST_CASE("little that becomes much")
{
    auto const doubled = [](char const* type, bool has_axis, hostile_model& built, int times) {
        for (int i = 0; i < times; ++i) {
            std::string const from(1, static_cast<char>('a' + i)), to(1, static_cast<char>('b' + i));
            auto& node = built.node(type, from + from, to);
            if (has_axis)
                attribute(node, "axis", onnx::AttributeProto::INT).set_i(0);
        }
        std::string const last(1, static_cast<char>('a' + times));
        return built.output(last.c_str()).run();
    };
    hostile_model bytes, strings, sequences;
    bytes.integers("a", {1, 2, 3, 4});
    CHECK(doubled("Concat", true, bytes, 40) ==
          "Concat: a tensor of the shape [67108864] would take more than 268435456 bytes");
    strings.text("a", std::string(1 << 20, 'a'));
    CHECK(doubled("Concat", true, strings, 40) ==
          "Concat: a tensor of the shape [512] would take more than 268435456 bytes");
    sequences.integers("a", {1});
    CHECK(doubled("SequenceConstruct", false, sequences, 40) ==
          "SequenceConstruct: xloom::partial_type: a type may hold at most 4 sequences and optionals around "
          "its tensor, but "
          "seq(seq(seq(seq(int64[1])))) holds that many already. Use fewer.");

    // Many tensors that share a byte, and many parts of one.
    hostile_model parts;
    parts.integers("s", {1 << 27}).initializer("u", onnx::TensorProto::UINT8, {1}).set_raw_data("a");
    parts.node("Expand", "us", "x");
    parts.node("SplitToSequence", "x", "y");
    CHECK(parts.output("y").run() ==
          "SplitToSequence: all tensors together would take more than 2147483648 bytes");

    hostile_model texts;
    texts.integers("s", {1 << 22}).initializer("d", onnx::TensorProto::DOUBLE, {1}).add_double_data(5e-324);
    texts.node("Expand", "ds", "x");
    attribute(texts.node("Cast", "x", "y"), "to", onnx::AttributeProto::INT).set_i(onnx::TensorProto::STRING);
    CHECK(texts.output("y").run() == "Cast: its strings would have more than 268435572 characters");
}

TEST_CASE("long axes of tensors that hold little")
{
    hostile_model built;
    built.initializer("X", onnx::TensorProto::FLOAT, {1 << 20, 1 << 20, 0});
    built.initializer("W", onnx::TensorProto::FLOAT, {1, 0, 0});
    built.initializer("R", onnx::TensorProto::FLOAT, {1, 0, 0});
    built.node("RNN", "XWR", "Y");
    CHECK(built.output("Y").run() == "a tensor of the shape [1048576, 1048576, 0] does not fit in memory");
    hostile_model recurrent;
    recurrent.initializer("X", onnx::TensorProto::FLOAT, {1 << 13, 1 << 13, 0});
    recurrent.initializer("W", onnx::TensorProto::FLOAT, {1, 8, 0});
    recurrent.initializer("R", onnx::TensorProto::FLOAT, {1, 8, 8}).set_raw_data(std::string(256, 'a'));
    recurrent.node("RNN", "XWR", "Y");
    CHECK(recurrent.output("Y").run() ==
          "RNN: a tensor of the shape [8192, 8192, 1, 8] would take more than 268435456 bytes");
    hostile_model batch;
    batch.integers("s", {1 << 27, 1}).initializer("u", onnx::TensorProto::UINT8, {1}).set_raw_data("a");
    batch.node("Expand", "us", "x");
    auto& node = batch.node("Scan", " x", "y");
    attribute(node, "num_scan_inputs", onnx::AttributeProto::INT).set_i(1);
    auto& body = *attribute(node, "body", onnx::AttributeProto::GRAPH).mutable_g();
    body.add_input()->set_name("e");
    body.add_output()->set_name("e");
    batch.output("y").set_opset(8);
    CHECK(batch.run() == "Scan: all tensors together would take more than 2147483648 bytes");
    hostile_model product;
    product.initializer("a", onnx::TensorProto::FLOAT, {1 << 25, 0});
    product.initializer("b", onnx::TensorProto::FLOAT, {0, 1 << 25});
    product.node("MatMul", "ab", "y");
    CHECK(product.output("y").run() ==
          "MatMul: a tensor of the shape [33554432, 33554432] would take more than 268435456 bytes");
}

TEST_CASE("graphs that are none")
{
    hostile_model cycle;
    cycle.integers("a", {1}).node("Add", "ac", "b");
    cycle.node("Add", "ab", "c");
    CHECK(cycle.output("c").run() ==
          "2 nodes form a cycle, each of which reads what the next one makes: Add, Add");
    hostile_model self;
    self.integers("a", {1}).node("Add", "ab", "b");
    CHECK(self.output("b").run() == "Add: its input 'b' is made by no node before it");
    hostile_model twice;
    twice.integers("a", {1}).node("Neg", "a", "b");
    twice.node("Abs", "a", "b");
    CHECK(twice.output("b").run() == "Abs: its output 'b' is there already");
    hostile_model itself_twice;
    itself_twice.integers("a", {1}).node("Split", "a", "bb");
    CHECK(itself_twice.output("b").run() == "Split: its output 'b' is there already");
    hostile_model nothing;
    CHECK(nothing.output("b").run() == "the graph's output 'b' is made by no node");
    CHECK(hostile_model().run() == "the model has no graph");
    CHECK(hostile_model(most).output("b").run() ==
          "the model imports opset 9223372036854775807 of ai.onnx, which is not known");
}

TEST_CASE("bodies that are missing, or empty")
{
    auto const complaint_of = [](std::string const& type, std::string const& inputs, bool has_body) {
        hostile_model built;
        built.integers("a", {1}).initializer("c", onnx::TensorProto::BOOL, {}).add_int32_data(1);
        built.node("SequenceConstruct", "aa", "s");
        auto& node = built.node(type, inputs, "y");
        if (type == "Scan")
            attribute(node, "num_scan_inputs", onnx::AttributeProto::INT).set_i(1);
        for (char const* const name : {"then_branch", "else_branch", "body"})
            if (has_body && (type == "If") == (name != std::string("body")))
                (void)attribute(node, name, onnx::AttributeProto::GRAPH);
        return built.output("y").run();
    };
    CHECK(complaint_of("If", "c", false) == "If: its graph 'else_branch' is missing");
    CHECK(complaint_of("Loop", "aca", false) == "Loop: its graph 'body' is missing");
    CHECK(complaint_of("Scan", "aa", false) == "Scan: its graph 'body' is missing");
    CHECK(complaint_of("SequenceMap", "s", false) == "SequenceMap: its graph 'body' is missing");
    CHECK(complaint_of("If", "c", true) == "If: its then_branch gives 0 outputs, but 1 are named");
    CHECK(complaint_of("Loop", "aca", true) == "Loop: the graph has 0 inputs, but 3 are given");
    CHECK(complaint_of("Scan", "aa", true) == "Scan: the graph has 0 inputs, but 2 are given");
    CHECK(complaint_of("SequenceMap", "s", true) == "SequenceMap: the graph has 0 inputs, but 1 are given");
}

TEST_CASE("a loop that never ends")
{
    auto const complaint_of = [](bool has_node) {
        with_budget const limits({.steps = 1000});
        hostile_model built;
        built.integers("a", {1}).initializer("c", onnx::TensorProto::BOOL, {}).add_int32_data(1);
        auto& loop = built.node("Loop", " ca", "y");
        auto& body = *attribute(loop, "body", onnx::AttributeProto::GRAPH).mutable_g();
        for (char const* name : {"i", "g", "v"})
            body.add_input()->set_name(name);
        if (has_node)
            hostile_model::add_node(body, "Add", "vv", "w");
        for (char const* name : {"g", has_node ? "w" : "v"})
            body.add_output()->set_name(name);
        return built.output("y").run();
    };
    CHECK(complaint_of(true) == "Loop: the model takes more than 1000 steps");
    CHECK(complaint_of(false) == "Loop: the model takes more than 1000 steps");
}

TEST_CASE("graphs in graphs")
{
    auto const nested = [](int depth) {
        hostile_model built;
        built.initializer("c", onnx::TensorProto::BOOL, {}).add_int32_data(1);
        std::vector<onnx::GraphProto*> level{&built.graph()};
        onnx::GraphProto* inner = &built.graph();
        for (int i = 0; i < depth; ++i) {
            auto& node = hostile_model::add_node(*inner, "If", "c", "y");
            inner->add_output()->set_name("y");
            auto& other = *attribute(node, "else_branch", onnx::AttributeProto::GRAPH).mutable_g();
            other.add_output()->set_name("c");
            inner = attribute(node, "then_branch", onnx::AttributeProto::GRAPH).mutable_g();
        }
        inner->add_output()->set_name("c");
        return complaint([&] {
            std::istringstream file(built.proto().SerializeAsString());
            model(read_model(file, "m")).run({});
        });
    };
    CHECK(nested(30) == "none");
    CHECK(nested(40) == "the file m is no model of ONNX, or a damaged one");
    CHECK(nested(10'000) == "the file m is no model of ONNX, or a damaged one");
}

TEST_CASE("values of another type")
{
    auto const complaint_of = [](char const* type, char const* inputs) {
        hostile_model built;
        built.integers("i", {1}).number("f", 1).text("t", "1").node("SequenceConstruct", "ff", "s");
        built.node(type, inputs, "y");
        return built.output("y").run();
    };
    CHECK(complaint_of("Reshape", "ft") == "Reshape: a tensor of int64 is needed, but it holds string");
    CHECK(complaint_of("Reshape", "ff") == "Reshape: a tensor of int64 is needed, but it holds float");
    CHECK(complaint_of("Reshape", "fs") == "Reshape: a tensor is needed, but it is a sequence of 2");
    CHECK(complaint_of("Gather", "st") == "Gather: a tensor is needed, but it is a sequence of 2");
    CHECK(complaint_of("Add", "ft") == "Add: a tensor of float is needed, but it holds string");
    CHECK(complaint_of("Add", "fi") == "Add: a tensor of float is needed, but it holds int64");
    CHECK(complaint_of("Add", "ss") == "Add: a tensor is needed, but it is a sequence of 2");
    CHECK(complaint_of("MatMul", "tt") == "MatMul: the element type string is not possible here");
    CHECK(complaint_of("SequenceAt", "fi") == "SequenceAt: a sequence is needed, but it is a float[1]");
    CHECK(complaint_of("SequenceAt", "st") == "SequenceAt: a tensor of int64 is needed, but it holds string");
    CHECK(complaint_of("SequenceInsert", "ss") ==
          "SequenceInsert: a tensor is needed, but it is a sequence of 2");
    CHECK(complaint_of("Loop", "ttt") == "Loop: its graph 'body' is missing");
    CHECK(complaint_of("LSTM", "fti") ==
          "LSTM: xloom::infer_lstm: X must have rank 3, but X is float[1]. Lay it out as [T, N, I].");
}

TEST_CASE("attributes of another type")
{
    hostile_model built;
    built.integers("a", {1}).integers("b", {0});
    auto& axis = attribute(built.node("Gather", "ab", "y"), "axis", onnx::AttributeProto::STRING);
    axis.set_s("0");
    built.output("y");
    CHECK(built.run() == "Gather: its attribute 'axis' must be INT, but is STRING");
    axis.set_type(onnx::AttributeProto::FLOAT);
    CHECK(built.run() == "Gather: its attribute 'axis' must be INT, but is FLOAT");
    axis.set_type(onnx::AttributeProto::INT);
    CHECK(built.run() == "none");
}
