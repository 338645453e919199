#pragma once
// BatchNormalization after a Conv, computed by the Conv.

#include <onnx/onnx_pb.h>

namespace runner {

/// Multiplies the constant weights of each Conv whose only reader is a BatchNormalization with constant
/// parameters by scale / sqrt(input_var + epsilon), in bodies too, and removes the latter and the constants
/// that nothing reads any more. Weights that something else reads, too, stay as they are: each product would
/// be another tensor. The products are computed in double and rounded once. Nothing is folded in a model that
/// has a function of the name of one of these operators.
///
/// Differs   from the two operators by rounding: half a unit in the last place of each weight, in place of
///           the three roundings of the normalization.
/// Requires  finite weights and factors, so that infinities and NaN appear where they did; others are left.
void fold_batch_normalization(onnx::ModelProto& model);

} // namespace runner
