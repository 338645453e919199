#pragma once
// An execution policy that starts threads of the standard library.

#include <algorithm>
#include <cstddef>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/core/threads.hpp>

#ifdef XLOOM_HAS_STD_THREADS // else there is no thread_policy

namespace xloom::inline XLOOM_ABI {

/// An execution policy that starts threads for each call, at most `concurrency` with the calling one, and
/// ends them before it returns. tbb_policy keeps its threads, which saves their starts. If a thread cannot be
/// started, the calling thread does its work, too. The first exception of a part is thrown when all
/// threads have ended. Link with the threads of the platform (CMake: Threads::Threads).
///
/// Example
/// ```cpp
/// xt::xtensor<int, 1> const x = {1, 2, 3};
/// xloom::cumulative_sum(x, xloom::thread_policy(2)); // = [1, 3, 6]
/// ```
class thread_policy {
public:
    explicit thread_policy(std::size_t concurrency) : concurrency_((std::max)(concurrency, std::size_t{1})) {}

    std::size_t concurrency() const noexcept { return concurrency_; }

    template <class F>
    void for_each(std::size_t parts, F const& f) const
    {
        run(parts, detail::part_ref(f));
    }

private:
    /// Calls f(part) for each part: each thread has a range of them.
    void run(std::size_t parts, detail::part_ref f) const
    {
        std::size_t const threads = (std::min)(concurrency_, parts);
        detail::first_failure failure;
        auto const run_range = [&](std::size_t thread) {
            failure([&] {
                for (std::size_t part = detail::begin_of_part(thread, threads, parts);
                     part < detail::begin_of_part(thread + 1, threads, parts); ++part)
                    f(part);
            });
        };
        {
            detail::joined_threads running;
            detail::first_failure cannot_start;
            cannot_start([&] {
                while (running.size() + 1 < threads)
                    running.start(run_range, running.size());
            });
            for (std::size_t thread = running.size(); thread < threads; ++thread)
                run_range(thread);
        }
        failure.rethrow();
    }

    std::size_t concurrency_;
};

} // namespace xloom::inline XLOOM_ABI

#endif
