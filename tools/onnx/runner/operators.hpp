#pragma once
// The table of operators. A new operator needs its versions and two functions in one of the operators_*.cpp
// (the second may come from type_rules.hpp): one computes the outputs of a call, one infers the outputs'
// types from those of the inputs. Together they are an entry of the list at the file's end.

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph.hpp"
#include "signatures.hpp"

namespace runner {

struct operation {
    version_list signatures{}; ///< none: the inputs, outputs and attributes of its nodes are not checked
    run_function run;
    std::function<types(typing const&)>
        infer; ///< of outputs that it leaves out, or untyped, nothing is known
    /// Optional: returns a run function that has processed the constant inputs in advance; empty if there is
    /// nothing to do.
    std::function<run_function(typing const&)> prepare{};
    /// Optional: returns the only output, if the types alone tell it.
    std::function<std::optional<value>(typing const&)> evaluate{};
};

/// The operations by name: "Add" or "com.microsoft.AttnLSTM".
using operator_table = std::unordered_map<std::string, operation>;

void add_arithmetic_operators(operator_table& table); // Add .. Pow, Abs, Sign, Max, Sum, Clip
void add_function_operators(operator_table& table);   // Sqrt, Exp .. Round, Relu, Tanh .. Selu, PRelu
void add_logic_operators(operator_table& table); // And .. Not, Less .. Equal, IsNaN, Where, Identity, Dropout
void add_cast_operators(operator_table& table);  // Cast, CastLike
void add_constant_operators(operator_table& table);  // Constant, ConstantOfShape, Range
void add_shape_operators(operator_table& table);     // Shape, Size, Reshape .. Transpose, Expand, Tile, Trilu
void add_piece_operators(operator_table& table);     // Concat, Split, Slice, Pad, ReverseSequence
void add_reduction_operators(operator_table& table); // ReduceSum .. ReduceMin, ArgMax
void add_along_axis_operators(operator_table& table);    // CumSum, CumProd, Softmax, LogSoftmax
void add_indexing_operators(operator_table& table);      // ScatterND .. GatherND, Gather, OneHot .. TopK
void add_linear_operators(operator_table& table);        // MatMul .. Gemm, Einsum
void add_convolution_operators(operator_table& table);   // Conv, ConvTranspose, MaxPool .. GlobalAveragePool
void add_normalization_operators(operator_table& table); // BatchNormalization .. RMSNormalization
void add_quantization_operators(operator_table& table);  // QuantizeLinear .. DynamicQuantizeLinear
void add_control_flow_operators(operator_table& table);  // If, Loop
void add_scan_operators(operator_table& table);          // Scan
void add_recurrent_operators(operator_table& table);     // LSTM, GRU, RNN, AttnLSTM
void add_attention_operators(operator_table& table);     // LinearAttention, CausalConvWithState
void add_sequence_operators(operator_table& table);      // SequenceEmpty .. SequenceMap, Optional ..

/// More operators than the runner's own, which find_operation knows in this thread while the object lives.
/// The table must outlive it and the graphs that are made meanwhile.
class with_operators {
public:
    explicit with_operators(operator_table const& more);
    ~with_operators();
    with_operators(with_operators const&) = delete;
    with_operators& operator=(with_operators const&) = delete;

private:
    operator_table const* before_;
};

/// The domain of the nodes that a rewriting adds, whose types are full names. No function of a model hides
/// their operators, and their opset is the newest.
inline constexpr char own_domain[] = "xloom";
/// The newest opset of ONNX's own domain that is known.
inline constexpr std::int64_t newest_opset = 28;

/// Returns a domain's only name: "" is ONNX's own, which models also call "ai.onnx".
std::string plain_domain(std::string const& domain);
/// "Add", or "com.microsoft.AttnLSTM".
std::string full_name(std::string const& domain, std::string const& type);
/// Returns an operation; null if the operator is not implemented.
operation const* find_operation(std::string const& domain, std::string const& type);
/// Returns the runner's own operators.
operator_table const& all_operators();
/// Returns their names in unspecified order.
std::vector<std::string> operator_names();

} // namespace runner
