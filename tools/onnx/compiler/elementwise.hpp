#pragma once
// Element-wise operators as expressions of items, and chains of them.

#include <set>
#include <string>
#include <vector>

#include "emission.hpp"

namespace compiler {

/// True if each item of the node's result depends on one item of each operand, after broadcasting.
bool is_elementwise(node const& each);

/// Returns the names of the element-wise operators in unspecified order.
std::vector<std::string> elementwise_operators();

/// Returns the nodes of a block that are computed in the loop of the only node that uses their result.
std::set<node const*> find_fused(block const& of);

/// Writes one call of map_into for a node and the fused nodes that it uses.
void emit_elementwise(emission& out, node& each, std::set<node const*> const& fused);

} // namespace compiler
