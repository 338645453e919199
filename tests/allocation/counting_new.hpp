#pragma once

#include <cstddef>

/// The number of allocations of this program so far: every form of operator new and, on Linux,
/// posix_memalign, which xtensor's aligned allocator calls.
std::size_t allocations();

/// True if the allocations of xtensor's containers are counted.
#if defined(__linux__) || !defined(XTENSOR_USE_XSIMD)
inline constexpr bool counts_containers = true;
#else
inline constexpr bool counts_containers = false;
#endif

/// How many bytes it has got by them so far, and how many of those from operator new it holds.
std::size_t allocated_bytes();
std::size_t held_bytes();

/// While it lives, this many more requests are granted; then operator new throws std::bad_alloc, and
/// posix_memalign fails.
class refusal {
public:
    explicit refusal(std::size_t granted);
    ~refusal();
    refusal(refusal const&) = delete;
    refusal& operator=(refusal const&) = delete;
};

/// As refusal, for the requests of this thread alone.
class thread_refusal {
public:
    explicit thread_refusal(std::size_t granted);
    ~thread_refusal();
    thread_refusal(thread_refusal const&) = delete;
    thread_refusal& operator=(thread_refusal const&) = delete;
};
