#pragma once
// Saturating arithmetic on integers, as of <numeric> in C++26, and quotients and square roots, rounded up.

#include <concepts>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

#include <xloom/detail/core/abi.hpp>
#include <xloom/detail/core/compiler.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Returns `value`, or the closest number that R can represent.
template <std::integral R, std::integral T>
constexpr R saturating_cast(T value) noexcept
{
    using limits = std::numeric_limits<R>;
    if (std::in_range<R>(value))
        return static_cast<R>(value);
    return std::cmp_less(value, 0) ? (limits::min)() : (limits::max)();
}

/// Returns a + b, or the largest std::size_t if the sum is larger.
constexpr std::size_t saturating_add(std::size_t a, std::size_t b) noexcept
{
    std::size_t const sum = a + b;
    return sum < a ? (std::numeric_limits<std::size_t>::max)() : sum;
}

/// Returns a * b, or the largest std::size_t if the product is larger.
constexpr std::size_t saturating_mul(std::size_t a, std::size_t b) noexcept
{
    std::size_t product = 0;
    return mul_overflows(a, b, product) ? (std::numeric_limits<std::size_t>::max)() : product;
}

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
