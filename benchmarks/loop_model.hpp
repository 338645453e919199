#pragma once
// An ONNX Loop of the benchmarks of loop and if.

#include "support.hpp"

namespace bench {

/// A Loop of o.iterations iterations around a body given without its common parts: the iteration and `cond`
/// before its inputs, `next_cond` before its outputs. One value is carried, initially o.h0. The body uses the
/// names in `captured`.
template <class Operands>
onnx_graph loop_model(Operands& o, onnx_graph body, std::vector<onnx_operand> const& captured,
    std::vector<onnx_operand> const& outputs)
{
    body.inputs.insert(body.inputs.begin(), {scalar<std::int64_t>("iteration"), scalar<bool>("cond")});
    body.outputs.insert(body.outputs.begin(), scalar<bool>("next_cond"));
    onnx_node loop{
        .op = "Loop", .inputs = {"trips", "", "h0"}, .attributes = {subgraph("body", std::move(body))}};
    for (onnx_operand const& output : outputs)
        loop.outputs.push_back(output.name);
    onnx_graph model{{bound("h0", o.h0)}, outputs, {constant("trips", o.trips()), std::move(loop)}};
    model.inputs.insert(model.inputs.end(), captured.begin(), captured.end());
    return model;
}

} // namespace bench
