#pragma once
// A convolution along time.

#include <algorithm>
#include <array>
#include <cstddef>

#include <xsimd/xsimd.hpp>
#include <xtensor/xbuilder.hpp>
#include <xtensor/xtensor.hpp>

/// The frames lie one after another, so that the window of an output frame is one contiguous run:
///
///     y[f, j] = bias[j] + sum over k of x[f * hop + k] * weight[k, j]      for the output frames f = 0 .. Frames - 1
///
/// The output channels are taken in panels, of as many as keep the sums of all frames in the processor's registers.
template <std::size_t Frames>
class convolution {
public:
    /// weight [output channels, input channels, kernel] and bias [output channels], as in ONNX; `stride` counts input frames.
    convolution(xt::xtensor<float, 3> const& weight, xt::xtensor<float, 1> const& bias, std::size_t stride)
        : outputs_(weight.shape(0)),
          window_(weight.shape(1) * weight.shape(2)),
          hop_(stride * weight.shape(1)),
          panels_(xt::zeros<float>({(outputs_ + width - 1) / width, 1 + window_, width}))
    {
        std::size_t const inputs = weight.shape(1);
        for (std::size_t j = 0; j < outputs_; ++j) {
            panels_(j / width, 0, j % width) = bias(j);
            for (std::size_t k = 0; k < window_; ++k)
                panels_(j / width, 1 + k, j % width) = weight(j, k % inputs, k / inputs);
        }
    }

    /// x holds (Frames - 1) * hop + window numbers; y is [Frames, output channels].
    void operator()(float const* x, float* y) const noexcept
    {
        float const* row = panels_.data();
        for (std::size_t first = 0; first < outputs_; first += width) {
            std::array<std::array<batch, batches>, Frames> sums;
            sums.fill(load(row));
            row += width;
            for (std::size_t k = 0; k < window_; ++k, row += width) {
                auto const weight = load(row);
                for (std::size_t f = 0; f < Frames; ++f)
                    for (std::size_t b = 0; b < batches; ++b)
                        sums[f][b] = xsimd::fma(batch(x[f * hop_ + k]), weight[b], sums[f][b]);
            }
            for (std::size_t f = 0; f < Frames; ++f)
                store(sums[f], y + f * outputs_ + first, std::min(width, outputs_ - first));
        }
    }

private:
    using batch = xsimd::batch<float>;
    static constexpr std::size_t batches = 8 / Frames; // eight sums: enough to hide the latency, and they fit into 16 registers
    static constexpr std::size_t width = batches * batch::size;

    static std::array<batch, batches> load(float const* row) noexcept
    {
        std::array<batch, batches> loaded;
        for (std::size_t b = 0; b < batches; ++b)
            loaded[b] = batch::load_unaligned(row + b * batch::size);
        return loaded;
    }

    static void store(std::array<batch, batches> const& sums, float* y, std::size_t count) noexcept
    {
        std::array<float, width> channels;
        for (std::size_t b = 0; b < batches; ++b)
            sums[b].store_unaligned(&channels[b * batch::size]);
        std::copy_n(channels.data(), count, y);
    }

    std::size_t outputs_;
    std::size_t window_;           ///< numbers in the window of one output frame
    std::size_t hop_;              ///< numbers from one window to the next
    xt::xtensor<float, 3> panels_; ///< [panels, 1 + window, width]: a row of biases, then the weights
};
