#include "command_line.hpp"

#include <charconv>
#include <stdexcept>

#define CXXOPTS_NO_REGEX
#include <cxxopts.hpp>

#include "../weights_option.hpp"

namespace {

std::size_t read_repeat(std::string const& text)
{
    std::size_t count = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc{} || end != text.data() + text.size() || count < 1 || count > 1000)
        throw std::runtime_error("--repeat must be a number from 1 to 1000, but is " + text);
    return count;
}

} // namespace

command_line read_command_line(int argc, char const* const* argv)
{
    cxxopts::Options options("text_reader", "Reads lines of text from PNG images, a line in each.");
    auto const text = [] { return cxxopts::value<std::string>(); };
    auto add = options.add_options();
    add("model", "the language, such as tesseract's eng.traineddata", text(), "FILE");
    add("weights", "how weights are stored: full, float16, bfloat16, int8 or dynamic_int8",
        text()->default_value("full"), "TYPE");
    add("repeat", "read each line N times, and print the median time", text()->default_value("1"), "N");
    add("help", "print this");
    add("images", "", cxxopts::value<std::vector<std::string>>());
    options.parse_positional("images");
    options.positional_help("PNG...");

    auto const given = options.parse(argc, argv);
    command_line asked;
    if (given.count("help") != 0) {
        asked.help = options.help();
        return asked;
    }
    if (given.count("model") == 0)
        throw std::runtime_error("--model is missing (see --help)");
    if (given.count("images") == 0)
        throw std::runtime_error("no image is given (see --help)");
    asked.model = given["model"].as<std::string>();
    asked.storage = read_storage("weights", given["weights"].as<std::string>());
    asked.repeat = read_repeat(given["repeat"].as<std::string>());
    asked.images = given["images"].as<std::vector<std::string>>();
    return asked;
}
