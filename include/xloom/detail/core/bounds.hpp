#pragma once
// The handling of out-of-range indices, and of several updates of one slice.

#include <xloom/detail/core/abi.hpp>

namespace xloom::inline XLOOM_ABI {

/// The handling of out-of-range indices. check: throws index_error before the first write.  assume: the
/// caller guarantees that there is none; verified in debug builds only.  drop: omits the update or element.
/// clip: clamps to the nearest valid index. An index from -d to -1 is in range for an axis of length d and
/// counts from the end.
enum class bounds : unsigned char { check, assume, drop, clip };

namespace detail {

/// True if kernels may assume that every index is in range.
constexpr bool guarantees_in_range(bounds rule) noexcept
{
    return rule == bounds::check || rule == bounds::assume;
}

} // namespace detail

/// The handling of several updates of one slice with reduction none: the last or the first one is written, or
/// an error is thrown.
enum class duplicates : unsigned char { last, first, error };

} // namespace xloom::inline XLOOM_ABI
