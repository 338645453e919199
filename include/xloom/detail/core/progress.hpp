#pragma once
// How far one thread has come, for the threads that wait for it.

#include <atomic>
#include <cstddef>

#include <xloom/detail/core/abi.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/tuning.hpp>

#ifdef XLOOM_HAS_STD_THREADS
#include <condition_variable>
#include <mutex>
#endif

namespace xloom::inline XLOOM_ABI::detail {

#ifdef XLOOM_HAS_STD_THREADS
/// Threads that sleep until a condition holds.
class sleeping_threads {
public:
    template <class Condition>
    void sleep_until(Condition const& condition)
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, condition);
    }

    void wake_all() noexcept
    {
        {
            std::scoped_lock const lock(mutex_); // no thread is between its last load and its sleep
        }
        changed_.notify_all();
    }

private:
    // Why not std::atomic's wait: libstdc++ loses notifications where the system has no futex.
    std::mutex mutex_{};
    std::condition_variable changed_{};
};
#else
/// Threads of a policy of the user's, if any, which test the condition until it holds.
struct sleeping_threads {
    template <class Condition>
    void sleep_until(Condition const& condition) const
    {
        while (!condition())
            ;
    }
    void wake_all() const noexcept {}
};
#endif

/// A number of steps that are done, in their order. One thread at a time does them, others wait for them.
class progress {
public:
    /// True if `count` steps are done. Everything that was written before they were said to be done is then
    /// visible.
    bool has_reached(std::size_t count) const noexcept
    {
        std::size_t const done = done_.load(std::memory_order_acquire);
        return done != given_up && done >= count;
    }

    /// Waits until `count` steps are done. Returns false if they never will be.
    bool wait_for(std::size_t count)
    {
        for (std::size_t tries = 0; tries < tries_before_sleep; ++tries)
            if (done_.load(std::memory_order_acquire) >= count)
                return has_reached(count);
        sleeping_.sleep_until([&] { return done_.load(std::memory_order_acquire) >= count; });
        return has_reached(count);
    }

    /// Says that `count` steps are done, which is more than before, unless a thread has given up.
    void reach(std::size_t count) noexcept
    {
        std::size_t before = done_.load(std::memory_order_relaxed);
        while (before != given_up && !done_.compare_exchange_weak(
                                         before, count, std::memory_order_release, std::memory_order_relaxed))
            ;
        sleeping_.wake_all();
    }

    /// Says that no more steps will be done.
    void give_up() noexcept
    {
        done_.store(given_up, std::memory_order_release);
        sleeping_.wake_all();
    }

private:
    static constexpr std::size_t given_up = static_cast<std::size_t>(-1);
    /// To sleep and wake up takes longer than the steps that are waited for.
    static constexpr std::size_t tries_before_sleep = std::size_t{1} << 14;

    alignas(cache_line) std::atomic<std::size_t> done_ = 0;
    sleeping_threads sleeping_{};
};

} // namespace xloom::inline XLOOM_ABI::detail
