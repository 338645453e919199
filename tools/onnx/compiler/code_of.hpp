#pragma once
// The code of small models in ONNX's text form, for tests.

#include <initializer_list>
#include <string>

#include <doctest/doctest.h>

#include "generate.hpp"
#include "text_model.hpp"

namespace compiler {

/// Returns the header for a graph. `omitted` as the first input of a node omits it; ONNX's text form has no
/// syntax for that.
inline std::string header_of(std::string const& graph, options chosen = {}, std::int64_t opset = 18)
{
    chosen.name = "tested";
    onnx::ModelProto model = runner::model_of(runner::graph_of(graph), opset);
    for (auto& node : *model.mutable_graph()->mutable_node())
        if (node.input_size() != 0 && node.input(0) == "omitted")
            node.set_input(0, "");
    auto& microsofts = *model.add_opset_import();
    microsofts.set_domain("com.microsoft");
    microsofts.set_version(1);
    return generate(model, chosen).header;
}

/// True if a text contains a part.
inline bool has(std::string const& text, std::string const& part)
{
    return text.find(part) != std::string::npos;
}

/// Checks that the code of a graph contains a part.
inline void check_code(std::string const& graph, std::string const& part, std::int64_t opset = 18)
{
    CAPTURE(graph);
    std::string const text = header_of(graph, {}, opset);
    CHECK_MESSAGE(has(text, part), text);
}

/// The opset and text of a graph, and a part of its code.
struct expected_code {
    std::int64_t opset;
    char const* graph;
    char const* part;
};

inline void check_code(std::initializer_list<expected_code> all)
{
    for (expected_code const& each : all)
        check_code(each.graph, each.part, each.opset);
}

/// Returns the error of a graph; an empty text if there is none.
inline std::string refusal_of(std::string const& graph, std::int64_t opset = 18)
try {
    header_of(graph, {}, opset);
    return "";
} catch (runner::runner_error const& refused) {
    return refused.what();
}

} // namespace compiler
