#pragma once
// A convolution along time.

#include <cstddef>

#include <xloom/recurrent/packed_matrix.hpp>
#include <xtensor/xmanipulation.hpp>
#include <xtensor/xtensor.hpp>

/// A convolution over contiguous frames: the window of an output frame is one contiguous run, and a
/// convolution is a product of overlapping rows with a matrix:
///
///     y[f, j] = bias[j] + sum over k of x[f * hop + k] * weight[k, j] for f = 0 .. frames - 1
class convolution {
public:
    /// weight [output channels, input channels, kernel] and bias [output channels], as in ONNX; `stride`
    /// counts input frames.
    convolution(xt::xtensor<float, 3> const& weight, xt::xtensor<float, 1> const& bias, std::size_t frames,
        std::size_t stride)
        : frames_(frames), hop_(stride * weight.shape(1)), matrix_(pack(weight, bias))
    {}

    /// x holds (frames - 1) * hop + window numbers; y is [frames, output channels].
    void operator()(float const* x, float* y) const noexcept
    {
        matrix_(frames_, x, hop_, y, matrix_.columns());
    }

private:
    static xloom::packed_matrix<float> pack(
        xt::xtensor<float, 3> const& weight, xt::xtensor<float, 1> const& bias)
    {
        xt::xtensor<float, 3> const by_window = xt::transpose(weight, {2, 1, 0});
        xt::xtensor<float, 2> const matrix =
            xt::reshape_view(by_window, {weight.shape(2) * weight.shape(1), weight.shape(0)});
        return xloom::packed_matrix<float>(matrix, bias);
    }

    std::size_t frames_;
    std::size_t hop_; ///< numbers from one window to the next
    xloom::packed_matrix<float> matrix_;
};
