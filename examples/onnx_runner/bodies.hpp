#pragma once
// What If, Loop and Scan have in common: graphs as bodies, what their outputs stack up to, and their types.

#include <optional>
#include <string_view>
#include <vector>

#include <xloom/infer/type_lists.hpp>

#include "strings.hpp"
#include "type_rules.hpp"

namespace runner {

/// Throws unless the body has at least so many outputs.
void require_outputs(graph const& body, std::size_t least);

/// The type that a graph declares of a value: its element type and, as far as they are known, its dimensions (unknown: 0).
struct declared_type {
    element_type type = element_type::undefined;
    xloom::shape dims{};

    explicit declared_type(onnx::ValueInfoProto const& info);

    /// An output that stacks no elements of this type.
    tensor of_no_elements(std::int64_t axis) const;
};

/// Stacked rows of bytes get the types of the elements that they are made of.
class typed_outputs {
public:
    /// For the body's outputs from number `first` on.
    typed_outputs(graph const& body, std::size_t first);

    std::size_t count() const { return declared_.size(); }

    /// An iteration's output, as what is stacked of it.
    tensor stackable(std::size_t k, tensor const& element);
    tensor typed(std::size_t k, tensor const& stacked, std::int64_t axis) const;

private:
    std::vector<declared_type> declared_{};
    std::vector<element_type> types_{};
    reservation kept_{}; ///< of tensors that share their items
    string_table table_{};
};

/// As many as xloom's inference takes; none: there are more, or of one it is not known what it holds.
std::optional<xloom::type_list> known_list(types const& all);

/// Throws unless the operator takes all of them at the opset.
void require_allowed(xloom::control_flow op, std::int64_t opset, xloom::type_list const& all);

/// What xloom's inference, which calls it as its body, gets for the outputs of a node's body. What is not known of one output is said of
/// none.
xloom::type_list infer_body(typing const& node, xloom::type_list const& given);

/// What is left where the inputs tell too little, or are too many: the body by what it declares itself.
types types_of_unknown(typing const& node);

} // namespace runner
