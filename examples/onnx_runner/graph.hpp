#pragma once
// A graph that is ready to run: every operator found, every name known.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <onnx/onnx_pb.h>

#include "value.hpp"

namespace runner {

/// An operator that the runner does not have.
class not_implemented : public runner_error {
public:
    using runner_error::runner_error;
};

/// The opset of each domain that a model imports; "" is ONNX's own.
using opsets = std::map<std::string, std::int64_t>;

/// The names that a graph sees: its own, then those around it.
class scope {
public:
    explicit scope(scope const* outer = nullptr) : outer_(outer) {}

    void put(std::string const& name, value v) { values_.insert_or_assign(name, std::move(v)); }
    value const* find(std::string const& name) const;

private:
    scope const* outer_;
    std::unordered_map<std::string, value> values_{};
};

class call;
/// An operator: its outputs from its inputs and attributes.
using operation = std::function<std::vector<value>(call const&)>;

class graph {
public:
    /// Names that come from around it are in `outer`. Throws if an operator, a name or an initializer is not as it must be.
    graph(onnx::GraphProto const& proto, opsets const& versions, std::unordered_set<std::string> const& outer = {});

    onnx::GraphProto const& proto() const { return proto_; }

    /// The outputs, in their order. Inputs in theirs; those that are missing must have initializers.
    std::vector<value> run(std::vector<value> const& inputs, scope const* outer = nullptr) const;

private:
    struct step {
        onnx::NodeProto const* node;
        operation const* run;
        std::int64_t opset;
        std::map<std::string, std::unique_ptr<graph>> bodies;
    };

    void add_step(onnx::NodeProto const& node, opsets const& versions, std::unordered_set<std::string> const& known);

    onnx::GraphProto const& proto_;
    std::vector<std::pair<std::string, value>> initializers_{};
    std::vector<step> steps_{};
};

/// A node that is being run.
class call {
public:
    call(onnx::NodeProto const& node, std::int64_t opset, std::map<std::string, std::unique_ptr<graph>> const& bodies,
        std::vector<value const*> const& inputs, scope const& around)
        : node_(node), opset_(opset), bodies_(bodies), inputs_(inputs), around_(around)
    {}

    std::int64_t opset() const { return opset_; }
    scope const& around() const { return around_; }
    std::size_t output_count() const { return static_cast<std::size_t>(node_.output_size()); }
    bool wants_output(std::size_t k) const { return k < output_count() && !node_.output(static_cast<int>(k)).empty(); }

    std::size_t input_count() const { return inputs_.size(); }
    bool has(std::size_t i) const { return i < inputs_.size() && inputs_[i] != nullptr; }
    value const& at(std::size_t i) const;
    tensor const& tensor_at(std::size_t i) const { return at(i).as_tensor(); }
    /// The items of an integer tensor (int32 or int64), as ONNX's axes, shapes and lengths come.
    std::vector<std::int64_t> integers_at(std::size_t i) const;

    bool has_attribute(std::string_view name) const { return find(name) != nullptr; }
    std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
    double number(std::string_view name, double otherwise) const;
    std::string text(std::string_view name, std::string const& otherwise) const;
    std::vector<std::int64_t> integers(std::string_view name) const; ///< empty if it is not there
    std::vector<double> numbers(std::string_view name) const;
    std::vector<std::string> texts(std::string_view name) const;
    onnx::AttributeProto const* find(std::string_view name) const;
    graph const& body(std::string const& name) const;

private:
    onnx::NodeProto const& node_;
    std::int64_t opset_;
    std::map<std::string, std::unique_ptr<graph>> const& bodies_;
    std::vector<value const*> const& inputs_;
    scope const& around_;
};

} // namespace runner
