#include "command_line.hpp"

#include "../program_options.hpp"

std::optional<command_line> read_command_line(int argc, char const* const* argv)
{
    cxxopts::Options options("text_reader", "Reads lines of text from PNG images, a line in each.");
    auto add = options.add_options();
    add("model", "the language, such as tesseract's eng.traineddata", text_option(), "FILE");
    add("weights", "how weights are stored: " + storage_names, text_option("full"), "TYPE");
    add("repeat", "read each line N times, and print the median time", text_option("1"), "N");

    auto const given = parse_options(options, argc, argv, "images", "PNG...");
    if (!given)
        return std::nullopt;
    command_line parsed;
    parsed.model = model_of(*given);
    parsed.images = files_of(*given, "images", "no image is given");
    parsed.storage = read_storage(*given, "weights");
    parsed.repeat = read_number<std::size_t>(*given, "repeat", 1, 1000);
    return parsed;
}
