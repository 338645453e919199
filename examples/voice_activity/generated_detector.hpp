#pragma once
// Voice activity detection with the header that xloom-compile makes of the ONNX model.

#include <string>

#include <xtensor/xtensor.hpp>

#include "silero_vad_16k_op15.hpp"

class generated_detector {
public:
    /// Reads the weights from the file beside the header.
    explicit generated_detector(std::string const& file) : model_(file) {}

    /// chunks [T, chunk_size] -> the probability of speech in each, [T].
    xt::xtensor<float, 1> operator()(xt::xtensor<float, 2> const& chunks);

private:
    silero_vad_16k_op15 model_;
    silero_vad_16k_op15::outputs results_{};
};
