#pragma once
// Conversion of a built-in number to an element type where that keeps its value.

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <xloom/detail/core/cast.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True if a floating-point number, truncated, is in the range of an integer type.
template <std::integral Int, std::floating_point Float>
bool is_in_range(Float value)
{
    Float const end = std::ldexp(Float{1}, std::numeric_limits<Int>::digits);
    return value < end && value >= (std::is_signed_v<Int> ? -end : Float{0});
}

/// True if static_cast<To>(value) has the same value. To and From are int and longer integers, float, or
/// double.
template <builtin_number To, builtin_number From>
bool is_exact(From value)
{
    if constexpr (std::integral<To> && std::integral<From>)
        return std::in_range<To>(value);
    else if constexpr (std::integral<To>)
        return is_in_range<To>(value) && static_cast<From>(static_cast<To>(value)) == value;
    else if constexpr (std::integral<From>)
        return is_in_range<From>(static_cast<To>(value)) &&
               static_cast<From>(static_cast<To>(value)) == value;
    else
        return std::isnan(value) || static_cast<From>(static_cast<To>(value)) == value;
}

/// Returns the number as a To, or nothing if no To has its value.
template <number To, builtin_number From>
std::optional<To> exact_cast(From value)
{
    using computed = decltype(+std::declval<To const&>());
    auto const promoted = +value;
    if (!is_exact<computed>(promoted))
        return std::nullopt;
    auto const number = static_cast<computed>(promoted);
    To const result = cast<To>(number);
    bool const is_nan = number != number;
    if (is_nan ? +result == +result : +result != number)
        return std::nullopt;
    return result;
}

} // namespace xloom::inline XLOOM_ABI::detail
