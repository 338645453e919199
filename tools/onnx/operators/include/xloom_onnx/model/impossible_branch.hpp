#pragma once
// Branches of If that the shapes of a model's inputs exclude.

#include <string_view>

#include <xloom/kernels.hpp>

namespace xloom_onnx {

/// Fails where a run takes a branch that the compiler found impossible.
///
/// Errors    shape_error, which names the model, the node and what is wrong.
[[noreturn]] inline void fail_in_impossible_branch(
    std::string_view model, std::string_view node, std::string_view why)
{
    xloom::kernels::fail<xloom::shape_error>(model, ": ", node,
        " takes a branch that the shapes of this code exclude: ", why, ". Make code for other shapes.");
}

} // namespace xloom_onnx
