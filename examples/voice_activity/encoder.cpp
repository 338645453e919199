#include "encoder.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace {

xt::xtensor<float, 3> layer_weight(weights const& model, int layer, std::size_t outputs, std::size_t inputs)
{
    return model.get<3>(
        "model.encoder." + std::to_string(layer) + ".reparam_conv.weight", {outputs, inputs, 3});
}

xt::xtensor<float, 1> layer_bias(weights const& model, int layer, std::size_t outputs)
{
    return model.get<1>("model.encoder." + std::to_string(layer) + ".reparam_conv.bias", {outputs});
}

void relu(std::span<float> values) noexcept
{
    for (float& value : values)
        value = std::max(value, 0.0f);
}

} // namespace

encoder::encoder(weights const& model)
    : spectrum_of_(model.get<3>("model.stft.forward_basis_buffer", {2 * bins, 1, 256}),
          xt::zeros<float>({2 * bins}), 4, 128),
      layer0_(layer_weight(model, 0, 128, bins), layer_bias(model, 0, 128), 4, 1),
      layer1_(layer_weight(model, 1, 64, 128), layer_bias(model, 1, 64), 2, 2),
      layer2_(layer_weight(model, 2, 64, 64), layer_bias(model, 2, 64), 1, 2),
      layer3_(layer_weight(model, 3, feature_count, 64), layer_bias(model, 3, feature_count), 1, 1)
{}

std::span<float const, feature_count> encoder::operator()(
    std::span<float const, context_size> context, std::span<float const, chunk_size> chunk) noexcept
{
    // 64 samples of the past, the chunk, and its last 64 samples reflected at the last one.
    auto const after =
        std::copy(chunk.begin(), chunk.end(), std::copy(context.begin(), context.end(), samples_.begin()));
    std::copy_n(chunk.rbegin() + 1, samples_.end() - after, after);

    spectrum_of_(samples_.data(), spectrum_.data());
    for (std::size_t frame = 0; frame < 4; ++frame)
        for (std::size_t bin = 0; bin < bins; ++bin) {
            float const re = spectrum_[(2 * frame) * bins + bin];
            float const im = spectrum_[(2 * frame + 1) * bins + bin];
            magnitudes_[(1 + frame) * bins + bin] = std::sqrt(re * re + im * im);
        }

    layer0_(magnitudes_.data(), &frames0_[128]);
    relu(frames0_);
    layer1_(frames0_.data(), &frames1_[64]);
    relu(frames1_);
    layer2_(frames1_.data(), &frames2_[64]);
    relu(frames2_);
    layer3_(frames2_.data(), features_.data());
    relu(features_);
    return features_;
}
