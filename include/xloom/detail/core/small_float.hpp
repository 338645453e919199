#pragma once
// Storage types for ONNX's floating-point types that C++ lacks. Arithmetic is done in float.

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <xloom/detail/core/element_types.hpp>
#include <xloom/detail/core/float_format.hpp>

namespace xloom::inline XLOOM_ABI {

/// A number in the format of an ONNX element type; see the aliases below. Each occupies whole bytes: only
/// files pack two float4 into one.
///
/// To float   implicit and exact, like char to int: `a + b` is a float, comparisons are those of floats (NaN
///            != NaN, -0 == 0).
/// From       integers, float, double and the other storage types: implicit, rounded once to nearest, ties to
///            even, with the defaults of ONNX's Cast: on overflow float16 and bfloat16 become infinite, the
///            others their largest number. cast<To>(x, options) takes other options. float8_e8m0 rounds up; 0
///            becomes its smallest number, negative numbers NaN.
/// Compound   a += b computes in float, or in double if b is one, and rounds once. For two of one type the
///            result is correctly rounded, except bfloat16's subnormal products and quotients and
///            float8_e8m0.
/// Default    `small_float x;` leaves x uninitialised, as with float; all bits of `small_float x{}` are 0,
///            which is 0, or float8_e8m0's 2^-127.
///
/// Why both conversions are implicit, as between the built-in types: xtensor tests std::is_convertible before
/// it assigns one element type to another, and throws at run time if only an explicit conversion exists. The
/// drawback: `c ? x : 1.0f` needs a cast of one operand.
template <element_type Element>
class small_float {
public:
    static constexpr detail::float_format format = detail::format_of(Element);
    static_assert(format.bits() > 0, "small_float is for float16, bfloat16 and the float8 and float4 types");

    using bits_type = std::conditional_t<(format.bits() > 8), std::uint16_t, std::uint8_t>;

    constexpr small_float() = default;

    template <class Number>
        requires(!std::same_as<Number, small_float> && detail::number<Number>)
    constexpr small_float(Number value) noexcept : small_float(value, cast_options{})
    {}

    /// Converts with the attributes of ONNX's Cast.
    template <detail::number Number>
    constexpr small_float(Number value, cast_options options) noexcept
        : bits_(round(detail::widen(+value), options))
    {}

    /// Returns the number with this pattern in the low bits; higher bits are ignored.
    static constexpr small_float from_bits(unsigned bits) noexcept
    {
        small_float result{};
        result.bits_ = static_cast<bits_type>(bits & (format.sign() | format.all_ones()));
        return result;
    }
    constexpr bits_type bits() const noexcept { return bits_; }

    constexpr operator float() const noexcept { return detail::decode<Element>(bits_); }

    friend constexpr bool isnan(small_float x) noexcept { return format.is_nan(x.bits_); }
    friend constexpr bool isinf(small_float x) noexcept
    {
        return format.has_infinity() && (x.bits_ | format.sign()) == (format.sign() | format.infinity());
    }
    friend constexpr bool isfinite(small_float x) noexcept { return !isnan(x) && !isinf(x); }

    template <detail::number Number>
    constexpr small_float& operator+=(Number other) noexcept
    {
        return *this = small_float(in<Number>(*this) + in<Number>(other));
    }
    template <detail::number Number>
    constexpr small_float& operator-=(Number other) noexcept
    {
        return *this = small_float(in<Number>(*this) - in<Number>(other));
    }
    template <detail::number Number>
    constexpr small_float& operator*=(Number other) noexcept
    {
        return *this = small_float(in<Number>(*this) * in<Number>(other));
    }
    template <detail::number Number>
    constexpr small_float& operator/=(Number other) noexcept
    {
        return *this = small_float(in<Number>(*this) / in<Number>(other));
    }

private:
    static constexpr bits_type round(std::floating_point auto value, cast_options options) noexcept
    {
        if constexpr (format.has_zero())
            return static_cast<bits_type>(detail::encode<Element>(value, options.saturate));
        else
            return static_cast<bits_type>(detail::encode_power_of_two(value, options));
    }

    /// Converts to the type in which arithmetic with a Number is done.
    template <class Number>
    static constexpr auto in(detail::number auto value) noexcept
    {
        return static_cast<std::conditional_t<std::same_as<Number, double>, double, float>>(value);
    }

    bits_type bits_;
};

using float16 = small_float<element_type::float16>;
using bfloat16 = small_float<element_type::bfloat16>;
using float8_e4m3fn = small_float<element_type::float8_e4m3fn>;
using float8_e4m3fnuz = small_float<element_type::float8_e4m3fnuz>;
using float8_e5m2 = small_float<element_type::float8_e5m2>;
using float8_e5m2fnuz = small_float<element_type::float8_e5m2fnuz>;
/// A power of two from 2^-127 to 2^127, or NaN: no sign, no zero, no infinity.
using float8_e8m0 = small_float<element_type::float8_e8m0>;
/// A number 0, 0.5, 1, 1.5, 2, 3, 4 or 6, with a sign. NaN becomes 6.
using float4_e2m1 = small_float<element_type::float4_e2m1>;

} // namespace xloom::inline XLOOM_ABI

namespace std {

// Each type converts to the other, so there is no common type by default, except for two equal types.
template <xloom::element_type Element, xloom::detail::number Other>
    requires(!is_same_v<Other, xloom::small_float<Element>>)
struct common_type<xloom::small_float<Element>, Other> : common_type<float, decltype(+declval<Other>())> {};
template <xloom::element_type Element, xloom::detail::number Other>
    requires is_arithmetic_v<Other>
struct common_type<Other, xloom::small_float<Element>> : common_type<Other, float> {};

/// The limits of a small_float. The base class has the members that are common to all binary formats, with or
/// without subnormal numbers.
template <xloom::element_type Element>
class numeric_limits<xloom::small_float<Element>>
    : public conditional_t<xloom::detail::format_of(Element).has_zero(), numeric_limits<float>,
          numeric_limits<unsigned char>> {
    using type = xloom::small_float<Element>;
    static constexpr xloom::detail::float_format format = type::format;
    static constexpr int smallest_exponent = format.has_zero() ? 1 - format.bias : -format.bias;
    static constexpr int largest_exponent =
        static_cast<int>(format.largest() >> format.mantissa_bits) - format.bias;

    static constexpr int powers_of_ten(int powers_of_two) { return powers_of_two * 30103 / 100000; }

public:
    static constexpr bool is_signed = format.has_sign;
    static constexpr bool is_integer = false;
    static constexpr bool is_exact = false;
    static constexpr bool is_modulo = false;
    static constexpr bool is_iec559 = format.bits() == 16;
    static constexpr bool traps = false;
    static constexpr bool has_infinity = format.has_infinity();
    static constexpr bool has_quiet_NaN = format.has_nan();
    static constexpr bool has_signaling_NaN = format.has_infinity();
    static constexpr float_round_style round_style =
        format.has_zero() ? round_to_nearest : round_toward_infinity;

    static constexpr int digits = format.mantissa_bits + 1;
    static constexpr int digits10 = powers_of_ten(digits - 1);
    static constexpr int max_digits10 = powers_of_ten(digits) + 2;
    static constexpr int min_exponent = smallest_exponent + 1;
    static constexpr int min_exponent10 = powers_of_ten(smallest_exponent);
    static constexpr int max_exponent = largest_exponent + 1;
    static constexpr int max_exponent10 = powers_of_ten(largest_exponent + 1);

    static constexpr type(min)() noexcept
    {
        return type::from_bits(format.has_zero() ? 1u << format.mantissa_bits : 0u);
    }
    static constexpr type lowest() noexcept
    {
        return type::from_bits(format.has_sign ? format.sign() | format.largest() : 0);
    }
    static constexpr type(max)() noexcept { return type::from_bits(format.largest()); }
    static constexpr type denorm_min() noexcept { return type::from_bits(format.has_zero() ? 1 : 0); }
    static constexpr type epsilon() noexcept { return type(1.0 / (1 << format.mantissa_bits)); }
    static constexpr type round_error() noexcept { return type(format.has_zero() ? 0.5 : 1.0); }
    static constexpr type infinity() noexcept
    {
        return type::from_bits(has_infinity ? format.infinity() : 0);
    }
    static constexpr type quiet_NaN() noexcept { return type::from_bits(has_quiet_NaN ? format.nan() : 0); }
    static constexpr type signaling_NaN() noexcept
    {
        return type::from_bits(has_signaling_NaN ? format.infinity() | 1 : 0);
    }
};

} // namespace std
