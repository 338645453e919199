#pragma once
// Shared by If, Loop and Scan: graphs as bodies, their stacked outputs and their types.

#include <optional>
#include <string_view>
#include <vector>

#include <xloom/infer/versions.hpp>

#include "graph.hpp"
#include "type_rules.hpp"
#include "value.hpp"

namespace runner {

/// Throws unless the body has at least `least` outputs.
void require_outputs(graph const& body, std::size_t least);

/// Returns the known types of a node's outputs from index `first` on.
types expected_from(call const& node, std::size_t first);

/// The scan outputs of a body: the tensors of all iterations, stacked when the last one has run.
class scan_outputs {
public:
    /// Takes the body's outputs from index `first` on, which are stacked to values of the types `wholes`, as
    /// far as these are known.
    scan_outputs(graph const& body, std::size_t first, types const& wholes = {});

    std::size_t count() const { return elements_.size(); }

    /// Appends an iteration's output k. Throws if its type or its shape is not that of the iterations before.
    void push(std::size_t k, tensor const& element);
    /// Returns output k, stacked along an axis, from its end if `is_reverse`. Its iterations are then gone.
    tensor stacked(std::size_t k, std::int64_t axis, bool is_reverse = false);

private:
    tensor of_no_elements(std::size_t k, std::int64_t axis) const;

    types elements_{}, wholes_{};
    std::vector<std::vector<tensor>> made_{}; ///< by output and iteration
    reservation kept_{};                      ///< of tensors that share their items, and of their shapes
};

/// Returns the types as a list for xloom's inference; std::nullopt if there are too many, or one is unknown.
std::optional<xloom::type_list> known_list(types const& all);

/// Throws unless the operator allows all types at the opset.
void require_allowed(xloom::onnx_operator op, std::int64_t opset, xloom::type_list const& all);

/// Returns the types of the outputs of a node's body, for xloom's inference; empty if one of them is unknown.
xloom::type_list infer_body(
    typing const& node, xloom::type_list const& given, certainty of_types = certainty::final);

/// Infers the body from its own declarations, for inputs of unknown types or too many inputs. Returns no
/// types.
types types_of_unknown(typing const& node);

} // namespace runner
