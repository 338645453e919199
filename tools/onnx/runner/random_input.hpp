#pragma once
// Random inputs for a model, where none are given.

#include <random>

#include <onnx/onnx_pb.h>

#include "value.hpp"

namespace runner {

/// Normally distributed numbers, integers from 0 to 9 or the largest of a narrower type, true and false,
/// empty strings; unknown dimensions are 1. Sequences and optionals are empty. Throws if the type is not
/// known, or more than the budget allows for one tensor.
value random_input(onnx::TypeProto const& type, std::mt19937& source);
/// The initializer of a graph's input; random if it has none.
value default_input(onnx::GraphProto const& graph, onnx::ValueInfoProto const& input, std::mt19937& source);

} // namespace runner
