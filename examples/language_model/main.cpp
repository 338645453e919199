// Learns a text, then writes one like it, a character at a time.
//
//   read_text -> language_model_training -> text_writer -> write_plot
//
//   language_model bible.txt                                      # learns and writes
//   language_model bible.txt --prompt "Ps151:1 " --characters 2000
//   language_model bible.txt --plot text.dat                      # then language_model.gnuplot draws it
//
// The network is in model.hpp; block.hpp calls linear_attention_into and causal_conv_into, for a batch of
// windows as for one character, and their derivatives.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "../program_options.hpp"
#include "../progress_bar.hpp"
#include "../quoted.hpp"
#include "../run_program.hpp"
#include "text.hpp"
#include "training.hpp"
#include "writer.hpp"

namespace {

using clock_type = std::chrono::steady_clock;

struct command_line {
    std::string text, prompt, plot; ///< files but for the prompt
    std::size_t steps, seed, threads, characters;
    float temperature;
};

/// The mean of bits a character over the steps until then.
struct point {
    std::size_t characters; ///< learnt until then
    double bits;
};

double seconds_since(clock_type::time_point begin)
{
    return std::chrono::duration<double>(clock_type::now() - begin).count();
}

/// Runs all steps of a training, with a bar. Returns the learning curve, of a hundred points at most.
std::vector<point> train(
    language_model_training& training, std::vector<std::uint8_t> const& text, std::size_t steps)
{
    auto const begin = clock_type::now();
    progress_bar bar;
    std::vector<point> curve;
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t step = 1; step <= steps; ++step) {
        sum += training.step(text);
        double const bits = sum / static_cast<double>(++count), done = double(step) / double(steps);
        char line[128];
        std::snprintf(line, sizeof(line), "step %zu of %zu, %.3f bits a character, %.0f s, %.0f s left", step,
            steps, bits, seconds_since(begin), seconds_since(begin) * (1 / done - 1));
        bar.show(done, line);
        if (step * 10 / steps != (step - 1) * 10 / steps)
            bar.write_line(line);
        if (step * 100 / steps != (step - 1) * 100 / steps) {
            curve.push_back({step * language_model_training::symbols_per_step, bits});
            sum = 0;
            count = 0;
        }
    }
    return curve;
}

/// A character, and how much each head's state changed when it was read, relative to the state.
struct written {
    char character;
    std::vector<double> changes; ///< of the heads of the first block, then of the next
};

std::vector<double> changes_of(model_state<float> const& before, model_state<float> const& after)
{
    std::vector<double> changes;
    for (std::size_t b = 0; b < after.blocks.size(); ++b) {
        auto const &old = before.blocks[b].attention, &now = after.blocks[b].attention;
        std::size_t const heads = now.shape()[1], size = now.size() / heads;
        for (std::size_t h = 0; h < heads; ++h) {
            double change = 0, all = 0;
            for (std::size_t i = h * size; i < (h + 1) * size; ++i) {
                change += std::pow(double(now.data()[i]) - double(old.data()[i]), 2);
                all += std::pow(double(now.data()[i]), 2);
            }
            changes.push_back(std::sqrt(change / all));
        }
    }
    return changes;
}

/// Reads the prompt, writes characters after it on stdout, each when it is drawn, and prints the speed.
std::vector<written> write(
    text_writer& writer, split_text const& text, std::string const& prompt, std::size_t characters)
{
    std::vector<written> all;
    clock_type::duration taken{};
    model_state<float> before = writer.state();
    for (std::size_t i = 0; i < prompt.size() + characters; ++i) {
        auto const begin = clock_type::now();
        std::uint8_t const symbol = i < prompt.size() ? text.symbol_of(prompt[i]) : writer.draw();
        writer.read(symbol);
        taken += clock_type::now() - begin;
        all.push_back({text.alphabet[symbol], changes_of(before, writer.state())});
        before = writer.state();
        std::putchar(text.alphabet[symbol]);
        std::fflush(stdout);
    }
    std::printf("\n\n%.0f characters a second; a state of %zu bytes, after the first as after the last\n",
        static_cast<double>(all.size()) / std::chrono::duration<double>(taken).count(), before.bytes());
    return all;
}

/// Writes four blocks: characters learnt and bits a character; the states of all heads in a grid, a block a
/// row; for the last characters, how much each head's state changed; these characters.
void write_plot(std::string const& path, std::vector<point> const& curve, model_state<float> const& state,
    std::vector<written> const& all)
{
    std::ofstream file(path);
    file.precision(std::numeric_limits<float>::max_digits10);
    for (point const& each : curve)
        file << each.characters << ' ' << each.bits << '\n';
    file << "\n\n";
    for (auto const& block : state.blocks) {
        auto const& S = block.attention;
        for (std::size_t key = 0; key < S.shape()[2]; ++key) {
            for (std::size_t h = 0; h < S.shape()[1]; ++h)
                for (std::size_t value = 0; value < S.shape()[3]; ++value)
                    file << S(0, h, key, value) << ' ';
            file << '\n';
        }
    }
    file << "\n\n";
    std::span const last = std::span(all).last(std::min<std::size_t>(all.size(), 80));
    for (std::size_t h = 0; h < last[0].changes.size(); ++h) {
        for (written const& each : last)
            file << each.changes[h] << ' ';
        file << '\n';
    }
    file << "\n\n";
    for (std::size_t i = 0; i < last.size(); ++i)
        file << i << ' ' << quoted(last[i].character) << '\n';
    file.close();
    if (!file)
        throw std::runtime_error("the file " + path + " cannot be written");
}

void run(command_line const& given)
{
    split_text const text = read_text(given.text);
    model_sizes const sizes{.symbols = text.alphabet.size()};
    // An empty prompt is the first symbol of the alphabet, most often the end of a line.
    std::string const prompt = given.prompt.empty() ? text.alphabet.substr(0, 1) : given.prompt;
    for (char const each : prompt)
        text.symbol_of(each);
    language_model_training training(sizes, given.steps, given.seed, given.threads);
    std::size_t count = 0;
    for_each_tensor([&](auto const& tensor) { count += tensor.size(); }, training.weights());
    std::printf("%zu characters of %zu kinds to learn, %zu held out; %zu parameters\n", text.learnt.size(),
        sizes.symbols, text.held_out.size(), count);
    std::fflush(stdout);

    double const untrained = training.bits_of(text.held_out);
    std::vector<point> const curve = train(training, text.learnt, given.steps);
    std::printf(
        "bits a character of the text that is held out: %.3f untrained, %.3f trained, %.3f by counting "
        "what follows two characters\n\n",
        untrained, training.bits_of(text.held_out), bits_by_counting(text));

    text_writer writer(sizes, training.weights(), given.temperature, given.seed);
    // It has learnt to read on, not to begin.
    for (std::size_t i = 0; i < std::min<std::size_t>(text.held_out.size(), 2000); ++i)
        writer.read(text.held_out[i]);
    std::vector<written> const all = write(writer, text, prompt, given.characters);
    if (!given.plot.empty())
        write_plot(given.plot, curve, writer.state(), all);
}

} // namespace

int main(int argc, char** argv)
{
    return run_program("language_model", [&] {
        cxxopts::Options options("language_model", "Learns a text, then writes one like it.");
        auto add = options.add_options();
        add("steps", "of the training, 2,048 characters each", text_option("3000"), "COUNT");
        add("seed", "chooses the first parameters, and what is written", text_option("1"), "N");
        add("threads", "of the training; the results are the same", text_option("2"), "N");
        add("prompt", "what the written text begins with", text_option(), "TEXT");
        add("characters", "to write", text_option("600"), "COUNT");
        add("temperature", "1: writes as it has learnt; 0: always what is most likely", text_option("0.5"),
            "T");
        add("plot", "write the numbers for language_model.gnuplot", text_option(), "FILE");
        if (auto const given = parse_options(options, argc, argv, "text", "TEXT")) {
            auto const count = [&](std::string const& name, std::size_t least) {
                return read_number<std::size_t>(*given, name, least, 1000000, "a whole number");
            };
            run({files_of(*given, "text", "no text is given")[0], text_of(*given, "prompt"),
                text_of(*given, "plot"), count("steps", 0), count("seed", 0), count("threads", 1),
                count("characters", 0), read_number<float>(*given, "temperature", 0, 100)});
        }
    });
}
