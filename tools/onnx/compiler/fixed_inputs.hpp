#pragma once
// Inputs that are fixed before the code is made: their shapes, or their values.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

namespace compiler {

/// Returns a model without the inputs that have initializers, which are constants then, but with those that
/// `values` will replace.
onnx::ModelProto with_fixed_defaults(
    onnx::ModelProto model, std::map<std::string, std::string> const& values);

/// Returns a model whose inputs have these shapes in place of the declared ones.
///
/// Throws runner_error if an input is missing or no tensor.
onnx::ModelProto with_shapes(
    onnx::ModelProto model, std::map<std::string, std::vector<std::int64_t>> const& shapes);

/// Returns a model without these inputs, which are initializers then: one item, or row-major items between
/// commas, of the declared element type. The shape is the declared one, of which one dimension may be
/// unknown; for an unknown rank it is [] or [items].
///
/// Throws runner_error if an input is missing, no tensor of numbers, or has another number of items.
onnx::ModelProto with_values(onnx::ModelProto model, std::map<std::string, std::string> const& values);

} // namespace compiler
