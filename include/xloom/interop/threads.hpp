#pragma once
// An execution policy that starts threads of the standard library.

#include <algorithm>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <xloom/detail/core/policy.hpp>

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
    /// The first exception of several threads.
    class first_failure {
    public:
        template <class F>
        void operator()(F const& f)
        {
#ifdef __cpp_exceptions
            try {
                f();
            } catch (...) {
                std::scoped_lock const lock(mutex_);
                if (!failure_)
                    failure_ = std::current_exception();
            }
#else
            f();
#endif
        }
        void rethrow() const
        {
#ifdef __cpp_exceptions
            if (failure_)
                std::rethrow_exception(failure_);
#endif
        }

    private:
        std::mutex mutex_{};
        std::exception_ptr failure_{};
    };

    /// Calls f(part) for each part: each thread has a range of them.
    void run(std::size_t parts, detail::part_ref f) const
    {
        std::size_t const threads = (std::min)(concurrency_, parts);
        first_failure failure;
        auto const run_range = [&](std::size_t thread) {
            failure([&] {
                for (std::size_t part = detail::begin_of_part(thread, threads, parts);
                     part < detail::begin_of_part(thread + 1, threads, parts); ++part)
                    f(part);
            });
        };
        std::vector<std::thread> running;
        first_failure cannot_start;
        cannot_start([&] {
            running.reserve(threads);
            while (running.size() + 1 < threads)
                running.emplace_back(run_range, running.size());
        });
        for (std::size_t thread = running.size(); thread < threads; ++thread)
            run_range(thread);
        for (std::thread& each : running)
            each.join();
        failure.rethrow();
    }

    std::size_t concurrency_;
};

} // namespace xloom::inline XLOOM_ABI
