// Makes a C++ header of an ONNX model.
//
//   xloom-compile model.onnx -o model.hpp

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "budget.hpp"
#include "custom_operators.hpp"
#include "generate.hpp"
#include "input_options.hpp"
#include "proto.hpp"
#include "text.hpp"

namespace {

namespace fs = std::filesystem;

struct command_line {
    std::string help{};
    std::string model{};
    std::string output{};
    std::string main{};
    std::string included{}; ///< the header's name in main
    compiler::options chosen{};
};

void require_name(char const* option, std::string const& name, std::string const& why_not)
{
    if (!why_not.empty())
        throw runner::runner_error(
            fmt::format("--{} must be a name in C++, but {} {}", option, runner::in_quotes(name), why_not));
}

/// An option with a text: how often it may be given, what it is without, its name in the help, its help.
struct text_option {
    char const* name;
    bool is_list;
    char const* otherwise;
    char const* placeholder;
    char const* help;
};

constexpr text_option text_options[] = {
    {"o,output", false, "", "FILE.hpp", "the header to write; without it the text is printed"},
    {"main", false, "", "FILE.cpp",
        "a program to write, too, which runs the model on .npy files; needs --output"},
    {"name", false, "", "NAME", "the class; the file's name if it is omitted"},
    {"namespace", false, "", "NAME", "the namespace around the class"},
    {"shape", true, "", "INPUT=DIMS", "the shape of an input, in place of the declared one, such as x=1,576"},
    {"value", true, "", "INPUT=ITEMS", "the value of an input, which is a constant then, such as sr=16000"},
    {"operator", true, "", "DOMAIN::NAME=FUNCTION",
        "a custom operator, as a function that is called with its inputs and outputs"},
    {"include", true, "", "FILE", "a header that declares such functions"},
    {"weights", false, "embedded", "embedded|file",
        "where the constants are: in the header, or in a file .bin beside it"},
};

cxxopts::Options make_options()
{
    cxxopts::Options options("xloom-compile", "Makes a C++ header of an ONNX model.");
    auto add = options.add_options();
    for (text_option const& each : text_options)
        add(each.name, each.help,
            each.is_list
                ? std::static_pointer_cast<cxxopts::Value>(cxxopts::value<std::vector<std::string>>())
                : cxxopts::value<std::string>()->default_value(each.otherwise),
            each.placeholder);
    add("help", "print this");
    add("model", "", cxxopts::value<std::string>());
    options.parse_positional("model");
    options.positional_help("MODEL.onnx");
    return options;
}

/// Returns the name of a file, if #include "..." can have it.
std::string header_name_of(char const* option, std::string const& given)
{
    auto const is_special = [](unsigned char c) { return c < ' ' || c == 0x7f || c == '"' || c == '\\'; };
    if (std::any_of(given.begin(), given.end(), is_special))
        throw runner::runner_error(fmt::format(
            "--{} must be the plain name of a file, but is {}", option, runner::in_quotes(given)));
    return given;
}

compiler::weights_place weights_place_of(std::string const& given)
{
    if (given != "embedded" && given != "file")
        throw runner::runner_error("--weights is embedded or file, but is " + runner::in_quotes(given));
    return given == "file" ? compiler::weights_place::file : compiler::weights_place::embedded;
}

/// Returns the options for the code that is made of a model.
compiler::options code_options_of(cxxopts::ParseResult const& given, fs::path const& model)
{
    compiler::options chosen;
    chosen.source = model.filename().string();
    chosen.name = given.count("name") == 0 ? compiler::class_name_of(model.stem().string())
                                           : given["name"].as<std::string>();
    require_name("name", chosen.name, compiler::why_no_class_name(chosen.name));
    chosen.enclosing = given["namespace"].as<std::string>();
    if (given.count("namespace") != 0)
        require_name("namespace", chosen.enclosing, compiler::why_no_namespace(chosen.enclosing));
    chosen.shapes = compiler::shapes_of(given);
    chosen.values = compiler::values_of(given);
    for (std::string const& each : compiler::list_of(given, "operator"))
        compiler::add_custom_operator(chosen.operators, each);
    for (std::string const& each : compiler::list_of(given, "include"))
        chosen.includes.push_back(header_name_of("include", each));
    chosen.weights = weights_place_of(given["weights"].as<std::string>());
    return chosen;
}

fs::path weights_path_of(fs::path header) { return header.replace_extension(".bin"); }

command_line read_command_line(int argc, char const* const* argv)
{
    cxxopts::Options options = make_options();
    auto const given = options.parse(argc, argv);
    if (given.count("help") != 0)
        return {.help = options.help()};
    if (given.count("model") == 0)
        throw runner::runner_error("no model is given (see --help)");
    command_line parsed{.model = given["model"].as<std::string>(),
        .output = given["output"].as<std::string>(),
        .main = given["main"].as<std::string>()};
    if (!parsed.main.empty() && parsed.output.empty())
        throw runner::runner_error("--main includes the header, so it needs --output");
    if (given["weights"].as<std::string>() == "file" && parsed.output.empty())
        throw runner::runner_error("--weights file writes beside the header, so it needs --output");
    if (!parsed.main.empty())
        parsed.included = header_name_of("output", fs::path(parsed.output).filename().string());
    parsed.chosen = code_options_of(given, parsed.model);
    if (parsed.chosen.weights == compiler::weights_place::file && !parsed.output.empty() &&
        weights_path_of(parsed.output) == parsed.output)
        throw runner::runner_error("--output must not be the file of the weights, " + parsed.output);
    return parsed;
}

void write_file(fs::path const& path, std::string const& text)
{
    std::ofstream file(path, std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    if (!file.flush())
        throw runner::runner_error("the file " + path.string() + " cannot be written");
}

int run(command_line const& parsed)
{
    runner::with_budget const limits{runner::budget()};
    compiler::generated const made = compiler::generate(runner::read_model(parsed.model), parsed.chosen);
    runner::print_warnings("xloom-compile", made.warnings);
    std::string program;
    if (!parsed.main.empty())
        program = compiler::main_of(made, parsed.chosen, parsed.included);
    if (parsed.output.empty()) {
        std::printf("%s", made.header.c_str());
        return 0;
    }
    write_file(parsed.output, made.header);
    if (parsed.chosen.weights == compiler::weights_place::file) // also without weights: a build may expect it
        write_file(weights_path_of(parsed.output), made.weights);
    if (!program.empty())
        write_file(parsed.main, program);
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    return runner::run_program(
        "xloom-compile", [&] { return read_command_line(argc, argv); }, run);
}
