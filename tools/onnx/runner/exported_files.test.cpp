// Models as exporters and editors leave them: nodes in any order, functions, items in other files, names that
// are given twice.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <google/protobuf/unknown_field_set.h>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "budget.hpp"
#include "proto.hpp"
#include "text_model.hpp"

using namespace runner;

namespace {

namespace fs = std::filesystem;

using floats = std::vector<float>;

/// The items of output 0 for the input {1, -2}.
floats result_of(onnx::ModelProto const& proto)
{
    floats const x = {1, -2};
    auto const results = model(proto).run({tensor::of<float>({2}, x)});
    auto const items = results.at(0).as_tensor().items<float>();
    return {items.begin(), items.end()};
}

floats result_of(std::string const& nodes)
{
    return result_of(model_of(graph_of("g (float[2] x) => (float[2] y) { " + nodes + " }")));
}

std::string complaint_about(onnx::ModelProto const& proto)
try {
    model(proto).run({tensor::of<float>({2}, floats{1, -2})});
    return "none";
} catch (runner_error const& error) {
    return error.what();
}

/// A model with functions of the domain "own", in ONNX's text form.
onnx::ModelProto model_with(std::string const& functions, std::string const& nodes)
{
    onnx::ModelProto proto;
    std::string const text = "<ir_version: 8, opset_import: [\"\" : 18, \"own\" : 1]> "
                             "g (float[2] x) => (float[2] y) { " +
                             nodes + " } " + functions;
    auto const status = onnx::OnnxParser::Parse(proto, text.c_str());
    if (!status.IsOK())
        throw runner_error(status.ErrorMessage());
    return proto;
}

std::string function_of(std::string const& rest)
{
    return "<domain: \"own\", opset_import: [\"\" : 18]> " + rest;
}

/// A folder that is removed in the end.
struct temporary_folder {
    fs::path path = fs::temp_directory_path() / "xloom_exported_files.test";

    temporary_folder()
    {
        fs::remove_all(path);
        fs::create_directories(path / "model/weights");
    }
    ~temporary_folder() { fs::remove_all(path); }

    void write(std::string const& name, std::string const& bytes) const
    {
        std::ofstream(path / name, std::ios::binary) << bytes;
    }
};

/// y = x + w, where w is in another file.
struct external_model {
    onnx::ModelProto proto =
        model_of(graph_of("g (float[2] x) => (float[2] y) <float[2] w = {0, 0}> { y = Add(x, w) }"));

    external_model()
    {
        onnx::TensorProto& w = tensor_w();
        w.clear_float_data();
        w.set_data_location(onnx::TensorProto::EXTERNAL);
    }
    onnx::TensorProto& tensor_w() { return *proto.mutable_graph()->mutable_initializer(0); }
    external_model& with(std::string const& key, std::string const& value)
    {
        auto& entry = *tensor_w().add_external_data();
        entry.set_key(key);
        entry.set_value(value);
        return *this;
    }

    onnx::ModelProto read_in(temporary_folder const& folder) const
    {
        folder.write("model/m.onnx", proto.SerializeAsString());
        return read_model((folder.path / "model/m.onnx").string());
    }
    std::string error_in(temporary_folder const& folder) const
    try {
        read_in(folder);
        return "none";
    } catch (runner_error const& error) {
        return error.what();
    }
};

std::string const one_and_two("\0\0\x80\x3f\0\0\0\x40", 8); // little-endian

} // namespace

TEST_CASE("nodes may stand before those whose values they read")
{
    CHECK(result_of("y = Neg(b) b = Add(a, a) a = Abs(x)") == floats{-2, -4});
    // What a body reads counts, too, through a body in it.
    CHECK(result_of("y = If(c) <then_branch = t () => (float[2] p) { p = If(c) <"
                    "then_branch = u () => (float[2] q) { q = Neg(a) }, "
                    "else_branch = v () => (float[2] r) { r = Abs(a) }> }, "
                    "else_branch = w () => (float[2] s) { s = Abs(x) }> "
                    "a = Abs(x) c = Constant<value = bool {1}>()") == floats{-1, -2});
    // A body is sorted for itself. Its own names are not those around it.
    CHECK(result_of("c = Constant<value = bool {1}>() y = If(c) <"
                    "then_branch = t () => (float[2] p) { p = Neg(z) z = Abs(x) }, "
                    "else_branch = e () => (float[2] q) { q = Neg(x) }> z2 = Neg(y)") == floats{-1, -2});
}

TEST_CASE("nodes that form a cycle are named")
{
    auto const error = [](std::string const& nodes) {
        return complaint_about(model_of(graph_of("g (float[2] x) => (float[2] y) { " + nodes + " }")));
    };
    CHECK(error("a = Neg(x) y = Add(a, c) b = Mul(y, a) c = Sub(b, a) d = Neg(c)") ==
          "3 nodes form a cycle, each of which reads what the next one makes: Mul, Add, Sub");
    CHECK(error("y = Add(x, y)") == "Add: its input 'y' is made by no node before it");
}

TEST_CASE("two initializers of one name must be equal")
{
    auto proto = model_of(graph_of("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }"));
    *proto.mutable_graph()->add_initializer() = proto.graph().initializer(0);
    CHECK(result_of(proto) == floats{2, 0});
    proto.mutable_graph()->mutable_initializer(1)->set_float_data(1, 3);
    CHECK(complaint_about(proto) == "the graph has two initializers 'w'");
}

TEST_CASE("a function's nodes compute with the values of a call")
{
    std::string const twice = function_of("twice (a) => (b) { y = Neg(a) b = Sub(a, y) }");
    CHECK(result_of(model_with(twice, "y = own.twice(x)")) == floats{2, -4});
    // The names of a function are its own, in each call.
    CHECK(result_of(model_with(twice, "b = own.twice(x) a = own.twice(b) y = Add(a, b)")) == floats{6, -12});
    // Functions that call others, in any order.
    std::string const four = function_of("four (a) => (b) { b = own.twice(c) c = own.twice(a) }");
    CHECK(result_of(model_with(four + twice, "y = own.four(x)")) == floats{4, -8});
    // A function hides the operator of its name.
    CHECK(result_of(model_with("<domain: \"\", opset_import: [\"\" : 18]> Abs (a) => (b) { b = Neg(a) }",
              "y = Abs(x)")) == floats{-1, 2});
    // One that nothing calls may be anything.
    CHECK(result_of(model_with(function_of("none (a) => (b) { b = own.none(a) c = Unknown(c) }"),
              "y = Neg(x)")) == floats{-1, 2});
}

TEST_CASE("inputs and outputs of a function that a call omits, and an output that is an input")
{
    std::string const clip =
        function_of("limited (a, low, high) => (b, c) { b = Clip(a, low, high) c = Neg(b) }");
    CHECK(result_of(model_with(clip, "z = Constant<value = float {0}>() y = own.limited(x, , z)")) ==
          floats{0, -2});
    onnx::ModelProto second = model_with(clip, "z = Constant<value = float {0}>() u, y = own.limited(x, z)");
    second.mutable_graph()->mutable_node(1)->set_output(0, "");
    CHECK(result_of(second) == floats{-1, 0});
    CHECK(result_of(model_with(function_of("pair (a) => (a, b) { b = Neg(a) }"),
              "p, q = own.pair(x) y = Sub(p, q)")) == floats{2, -4});
}

TEST_CASE("attributes of a call, in bodies too, and their defaults")
{
    std::string const text =
        function_of("sum <axis, unused> (a) => (b) { "
                    "c = Constant<value = bool {1}>() n = Constant<value_int: int = @axis>() "
                    "b = If(c) <then_branch = t () => (float[2] a2) { a2 = CumSum "
                    "<reverse: int = @reversed> (a, n) }, "
                    "else_branch = e () => (float[2] d) { d = Neg(a) }> }");
    onnx::ModelProto proto = model_with(text, "y = own.sum<axis = 0>(x)");
    CHECK(result_of(proto) == floats{1, -1});
    // Field 11, FunctionProto's attribute_proto.
    onnx::AttributeProto reversed;
    reversed.set_name("reversed");
    reversed.set_type(onnx::AttributeProto::INT);
    reversed.set_i(1);
    onnx::FunctionProto& function = *proto.mutable_functions(0);
    function.GetReflection()->MutableUnknownFields(&function)->AddLengthDelimited(
        11, reversed.SerializeAsString());
    CHECK(result_of(proto) == floats{-1, -2});
    auto& given = *proto.mutable_graph()->mutable_node(0)->add_attribute();
    given = reversed;
    given.set_i(0);
    CHECK(result_of(proto) == floats{1, -1});
    given.set_name("revers");
    CHECK(complaint_about(proto) == "sum: the function has no attribute 'revers'");
}

TEST_CASE("a body's names do not take a call's values")
{
    // The call's input is named as a value of the body.
    std::string const text = function_of(
        "f (a, c) => (b) { b = If(c) <then_branch = t () => (float[2] q) { z = Neg(a) q = Sub(a, z) }, "
        "else_branch = e () => (float[2] r) { r = Neg(a) }> }");
    CHECK(result_of(model_with(text, "c = Constant<value = bool {1}>() z = Abs(x) y = own.f(z, c)")) ==
          floats{2, 4});
}

TEST_CASE("an output that is an input takes no function's place, and needs no opset")
{
    auto const with_identity = [](std::string const& rest, std::string const& nodes) {
        return model_with("<domain: \"\", opset_import: [\"\" : 18]> Identity " + rest +
                              function_of("f (a) => (a) { c = Neg(a) }"),
            nodes);
    };
    CHECK(result_of(with_identity("(a) => (a) { c = Neg(a) }", "y = Identity(x)")) == floats{1, -2});
    CHECK(result_of(with_identity("(a) => (b) { b = Neg(a) }", "y = own.f(x)")) == floats{1, -2});
    onnx::ModelProto without =
        model_with(function_of("f (a) => (a) { c = own.g(a) }") + function_of("g (a) => (b) { b = Neg(a) }"),
            "y = own.f(x)");
    for (onnx::FunctionProto& function : *without.mutable_functions())
        function.mutable_opset_import(0)->set_domain(function.name() == "f" ? "own" : "");
    CHECK(result_of(without) == floats{1, -2});
    without.mutable_functions(1)->set_domain("xloom");
    CHECK(complaint_about(without) ==
          "the model's function 'g' is in the domain 'xloom', which is the runner's");
}

TEST_CASE("each function has the opsets that it imports")
{
    // Softmax of opset 11 flattens what is after its axis, 1.
    std::string const text =
        "<domain: \"own\", opset_import: [\"\" : 11]> "
        "old (a) => (b) { t = Unsqueeze<axes = [0]>(a) s = Softmax(t) b = Squeeze<axes = [0]>(s) }";
    floats const found = result_of(model_with(text, "y = own.old(x)"));
    CHECK(found[0] + found[1] == doctest::Approx(1));
    CHECK(found[0] == doctest::Approx(0.95257413));
}

TEST_CASE("a body that a call gives a function keeps its opsets")
{
    auto const with_opset = [](int opset) {
        onnx::ModelProto proto =
            model_with(fmt::format("<domain: \"own\", opset_import: [\"\" : {}]> f <b> (c) => (d) {{ d = "
                                   "If<then_branch: graph = @b, else_branch: graph = @b>(c) }}",
                           opset),
                "c = Constant<value = bool {1}>() i = Constant<value = int64[2, 1] {1, 0}>() "
                "y = own.f<b = e () => (float[2] o) { o = com.microsoft.GatherND(x, i) }>(c)");
        auto& import = *proto.add_opset_import();
        import.set_domain("com.microsoft");
        import.set_version(1);
        return proto;
    };
    CHECK(result_of(with_opset(18)) == floats{-2, 1});
    CHECK(complaint_about(with_opset(11)) ==
          "f: a body of opset 18 for a function of opset 11 of the domain 'ai.onnx' is not implemented");
}

TEST_CASE("bodies of a model that is older than the types of attributes")
{
    onnx::ModelProto proto = model_with("", "c = Constant<value = bool {1}>() y = If<then_branch = t () => "
                                            "(float[2] p) { p = Neg(x) }, else_branch = e () => (float[2] q) "
                                            "{ q = Abs(x) }>(c)");
    for (onnx::AttributeProto& attribute : *proto.mutable_graph()->mutable_node(1)->mutable_attribute())
        attribute.clear_type();
    CHECK(result_of(proto) == floats{-1, 2});
}

TEST_CASE("opsets that a model imports, or does not")
{
    onnx::ModelProto const imports = model_of(graph_of("g (float[2] x) => (float[2] y) { y = Neg(x) }"), 18);
    auto const with = [&](std::string const& domain, std::int64_t version) {
        onnx::ModelProto proto = imports;
        auto& added = *proto.add_opset_import();
        added.set_domain(domain);
        added.set_version(version);
        return complaint_about(proto);
    };
    CHECK(with("ai.onnx", 18) == "none");
    CHECK(with("own", 1000) == "none");
    CHECK(with("ai.onnx", 17) == "the model imports two opsets of ai.onnx: 18 and 17");
    CHECK(with("own", 0) == "the model imports opset 0 of own, which is not known");
    CHECK(with("com.microsoft", 2) == "the model imports opset 2 of com.microsoft, which is not known");
    onnx::ModelProto without = imports;
    without.clear_opset_import();
    CHECK(complaint_about(without) == "the model imports no opset");
    without.set_ir_version(2); // older than opsets: the first one
    CHECK(result_of(without) == floats{-1, 2});
    // So does a function that imports none: those of the model.
    onnx::ModelProto called = model_with(function_of("f (a) => (b) { b = Neg(a) }"), "y = own.f(x)");
    called.mutable_functions(0)->clear_opset_import();
    CHECK(result_of(called) == floats{-1, 2});
}

TEST_CASE("graphs that are no model's: too deep, of sparse initializers, for fewer inputs than a run gives")
{
    onnx::GraphProto graph = graph_of("g (float[2] x) => (float[2] y) { y = Neg(x) }");
    tensor const x = tensor::of<float>({2}, floats{1, -2});
    CHECK_THROWS_WITH_AS(
        model(model_of(graph)).run({x, x}), "the graph has 1 inputs, but 2 are given", runner_error);
    (void)graph.add_sparse_initializer();
    CHECK_THROWS_WITH_AS(
        model(model_of(graph)).run({x}), "sparse initializers are not implemented", not_implemented);
    std::string nested = "y = Neg(x) ";
    for (int depth = 0; depth < 40; ++depth)
        nested = "y = If(c)<then_branch = t () => (y) { " + nested +
                 "}, else_branch = e () => (x) { z = Abs(x) }> ";
    CHECK_THROWS_WITH_AS(
        model(model_of(graph_of("g (float[2] x, bool c) => (float[2] y) { " + nested + "}"))),
        "graphs are nested more than 32 deep", runner_error);
}

TEST_CASE("calls that a function does not allow")
{
    std::string const f = function_of("f (a) => (b) { b = Neg(a) }");
    CHECK(complaint_about(model_with(f, "y = own.f(x, x)")) ==
          "f: the function takes 1 inputs, but is given 2");
    CHECK(complaint_about(model_with(f, "y, z = own.f(x)")) ==
          "f: the function gives 1 outputs, but 2 are named");
    CHECK(complaint_about(model_with(f + f, "y = own.f(x)")) == "the model has two functions 'own.f'");
    std::string const g = function_of("g (a) => (b) { b = own.h(a) }"),
                      h = function_of("h (a) => (b) { b = own.g(a) }");
    CHECK(complaint_about(model_with(g + h, "y = own.g(x)")) == "g: the function 'own.g' calls itself");
    // A function does not see the values of a call.
    CHECK(complaint_about(model_with(function_of("f (a) => (b) { b = Neg(x) }"), "y = own.f(x)")) ==
          "f: Neg: its input 'f/x' is made by no node before it");
}

TEST_CASE("a call's attribute counts as often as a function has it")
{
    std::string nodes;
    for (int i = 0; i < 50; ++i)
        nodes += fmt::format("t{} = If<then_branch: graph = @b, else_branch: graph = @b>(c) ", i);
    onnx::ModelProto proto = model_with(function_of("f <b> (c) => (t49) { " + nodes + "}"),
        "c = Constant<value = bool {1}>() y = own.f<b = e () "
        "=> (float[2] o) { o = Neg(x) }>(c)");
    onnx::GraphProto& attribute = *proto.mutable_graph()->mutable_node(1)->mutable_attribute(0)->mutable_g();
    attribute.set_doc_string(std::string(1 << 16, 'a'));
    CHECK(complaint_about(proto) == "none");
    with_budget const few({.bytes = 1 << 22});
    CHECK(complaint_about(proto) == "f: all tensors together would take more than 4194304 bytes");
}

TEST_CASE("what a call becomes counts: its names, and messages that are larger than their bytes")
{
    std::string const most = ": all tensors together would take more than 8000000 bytes";
    with_budget const few({.bytes = 8'000'000});
    // Each output gets the function's name in front.
    std::string many;
    for (int i = 0; i < 100; ++i)
        many += fmt::format("t{} = Neg(a) ", i);
    onnx::ModelProto named = model_with(function_of("f (a) => (t99) { " + many + "}"), "y = own.f(x)");
    CHECK(complaint_about(named) == "none");
    std::string const long_name(1 << 17, 'f');
    named.mutable_functions(0)->set_name(long_name);
    named.mutable_graph()->mutable_node(0)->set_op_type(long_name);
    CHECK(complaint_about(named).ends_with(most));
    // Each reader of an input gets the name that the call gives it.
    onnx::ModelProto read =
        model_with(function_of("f (a) => (t99) { " + many + "}"), "x2 = Neg(x) y = own.f(x2)");
    read.mutable_graph()->mutable_node(0)->set_output(0, long_name);
    read.mutable_graph()->mutable_node(1)->set_input(0, long_name);
    CHECK(complaint_about(read) == "f" + most);
    // Each output that is an input is a node of its own.
    onnx::ModelProto equal =
        model_with(function_of("f (a) => (a) { b = Neg(a) }"), "x2 = Neg(x) y = own.f(x2)");
    equal.mutable_graph()->mutable_node(0)->set_output(0, long_name);
    equal.mutable_graph()->mutable_node(1)->set_input(0, long_name);
    for (int i = 0; i < 100; ++i) {
        equal.mutable_functions(0)->add_output("a");
        equal.mutable_graph()->mutable_node(1)->add_output(fmt::format("y{}", i));
    }
    CHECK(complaint_about(equal) == "f" + most);
    // A text without characters is a byte or two of a file, and some dozens here.
    onnx::ModelProto texts = model_with(function_of("f (a) => (b) { c = Constant<value_strings = [\"\"]>() "
                                                    "b = Neg(a) }"),
        "x2 = own.f(x) x3 = own.f(x2) x4 = own.f(x3) y = own.f(x4)");
    for (int i = 0; i < 50'000; ++i)
        texts.mutable_functions(0)->mutable_node(0)->mutable_attribute(0)->add_strings("");
    CHECK(complaint_about(texts).ends_with(most));
}

TEST_CASE("the nodes of bodies that a call gives count as often as a function has them")
{
    std::string nodes, body;
    for (int i = 0; i < 100; ++i)
        nodes += fmt::format("t{} = If<then_branch: graph = @b, else_branch: graph = @b>(c) ", i);
    for (int i = 0; i < 600; ++i)
        body += fmt::format("o{} = Neg(x) ", i);
    onnx::ModelProto const proto = model_with(function_of("f <b> (c) => (t99) { " + nodes + "}"),
        "c = Constant<value = bool {1}>() y = own.f<b = e () => (float[2] o0) { " + body + "}>(c)");
    CHECK(complaint_about(proto) == "f: calls of the model's functions have more than 100000 nodes");
}

TEST_CASE("functions of one name that differ in their overload")
{
    constexpr int of_function = 13, of_node = 8; // the fields, which ONNX 1.16 added
    std::string const f = function_of("f (a) => (b) { b = Neg(a) }"),
                      g = function_of("f (a) => (b) { b = Abs(a) }");
    onnx::ModelProto proto = model_with(f + g, "y = own.f(x)");
    auto const add = [](auto& message, int field) {
        message.GetReflection()->MutableUnknownFields(&message)->AddLengthDelimited(field, "absolute");
    };
    add(*proto.mutable_functions(1), of_function);
    CHECK(result_of(proto) == floats{-1, 2});
    add(*proto.mutable_graph()->mutable_node(0), of_node);
    CHECK(result_of(proto) == floats{1, 2});
}

TEST_CASE("dots in the name of a domain or of a function")
{
    onnx::ModelProto proto =
        model_with(function_of("f (a) => (b) { b = Neg(a) }") + function_of("g (a) => (b) { b = Abs(a) }"),
            "y = own.f(x)");
    proto.mutable_functions(0)->set_name("f.g");
    proto.mutable_functions(1)->set_domain("own.f");
    onnx::NodeProto& node = *proto.mutable_graph()->mutable_node(0);
    node.set_op_type("f.g");
    CHECK(result_of(proto) == floats{-1, 2});
    proto.mutable_functions()->DeleteSubrange(0, 1);
    CHECK(complaint_about(proto) == "operator own.f.g is not implemented");
    node.set_domain("");
    node.set_op_type("com.microsoft.GatherND");
    node.add_input("x");
    CHECK(complaint_about(proto) == "operator com.microsoft.GatherND is not implemented");
}

TEST_CASE("functions that multiply their nodes, or are very deep, end with an error")
{
    std::string wide, deep;
    for (int i = 0; i < 30; ++i)
        wide += function_of("f" + std::to_string(i) + " (a) => (b) { c = own.f" + std::to_string(i + 1) +
                            "(a) b = own.f" + std::to_string(i + 1) + "(c) }");
    wide += function_of("f30 (a) => (b) { b = Neg(a) }");
    CHECK(complaint_about(model_with(wide, "y = own.f0(x)"))
              .ends_with("calls of the model's functions have more than 100000 nodes"));
    for (int i = 0; i < 200; ++i)
        deep += function_of(
            "f" + std::to_string(i) + " (a) => (b) { b = own.f" + std::to_string(i + 1) + "(a) }");
    CHECK(complaint_about(model_with(deep, "y = own.f0(x)")) ==
          "f0: functions call each other more than 100 deep");
    onnx::AttributeProto branch;
    branch.set_name("b");
    branch.set_type(onnx::AttributeProto::GRAPH);
    *branch.mutable_g() = graph_of("e () => (float[2] o) { c = Constant<value = bool {1}>() o = own.f(c) }");
    onnx::ModelProto itself = model_with(
        function_of("f (c) => (d) { d = If<then_branch: graph = @b, else_branch: graph = @b>(c) }"),
        "c = Constant<value = bool {1}>() y = own.f(c)");
    onnx::FunctionProto& function = *itself.mutable_functions(0);
    function.GetReflection()->MutableUnknownFields(&function)->AddLengthDelimited(
        11, branch.SerializeAsString()); // its default
    CHECK(complaint_about(itself) == "f: the function 'own.f' calls itself");
}

TEST_CASE("items in a file below the model's folder")
{
    temporary_folder const folder;
    folder.write("model/weights/w.bin", "####" + one_and_two + "##");
    external_model whole;
    whole.with("location", "weights/w.bin").with("offset", "4").with("length", "8").with("checksum", "?");
    CHECK(result_of(whole.read_in(folder)) == floats{2, 0});
    folder.write("model/rest.bin", "#" + one_and_two);
    CHECK(result_of(external_model().with("location", "./rest.bin").with("offset", "1").read_in(folder)) ==
          floats{2, 0});
    fs::create_symlink(folder.path / "model/rest.bin", folder.path / "model/link.bin");
    CHECK(result_of(external_model().with("location", "link.bin").with("offset", "1").read_in(folder)) ==
          floats{2, 0});
}

TEST_CASE("items of a sparse tensor in a file below the model's folder")
{
    temporary_folder const folder;
    folder.write("model/values.bin", one_and_two);
    folder.write("model/places.bin", std::string("\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16)); // 2, 0
    external_model sparse;
    sparse.proto =
        model_of(graph_of("g (float[2] x) => (float[3] y) { s = Constant() z = Neg(x) y = Neg(s) }"));
    auto& attribute = *sparse.proto.mutable_graph()->mutable_node(0)->add_attribute();
    attribute.set_name("sparse_value");
    attribute.set_type(onnx::AttributeProto::SPARSE_TENSOR);
    attribute.mutable_sparse_tensor()->add_dims(3);
    auto const add = [](onnx::TensorProto& to, onnx::TensorProto::DataType type, char const* file) {
        to.set_data_type(type);
        to.add_dims(2);
        to.set_data_location(onnx::TensorProto::EXTERNAL);
        auto& location = *to.add_external_data();
        location.set_key("location");
        location.set_value(file);
    };
    add(*attribute.mutable_sparse_tensor()->mutable_values(), onnx::TensorProto::FLOAT, "values.bin");
    add(*attribute.mutable_sparse_tensor()->mutable_indices(), onnx::TensorProto::INT64, "places.bin");
    CHECK(result_of(sparse.read_in(folder)) == floats{-2, 0, -1});
}

TEST_CASE("items in files that a model may not have, or has not")
{
    temporary_folder const folder;
    folder.write("model/w.bin", one_and_two);
    folder.write("outside.bin", one_and_two);
    fs::create_symlink(folder.path / "outside.bin", folder.path / "model/out.bin");
    fs::create_symlink("/dev/zero", folder.path / "model/zero");
    auto const error = [&](std::string const& location) {
        return external_model().with("location", location).error_in(folder);
    };
    std::string const where = "the tensor 'w' is in the file ";
    CHECK(error("../outside.bin") == where + "'../outside.bin', which is not below the model's folder");
    CHECK(error("weights/../w.bin") == where + "'weights/../w.bin', which is not below the model's folder");
    CHECK(error((folder.path / "model/w.bin").string()).ends_with("which is not below the model's folder"));
    CHECK(error("out.bin") == where + "'out.bin', where a link leads out of the model's folder");
    CHECK(error("zero") == where + "'zero', which is none beside the model");
    CHECK(error("weights") == where + "'weights', which is none beside the model");
    CHECK(error("none.bin") == where + "'none.bin', which is none beside the model");
    CHECK(external_model().error_in(folder) == "the tensor 'w' is in another file, but names none");

    auto const of = [&](std::string const& key, std::string const& number) {
        return external_model().with("location", "w.bin").with(key, number).error_in(folder);
    };
    CHECK(of("offset", "9") == "the tensor 'w' begins at byte 9 of the file 'w.bin', which has 8 bytes");
    for (std::string const number : {"-1", "", "1 ", "0x4", "18446744073709551616"})
        CHECK(of("offset", number) ==
              "the tensor 'w' is in another file, whose offset '" + number + "' is no number of bytes");
    CHECK(of("length", "18446744073709551615") == "the tensor 'w' has 18446744073709551615 bytes from byte 0 "
                                                  "of the file 'w.bin' on, which has 8 bytes");
    CHECK(of("length", "4") == "none"); // the tensor is checked where it is read
    CHECK(complaint_about(external_model().with("location", "w.bin").with("length", "4").read_in(folder)) ==
          "the tensor 'w' is float[2] and needs 8 bytes, but has 4");
}

TEST_CASE("many tensors of one large file do not exhaust memory")
{
    temporary_folder const folder;
    folder.write("model/large.bin", "");
    fs::resize_file(folder.path / "model/large.bin", 1 << 26);
    external_model many;
    many.with("location", "large.bin");
    for (int i = 0; i < 100; ++i)
        *many.proto.mutable_graph()->add_initializer() = many.tensor_w();
    with_budget const limits(budget{.bytes = 1 << 28});
    CHECK(many.error_in(folder) == "all tensors together would take more than 268435456 bytes");
}
