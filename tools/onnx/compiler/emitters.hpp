#pragma once
// What emits code for nodes. A new operator needs a function in one of the emit_*.cpp and a line in the list
// at the file's end.

#include <functional>
#include <string>
#include <unordered_map>

#include "emission.hpp"

namespace compiler {

/// Writes the lines that compute a node.
using emitter = std::function<void(emission&, node&)>;
/// The emitters by the operators' full names.
using emitter_table = std::unordered_map<std::string, emitter>;

void add_if_emitters(emitter_table& table);
void add_loop_emitters(emitter_table& table);
void add_scan_emitters(emitter_table& table);
void add_recurrent_emitters(emitter_table& table); // LSTM .. AttnLSTM, LinearAttention
void add_shape_emitters(emitter_table& table);     // Shape, Size, Transpose, Expand, Tile, Trilu
void add_view_emitters(emitter_table& table);      // Reshape .. Flatten, Slice
void add_piece_emitters(emitter_table& table);     // Concat .. Pad, ConstantOfShape, Range
void add_indexing_emitters(emitter_table& table);  // Gather .. Scatter, OneHot, NonZero, TopK
void add_reduction_emitters(emitter_table& table); // CumSum, Softmax, ReduceSum .. ArgMin
void add_product_emitters(emitter_table& table);   // MatMul .. Conv, MaxPool .. GlobalAveragePool
void add_normalization_emitters(
    emitter_table& table); // BatchNormalization .. RMSNormalization, PRelu, Dropout
void add_quantization_emitters(emitter_table& table); // QuantizeLinear .. DynamicQuantizeLinear
void add_sequence_emitters(emitter_table& table);     // SequenceEmpty .. OptionalGetElement, SequenceMap

/// The emitters of all operators that are not element-wise.
emitter_table const& all_emitters();
/// Returns an emitter; null if there is none.
emitter const* find_emitter(std::string const& name);

/// Writes the nodes of a block, chains of element-wise ones fused.
void emit_nodes(emission& out, block& of);

/// Lets output k take the memory of input i if that is a carried state of the same static shape, or a carried
/// sequence, that no other node needs. For functions that work in place where both have the same memory.
void take_state(emission& out, node& each, std::size_t i, std::size_t k);

/// Writes the assignment of a value to storage of the same C++ type, which may be a view.
void assign(emission& out, std::string_view to, variable& from);

/// Returns the expression of the only item of a value that stands for a scalar.
std::string only_item(emission& out, variable& value);

/// Writes a comment with the node's name.
void comment_on(emission& out, node const& each);

} // namespace compiler
