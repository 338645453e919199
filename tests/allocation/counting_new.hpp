#pragma once

#include <cstddef>

/// How often this program has asked for memory so far: every form of operator new, and posix_memalign, which xtensor's aligned
/// allocator calls.
std::size_t allocations();
