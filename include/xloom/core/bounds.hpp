#pragma once
// What becomes of an index that lies outside its axis.

#include <xloom/core/exceptions.hpp>

namespace xloom {

/// check: an index_error before the first write.  assume: you promise that there is none; verified in debug
/// builds only. drop: its update or element is left out.  clip: the nearest index that there is. An index
/// from -d to -1 lies inside an axis of length d: it counts from the end.
enum class bounds : unsigned char { check, assume, drop, clip };

/// True where no index lies outside once an operator begins to write.
constexpr bool guarantees_in_range(bounds rule) noexcept
{
    return rule == bounds::check || rule == bounds::assume;
}

} // namespace xloom
