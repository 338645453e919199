#pragma once
// Weights that are inputs of a model: packed in each run, in the memory of the run before.

#include <optional>

namespace xloom_onnx {

/// Packs constants: assigned(weights, constants, options), with the storage after them if it is not full.
/// Allocates nothing if they have the same sizes as those before.
///
/// Errors    as the constructor of Weights.
template <class Weights, class Constants, class Options, class... Storage>
Weights const& assigned(
    std::optional<Weights>& weights, Constants const& constants, Options const& options, Storage... storage)
{
    if (weights)
        weights->assign(constants, options);
    else
        weights.emplace(constants, options, storage...);
    return *weights;
}

} // namespace xloom_onnx
