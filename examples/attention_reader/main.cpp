// Where does an AttnLSTM look while it reads? Prints the letters and writes the alignments for a picture.
//
//   attention_reader "to be or not to be"
//   attention_reader "to be or not to be" --stream        # step by step
//   attention_reader "to be or not to be" --plot .        # alignments.dat, text.dat
//   gnuplot -e "folder='.'" examples/attention_reader/attention_reader.gnuplot     # attention_reader.svg

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>

#include "../program_options.hpp"
#include "../quoted.hpp"
#include "../run_program.hpp"
#include "reader.hpp"

namespace {

/// Writes a line for each step with a number for each letter, in full precision; and the letters of the text,
/// one per line.
void write_plot(std::string const& folder, std::string const& text, reading const& read)
{
    std::ofstream alignments(folder + "/alignments.dat"), letters(folder + "/text.dat");
    alignments.precision(std::numeric_limits<float>::max_digits10);
    for (std::size_t t = 0; t < read.letters.size(); ++t)
        for (std::size_t m = 0; m < text.size(); ++m)
            alignments << read.alignments(t, 0, 0, m) << (m + 1 == text.size() ? '\n' : ' ');
    for (char const letter : text)
        letters << quoted(letter) << '\n';
    alignments.close();
    letters.close();
    if (!alignments || !letters)
        throw std::runtime_error("the files of " + folder + " cannot be written");
}

} // namespace

int main(int argc, char** argv)
{
    return run_program("attention_reader", [&] {
        cxxopts::Options options("attention_reader", "Where does an AttnLSTM look while it reads?");
        auto add = options.add_options();
        add("plot", "write alignments.dat and text.dat for attention_reader.gnuplot", text_option(),
            "FOLDER");
        add("stream", "read step by step, until the text is over");
        auto const given = parse_options(options, argc, argv, "text", "[TEXT]");
        if (!given)
            return;
        auto const texts = files_of(*given, "text", "");
        std::string const text = texts.empty() ? "to be or not to be" : texts[0];
        if (text.empty())
            throw std::runtime_error("there is no text to read");
        reading const read = (given->count("stream") != 0 ? stream_text : read_text)(text, 4 * text.size());
        std::printf("%s\n", read.letters.c_str());
        if (std::string const plot = text_of(*given, "plot"); !plot.empty())
            write_plot(plot, text, read);
    });
}
