// Learns how a guitar overdrive distorts, and plays a recording through what it has learnt, as an audio
// thread does: block by block, each before its deadline.
//
//   read_recording -> amplifier_training -> amplifier::process -> write_recording, write_plot
//
//   audio_effect                                              # Debian's recording of a steel guitar
//   audio_effect my.wav --wav distorted.wav --plot guitar.dat # then audio_effect.gnuplot draws it
//   chrt --fifo 50 audio_effect                               # with the priority of an audio thread
//
// amplifier.hpp is what an audio plug-in contains.

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <sndfile.hh>

#include "../program_options.hpp"
#include "../run_program.hpp"
#include "training.hpp"

namespace {

using signal = std::vector<float>;

struct recording {
    int rate;            ///< samples a second
    std::size_t silence; ///< the sample with which the silence after the recording begins
    std::array<signal, 2> channels;
};

/// Returns the first two channels of a file that libsndfile can read, or its only one twice, and two seconds
/// of silence.
recording read_recording(std::string const& path)
{
    SndfileHandle file(path);
    if (file.error() != SF_ERR_NO_ERROR || file.frames() == 0)
        throw std::runtime_error("the recording " + path + " cannot be read: " + file.strError());
    // A damaged file may state two billion, of which the seconds of silence would fill the memory.
    if (file.samplerate() < 8000 || file.samplerate() > 384000)
        throw std::runtime_error("the recording " + path +
                                 " must have from 8000 to 384000 samples a second, but has " +
                                 std::to_string(file.samplerate()));
    auto const frames = static_cast<std::size_t>(file.frames()),
               count = static_cast<std::size_t>(file.channels());
    signal samples(frames * count);
    if (file.readf(samples.data(), file.frames()) != file.frames())
        throw std::runtime_error("the recording " + path + " is damaged: its samples cannot be read");
    recording heard{file.samplerate(), frames, {}};
    for (std::size_t n = 0; n < 2; ++n) {
        heard.channels[n].resize(frames + 2 * static_cast<std::size_t>(heard.rate));
        for (std::size_t t = 0; t < frames; ++t)
            heard.channels[n][t] = samples[t * count + n % count];
    }
    return heard;
}

void write_recording(std::string const& path, recording const& played)
{
    auto const& [left, right] = played.channels;
    signal samples;
    for (std::size_t t = 0; t < left.size(); ++t)
        samples.insert(samples.end(), {left[t], right[t]});
    SndfileHandle file(path, SFM_WRITE, SF_FORMAT_WAV | SF_FORMAT_FLOAT, 2, played.rate);
    file.command(SFC_SET_ADD_PEAK_CHUNK, nullptr, SF_FALSE); // which would hold the time of day
    auto const size = static_cast<sf_count_t>(samples.size());
    if (file.write(samples.data(), size) != size)
        throw std::runtime_error("the file " + path + " cannot be written");
}

/// Plays samples from `first` to `last` in place, a channel through each amplifier, block by block. Prints
/// the real-time factor, which is the time to compute over the duration, and the time of the slowest block.
void play(std::span<amplifier> amplifiers, recording& played, std::size_t first, std::size_t last,
    std::size_t block)
{
    using clock = std::chrono::steady_clock;
    clock::duration total{}, worst{};
    for (std::size_t t = first; t < last; t += block) {
        auto const start = clock::now();
        for (std::size_t n = 0; n < amplifiers.size(); ++n) {
            std::span const samples(&played.channels[n][t], std::min(block, last - t));
            amplifiers[n].process(samples, samples);
        }
        auto const taken = clock::now() - start;
        total += taken;
        worst = std::max(worst, taken);
    }
    std::printf("  %16.4f  %5.0f us",
        std::chrono::duration<double>(total).count() * played.rate / double(last - first),
        std::chrono::duration<double, std::micro>(worst).count());
}

/// Plays the recording in mono and in stereo, in blocks of each size. Returns it as it was played.
recording play(amplifier_model const& model, recording const& heard)
{
    recording played = heard;
    std::printf("                           the recording              the silence after it\n"
                "channels  block  deadline  real-time factor     worst  real-time factor     worst\n");
    for (std::size_t channels = 1; channels <= 2; ++channels)
        for (std::size_t block = 16; block <= 512; block *= 2) {
            played = heard;
            std::vector<amplifier> amplifiers(channels, amplifier(model));
            std::printf("%8zu  %5zu  %5.0f us", channels, block, 1e6 * double(block) / heard.rate);
            play(amplifiers, played, 0, heard.silence, block);
            play(amplifiers, played, heard.silence, heard.channels[0].size(), block);
            std::printf("\n");
        }
    return played;
}

/// Writes two blocks, the recording and what was played, with a line for each run of samples: seconds,
/// lowest, highest. Then a block of the 15 ms from the loudest sample: milliseconds, recording, circuit,
/// model.
void write_plot(
    std::string const& path, int rate, signal const& dry, signal const& circuit, signal const& played)
{
    std::ofstream file(path);
    for (signal const* const samples : {&dry, &played}) {
        std::size_t const run = 128;
        for (std::size_t t = 0; t < samples->size(); t += run) {
            auto const [low, high] =
                std::ranges::minmax(std::span(*samples).subspan(t, std::min(run, samples->size() - t)));
            file << double(t) / rate << ' ' << low << ' ' << high << '\n';
        }
        file << "\n\n";
    }
    auto const is_softer = [](float a, float b) { return std::abs(a) < std::abs(b); };
    auto const loudest = static_cast<std::size_t>(std::ranges::max_element(dry, is_softer) - dry.begin());
    auto const end = std::min(dry.size(), loudest + static_cast<std::size_t>(rate) * 15 / 1000);
    for (std::size_t t = loudest; t < end; ++t)
        file << 1e3 * double(t - loudest) / rate << ' ' << dry[t] << ' ' << circuit[t] << ' ' << played[t]
             << '\n';
    file.close();
    if (!file)
        throw std::runtime_error("the file " + path + " cannot be written");
}

void run(std::string const& path, std::size_t steps, std::string const& wav, std::string const& plot)
{
    recording const heard = read_recording(path);
    signal const& dry = heard.channels[0];
    signal const circuit = circuit_output(dry, heard.rate);
    auto const error_of = [&](amplifier_model const& model) {
        signal wet(dry.size());
        amplifier(model).process(dry, wet);
        return error_to_signal(wet, circuit);
    };
    amplifier_training training(heard.rate);
    double const untrained = error_of(training.model());
    training.run(steps);
    amplifier_model const model = training.model();
    std::printf("error-to-signal ratio of the recording: %.4f untrained, %.4f trained\n\n", untrained,
        error_of(model));
    recording const played = play(model, heard);
    if (!wav.empty())
        write_recording(wav, played);
    if (!plot.empty())
        write_plot(plot, heard.rate, dry, circuit, played.channels[0]);
}

} // namespace

int main(int argc, char** argv)
{
    return run_program("audio_effect", [&] {
        cxxopts::Options options(
            "audio_effect", "Learns a guitar overdrive and plays a recording through it.");
        auto add = options.add_options();
        add("steps", "of the training", text_option("8000"), "COUNT");
        add("wav", "write the recording as it was played", text_option(), "FILE");
        add("plot", "write the numbers for audio_effect.gnuplot", text_option(), "FILE");
        if (auto const given = parse_options(options, argc, argv, "recording", "[RECORDING]")) {
            auto const files = files_of(*given, "recording", "");
            run(files.empty() ? "/usr/share/lmms/samples/instruments/steel_guitar01.ogg" : files[0],
                read_number<std::size_t>(*given, "steps", 0, 1000000), text_of(*given, "wav"),
                text_of(*given, "plot"));
        }
    });
}
