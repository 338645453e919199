#pragma once
// The number of iterations of a Loop whose condition its body never changes.

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace xloom_onnx {

/// Returns the number of iterations for M and the initial condition.
constexpr std::size_t trip_count(std::int64_t M, bool cond = true)
{
    constexpr std::uint64_t most = SIZE_MAX;
    return cond && M > 0 ? static_cast<std::size_t>((std::min)(static_cast<std::uint64_t>(M), most)) : 0;
}

} // namespace xloom_onnx
