#pragma once
// ONNX's files: models, and the values that its test folders hold.

#include <istream>
#include <string>

#include <onnx/onnx_pb.h>

#include "value.hpp"

namespace runner {

/// Throws a runner_error for what is no TensorProto of a known element type with as many items as its shape
/// says.
tensor read_tensor(onnx::TensorProto const& proto);
/// A value that was recorded for a test; its name may be empty.
struct recorded_value {
    std::string name;
    value held;
};

/// A file with a TensorProto, SequenceProto or OptionalProto, as a graph's input or output of this type is
/// stored.
recorded_value read_recorded(std::string const& path, onnx::TypeProto const& type);
value read_value(std::string const& path, onnx::TypeProto const& type);
onnx::ModelProto read_model(std::string const& path);

/// The same from an open file. Its path is for messages.
recorded_value read_recorded(std::istream& file, std::string const& path, onnx::TypeProto const& type);
onnx::ModelProto read_model(std::istream& file, std::string const& path);

} // namespace runner
