#pragma once
// The number of iterations of a Loop whose condition its body never changes.

#include <cstddef>
#include <cstdint>

namespace xloom_onnx {

/// Returns the number of iterations for M and the initial condition.
constexpr std::size_t trip_count(std::int64_t M, bool cond = true)
{
    return cond && M > 0 ? static_cast<std::size_t>(M) : 0;
}

} // namespace xloom_onnx
