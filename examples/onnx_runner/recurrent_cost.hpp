#pragma once
// What LSTM and its like take of the budget beside their inputs and outputs.

#include <cstddef>
#include <map>

#include "graph.hpp"

namespace runner {

/// Throws unless the budget allows for Y, and for its products: each row of X meets all weights, and all
/// memory steps.
void require_affordable(call const& node);

/// Weights, by the numbers of their inputs, once they are packed: a gate's rows, and those of the attention,
/// are filled up to whole lines of the cache.
std::size_t packed_bytes(std::map<std::size_t, tensor const*> const& weights);

/// What a call works in: rows of X and sums of gates, states, keys of the memory, and the outputs before they
/// become tensors.
std::size_t working_bytes(call const& node);

} // namespace runner
