#pragma once
// The network that the program runs: a program links one of two definitions.

#include <functional>
#include <string>

#include <xtensor/xtensor.hpp>

#include <xloom/types.hpp>

/// chunks [T, chunk_size] -> the probability of speech in each, [T].
using detector_function = std::function<xt::xtensor<float, 1>(xt::xtensor<float, 2> const&)>;

/// How the weights of the LSTM are stored, and the share of the blocks of the recurrent ones that is kept.
struct lstm_weighting {
    xloom::weight_storage storage = xloom::weight_storage::full;
    float density = 1;

    friend bool operator==(lstm_weighting const&, lstm_weighting const&) = default;
};

/// Returns the network with the weights of a file: the network that detector.hpp has by hand, from the ONNX
/// model, or the one that xloom-compile made of the model, from the file beside its header, which has all
/// weights as they are.
detector_function load_detector(std::string const& file, lstm_weighting lstm);
