// Reads lines of text from PNG images with a language of Tesseract.
//
//   read_traineddata -> read_network, read_characters    the file
//   read_line_image -> network -> decode_best_path       a line
//
// The network is in network.cpp: convolution as packed_matrix, LSTMs along columns and rows as lstm. It
// prints a line for each image: its path, milliseconds, and the text, between tabulators.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "../peak_memory.hpp"
#include "../run_program.hpp"
#include "character_set.hpp"
#include "command_line.hpp"
#include "decode.hpp"
#include "network.hpp"

namespace {

/// A network and the characters of its codes.
class text_reader {
public:
    text_reader(reader::traineddata const& file, xloom::weight_storage storage)
        : text_reader(file, reader::read_network(file), storage)
    {}

    std::size_t height() const noexcept { return height_; }

    std::string operator()(reader::line_image const& line) const
    {
        return reader::decode_best_path(network_(line), characters_, blank_);
    }

private:
    text_reader(
        reader::traineddata const& file, reader::network_file const& network, xloom::weight_storage storage)
        : characters_(reader::read_characters(file, network.code_count)),
          blank_(network.blank),
          height_(network.height),
          network_(network, storage)
    {}

    std::vector<std::string> characters_;
    std::size_t blank_, height_;
    reader::network network_;
};

/// Loads a language; the text of an error names its file.
text_reader load(std::string const& path, xloom::weight_storage storage)
try {
    return {reader::read_traineddata(path), storage};
} catch (std::runtime_error const& error) {
    throw std::runtime_error("the model " + path + ": " + error.what());
}

void read_line(text_reader const& read, std::string const& path, std::size_t repeat)
try {
    using clock = std::chrono::steady_clock;
    reader::line_image const line = reader::read_line_image(path, read.height());
    std::string text;
    std::vector<double> milliseconds;
    for (std::size_t i = 0; i < repeat; ++i) {
        auto const start = clock::now();
        text = read(line);
        milliseconds.push_back(std::chrono::duration<double, std::milli>(clock::now() - start).count());
    }
    std::ranges::sort(milliseconds);
    std::printf("%s\t%.3f\t%s\n", path.c_str(), milliseconds[repeat / 2], text.c_str());
} catch (std::exception const& error) {
    throw std::runtime_error("the image " + path + ": " + error.what());
}

} // namespace

int main(int argc, char** argv)
{
    return run_program("text_reader", [&] {
        auto const parsed = read_command_line(argc, argv);
        if (!parsed)
            return;
        text_reader const read = load(parsed->model, parsed->storage);
        for (std::string const& path : parsed->images)
            read_line(read, path, parsed->repeat);
        std::fprintf(stderr, "peak memory: %.1f MB\n", peak_megabytes());
    });
}
