#pragma once
// The table of operators. A newcomer writes two functions in one of the operators_*.cpp, or takes the second
// from type_rules.hpp: from a call to its outputs, and from what is known of the inputs' types to what
// follows of the outputs'. Both go to the list at that file's end.

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph.hpp"

namespace runner {

struct operation {
    run_function run;
    std::function<types(typing const&)>
        infer; ///< of outputs that it leaves out, or untyped, nothing is known
    /// Of some: a run that has done before what only constants take part in; empty where it can do nothing.
    std::function<run_function(typing const&)> prepare{};
};

/// From "Add", or "com.microsoft.AttnLSTM", to what it does.
using operator_table = std::unordered_map<std::string, operation>;

void add_arithmetic_operators(operator_table& table); // Add .. Pow, Abs, Sign, Max, Sum, Clip
void add_function_operators(operator_table& table);   // Sqrt, Exp .. Round, Relu, Tanh .. Selu
void add_logic_operators(operator_table& table);      // And .. Not, Less .. Equal, IsNaN, Where, Identity
void add_cast_operators(operator_table& table);       // Cast, CastLike
void add_constant_operators(operator_table& table);   // Constant, ConstantOfShape, Range
void add_shape_operators(operator_table& table);      // Shape, Size, Reshape .. Transpose, Expand, Tile
void add_piece_operators(operator_table& table);      // Concat, Split, Slice, Pad, ReverseSequence
void add_reduction_operators(operator_table& table);  // ReduceSum .. ReduceMin, ArgMax
void add_along_axis_operators(operator_table& table); // CumSum, CumProd, Softmax, LogSoftmax
void add_indexing_operators(
    operator_table& table); // ScatterND, GatherND, Gather, GatherElements, ScatterElements
void add_linear_operators(operator_table& table);       // MatMul, Gemm
void add_convolution_operators(operator_table& table);  // Conv
void add_control_flow_operators(operator_table& table); // If, Loop
void add_scan_operators(operator_table& table);         // Scan
void add_recurrent_operators(operator_table& table);    // LSTM, GRU, RNN, AttnLSTM
void add_sequence_operators(operator_table& table);     // SequenceEmpty .. SequenceMap, Optional ..

/// "Add", or "com.microsoft.AttnLSTM"; ONNX's own domain has two names.
std::string full_name(std::string const& domain, std::string const& type);
/// Null: there is none.
operation const* find_operation(std::string const& domain, std::string const& type);
/// All of them, in no order.
std::vector<std::string> operator_names();

} // namespace runner
