#pragma once
// The partition of work among threads.

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/core/tuning.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Returns the index of the first item of part `part` of `parts`, into which `count` items are divided. Parts
/// differ by at most one item, and the larger ones are first.
constexpr std::size_t begin_of_part(std::size_t part, std::size_t parts, std::size_t count) noexcept
{
    return count / parts * part + (std::min)(part, count % parts);
}

/// A policy whose concurrency is known to be 1 when a program is compiled, such as serial_policy.
template <class Policy>
concept one_thread = requires { typename std::enable_if_t<(Policy::concurrency() == 1)>; };

/// True if a policy may have threads. Of one that has none at run time, parts_for() returns 1.
template <execution_policy Policy>
inline constexpr bool has_threads = !one_thread<Policy>;

/// Returns the number of parts for `items` elements under a policy: at least 1, even if the policy has no
/// threads.
template <execution_policy Policy>
std::size_t parts_for(Policy const& policy, std::size_t items)
{
    return std::max<std::size_t>(
        std::min<std::size_t>(items / tuning::elements_per_thread, policy.concurrency()), 1);
}

} // namespace xloom::inline XLOOM_ABI::detail
