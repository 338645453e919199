#pragma once
// Whether a node is one that ONNX has: before anything is inferred of it, or made of it.

#include <cstdint>

#include <onnx/onnx_pb.h>

namespace runner {

/// Throws a runner_error unless the node's operator exists at this opset, with inputs, outputs and attributes
/// as the node has them. The operator is one of the runner's.
void check_node(onnx::NodeProto const& node, std::int64_t opset);

} // namespace runner
