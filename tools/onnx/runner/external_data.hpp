#pragma once
// Tensors whose items are in files beside the model.

#include <filesystem>

#include <onnx/onnx_pb.h>

namespace runner {

/// Reads the items of all tensors of a model that are in other files, as those of the model itself; not of
/// the defaults of functions' attributes, which an error reports where a call needs one.
///
/// Why they are not mapped: a file that another program shortens would end this one.
///
/// Errors    runner_error: a location that is not below the model's folder, links followed, or is no file; an
///           offset or a length that is no number, or beyond the file; more bytes than the budget has left.
void read_external_data(onnx::ModelProto& model, std::filesystem::path const& folder);

} // namespace runner
