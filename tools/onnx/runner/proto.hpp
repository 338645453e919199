#pragma once
// ONNX's files: models, and the values that its test folders hold.

#include <istream>
#include <string>

#include <onnx/onnx_pb.h>

#include "value.hpp"

namespace runner {

/// Reads a tensor. Throws a runner_error for a TensorProto of unknown element type or whose items do not
/// match its shape.
tensor read_tensor(onnx::TensorProto const& proto);
/// A value that was recorded for a test; its name may be empty.
struct recorded_value {
    std::string name;
    value held;
};

/// Reads a file with a TensorProto, SequenceProto or OptionalProto, the form in which a graph's input or
/// output of this type is stored.
recorded_value read_recorded(std::string const& path, onnx::TypeProto const& type);
value read_value(std::string const& path, onnx::TypeProto const& type);
/// Reads a model, and what its tensors keep in files below its folder.
onnx::ModelProto read_model(std::string const& path);

/// Reads from an open file; its path is for messages.
recorded_value read_recorded(std::istream& file, std::string const& path, onnx::TypeProto const& type);
onnx::ModelProto read_model(std::istream& file, std::string const& path);

} // namespace runner
