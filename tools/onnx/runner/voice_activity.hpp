#pragma once
// Silero's models for voice activity detection, for the test and the benchmark that have them beside
// examples/voice_activity.

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <xtensor/xtensor.hpp>

#include "model.hpp"
#include "voice_activity/encoder.hpp"

namespace runner {

/// Processes a recording as examples/voice_activity's detector does.
class voice_activity_model {
public:
    explicit voice_activity_model(std::string const& path) : model_(path) {}

    /// chunks [T, chunk_size] -> the probability of speech in each, [T].
    xt::xtensor<float, 1> operator()(xt::xtensor<float, 2> const& chunks) const
    {
        auto probability = xt::xtensor<float, 1>::from_shape({chunks.shape(0)});
        std::vector<float> const zeros(256);
        value state = tensor::of<float>({2, 1, 128}, zeros);
        std::vector<float> seen(
            context_size + chunk_size); // a chunk after the last samples of the one before
        for (std::size_t t = 0; t < chunks.shape(0); ++t) {
            std::copy_n(seen.end() - context_size, context_size, seen.begin());
            std::copy_n(&chunks(t, 0), chunk_size, seen.begin() + context_size);
            std::vector<value> const outputs = run(tensor::of<float>({1, seen.size()}, seen), state);
            probability(t) = outputs[0].as_tensor().items<float>()[0];
            state = outputs[1];
        }
        return probability;
    }

private:
    /// The models name their inputs alike, but order them differently.
    std::vector<value> run(value const& input, value const& state) const
    {
        std::map<std::string, value> const by_name{
            {"input", input}, {"state", state}, {"sr", tensor::scalar<std::int64_t>(sample_rate)}};
        std::vector<value> inputs;
        for (auto const& declared : model_.proto().input())
            inputs.push_back(by_name.at(declared.name()));
        return model_.run(inputs);
    }

    model model_;
};

} // namespace runner
