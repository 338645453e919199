#pragma once
// Units of work that do not depend on each other, such as heads or blocks of channels, divided among threads.

#include <algorithm>
#include <cstddef>

#include <xloom/detail/core/flush_subnormals.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/kernel/arena.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Returns the number of threads' parts of `units`, which process `elements` elements together; at least 1.
inline std::size_t parts_of_units(policy_ref const& policy, std::size_t units, std::size_t elements)
{
    return (std::min)(detail::parts_for(policy, elements), std::max<std::size_t>(units, 1));
}

/// Calls f(unit, memory) for each unit, while subnormal numbers are zeros. `memory` is an arena of `size`
/// numbers, of which `numbers` has those of each part.
template <class T, class F>
void for_each_unit(
    policy_ref const& policy, std::size_t parts, std::size_t units, T* numbers, std::size_t size, F const& f)
{
    flush_subnormals const flushing;
    policy.for_each(parts, [&](std::size_t part) {
        for (auto [unit, end] = range_of_part(part, parts, units); unit < end; ++unit) {
            kernel::arena<T> memory(numbers + part * size);
            f(unit, memory);
        }
    });
}

} // namespace xloom::inline XLOOM_ABI::detail
