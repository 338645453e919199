// The probabilities of the network that xloom-compile makes, compared with ONNX Runtime's.

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "generated_detector.hpp"
#include "recording.hpp"

#if __has_include(<sndfile.hh>)
constexpr bool only_raw = false;
#else
constexpr bool only_raw = true;
#endif

TEST_CASE("every probability of the generated network equals ONNX Runtime's to 1e-5")
{
    auto const expected = nlohmann::json::parse(std::ifstream(VOICE_ACTIVITY_EXPECTED));
    generated_detector detect(VOICE_ACTIVITY_GENERATED);
    std::size_t recordings = 0;
    for (auto const& entry : std::filesystem::recursive_directory_iterator(VOICE_ACTIVITY_RECORDINGS)) {
        std::string const name = entry.path().filename().string();
        if (!expected.contains(name) || (only_raw && entry.path().extension() != ".raw"))
            continue;
        CAPTURE(name);
        xt::xtensor<float, 1> const probability = detect(read_recording(entry.path().string()).chunks);
        auto const right = expected.at(name).get<std::vector<float>>();
        REQUIRE(probability.size() == right.size());
        float largest = 0;
        for (std::size_t t = 0; t < right.size(); ++t) {
            float const difference = std::abs(probability(t) - right[t]);
            largest = difference <= largest ? largest : difference; // NaN is larger
        }
        CHECK(largest <= 1e-5F);
        ++recordings;
    }
    CHECK(recordings == (only_raw ? 3 : 13));
}
