// Replaces onnxruntime.cpp where its header or the library for ONNX files is missing.

#include "onnxruntime.hpp"

#include <cstdlib>
#include <iostream>
#include <mutex>

namespace bench {

bool has_onnxruntime()
{
    static std::once_flag said;
    std::call_once(said, [] {
        std::cerr << "onnxruntime: omitted: the program was built without " XLOOM_ORT_MISSING
                     " (scripts/setup all, scripts/fetch-onnxruntime)\n";
    });
    return false;
}

struct onnxruntime_session::implementation {};

onnxruntime_session::onnxruntime_session(onnx_graph const&, std::size_t) { std::abort(); }
onnxruntime_session::onnxruntime_session(
    std::string const&, std::vector<onnx_operand> const&, std::vector<onnx_operand> const&, std::size_t)
{
    std::abort();
}
onnxruntime_session::~onnxruntime_session() = default;
void onnxruntime_session::run() { std::abort(); }

} // namespace bench
