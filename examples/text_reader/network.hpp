#pragma once
// Tesseract's network on xloom's operators.

#include <cstddef>
#include <variant>
#include <vector>

#include <xtensor/xtensor.hpp>

#include <xloom/recurrent/lstm.hpp>
#include <xloom/recurrent/packed_matrix.hpp>
#include <xloom/types.hpp>

#include "line_image.hpp"
#include "network_file.hpp"

namespace reader {

/// An image with channels, [width, 1, height, channels]: the shape of an LSTM's Y, for which the columns are
/// the steps and the rows are the batch.
using activations = xt::xtensor<float, 4>;

/// A dense layer, packed.
struct packed_dense {
    dense_layer::kind activation;
    xloom::packed_matrix<float> matrix;
};

/// An LSTM, packed.
struct packed_lstm {
    bool summarises_columns;
    xloom::lstm_weights<float> weights;
};

/// A network whose weights are packed for many images. Const members are thread-safe.
class network {
public:
    explicit network(network_file const& file, xloom::weight_storage storage = xloom::weight_storage::full);

    /// Returns the probabilities of the codes for each column of the result, [columns, codes].
    ///
    /// Errors    std::length_error: the activations of a layer would take more than 1 GiB, or none.
    xt::xtensor<float, 2> operator()(line_image const& image) const;

private:
    using packed_layer = std::variant<window_layer, max_pool_layer, packed_dense, packed_lstm>;

    bool is_integer_;
    std::uint64_t noise_seed_;
    std::vector<packed_layer> layers_;
};

} // namespace reader
