// What messages say of names and values that are a model's own: one line that can be printed, however long
// they are and whatever they hold.

#include <string>

#include <doctest/doctest.h>

#include "hostile_model.hpp"

using namespace runner;

namespace {

/// The complaint about a model with an input of this name that nothing gives.
std::string complaint_about(std::string const& name)
{
    hostile_model built;
    auto& node = built.node("Relu", "a", "y");
    node.set_name(name);
    node.set_input(0, "b");
    return built.output("y").run();
}

} // namespace

TEST_CASE("names are escaped")
{
    CHECK(complaint_about("plain, näme") == "Relu 'plain, näme': its input 'b' is made by no node before it");
    CHECK(complaint_about("two\nlines\t") ==
          "Relu 'two\\nlines\\t': its input 'b' is made by no node before it");
    CHECK(complaint_about("it's \\") == "Relu 'it\\'s \\\\': its input 'b' is made by no node before it");
    CHECK(complaint_about("\x1b[31m\x7f") ==
          "Relu '\\x1b[31m\\x7f': its input 'b' is made by no node before it");
    CHECK(complaint_about("\xff\xc3(") == "Relu '\\xff\\xc3(': its input 'b' is made by no node before it");
    CHECK(complaint_about("\xc2\x9b") ==
          "Relu '\\xc2\\x9b': its input 'b' is made by no node before it"); // a control character, too
    CHECK(complaint_about("\xe2\x80\xa8\xe2\x80\xa9") == // separators of lines and paragraphs
          "Relu '\\xe2\\x80\\xa8\\xe2\\x80\\xa9': its input 'b' is made by no node before it");
    CHECK(complaint_about("\xed\xa0\x80\xc0\xaf") ==
          "Relu '\\xed\\xa0\\x80\\xc0\\xaf': its input 'b' is made by no node before it");
    CHECK(
        complaint_about(std::string("\0", 1)) == "Relu '\\x00': its input 'b' is made by no node before it");
}

TEST_CASE("names are cut where they are long, between characters")
{
    CHECK(complaint_about(std::string(64, 'a')) ==
          "Relu '" + std::string(64, 'a') + "': its input 'b' is made by no node before it");
    CHECK(complaint_about(std::string(1000, 'a')) ==
          "Relu '" + std::string(64, 'a') + "'... (1000 bytes): its input 'b' is made by no node before it");
    CHECK(complaint_about(std::string(63, 'a') + "ää") ==
          "Relu '" + std::string(63, 'a') + "'... (67 bytes): its input 'b' is made by no node before it");
}

TEST_CASE("operators, inputs, outputs, symbols")
{
    hostile_model unknown;
    unknown.node("Re\nlu", "", "y");
    CHECK(unknown.output("y").run() == "operator Re\\nlu is not implemented");

    hostile_model output;
    output.number("a", 1).node("Relu", "a", "y");
    CHECK(output.output("z\n").run() == "the graph's output 'z\\n' is made by no node");

    hostile_model symbol;
    symbol.number("a", 1).node("Relu", "a", "y");
    auto& type = *symbol.output("y").graph().mutable_output(0)->mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::INT64);
    type.mutable_shape()->add_dim()->set_dim_param("N\n\xff");
    CHECK(symbol.run() == "Relu: its output 'y' is declared as int64[N\\n\\xff], but is float[1]");
    type.mutable_shape()->mutable_dim(0)->set_dim_param(std::string(10'000, 'N'));
    CHECK(symbol.run().size() < 2100);
}

TEST_CASE("values are cut where they are long")
{
    hostile_model built;
    built.integers("a", {1});
    auto& perm = attribute(built.node("Transpose", "a", "y"), "perm", onnx::AttributeProto::INTS);
    for (int i = 0; i < 100'000; ++i)
        perm.add_ints(i);
    CHECK(built.output("y").run() == "Transpose: perm [0, 1, 2, 3, 4, 5, 6, 7, ... (100000 in all)] does not "
                                     "order the axes of a tensor of rank 1");

    hostile_model text;
    text.text("a", "1\n" + std::string(1000, '2'));
    attribute(text.node("Cast", "a", "y"), "to", onnx::AttributeProto::INT).set_i(1);
    CHECK(text.output("y").run() ==
          "Cast: the string '1\\n" + std::string(62, '2') + "'... (1002 bytes) is no number");

    hostile_model reduction;
    reduction.number("a", 1).integers("i", {0});
    attribute(reduction.node("ScatterElements", "aia", "y"), "reduction", onnx::AttributeProto::STRING)
        .set_s(std::string(1000, 'x'));
    CHECK(reduction.output("y").run() ==
          "ScatterElements: the reduction '" + std::string(64, 'x') + "'... (1000 bytes) does not exist");
}
