#pragma once
// The order of nodes: editors of models may leave them in another one than that of their computation.

#include <onnx/onnx_pb.h>

namespace runner {

/// Puts the nodes of a graph or function, and those of their bodies, after the nodes that make what they or
/// their bodies read. Nodes that are in order keep it.
///
/// Errors    runner_error: nodes that form a cycle.
void sort_nodes(google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes);

} // namespace runner
