#pragma once
// Communication between ranks, which are processes that share no memory. Threads of one process belong to
// execution policies (core/policy.hpp).

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>

#include <xloom/detail/core/abi.hpp>

namespace xloom::inline XLOOM_ABI {

/// A communicator in the terms of MPI. size() ranks take part, and rank() is the index of this one; every
/// rank calls the same functions in the same order.
///
/// all_gather(mine, all) copies the bytes of every rank to every rank, in the order of ranks: mine.size() is
/// equal on all, and all.size() is size() * mine.size().
///
/// exchange(destination, sent, source, received) sends bytes to one rank while it receives bytes of another
/// one, or of the same. Both sides know the sizes. If the size is 0, nothing is sent and the other rank does
/// not call exchange. Messages from one rank to another arrive in the order in which they are sent.
///
/// Sums and scans over ranks combine what they receive in an order of their own, so that all ranks compute
/// the same bits; a reduction by the communicator could combine it in any order.
template <class C>
concept communicator =
    requires(C const& c, std::size_t other, std::span<std::byte const> mine, std::span<std::byte> theirs) {
        {
            c.rank()
        } -> std::convertible_to<std::size_t>;
        {
            c.size()
        } -> std::convertible_to<std::size_t>;
        c.all_gather(mine, theirs);
        c.exchange(other, mine, other, theirs);
    };

/// The communicator of a program that runs alone.
struct single_rank {
    static constexpr std::size_t rank() noexcept { return 0; }
    static constexpr std::size_t size() noexcept { return 1; }

    static void all_gather(std::span<std::byte const> mine, std::span<std::byte> all)
    {
        std::copy(mine.begin(), mine.end(), all.begin());
    }
    static void exchange(
        std::size_t, std::span<std::byte const> sent, std::size_t, std::span<std::byte> received)
    {
        if (!received.empty())
            std::copy(sent.begin(), sent.end(), received.begin());
    }
};

namespace detail {

/// Calls f(destination, source) for this rank's partners, one pair after another: first itself, then its
/// neighbours at both sides, and so on. All ranks do so in the same order.
template <communicator C, class F>
void for_each_partner(C const& ranks, F const& f)
{
    std::size_t const size = ranks.size(), rank = ranks.rank();
    for (std::size_t distance = 0; distance < size; ++distance)
        f((rank + distance) % size, (rank + size - distance) % size);
}

/// Copies the bytes of every rank to every rank, as all_gather does, by one exchange with each.
template <communicator C>
void all_gather_by_exchange(C const& ranks, std::span<std::byte const> mine, std::span<std::byte> all)
{
    detail::for_each_partner(ranks, [&](std::size_t destination, std::size_t source) {
        ranks.exchange(destination, mine, source, all.subspan(source * mine.size(), mine.size()));
    });
}

/// Sends values to a rank and receives values of another one.
template <class T, communicator C>
void exchange_values(C const& ranks, std::size_t destination, std::span<T const> sent, std::size_t source,
    std::span<T> received)
{
    ranks.exchange(destination, std::as_bytes(sent), source, std::as_writable_bytes(received));
}

/// True for values that are sent to other ranks as bytes; of a tuple those of its members.
template <class V>
inline constexpr bool is_sendable = std::is_trivially_copyable_v<V>;
template <class... Ts>
inline constexpr bool is_sendable<std::tuple<Ts...>> = (std::is_trivially_copyable_v<Ts> && ...);

/// Requires values that are sent to other ranks as bytes.
template <class V>
struct sent_as_bytes {
    static consteval bool holds()
    {
        constexpr bool is_valid = is_sendable<V>;
        static_assert(
            is_valid, "elements are sent to other ranks as bytes, so their type must be trivially copyable");
        return is_valid;
    }
};

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
