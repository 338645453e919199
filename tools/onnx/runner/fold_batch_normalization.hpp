#pragma once
// BatchNormalization behind a Conv, computed by the Conv.

#include <cstdint>

#include <onnx/onnx_pb.h>

namespace runner {

/// Multiplies the constant weights of each Conv whose only reader is a BatchNormalization with constant
/// parameters by scale / sqrt(input_var + epsilon), in bodies too, and removes the latter. The products
/// are computed in double and rounded once. `opset` is that of the domain ai.onnx.
///
/// Differs   from the two operators by rounding: half a unit in the last place of each weight, in place of
///           the three roundings of the normalization.
/// Requires  finite weights and factors, so that infinities and NaN appear where they did; others are left.
void fold_batch_normalization(onnx::GraphProto& graph, std::int64_t opset);

} // namespace runner
