#pragma once
// The assumed sizes of a processor's caches. A wrong assumption costs speed, not correctness.

#include <cstddef>

#include <xloom/core/exceptions.hpp>

namespace xloom {

/// The size of a cache line in bytes.
inline constexpr std::size_t cache_line = 64;

/// The number of elements per cache line; at least 1.
template <class T>
inline constexpr std::size_t elements_per_cache_line = sizeof(T) < cache_line ? cache_line / sizeof(T) : 1;

/// The assumed size of a core's private L2 cache in bytes, an upper bound: larger data is read from L3 or
/// memory in every pass over it.
inline constexpr std::size_t l2_cache_size = std::size_t{2} << 20;

} // namespace xloom
