#pragma once
// The peer: ONNX Runtime through its C API, from a library that is loaded while the program runs.
//
// scripts/fetch-onnxruntime gets the library and the header; the environment's XLOOM_ORT_LIB names another
// library. Where one of the two is missing, the benchmarks do without the peer.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "onnx_model.hpp"

namespace bench {

/// True if the peer is available. Loads it, or reports once on stderr why its series are omitted.
bool has_onnxruntime();

/// A model that is ready to run on the operands bound to it, whose addresses must not change. Configured for
/// speed: all graph optimisations, the arena, no parallel execution of nodes. Stops the program on an error
/// of the peer.
class onnxruntime_session {
public:
    onnxruntime_session(onnx_graph const& model, std::size_t threads);
    /// The contents of a model's file.
    onnxruntime_session(std::string const& file, std::vector<onnx_operand> const& inputs,
        std::vector<onnx_operand> const& outputs, std::size_t threads);
    ~onnxruntime_session();

    void run();

private:
    struct implementation;
    std::unique_ptr<implementation> session_;
};

} // namespace bench
