#pragma once
// Ranks as threads of one process: the model of a communicator that tests and first steps use.

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <xloom/detail/core/communicator.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/threads.hpp>

#ifdef XLOOM_HAS_STD_THREADS // else there are no ranks as threads
#include <condition_variable>
#include <mutex>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// The messages between ranks that are threads. A sender waits until its bytes have been copied.
class thread_exchange {
public:
    explicit thread_exchange(std::size_t size) : size_(size), posted_(size * size), has_ended_(size) {}

    std::size_t size() const noexcept { return size_; }

    void exchange(std::size_t rank, std::size_t destination, std::span<std::byte const> sent,
        std::size_t source, std::span<std::byte> received)
    {
        std::unique_lock lock(mutex_);
        message& out = posted_[rank * size_ + destination];
        withdrawal const when_left{out};
        if (!sent.empty()) {
            out = {sent, true};
            changed_.notify_all();
        }
        if (!received.empty()) {
            message& in = posted_[source * size_ + rank];
            wait(lock, source, [&] { return in.is_waiting; });
            if (in.bytes.size() != received.size())
                fail<rank_error>("xloom::thread_rank: rank ", rank, " expects ", received.size(),
                    " bytes of rank ", source, ", which sends ", in.bytes.size(),
                    ". All ranks must make the same calls.");
            std::copy(in.bytes.begin(), in.bytes.end(), received.begin());
            in.is_waiting = false;
            changed_.notify_all();
        }
        if (!sent.empty())
            wait(lock, destination, [&] { return !out.is_waiting; });
    }

    /// Ends the waiting of others for a rank.
    void end(std::size_t rank)
    {
        std::lock_guard const lock(mutex_);
        has_ended_[rank] = true;
        changed_.notify_all();
    }

private:
    struct message {
        std::span<std::byte const> bytes{};
        bool is_waiting = false;
    };

    /// Withdraws a message that nobody has received when its sender fails.
    struct withdrawal {
        message& sent;
        ~withdrawal() { sent.is_waiting = false; }
    };

    template <class Condition>
    void wait(std::unique_lock<std::mutex>& lock, std::size_t other, Condition const& condition)
    {
        changed_.wait(lock, [&] { return condition() || has_ended_[other]; });
        if (!condition())
            fail<rank_error>("xloom::thread_rank: rank ", other,
                " ended while another rank waited for its message. All ranks must make the same calls.");
    }

    std::size_t size_;
    std::mutex mutex_{};
    std::condition_variable changed_{};
    std::vector<message> posted_; ///< by source and destination
    std::vector<bool> has_ended_;
};

/// The ranks whose threads have not been started. If one of them cannot be, no other waits for them.
struct unstarted_ranks {
    thread_exchange& all;
    std::size_t rank = 0;

    ~unstarted_ranks()
    {
        for (; rank < all.size(); ++rank)
            all.end(rank);
    }
};

} // namespace detail

/// The communicator that run_thread_ranks gives to each of its threads. Copies are the same rank.
///
/// Errors    rank_error: the other rank has ended, or makes another call.
class thread_rank {
public:
    thread_rank(detail::thread_exchange& all, std::size_t rank) noexcept : all_(&all), rank_(rank) {}

    std::size_t rank() const noexcept { return rank_; }
    std::size_t size() const noexcept { return all_->size(); }

    void exchange(std::size_t destination, std::span<std::byte const> sent, std::size_t source,
        std::span<std::byte> received) const
    {
        all_->exchange(rank_, destination, sent, source, received);
    }

    void all_gather(std::span<std::byte const> mine, std::span<std::byte> all) const
    {
        detail::all_gather_by_exchange(*this, mine, all);
    }

private:
    detail::thread_exchange* all_;
    std::size_t rank_;
};

/// Calls f(communicator) on `size` threads, each of which is a rank.
///
/// Errors    what the first rank to fail has thrown, after all have ended. A rank that waits for one that has
///           ended throws rank_error, so none waits forever.
/// Example
/// ```cpp
/// std::vector<std::size_t> squares(3);
/// xloom::run_thread_ranks(
///     3, [&](auto const& ranks) { squares[ranks.rank()] = ranks.rank() * ranks.rank(); });
/// squares; // = [0, 1, 4]
/// ```
template <class F>
void run_thread_ranks(std::size_t size, F const& f)
{
    detail::thread_exchange all(size);
    detail::first_failure failure;
    auto const run = [&](std::size_t rank) {
        failure([&] { f(thread_rank(all, rank)); });
        all.end(rank);
    };
    {
        detail::joined_threads threads;
        detail::unstarted_ranks next{all};
        for (; next.rank < size; ++next.rank)
            threads.start(run, next.rank);
    }
    failure.rethrow();
}

} // namespace xloom::inline XLOOM_ABI

#endif
