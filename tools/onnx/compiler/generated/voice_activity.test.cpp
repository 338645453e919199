// Code made of Silero's three models, with fixed inputs: each against the runner, chunk by chunk, with the
// state carried.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "model.hpp"
#include "silero_vad.hpp"
#include "silero_vad_16k_op15.hpp"
#include "silero_vad_8k.hpp"
#include "silero_vad_op18_ifless.hpp"
#include "support/larger_error.hpp"

namespace {

constexpr std::size_t chunks = 12;

template <std::size_t Rank>
runner::tensor tensor_of(xt::xtensor<float, Rank> const& x)
{
    return runner::tensor::of<float>({x.shape().begin(), x.shape().end()}, {x.data(), x.size()});
}

/// Noise that grows louder from chunk to chunk.
xt::xtensor<float, 2> chunk_of(std::mt19937& source, std::size_t length, std::size_t t)
{
    std::normal_distribution<float> loudness(0, 0.02F * static_cast<float>(t));
    auto chunk = xt::xtensor<float, 2>::from_shape({1, length});
    std::generate(chunk.begin(), chunk.end(), [&] { return loudness(source); });
    return chunk;
}

/// The largest difference between the generated code and the runner, each of which carries its own state.
template <class Generated>
float largest_difference(
    std::string const& name, std::string const& header, std::size_t length, std::int64_t rate)
{
    runner::model const model(VOICE_ACTIVITY_MODELS "/" + name + ".onnx");
    Generated generated(GENERATED_MODELS "/" + header + ".bin");
    typename Generated::outputs results;
    xt::xtensor<float, 3> state = xt::zeros<float>({2, 1, 128});
    runner::value expected_state = tensor_of(state);
    std::mt19937 source;
    float largest = 0;
    for (std::size_t t = 0; t < chunks; ++t) {
        xt::xtensor<float, 2> const chunk = chunk_of(source, length, t);
        generated.run_into(results, chunk, state);
        std::swap(state, results.stateN);
        std::map<std::string, runner::value> const by_name{{"input", tensor_of(chunk)},
            {"state", expected_state}, {"sr", runner::tensor::scalar<std::int64_t>(rate)}};
        std::vector<runner::value> inputs;
        for (auto const& declared : model.proto().input())
            inputs.push_back(by_name.at(declared.name()));
        std::vector<runner::value> const expected = model.run(inputs);
        expected_state = expected.at(1);
        auto const probability = expected.at(0).as_tensor().items<float>();
        auto const next = expected_state.as_tensor().items<float>();
        REQUIRE(results.output.size() == 1);
        REQUIRE(state.size() == next.size());
        largest = larger_error(largest, std::abs(results.output(0, 0) - probability[0]));
        for (std::size_t i = 0; i < next.size(); ++i)
            largest = larger_error(largest, std::abs(state.data()[i] - next[i]));
    }
    return largest;
}

} // namespace

TEST_CASE("code of Silero's models gives the runner's probabilities and states")
{
    CHECK(largest_difference<silero_vad_16k_op15>("silero_vad_16k_op15", "silero_vad_16k_op15", 576, 16000) <=
          1e-5F);
    CHECK(largest_difference<silero_vad>("silero_vad", "silero_vad", 576, 16000) <= 1e-5F);
    CHECK(largest_difference<silero_vad_8k>("silero_vad", "silero_vad_8k", 288, 8000) <= 1e-5F);
    CHECK(largest_difference<silero_vad_op18_ifless>(
              "silero_vad_op18_ifless", "silero_vad_op18_ifless", 576, 16000) <= 1e-5F);
}
