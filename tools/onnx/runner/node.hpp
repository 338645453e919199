#pragma once
// A node of a graph as its operator sees it, before and while it runs: attributes, opset, bodies.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <onnx/onnx_pb.h>

#include "value.hpp"

namespace runner {

/// An operator that the runner does not have.
class not_implemented : public runner_error {
public:
    using runner_error::runner_error;
};

class graph;
using graphs = std::map<std::string, std::unique_ptr<graph>>;

class node_view {
public:
    node_view(onnx::NodeProto const& node, std::int64_t opset, graphs const& bodies)
        : node_(node), opset_(opset), bodies_(bodies)
    {}

    std::int64_t opset() const { return opset_; }
    std::size_t output_count() const { return static_cast<std::size_t>(node_.output_size()); }
    bool wants_output(std::size_t k) const
    {
        return k < output_count() && !node_.output(static_cast<int>(k)).empty();
    }

    /// Returns an attribute; null if it is omitted. Throws if it has another type.
    onnx::AttributeProto const* find(std::string_view name, onnx::AttributeProto::AttributeType type) const;
    bool has_attribute(std::string_view name) const;
    std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
    double number(std::string_view name, double otherwise) const; ///< a float, also where it is omitted
    std::string text(std::string_view name, std::string const& otherwise) const;
    std::vector<std::int64_t> integers(std::string_view name) const; ///< empty if it is not there
    std::vector<double> numbers(std::string_view name) const;
    std::vector<std::string> texts(std::string_view name) const;
    graph& body(std::string const& name) const;

private:
    onnx::NodeProto const& node_;
    std::int64_t opset_;
    graphs const& bodies_;
};

/// The items of a tensor of int32 or int64, as ONNX's axes, shapes and lengths come.
std::vector<std::int64_t> integers_of(tensor const& t);

/// "Add 'sum'": for messages.
std::string describe(onnx::NodeProto const& node);

} // namespace runner
