#pragma once
// The sizes and the tree of a parallel scan, which decide about the bits of its results.

#include <cstddef>
#include <utility>

#include <xloom/detail/core/abi.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The number of elements whose prefixes are combined by one tree.
inline constexpr std::size_t elements_per_group = 16;

/// The number of elements of a block, which is the unit of work of a thread.
inline constexpr std::size_t elements_per_block = 256;

namespace detail {

template <std::size_t Half, std::size_t I, class V, class Op>
[[gnu::always_inline]] inline void combine_with_lower_half(V* group, Op const& op)
{
    if constexpr ((I & Half) != 0)
        group[I] = op(group[I / Half * Half - 1], group[I]);
}

template <std::size_t Half, class V, class Op, std::size_t... I>
[[gnu::always_inline]] inline void scan_whole_group(V* group, Op const& op, std::index_sequence<I...> all)
{
    if constexpr (Half < elements_per_group) {
        (detail::combine_with_lower_half<Half, I>(group, op), ...);
        detail::scan_whole_group<2 * Half>(group, op, all);
    }
}

} // namespace detail

/// Replaces the elements of a group by their prefixes. In each step the upper half of every 2, 4, 8, 16
/// elements takes the last one of the lower half before it (Sklansky's network).
template <class V, class Op>
[[gnu::always_inline]] inline void scan_group(V* group, Op const& op)
{
    detail::scan_whole_group<1>(group, op, std::make_index_sequence<elements_per_group>{});
}

/// Replaces the first `count` elements of a group by their prefixes, in the same steps.
template <class V, class Op>
void scan_group(V* group, std::size_t count, Op const& op)
{
    for (std::size_t half = 1; half < count; half *= 2)
        for (std::size_t upper = half; upper < count; upper += 2 * half)
            for (std::size_t i = upper; i < upper + half && i < count; ++i)
                group[i] = op(group[upper - 1], group[i]);
}

} // namespace xloom::inline XLOOM_ABI::kernel
