#pragma once
// Threads of an execution policy that stay together for many short loops.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstddef>
#include <limits>

#include <xloom/detail/core/abi.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/core/tuning.hpp>

#ifdef XLOOM_HAS_STD_THREADS
#include <thread>
#endif

namespace xloom::inline XLOOM_ABI::detail {

/// An execution policy for loops that one thread, the leader, runs one after another. The other threads wait
/// for these loops inside a single loop of the policy below. So a loop costs two stores that another core
/// reads, in place of a start and a join.
///
/// A thread claims the part of its own number first, so that its caches hold what it reads in each loop, then
/// parts that nobody has claimed. So the leader waits for no thread that begins late, is interrupted, or
/// never begins.
class team {
public:
    /// The maximum number of threads, and of parts.
    static constexpr std::size_t max_parts = std::numeric_limits<std::size_t>::digits;

    explicit team(std::size_t concurrency) noexcept : concurrency_(concurrency) {}

    std::size_t concurrency() const noexcept { return concurrency_; }

    /// The leader's loop, of calls that throw nothing.
    template <class F>
    void for_each(std::size_t parts, F const& f) const
    {
        lead(parts, part_ref(f));
    }

    /// Makes the calling thread a member. The first one calls run(policy), where the policy is the team; the
    /// others return when it has returned or thrown.
    template <class Run>
    void join(Run const& run)
    {
        if (std::size_t const member = members_.fetch_add(1, std::memory_order_relaxed); member == 0) {
            dismissal const end{*this};
            run(policy_ref(*this));
        } else {
            follow(member);
        }
    }

private:
    /// To yield takes longer than what a leader does between two loops.
    static constexpr std::size_t tries_before_yield = std::size_t{1} << 14;

    struct dismissal {
        team const& of;
        ~dismissal() { of.has_ended_.store(true, std::memory_order_release); }
    };

    template <class Condition>
    static void wait_until(Condition const& condition)
    {
        for (std::size_t tries = 0; !condition(); ++tries)
            if (tries >= tries_before_yield)
                team::yield();
    }

    static void yield()
    {
#ifdef XLOOM_HAS_STD_THREADS
        std::this_thread::yield();
#endif
    }

    void lead(std::size_t parts, part_ref const& f) const
    {
        assert(parts <= max_parts);
        if (parts == 0)
            return;
        f_ = &f;
        unfinished_.store(parts, std::memory_order_relaxed);
        unclaimed_.store(~std::size_t{0} >> (max_parts - parts), std::memory_order_release);
        run_unclaimed(0);
        wait_until([this] { return unfinished_.load(std::memory_order_acquire) == 0; });
    }

    void follow(std::size_t member) const
    {
        while (!has_ended_.load(std::memory_order_acquire)) {
            wait_until([this] {
                return unclaimed_.load(std::memory_order_relaxed) != 0 ||
                       has_ended_.load(std::memory_order_relaxed);
            });
            run_unclaimed(member);
        }
    }

    /// Runs the member's own part, then others, until none is unclaimed.
    void run_unclaimed(std::size_t member) const
    {
        std::size_t part = member;
        while (std::size_t const unclaimed = unclaimed_.load(std::memory_order_relaxed)) {
            if ((unclaimed >> part & 1) == 0)
                part = static_cast<std::size_t>(std::countr_zero(unclaimed));
            std::size_t const bit = std::size_t{1} << part;
            if ((unclaimed_.fetch_and(~bit, std::memory_order_acquire) & bit) == 0)
                continue;
            (*f_)(part);
            unfinished_.fetch_sub(1, std::memory_order_release);
        }
    }

    std::size_t concurrency_;
    std::atomic<std::size_t> members_ = 0;
    mutable part_ref const* f_ = nullptr;
    /// A bit for each part of the loop.
    alignas(cache_line) mutable std::atomic<std::size_t> unclaimed_ = 0;
    mutable std::atomic<bool> has_ended_ = false;
    alignas(cache_line) mutable std::atomic<std::size_t> unfinished_ = 0;
};

/// Calls run(team) on one thread of a policy, in a team of at most `members` threads of it.
template <class Run>
void run_in_team(policy_ref const& policy, std::size_t members, Run const& run)
{
    team all((std::min)(members, team::max_parts));
    policy.for_each(all.concurrency(), [&](std::size_t) { all.join(run); });
}

} // namespace xloom::inline XLOOM_ABI::detail
