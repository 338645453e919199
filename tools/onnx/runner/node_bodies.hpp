#pragma once
// The bodies of a node: the graphs among its attributes.

#include <onnx/onnx_pb.h>

namespace runner {

/// True if an attribute holds a body. Models were older than the field `type` once.
inline bool holds_body(onnx::AttributeProto const& attribute)
{
    return attribute.type() == onnx::AttributeProto::GRAPH ||
           (attribute.type() == onnx::AttributeProto::UNDEFINED && attribute.has_g());
}

/// Calls f(graph) for each body of a node, in the order of the attributes.
template <class F>
void for_each_body(onnx::NodeProto const& node, F const& f)
{
    for (auto const& attribute : node.attribute())
        if (holds_body(attribute))
            f(attribute.g());
}
template <class F>
void for_each_body(onnx::NodeProto& node, F const& f)
{
    for (auto& attribute : *node.mutable_attribute())
        if (holds_body(attribute))
            f(*attribute.mutable_g());
}

} // namespace runner
