#pragma once
// Something to run a model on where nothing better is given.

#include <random>

#include <onnx/onnx_pb.h>

#include "value.hpp"

namespace runner {

/// Normally distributed numbers, integers from 0 to 9, true and false, empty strings; unknown dimensions are 1. Sequences and optionals are
/// empty. Throws if the type is not known, or is more than a quarter of a gigabyte.
value random_input(onnx::TypeProto const& type, std::mt19937& source);

} // namespace runner
