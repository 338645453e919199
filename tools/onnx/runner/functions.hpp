#pragma once
// Functions of a model's own, whose nodes take the place of a call's.

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include <onnx/onnx_pb.h>

#include "budget.hpp"
#include "unused_names.hpp"

namespace runner {

/// The domain, "" for ONNX's own, the name and the overload.
using function_name = std::array<std::string, 3>;

struct function {
    onnx::FunctionProto const& proto;
    std::unordered_map<std::string, onnx::AttributeProto> defaults{}; ///< of its attributes, by name
    std::unordered_set<std::string> attributes{};                     ///< the names of all
};

/// True if a model has a function of this name, with any overload.
bool has_function(onnx::ModelProto const& model, std::string const& domain, std::string const& name);

/// The functions of a model.
class function_table {
public:
    /// Refers to the model.
    ///
    /// Errors    runner_error: two functions of one name.
    explicit function_table(onnx::ModelProto const& model);

    /// Returns the function that a node calls; null if the node is an operator's. A function hides the
    /// operator of its name.
    function const* find(onnx::NodeProto const& node) const;

    /// Returns the nodes of a call in order, with the inputs, outputs and attributes of the call; all other
    /// names are new ones.
    ///
    /// Errors    runner_error: the function calls itself, or lacks inputs, outputs or attributes of the call;
    ///           its nodes form a cycle; the calls have more than 100,000 nodes.
    google::protobuf::RepeatedPtrField<onnx::NodeProto> expand(
        function const& called, onnx::NodeProto const& call);

private:
    /// Returns the number of nodes that a call becomes, in bodies and by other calls, too.
    std::size_t size_of(function const& called, std::unordered_set<function const*>& callers);

    std::map<function_name, function> functions_{};
    std::unordered_map<function const*, std::size_t> sizes_{};
    unused_names names_;
    std::size_t nodes_ = 0; ///< of all calls
    reservation taken_{};
};

} // namespace runner
