#pragma once
// A workspace of the recurrent operators whose memory is not zeros.

#include <algorithm>
#include <cstddef>
#include <limits>

#include <xloom/detail/recurrent/workspace.hpp>

/// Returns a workspace that holds NaN, as after an earlier call that needed more memory. Calls whose writes
/// past the end of their memory AddressSanitizer should see want a workspace of their own.
template <class Item>
xloom::recurrent_workspace<Item> used_workspace()
{
    using number = xloom::detail::compute_t<Item>;
    constexpr std::size_t count = std::size_t{1} << 14;
    xloom::recurrent_workspace<Item> workspace;
    std::fill_n(xloom::detail::numbers_of(workspace, count), count, std::numeric_limits<number>::quiet_NaN());
    return workspace;
}
