#pragma once
// What If, Loop and Scan have in common: graphs as bodies, what their outputs stack up to, and their types.

#include <optional>
#include <string_view>
#include <vector>

#include <xloom/infer/type_lists.hpp>

#include "graph.hpp"
#include "strings.hpp"
#include "type_rules.hpp"

namespace runner {

/// Throws unless the body has at least so many outputs.
void require_outputs(graph const& body, std::size_t least);

/// What is known of a node's outputs from number `first` on.
types expected_from(call const& node, std::size_t first);

/// Stacked rows of bytes get the types of the elements that they are made of.
class typed_outputs {
public:
    /// For the body's outputs from number `first` on, which are stacked to values of the types `wholes`, as
    /// far as these are known.
    typed_outputs(graph const& body, std::size_t first, types const& wholes = {});

    std::size_t count() const { return elements_.size(); }

    /// An iteration's output, as what is stacked of it.
    tensor stackable(std::size_t k, tensor const& element);
    tensor typed(std::size_t k, tensor const& stacked, std::int64_t axis) const;

private:
    tensor of_no_elements(std::size_t k, std::int64_t axis) const;

    types elements_{}, wholes_{};
    std::vector<element_type> types_{};
    reservation kept_{}; ///< of tensors that share their items
    string_table table_{};
};

/// As many as xloom's inference takes; none: there are more, or of one it is not known what it holds.
std::optional<xloom::type_list> known_list(types const& all);

/// Throws unless the operator takes all of them at the opset.
void require_allowed(xloom::control_flow op, std::int64_t opset, xloom::type_list const& all);

/// What xloom's inference, which calls it as its body, gets for the outputs of a node's body. What is not
/// known of one output is said of none.
xloom::type_list infer_body(typing const& node, xloom::type_list const& given);

/// What is left where the inputs tell too little, or are too many: the body by what it declares itself.
types types_of_unknown(typing const& node);

} // namespace runner
