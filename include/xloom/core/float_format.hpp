#pragma once
// How the small floating-point types of ONNX lay out their bits.

#include <xloom/core/element_types.hpp>

namespace xloom {

/// What a format keeps aside for values that are no finite numbers. The names are ONNX's suffixes.
enum class float_specials : unsigned char {
    ieee, // the highest exponent: infinities, and NaNs beyond them
    fn,   // "finite": all ones, below either sign, is NaN
    fnuz, // "finite, unsigned zero": the pattern of -0 is the only NaN
    none  // nothing: every pattern is a finite number
};

/// From the top: a sign where the format has one, the exponent, the mantissa. Patterns without their sign are
/// called magnitudes; they order like the values. Exponent 0 holds zero and the subnormal numbers, except
/// without a mantissa: then there are powers of two only.
struct float_format {
    int exponent_bits;
    int mantissa_bits;
    int bias;
    float_specials specials;
    bool has_sign = true;

    constexpr int magnitude_bits() const noexcept { return exponent_bits + mantissa_bits; }
    constexpr int bits() const noexcept { return magnitude_bits() + (has_sign ? 1 : 0); }
    constexpr bool has_zero() const noexcept { return mantissa_bits > 0; }
    constexpr bool has_infinity() const noexcept { return specials == float_specials::ieee; }
    constexpr bool has_nan() const noexcept { return specials != float_specials::none; }

    constexpr unsigned sign() const noexcept { return has_sign ? 1u << magnitude_bits() : 0u; }
    constexpr unsigned all_ones() const noexcept { return (1u << magnitude_bits()) - 1; }

    /// The smallest magnitude with the highest exponent: infinity's where there is one.
    constexpr unsigned infinity() const noexcept { return all_ones() >> mantissa_bits << mantissa_bits; }

    /// Of a quiet NaN; for fnuz its sign as well.
    constexpr unsigned nan() const noexcept
    {
        switch (specials) {
        case float_specials::ieee:
            return infinity() | 1u << (mantissa_bits - 1);
        case float_specials::fnuz:
            return sign();
        default:
            return all_ones();
        }
    }

    constexpr bool is_nan(unsigned pattern) const noexcept
    {
        switch (specials) {
        case float_specials::ieee:
            return (pattern & all_ones()) > infinity();
        case float_specials::fn:
            return (pattern & all_ones()) == nan();
        case float_specials::fnuz:
            return pattern == nan();
        default:
            return false;
        }
    }

    /// The magnitude of the largest finite number.
    constexpr unsigned largest() const noexcept
    {
        switch (specials) {
        case float_specials::ieee:
            return infinity() - 1;
        case float_specials::fn:
            return all_ones() - 1;
        default:
            return all_ones();
        }
    }
};

/// The format of a floating-point element type of at most 16 bits; of any other type a format without bits.
constexpr float_format format_of(element_type element) noexcept
{
    switch (element) {
    case element_type::float16:
        return {5, 10, 15, float_specials::ieee};
    case element_type::bfloat16:
        return {8, 7, 127, float_specials::ieee};
    case element_type::float8_e4m3fn:
        return {4, 3, 7, float_specials::fn};
    case element_type::float8_e4m3fnuz:
        return {4, 3, 8, float_specials::fnuz};
    case element_type::float8_e5m2:
        return {5, 2, 15, float_specials::ieee};
    case element_type::float8_e5m2fnuz:
        return {5, 2, 16, float_specials::fnuz};
    case element_type::float8_e8m0:
        return {8, 0, 127, float_specials::fn, false};
    case element_type::float4_e2m1:
        return {2, 1, 1, float_specials::none};
    default:
        return {0, 0, 0, float_specials::none, false};
    }
}

} // namespace xloom
