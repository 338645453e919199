#pragma once
// The types of sequences and optionals, whose tensors must have one rank in C++.

#include "program.hpp"

namespace compiler {

/// Returns the type of a constant; the tensors of a sequence have their common rank, if there is one.
partial_type type_of_constant(runner::value const& constant);

/// Completes the element types and ranks that inference leaves open in sequences and optionals, from the
/// values that are put into them or must have their type: an empty sequence to which tensors of rank 1 are
/// added is one of tensors of rank 1.
///
/// Throws a runner_error that names the node, if a sequence has tensors of several ranks.
void complete_sequence_types(block& of);

} // namespace compiler
