#pragma once
// Weights that are inputs of a model: packed in each run, in the memory of the run before.

#include <optional>

namespace xloom_onnx {

/// Packs constants: assigned(weights, constants, options). Allocates nothing if they have the same sizes as
/// those before.
///
/// Errors    as the constructor of Weights.
template <class Weights, class Constants, class Options>
Weights const& assigned(std::optional<Weights>& weights, Constants const& constants, Options const& options)
{
    if (weights)
        weights->assign(constants, options);
    else
        weights.emplace(constants, options);
    return *weights;
}

} // namespace xloom_onnx
