#pragma once
// The bodies of a node: the graphs among its attributes.

#include <onnx/onnx_pb.h>

namespace runner {

/// Calls f(graph) for each body of a node, in the order of the attributes.
template <class F>
void for_each_body(onnx::NodeProto const& node, F const& f)
{
    for (auto const& attribute : node.attribute())
        if (attribute.has_g())
            f(attribute.g());
}
template <class F>
void for_each_body(onnx::NodeProto& node, F const& f)
{
    for (auto& attribute : *node.mutable_attribute())
        if (attribute.has_g())
            f(*attribute.mutable_g());
}

} // namespace runner
