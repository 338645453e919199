#pragma once
// Quotients and square roots of integers, rounded up.

#include <concepts>
#include <cstddef>
#include <limits>
#include <type_traits>

#include <xloom/detail/core/abi.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Returns the smallest integer that is at least value / divisor; also where their sum overflows.
template <std::unsigned_integral T>
constexpr T ceil_div(T value, std::type_identity_t<T> divisor) noexcept
{
    return static_cast<T>(value / divisor + (value % divisor != 0));
}

/// Returns the smallest integer whose square is at least `value`.
constexpr std::size_t ceil_sqrt(std::size_t value) noexcept
{
    if (value == 0)
        return 0;
    std::size_t root = 0, bit = std::size_t{1} << (std::numeric_limits<std::size_t>::digits / 2 - 1);
    for (; bit != 0; bit /= 2)
        if (root + bit <= (value - 1) / (root + bit))
            root += bit;
    return root + 1;
}

} // namespace xloom::inline XLOOM_ABI::detail
