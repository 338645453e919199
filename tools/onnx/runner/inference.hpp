#pragma once
// The types of values known before a run, and how an operator infers those of its outputs.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include <xloom/types.hpp>

#include "frame.hpp"
#include "node.hpp"
#include "value.hpp"

namespace runner {

using types = std::vector<xloom::partial_type>;

/// Returns the type that a model declares. Its symbols live as long as `proto`. Maps and opaque types are
/// untyped.
xloom::partial_type type_of(onnx::TypeProto const& proto);

/// Returns the full type of a value; untyped for an empty sequence or optional.
xloom::partial_type type_of(value const& v);

/// True if a value has the inferred type.
bool agrees(value const& v, xloom::partial_type const& inferred);

struct fact {
    xloom::partial_type type{};
    value const* constant = nullptr; ///< the value itself, where no run changes it
};
using facts = frame<fact>;

/// Whether inferred types are the last word, or may become wider when a loop is inferred again.
enum class certainty : char { tentative, final };

/// A node during type inference.
class typing : public node_view {
public:
    typing(node_view const& node, std::vector<fact const*> const& inputs, types const& declared,
        facts const& around, certainty of_types)
        : node_view(node), inputs_(inputs), declared_(declared), around_(around), of_types_(of_types)
    {}

    /// Returns the number of graphs around the node's own.
    std::size_t depth() const
    {
        std::size_t depth = 0;
        for (facts const* each = around_.outer; each != nullptr; each = each->outer)
            ++depth;
        return depth;
    }

    std::size_t input_count() const { return inputs_.size(); }
    bool has(std::size_t i) const { return i < inputs_.size() && inputs_[i] != nullptr; }
    /// Returns the type of input i; untyped if it is omitted.
    xloom::partial_type const& at(std::size_t i) const;
    xloom::partial_shape const& shape_at(std::size_t i) const { return at(i).shape(); }
    /// Returns the types of all inputs in order.
    types inputs() const;
    /// Returns the value of input i; null if it is unknown before a run.
    tensor const* constant_at(std::size_t i) const;
    std::optional<std::vector<std::int64_t>> integers_at(std::size_t i) const;

    /// Returns the types that the graph declares for the outputs.
    types const& declared() const { return declared_; }
    xloom::partial_type const& declared_at(std::size_t k) const
    {
        return k < declared_.size() ? declared_[k] : xloom::untyped;
    }
    /// Returns the types of a body's outputs for inputs of the given types.
    types body_types(
        std::string const& name, types const& given, certainty of_types = certainty::final) const;
    /// Returns the types of the outputs of a branch of If; std::nullopt for one that is impossible.
    std::optional<types> branch_types(std::string const& name) const;

private:
    std::vector<fact const*> const& inputs_;
    types const& declared_;
    facts const& around_;
    certainty of_types_;
};

} // namespace runner
