#pragma once
// com.microsoft's DynamicQuantizeLSTM, written out as an LSTM with dequantized weights, which are packed in
// 8 bits.

#include <onnx/onnx_pb.h>

#include "signatures.hpp"

namespace runner {

/// Replaces each DynamicQuantizeLSTM, in bodies too, by nodes that compute (W - W_zero_point) * W_scale, the
/// same of R, and by xloom's QuantizedLSTM: ONNX's LSTM whose weights are packed as
/// weight_storage::dynamic_int8. Where the weights are constants, they are packed once. Nothing is replaced
/// in a model that has a function of that name, nor in functions, in which the operator is not implemented.
///
/// Errors    runner_error: an input that is needed is omitted, or is declared with another type than int8 or
///           uint8; an attribute that the operator has not.
/// Differs   from ONNX Runtime, which takes the weights as they are, and rounds X and h with one scale for
///           all rows.
void rewrite_quantized(onnx::ModelProto& model);

/// The versions of com.microsoft.DynamicQuantizeLSTM, which no run function computes.
version_list const& quantized_versions();

} // namespace runner
