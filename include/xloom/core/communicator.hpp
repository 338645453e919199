#pragma once
// Communication between ranks, which are processes that share no memory. Threads of one process belong to
// execution policies (core/policy.hpp).

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>

#include <xloom/core/exceptions.hpp>

namespace xloom {

/// A communicator in the terms of MPI. size() ranks take part, and rank() is the index of this one; every
/// rank calls the same functions in the same order. all_gather(mine, all) copies the bytes of every rank to
/// every rank, in the order of ranks: mine.size() is equal on all, and all.size() is size() * mine.size().
///
/// Sums and scans over ranks gather their parts and combine them in that order, so that all ranks compute
/// the same bits; a reduction by the communicator could combine them in any order.
template <class C>
concept communicator = requires(C const& c, std::span<std::byte const> mine, std::span<std::byte> all) {
    {
        c.rank()
    } -> std::convertible_to<std::size_t>;
    {
        c.size()
    } -> std::convertible_to<std::size_t>;
    c.all_gather(mine, all);
};

/// The communicator of a program that runs alone.
struct single_rank {
    static constexpr std::size_t rank() noexcept { return 0; }
    static constexpr std::size_t size() noexcept { return 1; }

    static void all_gather(std::span<std::byte const> mine, std::span<std::byte> all)
    {
        std::copy(mine.begin(), mine.end(), all.begin());
    }
};

} // namespace xloom
