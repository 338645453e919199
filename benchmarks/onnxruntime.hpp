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

/// Whether the peer is there. Loads it, or says once on stderr why it is left out.
bool has_onnxruntime();

/// A model ready to run, on the operands that it is bound to: they must stay where they are. Asks for the
/// peer's best: all graph optimisations, the arena, nothing else at the same time. Stops the program if the
/// peer refuses something.
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
