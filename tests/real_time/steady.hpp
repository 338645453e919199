#pragma once
// Calls that are steady: after the first one they ask neither the allocator nor the kernel for anything.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>

#include <doctest/doctest.h>

#if defined(__has_feature)
#if __has_feature(realtime_sanitizer)
#define XLOOM_TEST_NONBLOCKING [[clang::nonblocking]]
#endif
#endif
#ifndef XLOOM_TEST_NONBLOCKING
#define XLOOM_TEST_NONBLOCKING
#endif

namespace steady {

/// The requests of this process so far.
struct requests {
    std::size_t allocations; ///< malloc and its kin, which operator new calls
    std::size_t locks;       ///< of a mutex of POSIX, with contention or without
    long page_faults;        ///< of pages that need no reading from a disk (getrusage)
};
requests requests_so_far();

/// How a child process ended that had forbidden itself all system calls but read, write, exit and sigreturn.
enum class ending { alive, killed, other };
ending without_system_calls(void (*run)(void const*), void const* argument);

/// Runs a call `times` times. RealtimeSanitizer, where it is on, stops the program at the first allocation,
/// lock or system call.
template <std::invocable Call>
void repeat(std::size_t times, Call const& call) XLOOM_TEST_NONBLOCKING
{
    for (std::size_t k = 0; k < times; ++k)
        call();
}

/// Returns the requests of `times` calls that follow one call: the most of several runs, but of page faults
/// the least, since the kernel may take pages away at any time.
template <std::invocable Call>
requests requests_of(std::size_t times, Call const& call)
{
    constexpr int attempts = 5;
    call();
    requests found{0, 0, std::numeric_limits<decltype(requests::page_faults)>::max()};
    for (int attempt = 0; attempt < attempts && found.page_faults != 0; ++attempt) {
        requests const before = requests_so_far();
        steady::repeat(times, call);
        requests const after = requests_so_far();
        found.allocations = std::max(found.allocations, after.allocations - before.allocations);
        found.locks = std::max(found.locks, after.locks - before.locks);
        found.page_faults = std::min(found.page_faults, after.page_faults - before.page_faults);
    }
    return found;
}

/// Returns how a child process ends that makes the call `times` times after a first one.
template <std::invocable Call>
ending ending_of(std::size_t times, Call const& call)
{
    struct arguments {
        std::size_t times;
        Call const& call;
    };
    call();
    arguments const all{times, call};
    return steady::without_system_calls(
        [](void const* argument) {
            auto const& [count, each] = *static_cast<arguments const*>(argument);
            steady::repeat(count, each);
        },
        &all);
}

/// Requires that calls are steady.
template <std::invocable Call>
void check(std::size_t times, Call const& call)
{
    requests const counted = steady::requests_of(times, call);
    CHECK(counted.allocations == 0);
    CHECK(counted.locks == 0);
    CHECK(counted.page_faults == 0);
    CHECK(steady::ending_of(times, call) == ending::alive);
}

} // namespace steady
