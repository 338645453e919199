#pragma once
// The types that operators require of their inputs.

#include "program.hpp"

namespace compiler {

/// Throws a runner_error that names the node, if ONNX gives two of its inputs one element type and they
/// differ, if an input is a tensor where ONNX has sequences or the reverse, if indices and lengths are no
/// integers, or if a condition is not bool. A run would report it; code would not compile.
void check_types(block const& of);

} // namespace compiler
