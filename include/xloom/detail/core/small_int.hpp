#pragma once
// Storage types for ONNX's integers below 8 bits. Arithmetic is done in int.

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include <xloom/detail/core/element_types.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// Returns the low 8 bits of an integer.
constexpr unsigned low_bits(std::integral auto value) noexcept
{
    return static_cast<unsigned>(static_cast<std::uint64_t>(value) & 0xff);
}

/// Returns the low 8 bits of the integer nearest to a floating-point number, ties to even; 0 for infinity and
/// NaN.
constexpr unsigned low_bits(double value) noexcept
{
    if (!(-0x1p60 < value && value < 0x1p60)) // from 2^60 on all doubles are multiples of 256
        return 0;
    auto const towards_zero = static_cast<std::int64_t>(value);
    double const rest = value - static_cast<double>(towards_zero);
    bool const is_odd = (towards_zero & 1) != 0;
    int const up = rest > 0.5 || (rest == 0.5 && is_odd) ? 1 : 0;
    int const down = rest < -0.5 || (rest == -0.5 && is_odd) ? 1 : 0;
    return low_bits(towards_zero + up - down);
}

} // namespace detail

/// An integer of 2 or 4 bits; see the aliases below. Each occupies a whole byte: only files pack several into
/// one.
///
/// To int     implicit, like char to int: `a + b` is an int.
/// From       integers: implicit, the low bits, as two's complement where the type has a sign (ONNX's Cast).
///            Floating-point numbers: implicit, the low bits of the nearest integer, ties to even; 0 for
///            infinity and NaN, which ONNX does not specify.
/// Compound   a += b, ++a, ...: as with the built-in integers, computed in the common type of int and b, then
///            converted as above.
/// Default    `small_int x;` leaves x uninitialised, as with int; `small_int x{}` is 0.
template <element_type Element>
class small_int {
public:
    static_assert(Element == element_type::int4 || Element == element_type::uint4 ||
                      Element == element_type::int2 || Element == element_type::uint2,
        "small_int is for int4, uint4, int2 and uint2");
    static constexpr int width = Element == element_type::int4 || Element == element_type::uint4 ? 4 : 2;
    static constexpr bool is_signed = Element == element_type::int4 || Element == element_type::int2;

    constexpr small_int() = default;

    template <class Number>
        requires(!std::same_as<Number, small_int> && detail::number<Number>)
    constexpr small_int(Number value) noexcept : value_(extend(detail::low_bits(+value)))
    {}

    /// Returns the number with this pattern in the low bits; higher bits are ignored.
    static constexpr small_int from_bits(unsigned bits) noexcept { return small_int(bits); }
    constexpr std::uint8_t bits() const noexcept
    {
        return static_cast<std::uint8_t>(static_cast<unsigned>(value_) & mask);
    }

    constexpr operator int() const noexcept { return value_; }

    template <detail::number Number>
    constexpr small_int& operator+=(Number other) noexcept
    {
        return *this = small_int(in<Number>(value_) + in<Number>(other));
    }
    template <detail::number Number>
    constexpr small_int& operator-=(Number other) noexcept
    {
        return *this = small_int(in<Number>(value_) - in<Number>(other));
    }
    template <detail::number Number>
    constexpr small_int& operator*=(Number other) noexcept
    {
        return *this = small_int(in<Number>(value_) * in<Number>(other));
    }
    template <detail::number Number>
    constexpr small_int& operator/=(Number other) noexcept
    {
        return *this = small_int(in<Number>(value_) / in<Number>(other));
    }

    constexpr small_int& operator++() noexcept { return *this += 1; }
    constexpr small_int& operator--() noexcept { return *this -= 1; }
    constexpr small_int operator++(int) noexcept
    {
        small_int const before = *this;
        ++*this;
        return before;
    }
    constexpr small_int operator--(int) noexcept
    {
        small_int const before = *this;
        --*this;
        return before;
    }

private:
    using storage = std::conditional_t<is_signed, signed char, unsigned char>;
    static constexpr unsigned mask = (1u << width) - 1;
    static constexpr unsigned sign = is_signed ? 1u << (width - 1) : 0u;

    static constexpr storage extend(unsigned bits) noexcept
    {
        return static_cast<storage>(static_cast<int>((bits & mask) ^ sign) - static_cast<int>(sign));
    }

    /// Converts to the type in which arithmetic with a Number is done.
    template <class Number>
    static constexpr auto in(detail::number auto value) noexcept
    {
        return static_cast<std::common_type_t<int, decltype(+std::declval<Number>())>>(value);
    }

    storage value_;
};

using int4 = small_int<element_type::int4>;
using uint4 = small_int<element_type::uint4>;
using int2 = small_int<element_type::int2>;
using uint2 = small_int<element_type::uint2>;

} // namespace xloom::inline XLOOM_ABI

namespace std {

// Each type converts to the other, so there is no common type by default, except for two equal types.
template <xloom::element_type Element, xloom::detail::number Other>
    requires(!is_same_v<Other, xloom::small_int<Element>>)
struct common_type<xloom::small_int<Element>, Other> : common_type<int, decltype(+declval<Other>())> {};
template <xloom::element_type Element, xloom::detail::number Other>
    requires is_arithmetic_v<Other>
struct common_type<Other, xloom::small_int<Element>> : common_type<Other, int> {};

/// The limits of a small_int. The base class has the members that are common to all integer types.
template <xloom::element_type Element>
class numeric_limits<xloom::small_int<Element>>
    : public conditional_t<xloom::small_int<Element>::is_signed, numeric_limits<signed char>,
          numeric_limits<unsigned char>> {
    using type = xloom::small_int<Element>;

public:
    static constexpr bool is_modulo = true;
    static constexpr int digits = type::width - (type::is_signed ? 1 : 0);
    static constexpr int digits10 = digits * 30103 / 100000;

    static constexpr type(min)() noexcept { return type(type::is_signed ? -(1 << digits) : 0); }
    static constexpr type lowest() noexcept { return (min)(); }
    static constexpr type(max)() noexcept { return type((1 << digits) - 1); }
    static constexpr type epsilon() noexcept { return type{}; }
    static constexpr type round_error() noexcept { return type{}; }
    static constexpr type denorm_min() noexcept { return type{}; }
    static constexpr type infinity() noexcept { return type{}; }
    static constexpr type quiet_NaN() noexcept { return type{}; }
    static constexpr type signaling_NaN() noexcept { return type{}; }
};

} // namespace std
