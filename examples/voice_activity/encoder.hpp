#pragma once
// The stateless part of the network: from samples to the input of the recurrence.

#include <array>
#include <cstddef>
#include <span>

#include "convolution.hpp"
#include "recording.hpp"
#include "weights.hpp"

inline constexpr std::size_t context_size = 64;
inline constexpr std::size_t feature_count = 128;

class encoder {
public:
    explicit encoder(weights const& model);

    /// Returns the features of a chunk that follows the last samples of the previous one. They stay valid
    /// until the next call.
    std::span<float const, feature_count> operator()(
        std::span<float const, context_size> context, std::span<float const, chunk_size> chunk) noexcept;

private:
    static constexpr std::size_t padded_size = context_size + chunk_size + 64;
    static constexpr std::size_t bins = 129, wide = 128, narrow = 64; // channels

    convolution spectrum_of_;
    convolution layer0_;
    convolution layer1_;
    convolution layer2_;
    convolution layer3_;

    // The activations between layers: [frames, channels], with a frame of zeros before and after where a
    // layer pads.
    std::array<float, padded_size> samples_{};
    std::array<float, 4 * (2 * bins)> spectrum_{};
    std::array<float, 6 * bins> magnitudes_{};
    std::array<float, 6 * wide> frames0_{};
    std::array<float, 4 * narrow> frames1_{};
    std::array<float, 3 * narrow> frames2_{};
    std::array<float, feature_count> features_{};
};
