// A model on random or recorded inputs by tools/onnx/runner, by a program that xloom-compile made of it, and
// by ONNX Runtime, each in one thread. scripts/real-models calls it.
//
//   real_model MODEL.onnx FOLDER [--generated COMMAND] [--shape INPUT=DIMS] [--value INPUT=ITEMS]
//       [--sound INPUT=FILE]
//
// Prints fields between tabs: the number of distinct operators, those of bodies included, the largest
// relative difference of the runner and of the program from ONNX Runtime, milliseconds of the runner, the
// program and ONNX Runtime. Keeps inputs and outputs in FOLDER. Fields of a program that is not given are
// "-".

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "../tools/onnx/compiler/fixed_inputs.hpp"
#include "../tools/onnx/compiler/input_options.hpp"
#include "../tools/onnx/runner/model.hpp"
#include "../tools/onnx/runner/npy.hpp"
#include "../tools/onnx/runner/proto.hpp"
#include "../tools/onnx/runner/random_input.hpp"
#include "../tools/onnx/runner/test_folder.hpp"
#include "../tools/onnx/runner/types.hpp"
#include "onnxruntime.hpp"

namespace {

namespace fs = std::filesystem;
using runner::runner_error;
using runner::tensor;
using runner::value;

constexpr int rounds = 5;
constexpr double milliseconds_of_round = 200;

struct command_line {
    std::string help{};
    fs::path model{}, folder{};
    std::string generated{};
    std::map<std::string, std::vector<std::int64_t>> shapes{};
    std::map<std::string, std::string> values{};
    std::map<std::string, std::string> sounds{}; ///< files, by the input
};

command_line read_command_line(int argc, char const* const* argv)
{
    using texts = std::vector<std::string>;
    cxxopts::Options options("real_model", "Compares three ways to run a model.");
    auto add = options.add_options();
    add("generated", "how to start the program that xloom-compile made",
        cxxopts::value<std::string>()->default_value(""));
    add("shape", "the shape of an input, such as x=1,576", cxxopts::value<texts>());
    add("value", "the value of an input, which the program does not take", cxxopts::value<texts>());
    add("sound", "an input that is given sound, such as x=FILE of 16-bit samples", cxxopts::value<texts>());
    add("help", "print this");
    add("model", "", cxxopts::value<std::string>());
    add("folder", "", cxxopts::value<std::string>());
    options.parse_positional({"model", "folder"});
    options.positional_help("MODEL.onnx FOLDER");
    auto const given = options.parse(argc, argv);
    if (given.count("help") != 0)
        return {.help = options.help()};
    if (given.count("folder") == 0)
        throw runner_error("a model and a folder are needed (see --help)");
    return {.model = given["model"].as<std::string>(),
        .folder = given["folder"].as<std::string>(),
        .generated = given["generated"].as<std::string>(),
        .shapes = compiler::shapes_of(given),
        .values = compiler::values_of(given),
        .sounds =
            compiler::by_input(given, "sound", "INPUT=FILE", [](std::string const& file) { return file; })};
}

/// Returns samples from the middle of a file on as a tensor of the given type and shape, in [-1, 1).
tensor sound(tensor const& like, fs::path const& file)
{
    std::vector<std::int16_t> samples(like.size());
    std::ifstream source(file, std::ios::binary);
    source.seekg(static_cast<std::streamoff>(fs::file_size(file) / 4 * 2));
    if (!source.read(reinterpret_cast<char*>(samples.data()),
            static_cast<std::streamsize>(samples.size() * sizeof(std::int16_t))))
        throw runner_error(fmt::format("{} is too short for {} samples", file.string(), samples.size()));
    tensor result(like.type(), like.shape());
    std::transform(samples.begin(), samples.end(), result.items<float>().begin(),
        [](std::int16_t sample) { return static_cast<float>(sample) / 32768; });
    return result;
}

/// A text as one argument of a shell.
std::string quoted(std::string const& text)
{
    std::string result = "'";
    for (char const c : text)
        result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result + "'";
}

/// Returns what a command prints. Throws if it fails.
std::string output_of(std::string const& command)
{
    std::FILE* const pipe = popen(command.c_str(), "r");
    if (pipe == nullptr)
        throw runner_error("cannot start " + command);
    std::string printed;
    std::array<char, 4096> part;
    while (std::size_t const read = std::fread(part.data(), 1, part.size(), pipe))
        printed.append(part.data(), read);
    if (pclose(pipe) != 0)
        throw runner_error("the program fails: " + printed);
    return printed;
}

bench::onnx_operand operand_of(std::string const& name, tensor& t)
{
    if (t.type() == xloom::element_type::string)
        throw runner_error("strings are not implemented: " + runner::in_quotes(name));
    return {name, false, static_cast<int>(t.type()), {t.shape().begin(), t.shape().end()}, t.bytes(),
        t.size() * t.item_size()};
}

/// Returns the largest difference of two tensors, relative to the largest finite number of `expected`.
double difference(tensor const& got, tensor const& expected)
{
    if (got.type() != expected.type() || got.shape() != expected.shape())
        throw runner_error(fmt::format("an output is {}, not {}", describe(got), describe(expected)));
    double largest = 0, most = 0;
    runner::with_number(expected.type(), [&]<class T>(std::type_identity<T>) {
        using wide = std::conditional_t<std::is_arithmetic_v<T>, T, float>;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            auto const a = static_cast<double>(wide(got.items<T>()[i]));
            auto const b = static_cast<double>(wide(expected.items<T>()[i]));
            if (std::isnan(a) != std::isnan(b))
                most = std::numeric_limits<double>::infinity();
            else if (a != b && !std::isnan(a))
                most = std::max(most, std::abs(a - b));
            if (std::isfinite(b))
                largest = std::max(largest, std::abs(b));
        }
    });
    return most == 0 || std::isinf(most) ? most : most / largest;
}

double difference(std::vector<tensor> const& got, std::vector<tensor> const& expected)
{
    double most = 0;
    for (std::size_t k = 0; k < expected.size(); ++k)
        most = std::max(most, difference(got[k], expected[k]));
    return most;
}

/// Calls f often. Returns the median in milliseconds.
template <class F>
double median_of(int runs, F f)
{
    using clock = std::chrono::steady_clock;
    std::vector<double> milliseconds;
    for (int i = 0; i < runs; ++i) {
        auto const start = clock::now();
        f();
        milliseconds.push_back(std::chrono::duration<double, std::milli>(clock::now() - start).count());
    }
    std::sort(milliseconds.begin(), milliseconds.end());
    return milliseconds[milliseconds.size() / 2];
}

class comparison {
public:
    explicit comparison(command_line const& parsed)
        : folder_(parsed.folder),
          generated_(parsed.generated),
          proto_(compiler::with_fixed_defaults(runner::read_model(parsed.model.string()))),
          loaded_(proto_)
    {
        fs::create_directories(folder_);
        std::ofstream(folder_ / "model.onnx", std::ios::binary) << proto_.SerializeAsString();
        std::mt19937 source; // the same numbers at every start
        auto const shaped = compiler::with_shapes(proto_, parsed.shapes);
        auto const fixed = compiler::with_values(shaped, parsed.values);
        auto sounds = parsed.sounds;
        for (auto const& input : shaped.graph().input()) {
            value given = runner::default_input(fixed.graph(), input, source);
            if (auto const file = sounds.find(input.name()); file != sounds.end()) {
                given = sound(given.as_tensor(), file->second);
                sounds.erase(file);
            }
            inputs_.push_back(given);
            if (parsed.values.contains(input.name()))
                continue;
            std::string const file = (folder_ / fmt::format("input_{}.npy", inputs_.size())).string();
            write_npy(file, inputs_.back().as_tensor());
            arguments_ += " " + quoted(input.name() + "=" + file);
        }
        if (!sounds.empty())
            throw runner_error("the model has no input " + runner::in_quotes(sounds.begin()->first));
    }

    void run()
    {
        for (value const& each : loaded_.run(inputs_)) {
            by_runner_.push_back(each.as_tensor());
            by_peer_.emplace_back(each.as_tensor().type(), each.as_tensor().shape());
        }
        bench::onnxruntime_session peer = open_peer();
        double const slowest =
            std::max(median_of(3, [&] { loaded_.run(inputs_); }), median_of(3, [&] { peer.run(); }));
        int const runs = std::clamp(static_cast<int>(milliseconds_of_round / slowest), 3, 1000);
        constexpr double never = std::numeric_limits<double>::infinity();
        double runner_time = never, generated_time = never, peer_time = never;
        for (int round = 0; round < rounds; ++round) {
            runner_time = std::min(runner_time, median_of(runs, [&] { loaded_.run(inputs_); }));
            if (!generated_.empty())
                generated_time = std::min(generated_time, run_generated(runs));
            peer_time = std::min(peer_time, median_of(runs, [&] { peer.run(); }));
        }
        std::printf(
            "%zu\t%.1e\t", runner::operators_of({"", folder_}).size(), difference(by_runner_, by_peer_));
        if (generated_.empty())
            std::printf("-\t%.4f\t-\t%.4f\n", runner_time, peer_time);
        else
            std::printf("%.1e\t%.4f\t%.4f\t%.4f\n", difference(outputs_of_generated(), by_peer_), runner_time,
                generated_time, peer_time);
    }

private:
    bench::onnxruntime_session open_peer()
    {
        if (!bench::has_onnxruntime())
            throw runner_error("there is no ONNX Runtime (scripts/fetch-onnxruntime gets it)");
        auto const& graph = proto_.graph();
        std::vector<bench::onnx_operand> inputs, outputs;
        peer_inputs_.reserve(inputs_.size());
        for (int i = 0; i < graph.input_size(); ++i)
            inputs.push_back(operand_of(graph.input(i).name(),
                peer_inputs_.emplace_back(inputs_[static_cast<std::size_t>(i)].as_tensor())));
        for (int k = 0; k < graph.output_size(); ++k)
            outputs.push_back(operand_of(graph.output(k).name(), by_peer_[static_cast<std::size_t>(k)]));
        return {proto_.SerializeAsString(), inputs, outputs, 1};
    }

    double run_generated(int runs) const
    {
        std::string const printed = output_of(fmt::format("{}{} --runs={} --output={} 2>&1", generated_,
            arguments_, runs, quoted((folder_ / "generated").string())));
        return std::stod(printed.substr(printed.find("run: ") + 5));
    }

    std::vector<tensor> outputs_of_generated() const
    {
        std::vector<tensor> outputs;
        for (int k = 0; k < proto_.graph().output_size(); ++k) {
            std::string name = proto_.graph().output(k).name();
            std::replace(name.begin(), name.end(), '/', '_');
            outputs.push_back(runner::read_npy((folder_ / "generated" / (name + ".npy")).string(),
                by_peer_[static_cast<std::size_t>(k)].type()));
        }
        return outputs;
    }

    fs::path folder_;
    std::string generated_, arguments_{};
    onnx::ModelProto proto_;
    runner::model loaded_;
    std::vector<value> inputs_{};
    std::vector<tensor> peer_inputs_{}, by_runner_{}, by_peer_{};
};

int run(command_line const& parsed)
{
    comparison(parsed).run();
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    return runner::run_program(
        "real_model", [&] { return read_command_line(argc, argv); }, run);
}
