#pragma once
// The output of the results: text, JSON, and data for plots.

#include <string>
#include <vector>

#include <xtensor/xtensor.hpp>

#include "recording.hpp"
#include "segments.hpp"

struct finding {
    recording heard;
    xt::xtensor<float, 1> probability; ///< [T], one for each chunk
    std::vector<segment> speech;
    double microseconds_per_chunk;
};

void print(finding const& found);
void print_total(std::vector<finding> const& findings);

/// {file name: [probability of each chunk]}. Throws std::runtime_error if two names are the same or the file
/// cannot be written.
void write_json(std::string const& path, std::vector<finding> const& findings);

/// The numbers that voice_activity.gnuplot draws: waveform.dat and probability.dat, with one block for each
/// recording. Throws std::runtime_error if they cannot be written.
void write_plot_data(std::string const& folder, std::vector<finding> const& findings);
