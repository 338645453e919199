#pragma once
// Many things in a number of parts, all nearly of one size.

#include <algorithm>
#include <cstddef>

#include <xloom/core/exceptions.hpp>

namespace xloom::detail {

/// Where part number `part` of `parts` begins among `count` things. The first ones have one more where they
/// differ.
constexpr std::size_t begin_of_part(std::size_t part, std::size_t parts, std::size_t count) noexcept
{
    return count / parts * part + (std::min)(part, count % parts);
}

} // namespace xloom::detail
