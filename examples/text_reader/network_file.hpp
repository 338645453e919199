#pragma once
// The network of a traineddata file: its component lstm.

#include <array>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include <xtensor/xtensor.hpp>

#include <xloom/types.hpp>

#include "traineddata.hpp"

namespace reader {

/// Each position gets the channels of its neighbourhood of 2 half_x + 1 columns and 2 half_y + 1 rows, column
/// by column (Tesseract's Convolve).
struct window_layer {
    std::size_t half_x, half_y;
};

/// The maximum over blocks of positions, channel by channel (Tesseract's Maxpool).
struct max_pool_layer {
    std::size_t width, height;
};

/// A matrix and biases at each position, and an activation (Tesseract's FullyConnected).
struct dense_layer {
    enum class kind { linear, tanh, relu, sigmoid, softmax };

    kind activation;
    xt::xtensor<float, 2> weights; ///< [outputs, inputs + 1]: biases in the last column
};

/// An LSTM along the rows of an image, or along its columns, of which it then keeps the last state.
struct lstm_layer {
    xloom::direction direction;
    bool summarises_columns;
    std::size_t inputs;
    /// The cell's input, the input gate, the forget gate and the output gate, each [H, inputs + H + 1]: the
    /// weights of the input, those of the state, and the bias.
    std::array<xt::xtensor<float, 2>, 4> gates;
};

using layer = std::variant<window_layer, max_pool_layer, dense_layer, lstm_layer>;

/// A network in the order of computation. The input is a grey image, the output a distribution over codes for
/// each column.
struct network_file {
    std::size_t height; ///< of the image
    bool is_integer;    ///< pixels are rounded to multiples of 1/127, as the weights were
    std::vector<layer> layers;
    std::size_t code_count;   ///< the channels of the last layer
    std::size_t blank;        ///< the code of CTC's blank
    std::uint64_t noise_seed; ///< of the pixels that Tesseract draws beyond an image's border
};

/// Reads a network. Dimensions are checked from layer to layer, so that each matrix fits its input.
///
/// Errors    traineddata_error: a damaged component, a checkpoint of a training, or a network with a layer
///           that is not in `layer` (2-D LSTMs, parallel layers).
network_file read_network(traineddata const& file);

} // namespace reader
