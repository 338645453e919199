#include "command_line.hpp"

#include "../program_options.hpp"

std::optional<command_line> read_command_line(int argc, char const* const* argv)
{
    cxxopts::Options options("voice_activity", "Finds speech in recordings (mono, 16 kHz).");
    auto add = options.add_options();
    add("model", "silero_vad_16k_op15.onnx", text_option(), "FILE");
    add("threshold", "speech is where the probability is at least P", text_option("0.5"), "P");
    add("weights", "how the weights of the LSTM are stored: " + storage_names, text_option("full"), "TYPE");
    add("density", "keep this share of the blocks of the LSTM's recurrent weights, make zeros of the others",
        text_option("1"), "SHARE");
    add("json", "write the probabilities as {file name: [p of each 32 ms]}", text_option(), "FILE");
    add("plot", "write the numbers for voice_activity.gnuplot", text_option(), "FOLDER");

    auto const given = parse_options(options, argc, argv, "recordings", "RECORDING...");
    if (!given)
        return std::nullopt;
    command_line parsed;
    parsed.model = model_of(*given);
    parsed.recordings = files_of(*given, "recordings", "no recording is given");
    parsed.threshold = read_number<float>(*given, "threshold", 0, 1);
    parsed.lstm = {read_storage(*given, "weights"), read_number<float>(*given, "density", 0, 1)};
    parsed.json = text_of(*given, "json");
    parsed.plot = text_of(*given, "plot");
    return parsed;
}
