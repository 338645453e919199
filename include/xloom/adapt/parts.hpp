#pragma once
// How much of an operator's work a thread gets.

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <xloom/core/even_parts.hpp>
#include <xloom/core/policy.hpp>

namespace xloom::detail {

/// Fewer items than this are not worth another thread.
inline constexpr std::size_t items_worth_a_thread = std::size_t{1} << 14;

template <execution_policy Policy>
inline constexpr bool has_threads = !std::is_same_v<Policy, serial_policy>;

/// At least 1, also for a policy of no threads.
template <execution_policy Policy>
std::size_t parts_for(Policy const& policy, std::size_t items)
{
    return std::max<std::size_t>(
        std::min<std::size_t>(items / items_worth_a_thread, policy.concurrency()), 1);
}

} // namespace xloom::detail
