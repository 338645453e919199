#pragma once
// Operators that are C++ functions of the user.

#include <map>
#include <string>

#include "emitters.hpp"
#include "operators.hpp"

namespace compiler {

/// Functions by the full names of operators: "com.example.Filter" is "dsp::filter".
using custom_operators = std::map<std::string, std::string>;

/// Adds an operator, given as "com.example::Filter=dsp::filter"; without a domain it is one of ONNX's.
///
/// Throws runner_error if the text is no such assignment, if the operator is one of the runner's or is given
/// twice, or if the function is no qualified name.
void add_custom_operator(custom_operators& all, std::string const& text);

/// Returns what the runner must know to read models with these operators: their outputs have the types that
/// the model declares.
runner::operator_table operations_of(custom_operators const& all);

/// Writes a call: ::function(inputs..., outputs..., {.attribute = value...}). Omitted inputs are
/// std::nullopt; attributes are in alphabetical order.
void emit_custom(emission& out, node& each, std::string const& function);

} // namespace compiler
