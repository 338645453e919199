#pragma once
// The cost of LSTM and the other recurrent operators in the budget, besides their inputs and outputs.

#include <cstddef>
#include <map>

#include "graph.hpp"

namespace runner {

/// Throws unless the budget allows for Y and for the products: each row of X is multiplied by all weights,
/// and by all memory steps.
void require_affordable(call const& node);

/// Returns the bytes of the packed weights, given by the indices of their inputs: rows of gates and of the
/// attention are padded to whole cache lines.
std::size_t packed_bytes(std::map<std::size_t, tensor const*> const& weights);

/// Returns the bytes of a call's workspace: rows of X and sums of gates, states, keys of the memory, and the
/// outputs before they become tensors.
std::size_t working_bytes(call const& node);

} // namespace runner
