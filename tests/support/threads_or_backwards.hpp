#pragma once
// A policy that finds out who relies on the order of the parts.

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "threads.hpp"

/// Threads; or one thread that runs the parts from the last to the first: whoever relies on
/// their order is found out every time.
struct threads_or_backwards {
    std::size_t threads;
    bool is_backwards = false;
    std::atomic<std::size_t>* most_parts = nullptr; ///< of all calls so far

    std::size_t concurrency() const { return threads; }

    template <class F>
    void for_each(std::size_t count, F const& f) const
    {
        if (most_parts != nullptr)
            *most_parts = std::max<std::size_t>(*most_parts, count);
        if (!is_backwards)
            return threads_policy(threads).for_each(count, f);
        while (count-- > 0)
            f(count);
    }
};
