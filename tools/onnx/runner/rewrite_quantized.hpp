#pragma once
// com.microsoft's DynamicQuantizeLSTM, written out as an LSTM with dequantized weights.

#include <onnx/onnx_pb.h>

namespace runner {

/// Replaces each DynamicQuantizeLSTM, in bodies too, by nodes that compute (W - W_zero_point) * W_scale, the
/// same of R, and ONNX's LSTM. Where the weights are constants, so are the results, which are packed once.
///
/// Errors    runner_error: an input that is needed is omitted, or is declared with another type than int8 or
///           uint8; an attribute that the operator has not.
/// Differs   from ONNX Runtime, which also rounds X and h to 8 bits in each step.
/// Requires  an opset of 7 or newer: in models of older ones nothing is replaced.
void rewrite_quantized(onnx::ModelProto& model);

} // namespace runner
