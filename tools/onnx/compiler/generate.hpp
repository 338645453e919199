#pragma once
// The header that a model becomes.

#include <set>
#include <string>

#include "emission.hpp"

namespace compiler {

/// What a model becomes: a header, and the bytes of its weights if they are in a file of their own.
struct generated {
    struct value {
        std::string onnx_name{};
        std::string name{}; ///< in the code
        std::string type{}; ///< the C++ type
    };

    std::string header{};
    std::string weights{};
    std::vector<value> inputs{}, outputs{};
    bool has_static_shapes = false; ///< all values are tensors of numbers whose shapes are known before a run
    std::set<std::string> warnings{}; ///< where the model's declarations contradict what follows from it
};

/// Returns a translation unit with a main() that runs the model on .npy files; `header` is the
/// name in its #include.
///
/// Throws not_implemented if an input or an output has a type that .npy files lack.
std::string main_of(generated const& model, options const& chosen, std::string const& header);

/// Returns the header for a model. The same model and options give the same text.
///
/// Throws not_implemented if code for an operator is missing, runner_error for all else that is wrong with
/// the model; both name the node.
generated generate(onnx::ModelProto const& model, options const& chosen);

} // namespace compiler
