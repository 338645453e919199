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

TEST_CASE("warnings are printable lines, cut, and no more than a thousand")
{
    auto const declare = [](onnx::GraphProto& graph, std::string const& name, std::string const& dim) {
        auto& declared = *graph.add_value_info();
        declared.set_name(name);
        auto& type = *declared.mutable_type()->mutable_tensor_type();
        type.set_elem_type(onnx::TensorProto::FLOAT);
        type.mutable_shape()->add_dim()->set_dim_value(7);
        type.mutable_shape()->add_dim()->set_dim_param(dim);
    };
    hostile_model built;
    built.number("a", 1).node("Relu", "a", "b");
    declare(built.graph(), "b", "N\x1b]0;x\x07\n");
    built.node("Neg", "b", "y");
    CHECK(*model(built.output("y").proto()).warnings().begin() ==
          "Relu: its output 'b' is declared as float[7, N\\x1b]0;x\\x07\\n], but is float[1]");
    built.graph().clear_value_info();
    declare(built.graph(), "b", std::string(10'000, 'N'));
    model const cut(built.proto());
    CHECK(cut.warnings().begin()->size() < 2100);

    hostile_model many;
    many.number("a", 1).node("Neg", "a", "y");
    for (int i = 0; i < 1200; ++i) {
        auto& node = many.node("Relu", "a", "b");
        node.set_output(0, "b" + std::to_string(i));
        declare(many.graph(), node.output(0), "N");
    }
    CHECK(model(many.output("y").proto()).warnings().size() == 1000);

    // An output of unknown shape, which only a run contradicts.
    hostile_model after;
    after.graph().add_input()->set_name("a");
    after.node("Relu", "a", "y");
    auto& type = *after.output("y").graph().mutable_output(0)->mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
    type.mutable_shape()->add_dim()->set_dim_value(7);
    type.mutable_shape()->add_dim()->set_dim_param("N\n");
    model const made(after.proto());
    CHECK(made.warnings_of(made.run({tensor(element_type::float_, {3, 2})})) ==
          std::vector<std::string>{"the output 'y' is declared as float[7, N\\n], but is float[3, 2]"});
}

TEST_CASE("an impossible branch takes its own warnings back, no others")
{
    warning_list warnings;
    warnings.add("b");
    warnings.add("d");
    std::size_t const before = warnings.all().size();
    for (char const* const text : {"a", "b", "c"})
        warnings.add(text);
    warnings.shrink(before);
    CHECK(warnings.all() == std::set<std::string>{"b", "d"});
}
