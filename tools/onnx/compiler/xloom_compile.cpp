// Makes a C++ header of an ONNX model.
//
//   xloom-compile model.onnx -o model.hpp

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "budget.hpp"
#include "command_line.hpp"
#include "custom_operators.hpp"
#include "generate.hpp"
#include "proto.hpp"
#include "text.hpp"

namespace {

namespace fs = std::filesystem;

struct command_line {
    std::string help{};
    std::string model{};
    std::string output{};
    std::string main{};
    compiler::options chosen{};
};

/// Reads "1,576"; an empty text is a scalar's shape.
std::vector<std::int64_t> read_dims(std::string const& text)
{
    std::vector<std::int64_t> dims;
    char const* next = text.data();
    char const* const end = text.data() + text.size();
    while (next != end) {
        auto const [after, error] = std::from_chars(next, end, dims.emplace_back());
        if (error != std::errc() || dims.back() < 0 || (after != end && (*after != ',' || after + 1 == end)))
            throw runner::runner_error(
                "a shape is given as INPUT=1,2,3, but here as " + runner::in_quotes(text));
        next = after == end ? end : after + 1;
    }
    return dims;
}

/// Calls f(input, text) for each INPUT=TEXT of an option.
template <class F>
void for_each_input(cxxopts::ParseResult const& given, std::string const& option, char const* usage, F f)
{
    if (given.count(option) == 0)
        return;
    for (std::string const& each : given[option].as<std::vector<std::string>>()) {
        auto const [input, text] = runner::assignment_of(each, usage);
        if (!f(input, text))
            throw runner::runner_error(
                fmt::format("--{} is given twice for {}", option, runner::in_quotes(input)));
    }
}

void require_name(char const* option, std::string const& name, std::string const& why_not)
{
    if (!why_not.empty())
        throw runner::runner_error(
            fmt::format("--{} must be a name in C++, but {} {}", option, runner::in_quotes(name), why_not));
}

command_line read_command_line(int argc, char const* const* argv)
{
    cxxopts::Options options("xloom-compile", "Makes a C++ header of an ONNX model.");
    auto const text = [](char const* otherwise = "") {
        return cxxopts::value<std::string>()->default_value(otherwise);
    };
    auto add = options.add_options();
    add("o,output", "the header to write; without it the text is printed", text(), "FILE.hpp");
    add("main", "a program to write, too, which runs the model on .npy files; needs --output", text(),
        "FILE.cpp");
    add("name", "the class; the file's name if it is left out", text(), "NAME");
    add("namespace", "the namespace around the class", text(), "NAME");
    add("shape", "the shape of an input, in place of the declared one, such as x=1,576",
        cxxopts::value<std::vector<std::string>>(), "INPUT=DIMS");
    add("value", "the value of an input, which is a constant then, such as sr=16000",
        cxxopts::value<std::vector<std::string>>(), "INPUT=ITEMS");
    add("operator", "a custom operator, as a function that is called with its inputs and outputs",
        cxxopts::value<std::vector<std::string>>(), "DOMAIN::NAME=FUNCTION");
    add("include", "a header that declares such functions", cxxopts::value<std::vector<std::string>>(),
        "FILE");
    add("weights", "where the constants are: in the header, or in a file .bin beside it", text("embedded"),
        "embedded|file");
    add("help", "print this");
    add("model", "", cxxopts::value<std::string>());
    options.parse_positional("model");
    options.positional_help("MODEL.onnx");
    auto const given = options.parse(argc, argv);
    command_line asked;
    if (given.count("help") != 0) {
        asked.help = options.help();
        return asked;
    }
    if (given.count("model") == 0)
        throw runner::runner_error("no model is given (see --help)");
    asked.model = given["model"].as<std::string>();
    asked.output = given["output"].as<std::string>();
    asked.main = given["main"].as<std::string>();
    if (!asked.main.empty() && asked.output.empty())
        throw runner::runner_error("--main includes the header, so it needs --output");
    asked.chosen.source = fs::path(asked.model).filename().string();
    asked.chosen.name = given.count("name") == 0
                            ? compiler::class_name_of(fs::path(asked.model).stem().string())
                            : given["name"].as<std::string>();
    require_name("name", asked.chosen.name, compiler::why_no_class_name(asked.chosen.name));
    asked.chosen.enclosing = given["namespace"].as<std::string>();
    if (given.count("namespace") != 0)
        require_name(
            "namespace", asked.chosen.enclosing, compiler::why_no_qualified_name(asked.chosen.enclosing));
    for_each_input(given, "shape", "INPUT=1,2,3", [&](std::string const& input, std::string const& dims) {
        return asked.chosen.shapes.emplace(input, read_dims(dims)).second;
    });
    for_each_input(given, "value", "INPUT=ITEMS", [&](std::string const& input, std::string const& items) {
        return asked.chosen.values.emplace(input, items).second;
    });
    if (given.count("operator") != 0)
        for (std::string const& each : given["operator"].as<std::vector<std::string>>())
            compiler::add_custom_operator(asked.chosen.operators, each);
    if (given.count("include") != 0)
        asked.chosen.includes = given["include"].as<std::vector<std::string>>();
    for (std::string const& each : asked.chosen.includes)
        if (std::any_of(
                each.begin(), each.end(), [](char c) { return c < ' ' || c > '~' || c == '"' || c == '\\'; }))
            throw runner::runner_error(
                "--include must be the plain name of a file, but is " + runner::in_quotes(each));
    std::string const weights = given["weights"].as<std::string>();
    if (weights != "embedded" && weights != "file")
        throw runner::runner_error("--weights is embedded or file, but is " + runner::in_quotes(weights));
    if (weights == "file")
        asked.chosen.weights = compiler::weights_place::file;
    return asked;
}

void write_file(fs::path const& path, std::string const& text)
{
    std::ofstream file(path, std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    if (!file.flush())
        throw runner::runner_error("the file " + path.string() + " cannot be written");
}

int run(command_line const& asked)
{
    runner::with_budget const limits{runner::budget()};
    compiler::generated const made = compiler::generate(runner::read_model(asked.model), asked.chosen);
    std::string program;
    if (!asked.main.empty())
        program = compiler::main_of(made, asked.chosen, fs::path(asked.output).filename().string());
    if (asked.output.empty()) {
        std::printf("%s", made.header.c_str());
        return 0;
    }
    write_file(asked.output, made.header);
    if (!made.weights.empty())
        write_file(fs::path(asked.output).replace_extension(".bin"), made.weights);
    if (!program.empty())
        write_file(asked.main, program);
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    return runner::run_program(
        "xloom-compile", [&] { return read_command_line(argc, argv); }, run);
}
