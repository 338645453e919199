#include "command_line.hpp"

#include <charconv>
#include <stdexcept>

#define CXXOPTS_NO_REGEX
#include <cxxopts.hpp>

#include "../weights_option.hpp"

namespace {

float read_threshold(std::string const& text)
{
    float threshold = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), threshold);
    if (error != std::errc{} || end != text.data() + text.size() || !(threshold >= 0 && threshold <= 1))
        throw std::runtime_error("--threshold must be a number from 0 to 1, but is " + text);
    return threshold;
}

} // namespace

command_line read_command_line(int argc, char const* const* argv)
{
    cxxopts::Options options("voice_activity", "Finds speech in recordings (mono, 16 kHz).");
    auto const text = [] { return cxxopts::value<std::string>(); };
    auto add = options.add_options();
    add("model", "silero_vad_16k_op15.onnx", text(), "FILE");
    add("threshold", "speech is where the probability is at least P", text()->default_value("0.5"), "P");
    add("weights", "how the weights of the LSTM are stored: full, float16, bfloat16, int8 or dynamic_int8",
        text()->default_value("full"), "TYPE");
    add("json", "write the probabilities as {file name: [p of each 32 ms]}", text(), "FILE");
    add("plot", "write the numbers for voice_activity.gnuplot", text(), "FOLDER");
    add("help", "print this");
    add("recordings", "", cxxopts::value<std::vector<std::string>>());
    options.parse_positional("recordings");
    options.positional_help("RECORDING...");

    auto const given = options.parse(argc, argv);
    command_line asked;
    if (given.count("help") != 0) {
        asked.help = options.help();
        return asked;
    }
    if (given.count("model") == 0)
        throw std::runtime_error("--model is missing (see --help)");
    if (given.count("recordings") == 0)
        throw std::runtime_error("no recording is given (see --help)");
    asked.model = given["model"].as<std::string>();
    asked.threshold = read_threshold(given["threshold"].as<std::string>());
    asked.storage = read_storage("weights", given["weights"].as<std::string>());
    asked.json = given.count("json") != 0 ? given["json"].as<std::string>() : "";
    asked.plot = given.count("plot") != 0 ? given["plot"].as<std::string>() : "";
    asked.recordings = given["recordings"].as<std::vector<std::string>>();
    return asked;
}
