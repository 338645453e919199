#include "report.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace {

double seconds(std::size_t chunks) { return static_cast<double>(chunks) * chunk_seconds; }

void close(std::ofstream& file, std::filesystem::path const& path)
{
    file.close();
    if (!file)
        throw std::runtime_error("the file " + path.string() + " cannot be written");
}

/// One block of a gnuplot data file: a title, then rows; two empty lines stand between blocks.
void begin_block(std::ofstream& file, std::string title)
{
    std::ranges::replace(title, '"', '\'');
    file << (file.tellp() > 0 ? "\n\n" : "") << '"' << title << "\"\n";
}

} // namespace

void print(finding const& found)
{
    std::printf("%s: %.2f s, %.1f us a chunk\n   ", found.heard.name.c_str(),
        seconds(found.probability.size()), found.microseconds_per_chunk);
    std::printf(found.speech.empty() ? " no speech" : " speech:");
    for (segment const& part : found.speech)
        std::printf(" %.2f-%.2f s", seconds(part.first), seconds(part.last));
    std::printf("\n");
}

void print_total(std::vector<finding> const& findings)
{
    std::size_t chunks = 0;
    double microseconds = 0;
    for (finding const& found : findings) {
        chunks += found.probability.size();
        microseconds += found.microseconds_per_chunk * static_cast<double>(found.probability.size());
    }
    std::printf(
        "%zu recordings: %.2f s, %zu chunks of 32 ms, %.1f us a chunk: %.0f times as fast as real time\n",
        findings.size(), seconds(chunks), chunks, microseconds / static_cast<double>(chunks),
        seconds(chunks) * 1e6 / microseconds);
}

void write_json(std::string const& path, std::vector<finding> const& findings)
{
    nlohmann::ordered_json all = nlohmann::ordered_json::object();
    for (finding const& found : findings) {
        if (all.contains(found.heard.name))
            throw std::runtime_error("two recordings are called " + found.heard.name +
                                     ", and the JSON file tells them by their names");
        all[found.heard.name] = std::vector<float>(found.probability.begin(), found.probability.end());
    }
    std::ofstream file(path);
    file << all << '\n';
    close(file, path);
}

void write_plot_data(std::string const& folder, std::vector<finding> const& findings)
{
    std::filesystem::create_directories(folder);
    auto const waveform_path = std::filesystem::path(folder) / "waveform.dat";
    auto const probability_path = std::filesystem::path(folder) / "probability.dat";
    std::ofstream waveform(waveform_path);
    std::ofstream probability(probability_path);
    for (finding const& found : findings) {
        // A quarter of a chunk is less than a pixel: only its lowest and highest sample are visible.
        begin_block(waveform, found.heard.name);
        constexpr std::size_t run = chunk_size / 4;
        xt::xtensor<float, 2> const& samples = found.heard.chunks;
        for (std::size_t i = 0; i < samples.size(); i += run) {
            auto const [low, high] = std::minmax_element(samples.data() + i, samples.data() + i + run);
            waveform << static_cast<double>(i) / sample_rate << ' ' << *low << ' ' << *high << '\n';
        }

        begin_block(probability, found.heard.name);
        std::vector<int> is_speech(found.probability.size());
        for (segment const& part : found.speech)
            std::fill(is_speech.begin() + static_cast<std::ptrdiff_t>(part.first),
                is_speech.begin() + static_cast<std::ptrdiff_t>(part.last), 1);
        for (std::size_t t = 0; t < is_speech.size(); ++t)
            probability << seconds(t) << ' ' << found.probability(t) << ' ' << is_speech[t] << '\n';
        probability << seconds(is_speech.size()) << " 0 0\n"; // where the last chunk ends
    }
    close(waveform, waveform_path);
    close(probability, probability_path);
}
