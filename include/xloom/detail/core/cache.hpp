#pragma once
// The assumed cache line of the processor. A wrong assumption costs speed, not correctness.

#include <cstddef>

#include <xloom/detail/core/abi.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The size of a cache line in bytes.
inline constexpr std::size_t cache_line = 64;

/// The number of elements per cache line; at least 1.
template <class T>
inline constexpr std::size_t elements_per_cache_line = sizeof(T) < cache_line ? cache_line / sizeof(T) : 1;

} // namespace xloom::inline XLOOM_ABI::detail
