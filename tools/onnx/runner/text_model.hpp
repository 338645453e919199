#pragma once
// Models in ONNX's own text form, for tests.

#include <string>
#include <vector>

#include <onnx/defs/parser.h>

#include "model.hpp"

namespace runner {

inline onnx::GraphProto graph_of(std::string const& text)
{
    onnx::GraphProto proto;
    auto const status = onnx::OnnxParser::Parse(proto, text.c_str());
    if (!status.IsOK())
        throw runner_error(status.ErrorMessage());
    return proto;
}

inline onnx::ModelProto model_of(onnx::GraphProto const& graph, std::int64_t opset = 18)
{
    onnx::ModelProto proto;
    proto.set_ir_version(8);
    proto.add_opset_import()->set_version(opset);
    *proto.mutable_graph() = graph;
    return proto;
}

/// Returns the error of a model of one graph when it is loaded, then run.
inline std::string error_of(
    std::string const& graph_text, std::vector<value> const& inputs = {}, std::int64_t opset = 18)
try {
    model(model_of(graph_of(graph_text), opset)).run(inputs);
    return "none";
} catch (runner_error const& error) {
    return error.what();
} catch (xloom::error const& error) {
    return error.what();
}

} // namespace runner
