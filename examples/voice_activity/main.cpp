// Finds speech in recordings.
//
//   read_recording -> detector -> speech_segments -> report
//
// The main part is the recurrence over the chunks, xloom::scan_into in detector.cpp; encoder.cpp is the
// stateless part. With generated_detector.cpp in their place the program runs what xloom-compile makes of the
// ONNX model.

#include <chrono>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "../peak_memory.hpp"
#include "../run_program.hpp"
#include "command_line.hpp"
#include "load_detector.hpp"
#include "report.hpp"

namespace {

finding examine(detector_function const& detect, std::string const& path, float threshold)
{
    using clock = std::chrono::steady_clock;
    recording heard = read_recording(path);
    auto const start = clock::now();
    xt::xtensor<float, 1> probability = detect(heard.chunks);
    std::chrono::duration<double, std::micro> const taken = clock::now() - start;
    auto speech = speech_segments({probability.data(), probability.size()}, threshold);
    double const microseconds_per_chunk = taken.count() / static_cast<double>(probability.size());
    return {std::move(heard), std::move(probability), std::move(speech), microseconds_per_chunk};
}

} // namespace

int main(int argc, char** argv)
{
    return run_program("voice_activity", [&] {
        auto const parsed = read_command_line(argc, argv);
        if (!parsed)
            return;
        detector_function const detect = load_detector(parsed->model, parsed->lstm);
        std::vector<finding> findings;
        for (std::string const& path : parsed->recordings)
            print(findings.emplace_back(examine(detect, path, parsed->threshold)));
        print_total(findings);
        if (!parsed->json.empty())
            write_json(parsed->json, findings);
        if (!parsed->plot.empty())
            write_plot_data(parsed->plot, findings);
        std::printf("peak memory: %.1f MB\n", peak_megabytes());
    });
}
