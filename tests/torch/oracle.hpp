#pragma once
// Results and gradients of libtorch in float64, on the textbook's arrays: its headers define macros that the
// tests have, too, so oracle.cpp alone includes them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/textbook_nd.hpp"

namespace torch_oracle {

using numbers = textbook::array<double>;
using indices = textbook::array<std::int64_t>;

/// The operators that ONNX has, too.
enum class network { lstm, gru, rnn };

/// Operands of a network in ONNX's layout 0 and order of the gates; an operand without a shape is omitted.
struct network_operands {
    numbers X{}, W{}, R{}, B{}, initial_h{}, initial_c{}, projection{};
    std::vector<std::int64_t> sequence_lens{}; ///< from the longest to the shortest, none is 0; none: all T
};

struct network_results {
    numbers Y{}, Y_h{}, Y_c{};
    network_operands gradients{}; ///< of sum(Y * ct.Y) + sum(Y_h * ct.Y_h) + sum(Y_c * ct.Y_c)
};

struct network_cotangents {
    numbers Y{}, Y_h{}, Y_c{};
};

/// A network with the default activations; a GRU has linear_before_reset = 1. direction is ONNX's.
network_results run(
    network kind, network_operands const& in, std::string const& direction, network_cotangents const& ct);

/// What an operator returns, and gradients of sum(result * ct).
struct scattered {
    numbers result, ct_data, ct_updates;
};

/// data.index_put(tuples of indices, updates, accumulate).
scattered index_put(
    numbers const& ct, numbers const& data, indices const& tuples, numbers const& updates, bool accumulate);

/// data.scatter(0, index, updates): the slices of updates replace those of data.
scattered scatter(numbers const& ct, numbers const& data, indices const& rows, numbers const& updates);

/// data.scatter_reduce(0, index, updates, reduce, include_self), slice by slice.
scattered scatter_reduce(numbers const& ct, numbers const& data, indices const& rows, numbers const& updates,
    std::string const& reduce, bool include_self);

/// What an operator returns, and the gradient of sum(result * ct).
struct gathered {
    numbers result, ct_data;
};

/// data.index(tuples of indices).
gathered index(numbers const& ct, numbers const& data, indices const& tuples);

/// data.index_select(0, rows).
gathered index_select(numbers const& ct, numbers const& data, indices const& rows);

/// data.gather(1, columns), for matrices.
gathered gather(numbers const& ct, numbers const& data, indices const& columns);

} // namespace torch_oracle
