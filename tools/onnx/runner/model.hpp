#pragma once
// A model that is ready to run: its file, the opsets it imports, its graph.

#include <set>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "functions.hpp"
#include "graph.hpp"

namespace runner {

/// The opset of each domain. Throws if there is none, if a domain has two, or if the runner does not know one
/// of ONNX's or com.microsoft's.
opsets opsets_of(onnx::ModelProto const& proto);

class model {
public:
    explicit model(std::string const& path);
    explicit model(onnx::ModelProto proto);
    model(model const&) = delete;
    model& operator=(model const&) = delete;

    /// Returns the graph, without the items of initializers that are no inputs.
    onnx::GraphProto const& proto() const { return proto_.graph(); }
    graph const& prepared() const { return graph_; }
    graph& prepared() { return graph_; }
    /// Infers all types; again, after graph::assume().
    void infer();
    std::vector<value> run(std::vector<value> const& inputs) const { return graph_.run(inputs); }

    /// Returns where declared dimensions contradict those that follow from the inputs' types: the first
    /// 1,000.
    std::set<std::string> const& warnings() const { return warnings_.all(); }
    /// Returns where declared dimensions contradict the outputs of a run, although nothing did before it: the
    /// first 1,000.
    std::vector<std::string> warnings_of(std::vector<value> const& outputs) const;

private:
    onnx::ModelProto proto_;
    function_table functions_;
    warning_list warnings_{};
    preparation shared_;
    graph graph_;
};

} // namespace runner
