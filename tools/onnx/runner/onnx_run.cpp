// Runs one model: on .npy files, on random numbers where none is given.
//
//   name float[2, 3]: 0.1 0.2 0.3 0.4 0.5 0.6
//   ...
//   run: 0.123 ms

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sys/time.h>
#include <unistd.h>

#include <xloom/types.hpp>

#include "command_line.hpp"
#include "compare.hpp"
#include "model.hpp"
#include "npy.hpp"
#include "random_input.hpp"
#include "text.hpp"

namespace {

using namespace runner;

constexpr std::size_t mebibyte = std::size_t{1} << 20;

struct command_line {
    std::string help{};
    std::string model{};
    std::map<std::string, std::string> files{}; ///< by the input's name
    std::string output{};
    int runs = 1;
    bool flushes = false; ///< computes with zeros in place of subnormal numbers
    budget allowed{};
};

/// The options for the model's limits; 0 removes a limit.
void add_limits(cxxopts::OptionAdder& add)
{
    budget const usual;
    auto const number = [](auto usual_number) {
        return cxxopts::value<decltype(usual_number)>()->default_value(fmt::format("{}", usual_number));
    };
    add("time-limit", "end it after so many seconds, all runs together; 0: never",
        cxxopts::value<double>()->default_value(
            fmt::format("{}", static_cast<std::uint64_t>(usual.time.count()))),
        "SECONDS");
    add("step-limit",
        "end it after this number of nodes, those of bodies each time; 2^16 products of numbers count as "
        "one; 0: "
        "never",
        number(usual.steps), "N");
    add("memory-limit",
        "what its tensors may take together, one that is made at most an eighth; 0: any amount",
        number(usual.bytes / mebibyte), "MIB");
}

budget limits_of(cxxopts::ParseResult const& given)
{
    budget allowed;
    allowed.time = budget::seconds(given["time-limit"].as<double>());
    allowed.steps = given["step-limit"].as<std::uint64_t>();
    auto const memory = given["memory-limit"].as<std::size_t>();
    constexpr std::size_t any_bytes = std::numeric_limits<std::size_t>::max();
    if (!(allowed.time.count() >= 0))
        throw runner_error("--time-limit must not be negative");
    if (memory > any_bytes / mebibyte)
        throw runner_error("--memory-limit is more than there can be");
    if (allowed.time.count() == 0)
        allowed.time = budget::any_time;
    if (allowed.steps == 0)
        allowed.steps = budget::any_steps;
    allowed.bytes = memory == 0 ? any_bytes : memory * mebibyte;
    allowed.tensor_bytes = memory == 0 ? any_bytes : allowed.bytes / 8;
    return allowed;
}

command_line read_command_line(int argc, char const* const* argv)
{
    cxxopts::Options options(
        "onnx_run", "Runs an ONNX model, on random numbers where no .npy file is given.");
    auto add = options.add_options();
    add("output", "write the outputs there, as NAME.npy", cxxopts::value<std::string>()->default_value(""),
        "FOLDER");
    add("runs", "run it so often, for a better time", cxxopts::value<int>()->default_value("1"), "N");
    add("flush-subnormals", "compute with zeros in place of subnormal numbers");
    add_limits(add);
    add("help", "print this");
    add("arguments", "", cxxopts::value<std::vector<std::string>>());
    options.parse_positional("arguments");
    options.positional_help("MODEL [INPUT=FILE.npy ...]");
    auto const given = options.parse(argc, argv);
    command_line parsed;
    if (given.count("help") != 0) {
        parsed.help = options.help();
        return parsed;
    }
    if (given.count("arguments") == 0)
        throw runner_error("no model is given (see --help)");
    auto const arguments = given["arguments"].as<std::vector<std::string>>();
    parsed.model = arguments[0];
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        auto const [input, file] = assignment_of(arguments[i], "NAME=FILE.npy");
        if (!parsed.files.emplace(input, file).second)
            throw runner_error("the input '" + input + "' is given twice");
    }
    parsed.output = given["output"].as<std::string>();
    parsed.runs = given["runs"].as<int>();
    if (parsed.runs < 1)
        throw runner_error("--runs must be at least 1");
    parsed.flushes = given.count("flush-subnormals") != 0;
    parsed.allowed = limits_of(given);
    return parsed;
}

/// Each of the graph's inputs: from its file, else its initializer, else random.
std::vector<value> make_inputs(onnx::GraphProto const& graph, std::map<std::string, std::string> files)
{
    std::mt19937 source; // the same numbers at every start
    std::vector<value> inputs;
    for (auto const& input : graph.input())
        try {
            auto const file = files.find(input.name());
            if (file != files.end()) {
                if (!input.type().has_tensor_type())
                    throw runner_error("only tensors are read from .npy files");
                inputs.emplace_back(read_npy(
                    file->second, static_cast<element_type>(input.type().tensor_type().elem_type())));
                files.erase(file);
            } else {
                inputs.push_back(default_input(graph, input, source));
            }
        } catch (std::exception const& error) {
            throw runner_error("the input " + in_quotes(input.name()) + ": " + error.what());
        }
    if (!files.empty())
        throw runner_error("the model has no input '" + files.begin()->first + "'");
    return inputs;
}

/// A line for each tensor.
void print(std::string const& name, value const& v)
{
    constexpr std::size_t most = 8;
    std::string line = name + " " + describe(v);
    if (v.is_tensor()) {
        tensor const& t = v.as_tensor();
        for (std::size_t i = 0; i < std::min(t.size(), most); ++i)
            line += (i == 0 ? ": " : " ") + item_text(t, i);
        line += t.size() > most ? " ..." : "";
    }
    std::printf("%s\n", line.c_str());
    if (v.is_sequence())
        for (std::size_t i = 0; i < v.as_sequence().size(); ++i)
            print(fmt::format("{}[{}]", name, i), v.as_sequence()[i]);
    if (v.is_optional() && v.as_optional().held)
        print(name + "[0]", *v.as_optional().held);
}

/// Writes outputs into a folder: tensors as NAME.npy, elements of a sequence as NAME.0.npy and so on.
class writer {
public:
    explicit writer(std::filesystem::path folder) : folder_(std::move(folder))
    {
        std::filesystem::create_directories(folder_);
    }

    void write(std::string const& name, value const& v)
    {
        if (v.is_sequence())
            for (std::size_t i = 0; i < v.as_sequence().size(); ++i)
                write(fmt::format("{}.{}", name, i), v.as_sequence()[i]);
        if (v.is_optional() && v.as_optional().held)
            write(name, *v.as_optional().held);
        if (!v.is_tensor())
            return;
        std::string file = name + ".npy";
        std::replace_if(
            file.begin(), file.end(),
            [](unsigned char each) { return each == '/' || std::iscntrl(each) != 0; }, '_');
        if (!written_.insert(file).second)
            throw runner_error("two outputs would be written to " + in_quotes(file));
        write_npy((folder_ / file).string(), v.as_tensor());
    }

private:
    std::filesystem::path folder_;
    std::set<std::string> written_{};
};

/// Ends the process a second after the timeout: some operators do not check the time, or only now and then.
void end_process_after(budget::seconds time)
{
    constexpr double longest = 1e9;
    if (time.count() > longest)
        return;
    std::signal(SIGALRM, [](int) {
        static constexpr std::string_view message = "onnx_run: the model takes more than its --time-limit\n";
        (void)!write(STDERR_FILENO, message.data(), message.size());
        _exit(1);
    });
    double const end = time.count() + 1, whole = std::floor(end);
    itimerval const once{{}, {static_cast<time_t>(whole), static_cast<suseconds_t>((end - whole) * 1e6)}};
    setitimer(ITIMER_REAL, &once, nullptr);
}

int run(command_line const& parsed)
{
    using clock = std::chrono::steady_clock;
    with_budget const limits(parsed.allowed);
    end_process_after(parsed.allowed.time);
    model const loaded(parsed.model);
    print_warnings("onnx_run", loaded.warnings());
    onnx::GraphProto const& graph = loaded.proto();
    auto const inputs = make_inputs(graph, parsed.files);
    std::vector<value> outputs;
    std::vector<double> milliseconds;
    std::optional<xloom::flush_subnormals> flushing;
    if (parsed.flushes)
        flushing.emplace();
    for (int i = 0; i < parsed.runs; ++i) {
        auto const start = clock::now();
        outputs = loaded.run(inputs);
        milliseconds.push_back(std::chrono::duration<double, std::milli>(clock::now() - start).count());
    }
    print_warnings("onnx_run", loaded.warnings_of(outputs));
    for (std::size_t k = 0; k < outputs.size(); ++k)
        print(printable(graph.output(static_cast<int>(k)).name(), 64), outputs[k]);
    std::sort(milliseconds.begin(), milliseconds.end());
    if (parsed.runs == 1)
        std::printf("run: %.3f ms\n", milliseconds[0]);
    else
        std::printf("run: %.3f ms, the median of %d; the fastest %.3f ms\n",
            milliseconds[milliseconds.size() / 2], parsed.runs, milliseconds[0]);
    if (parsed.output.empty())
        return 0;
    writer files(parsed.output);
    for (std::size_t k = 0; k < outputs.size(); ++k)
        files.write(graph.output(static_cast<int>(k)).name(), outputs[k]);
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    return runner::run_program(
        "onnx_run", [&] { return read_command_line(argc, argv); }, run);
}
