#include "unused_names.hpp"

#include "node_bodies.hpp"

namespace runner {

void unused_names::add(onnx::GraphProto const& graph)
{
    for (auto const* const list : {&graph.input(), &graph.output()})
        for (auto const& each : *list)
            used_.insert(each.name());
    for (auto const& each : graph.initializer())
        used_.insert(each.name());
    for (auto const& node : graph.node()) {
        used_.insert(node.input().begin(), node.input().end());
        used_.insert(node.output().begin(), node.output().end());
        for_each_body(node, [&](onnx::GraphProto const& body) { add(body); });
    }
}

} // namespace runner
