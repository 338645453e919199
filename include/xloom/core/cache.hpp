#pragma once
// What is taken for granted of a processor's caches. Where it is not so, speed is lost and nothing else.

#include <cstddef>

#include <xloom/core/exceptions.hpp>

namespace xloom {

/// Bytes of a line of the cache.
inline constexpr std::size_t cache_line = 64;

/// Items in a line of the cache; 1 where one fills it.
template <class T>
inline constexpr std::size_t elements_per_cache_line = sizeof(T) < cache_line ? cache_line / sizeof(T) : 1;

/// Bytes of a core's own cache, at most: what is larger comes from farther away each time it is read from end
/// to end.
inline constexpr std::size_t l2_cache_size = std::size_t{2} << 20;

} // namespace xloom
