// The circuit under a constant voltage, the callback in blocks of each size, and the program on a recording.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <sndfile.hh>

#include "../../tests/allocation/counting_new.hpp"
#include "../program_under_test.hpp"
#include "training.hpp"

namespace {

program_under_test const& program()
{
    static program_under_test const audio_effect(AUDIO_EFFECT_PROGRAM);
    return audio_effect;
}

} // namespace

TEST_CASE("under a constant voltage the resistor's current is that of the diodes")
{
    for (float const in : {-0.5f, 0.01f, 0.2f}) {
        double const v = circuit_output(std::vector<float>(44100, in), 44100).back();
        CHECK(2 * 2.52e-9 * std::sinh(v / 0.0453) == doctest::Approx((10 * in - v) / 2.2e3).epsilon(1e-4));
    }
}

TEST_CASE("blocks of each size give the same samples, bit for bit, also in place, without allocating")
{
    std::mt19937 random(7);
    auto const dry = plucked_string(44100, 44100, random);
    amplifier_model const model = amplifier_training(44100).model();
    std::vector<float> whole(dry.size());
    amplifier(model).process(dry, whole);
    for (std::size_t const block : std::vector<std::size_t>{1, 16, 32, 64, 100, 128, 256, 512}) {
        std::vector<float> wet = dry;
        amplifier channel(model);
        std::size_t const before = allocations();
        for (std::size_t t = 0; t < wet.size(); t += block) {
            std::span const samples(&wet[t], std::min(block, wet.size() - t));
            channel.process(samples, samples);
        }
        CHECK(allocations() == before);
        bool const has_same_bits = wet == whole;
        CHECK(has_same_bits);
    }
}

TEST_CASE("a short training divides the error by ten on a recording, which the program plays")
{
    outcome const done = program().run({AUDIO_EFFECT_RECORDING, "--steps", "2000", "--wav",
        program() / "wet.wav", "--plot", program() / "plot.dat"});
    REQUIRE_MESSAGE(done.succeeded, done.err);
    double const untrained = number_after("ratio of the recording: ", done.out),
                 trained = number_after(" untrained, ", done.out);
    CHECK(untrained > 0.1);
    CHECK(trained < untrained / 10);
    // Two lines above the times, then mono and stereo with six sizes of blocks each.
    CHECK(std::ranges::count(done.out.substr(done.out.find("\n\n") + 2), '\n') == 2 + 2 * 6);

    SndfileHandle dry(AUDIO_EFFECT_RECORDING), wet(program() / "wet.wav");
    CHECK(wet.channels() == 2);
    CHECK(wet.samplerate() == dry.samplerate());
    CHECK(wet.frames() >= dry.frames() + sf_count_t{2} * dry.samplerate());
    std::vector<float> samples(static_cast<std::size_t>(wet.frames() * 2));
    CHECK(wet.readf(samples.data(), wet.frames()) == wet.frames());
    CHECK(std::ranges::all_of(samples, [](float sample) { return std::abs(sample) < 2; }));
    // After two seconds of silence nothing is heard.
    CHECK(std::abs(samples.back()) < 0.01f);

    std::istringstream lines(read_file(program() / "plot.dat"));
    std::size_t blank = 0;
    for (std::string line; std::getline(lines, line);)
        blank += line.empty();
    CHECK(blank == 4); // between three blocks
}

TEST_CASE("the same call plays the same samples")
{
    auto const wav = [](std::string const& name) {
        CHECK(program().run({AUDIO_EFFECT_RECORDING, "--steps", "20", "--wav", program() / name}).succeeded);
        return read_file(program() / name);
    };
    bool const has_same_bytes = wav("one.wav") == wav("other.wav");
    CHECK(has_same_bytes);
}

TEST_CASE("bad input is refused in one line")
{
    std::string const nowhere = program() / "nowhere/file";
    CHECK(program().complaint({nowhere}).starts_with("the recording " + nowhere + " cannot be read: "));
    CHECK(program().complaint({"a.wav", "b.wav"}) == "there is an argument too many: b.wav (see --help)");
    for (int const rate : {4000, 2000000000}) {
        std::string const wav = program() / "rate.wav";
        SndfileHandle(wav, SFM_WRITE, SF_FORMAT_WAV | SF_FORMAT_PCM_16, 1, rate)
            .write(std::vector<short>(9).data(), 9);
        CHECK(program().complaint({wav}) == "the recording " + wav +
                                                " must have from 8000 to 384000 samples a second, but has " +
                                                std::to_string(rate));
    }
    std::string const flac = program() / "cut.flac";
    SndfileHandle(flac, SFM_WRITE, SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 1, 44100)
        .write(std::vector<short>(44100).data(), 44100);
    std::filesystem::resize_file(flac, std::filesystem::file_size(flac) / 2);
    CHECK(program().complaint({flac, "--steps=0"}) ==
          "the recording " + flac + " is damaged: its samples cannot be read");
    CHECK(program().complaint({"--steps", "many"}) ==
          "--steps must be a number from 0 to 1000000, but is many");
    CHECK(program().complaint({AUDIO_EFFECT_RECORDING, "--steps=0", "--wav", nowhere}) ==
          "the file " + nowhere + " cannot be written");
    CHECK(program().complaint({AUDIO_EFFECT_RECORDING, "--steps=0", "--plot", nowhere}) ==
          "the file " + nowhere + " cannot be written");
}
