#pragma once
// The check that a node is valid in ONNX, before it is inferred or prepared.

#include <cstdint>

#include <onnx/onnx_pb.h>

namespace runner {

/// Throws a runner_error unless the node's operator exists at this opset, with inputs, outputs and attributes
/// as the node has them. The operator is one of the runner's.
void check_node(onnx::NodeProto const& node, std::int64_t opset);

} // namespace runner
