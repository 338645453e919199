#pragma once
// What is known of values before a run, and how an operator says it of its outputs.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include <xloom/core/partial_type.hpp>

#include "frame.hpp"
#include "node.hpp"
#include "value.hpp"

namespace runner {

using types = std::vector<xloom::partial_type>;

/// What a model declares. Its symbols live as long as `proto`. Of maps and opaque types nothing is known.
xloom::partial_type type_of(onnx::TypeProto const& proto);

/// All there is to know of a value. Of an empty sequence or optional that is little: untyped.
xloom::partial_type type_of(value const& v);

/// Whether a value is as it was inferred to be.
bool agrees(value const& v, xloom::partial_type const& inferred);

struct fact {
    xloom::partial_type type{};
    value const* constant = nullptr; ///< the value itself, where no run changes it
};
using facts = frame<fact>;

/// A node whose outputs' types are looked for.
class typing : public node_view {
public:
    typing(node_view const& node, std::vector<fact const*> const& inputs, types const& declared,
        facts const& around)
        : node_view(node), inputs_(inputs), declared_(declared), around_(around)
    {}

    std::size_t input_count() const { return inputs_.size(); }
    bool has(std::size_t i) const { return i < inputs_.size() && inputs_[i] != nullptr; }
    /// Untyped where it is missing.
    xloom::partial_type const& at(std::size_t i) const;
    xloom::partial_shape const& shape_at(std::size_t i) const { return at(i).shape(); }
    /// All inputs, in their order.
    types inputs() const;
    /// Null: not known before a run.
    tensor const* constant_at(std::size_t i) const;
    std::optional<std::vector<std::int64_t>> integers_at(std::size_t i) const;

    /// What the graph declares of the outputs.
    types const& declared() const { return declared_; }
    xloom::partial_type const& declared_at(std::size_t k) const
    {
        return k < declared_.size() ? declared_[k] : xloom::untyped;
    }
    /// The outputs of a body on inputs of which this much is known.
    types body_types(std::string const& name, types const& given) const;

private:
    std::vector<fact const*> const& inputs_;
    types const& declared_;
    facts const& around_;
};

} // namespace runner
