// Runs xloom-compile as a user would, on models made here.

#include <cstring>
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
    CHECK(program.complaint({model, "--name", "time"}) ==
          "--name must be a name in C++, but 'time' is a function of C or POSIX, which hides a class");
    CHECK(program.complaint({model, "--name", "linux"}) ==
          "--name must be a name in C++, but 'linux' is a macro on some systems");
    CHECK(program.complaint({model, "--name", ""}) == "--name must be a name in C++, but '' is empty");
    CHECK(has(header({model, "--namespace", "my::nets"}), "namespace my::nets {"));
    CHECK(program.complaint({model, "--namespace", "my::xt"}) ==
          "--namespace must be a name in C++, but 'my::xt' has xt, a namespace that the generated code uses");
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

TEST_CASE_FIXTURE(fixture, "--shape and --value fix inputs, each once")
{
    std::string const open = file("open", "g (float[N, M] x, float s) => (float[N, M] y) { y = Mul(x, s) }");
    CHECK(has(header({open, "--shape", "x=1,576"}), "/// Inputs   x: float[1, 576] 'x'\n"));
    CHECK(has(header({open, "--shape", "s=", "--value", "s=0.5"}), "return x_i * 0.5F;"));
    std::string const with_default =
        file("net", "g (float[2] x, float s) => (float[2] y) <float s = {3}> { y = Mul(x, s) }");
    CHECK(has(header({with_default}), "return x_i * 3.0F;"));
    CHECK(has(header({with_default, "--value", "s=0.5"}), "return x_i * 0.5F;"));
    // 1 + 2^-11 is halfway between two items of float16; float has no number between it and this one.
    std::string const half = file("half", "g (float16[2] x, float16 s) => (float16[2] y) { y = Mul(x, s) }");
    CHECK(has(header({half, "--value", "s=1.00048828126"}), "xloom::float16::from_bits(0x3c01)"));
    CHECK(program.complaint({with_default, "--shape", "s=2"}) == "the model has no tensor as its input 's'");
    for (std::string const dims :
        {"x=1,", "x=,1", "x=1,,2", "x=-1", "x=a", "x=1a", "x=1 2", "x=99999999999999999999"})
        CHECK(program.complaint({open, "--shape", dims}) ==
              "a shape is given as INPUT=1,2,3, but here as '" + dims.substr(2) + "'");
    CHECK(program.complaint({open, "--shape", "x"}) == "an input is given as INPUT=1,2,3, but here as 'x'");
    CHECK(program.complaint({open, "--shape", "x=1,2", "--shape", "x=1,3"}) ==
          "--shape is given twice for 'x'");
    CHECK(program.complaint({open, "--value", "s=1", "--value", "s=2"}) == "--value is given twice for 's'");
    CHECK(program.complaint({open, "--shape", "z=1"}) == "the model has no tensor as its input 'z'");
}

TEST_CASE_FIXTURE(fixture, "a header, its weights and a program are files where that is wanted")
{
    std::string items = "1";
    for (int i = 2; i <= 20; ++i)
        items += ", " + std::to_string(i);
    std::string const large =
        file("large", "g (float[20] x) => (float[20] y) { w = Constant<value = float[20] {" + items +
                          "}>() y = Add(x, w) }");
    std::string const path = program / "made.hpp", main = program / "made_main.cpp";
    CHECK(header({large, "-o", path, "--weights", "file", "--main", main}) == "");
    CHECK(has(read_file(path), "weights(path, 80)"));
    std::string const weights = read_file(program / "made.bin");
    REQUIRE(weights.size() == 80);
    float last = 0;
    std::memcpy(&last, weights.data() + 76, sizeof last);
    CHECK(last == 20);
    CHECK(has(read_file(main), "#include \"made.hpp\""));
    CHECK(program.complaint({large, "-o", program / "made.bin", "--weights", "file"}) ==
          "--output must not be the file of the weights, " + (program / "made.bin"));
    CHECK(header({model, "-o", program / "mod\xc3\xa8le.hpp", "--main", main}) == "");
    CHECK(has(read_file(main), "#include \"mod\xc3\xa8le.hpp\""));
    for (char const* const name : {"a\"b.hpp", "a\\b.hpp", "a\nb.hpp"})
        CHECK(program.complaint({model, "-o", program / name, "--main", main})
                  .starts_with("--output must be the plain name of a file, but is '"));
    std::string const embedded = program / "embedded.hpp";
    CHECK(header({large, "-o", embedded}) == "");
    CHECK(has(read_file(embedded), "19.0F, 20.0F"));
    CHECK_FALSE(std::filesystem::exists(program / "embedded.bin"));
    CHECK(program.complaint({model, "-o", program / "nowhere/made.hpp"}) ==
          "the file " + (program / "nowhere/made.hpp") + " cannot be written");
    CHECK(program.complaint({large, "--weights", "file"}) ==
          "--weights file writes beside the header, so it needs --output");
    CHECK(header({model, "-o", path, "--weights", "file"}) == ""); // without weights, which a build expects
    CHECK(std::filesystem::file_size(program / "made.bin") == 0);
    CHECK(program.complaint({model, "--main", main}) == "--main includes the header, so it needs --output");
}

TEST_CASE_FIXTURE(fixture, "custom operators and their headers; what the command line does not allow")
{
    onnx::ModelProto own =
        runner::model_of(runner::graph_of("g (float[2] x) => (float[2] y) { y = Own(x) }"));
    std::string const custom = program.write("own.onnx", own.SerializeAsString());
    std::string const text = header({custom, "--operator", "Own=my::own", "--include", "my/own.hpp"});
    CHECK(has(text, "#include \"my/own.hpp\"\n"));
    CHECK(has(text, " ::my::own(x, results.y);"));
    // A value of the model does not hide it.
    CHECK(has(header({file("hidden", "g (float[2] own) => (float[2] y) { y = Own(own) }"), "--operator",
                  "Own=own"}),
        " ::own(own, results.y);"));
    for (char const* const name : {"a\"b.hpp", "a\\b.hpp", "a\tb.hpp"})
        CHECK(program.complaint({custom, "--operator", "Own=my::own", "--include", name})
                  .starts_with("--include must be the plain name of a file, but is '"));
    CHECK(program.complaint({model, "--weights", "zip"}) == "--weights is embedded or file, but is 'zip'");
    CHECK(program.complaint({}) == "no model is given (see --help)");
    CHECK(has(header({"--help"}), "INPUT=DIMS"));
    // Declarations that do not hold are warnings.
    outcome const warned =
        program.run({file("declared", "g (float[2] x) => (float[3] y) { t = Exp(x) y = Tanh(t) }")});
    CHECK(warned.succeeded);
    CHECK(warned.err ==
          "xloom-compile: warning: Tanh: its output 'y' is declared as float[3], but is float[2]\n");
}
