// Runs xloom-compile as a user would, on models made here.

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "program_under_test.hpp"
#include "text_model.hpp"

namespace {

struct fixture {
    program_under_test program{XLOOM_COMPILE_PROGRAM};
    std::string model = file("model", "g (float[2] x) => (float[2] y) { y = Tanh(x) }");

    std::string file(std::string const& name, std::string const& graph) const
    {
        return program.write(name + ".onnx", runner::model_of(runner::graph_of(graph)).SerializeAsString());
    }
    std::string header(std::initializer_list<std::string> arguments) const
    {
        outcome const result = program.run(arguments);
        CHECK(result.err == "");
        return result.out;
    }
};

bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE_FIXTURE(fixture, "--name and --namespace take any identifier")
{
    for (char const* const name : {"My_Net__2", "_net", "EOF", "max", "final"}) {
        CAPTURE(name);
        CHECK(has(header({model, "--name", name}), std::string("class ") + name + " {"));
    }
    std::string const long_name(100, 'x');
    CHECK(has(header({model, "--name", long_name}), "class " + long_name + " {"));
    CHECK(program.complaint({model, "--name", "class"}) ==
          "--name must be a name in C++, but 'class' is a keyword of C++");
    CHECK(
        program.complaint({model, "--name", "my-net"}) ==
        "--name must be a name in C++, but 'my-net' holds '-', but may hold letters of ASCII, digits and _");
    CHECK(program.complaint({model, "--name", "outputs"}) ==
          "--name must be a name in C++, but 'outputs' is an identifier that the generated code has already");
    CHECK(program.complaint({model, "--name", ""}) == "--name must be a name in C++, but '' is empty");
    CHECK(has(header({model, "--namespace", "my::nets"}), "namespace my::nets {"));
    CHECK(program.complaint({model, "--namespace", "my nets"}) ==
          "--namespace must be a name in C++, but 'my nets' holds ' ', but may hold letters of ASCII, digits "
          "and _");
}

TEST_CASE_FIXTURE(fixture, "file names that are equal in 48 characters give two classes")
{
    std::string const start(48, 'x'), graph = "g (float[2] x) => (float[2] y) { y = Tanh(x) }";
    CHECK(has(header({file(start + "_a", graph)}), "class " + start + "_a {"));
    CHECK(has(header({file(start + "_b", graph)}), "class " + start + "_b {"));
    CHECK(has(header({file("std", graph)}), "class std_ {"));
}
