#pragma once
// Where an operator's work runs: the policy that is handed to it, and nothing else, starts threads.

#include <concepts>
#include <cstddef>

#include <xloom/core/exceptions.hpp>

namespace xloom {

namespace detail {
struct any_part {
    void operator()(std::size_t) const {}
};
} // namespace detail

/// What a policy has: concurrency(), how many parts of the work are worth making, at least 1; and
/// for_each(parts, f), which calls f(0) to f(parts - 1), each once, in any order and on any threads, and
/// returns when all are done. What an f throws comes out of for_each.
template <class P>
concept execution_policy = requires(P const& policy, std::size_t parts, detail::any_part const& f) {
    {
        policy.concurrency()
    } -> std::convertible_to<std::size_t>;
    policy.for_each(parts, f);
};

/// Everything on the calling thread.
struct serial_policy {
    static constexpr std::size_t concurrency() noexcept { return 1; }

    template <class F>
    constexpr void for_each(std::size_t parts, F const& f) const
    {
        for (std::size_t part = 0; part < parts; ++part)
            f(part);
    }
};
inline constexpr serial_policy serial{};

} // namespace xloom
