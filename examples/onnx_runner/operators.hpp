#pragma once
// The table of operators. A newcomer writes a function from a call to its outputs in one of the operators_*.cpp, and adds it to the list at
// that file's end.

#include <string>
#include <unordered_map>

#include "graph.hpp"

namespace runner {

/// From "Add", or "com.microsoft.AttnLSTM", to what it does.
using operator_table = std::unordered_map<std::string, operation>;

void add_elementwise_operators(operator_table& table);  // Add .. Where, Tanh .. Relu, Less .. Not
void add_cast_operators(operator_table& table);         // Cast, CastLike
void add_reduction_operators(operator_table& table);    // ReduceSum .. ReduceProd, ArgMax, CumSum, Softmax
void add_shape_operators(operator_table& table);        // Reshape .. Tile, Concat, Split, Slice, Pad, Constant .. Range
void add_indexing_operators(operator_table& table);     // ScatterND, GatherND, Gather, GatherElements, ScatterElements
void add_linear_operators(operator_table& table);       // MatMul, Gemm, Conv
void add_control_flow_operators(operator_table& table); // If, Loop, Scan
void add_recurrent_operators(operator_table& table);    // LSTM, GRU, RNN, AttnLSTM
void add_sequence_operators(operator_table& table);     // SequenceEmpty .. SequenceMap, Optional ..

/// Null: there is none.
operation const* find_operation(std::string const& domain, std::string const& type);

} // namespace runner
