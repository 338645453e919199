// Silero's three models, unmodified, on recordings: each against ONNX Runtime's probabilities and against
// examples/voice_activity.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "voice_activity.hpp"
#include "voice_activity/detector.hpp"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path const models = VOICE_ACTIVITY_MODELS;

/// The recordings that something is expected of: 13 of 44 seconds. Without optimisation two of 3 seconds
/// stand for them.
std::vector<recording> read_recordings(json const& expected)
{
    std::vector<recording> all;
    for (auto const& entry : fs::recursive_directory_iterator(VOICE_ACTIVITY_RECORDINGS)) {
        std::string const name = entry.path().filename().string();
#ifdef NDEBUG
        bool const is_heard = expected.contains(name);
#else
        bool const is_heard = expected.contains(name) && (name == "001.wav" || name == "003.wav");
#endif
        if (is_heard)
            all.push_back(read_recording(entry.path().string()));
    }
    return all;
}

/// Infinite between rows of different lengths and where there is NaN.
template <class Row>
double largest_difference(xt::xtensor<float, 1> const& actual, Row const& expected)
{
    if (actual.size() != expected.size())
        return HUGE_VAL;
    double largest = 0;
    for (std::size_t t = 0; t < actual.size(); ++t) {
        double const difference = std::abs(static_cast<double>(actual(t)) - static_cast<double>(expected[t]));
        largest = difference < HUGE_VAL ? std::max(largest, difference) : HUGE_VAL;
    }
    return largest;
}

} // namespace

TEST_CASE("every probability of Silero's models equals ONNX Runtime's and voice_activity's to 1e-5")
{
    json const expected = json::parse(std::ifstream(VOICE_ACTIVITY_EXPECTED));
    std::vector<recording> const recordings = read_recordings(expected);
#ifdef NDEBUG
    REQUIRE(recordings.size() == 13);
#else
    REQUIRE(recordings.size() == 2);
#endif
    detector detect{weights((models / "silero_vad_16k_op15.onnx").string())};
    for (std::string const name :
        {"silero_vad_16k_op15.onnx", "silero_vad.onnx", "silero_vad_op18_ifless.onnx"}) {
        CAPTURE(name);
        runner::voice_activity_model const model((models / name).string());
        double to_peer = 0, to_detector = 0;
        std::size_t chunks = 0;
        for (recording const& heard : recordings) {
            CAPTURE(heard.name);
            xt::xtensor<float, 1> const probability = model(heard.chunks);
            double const differences[] = {
                largest_difference(probability, expected.at(heard.name).get<std::vector<float>>()),
                largest_difference(probability, detect(heard.chunks))};
            CHECK(differences[0] <= 1e-5);
            CHECK(differences[1] <= 1e-5);
            to_peer = std::max(to_peer, differences[0]);
            to_detector = std::max(to_detector, differences[1]);
            chunks += probability.size();
        }
        MESSAGE(name << ", " << chunks << " chunks: differs by at most " << to_peer << " from ONNX Runtime, "
                     << to_detector << " from voice_activity");
    }
}
