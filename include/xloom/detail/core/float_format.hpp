#pragma once
// The bit layouts of ONNX's small floating-point types.

#include <xloom/detail/core/element_types.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The patterns that a format reserves for infinities and NaNs, named by ONNX's suffixes.
enum class float_specials : unsigned char {
    ieee, // the highest exponent: infinities, and NaNs beyond them
    fn,   // "finite": all ones, with either sign, is NaN
    fnuz, // "finite, unsigned zero": the pattern of -0 is the only NaN
    none  // nothing: every pattern is a finite number
};

/// A floating-point format. From the most significant bit: the sign if the format has one, the exponent, the
/// mantissa. A pattern without its sign is called a magnitude; magnitudes are ordered like the values.
/// Exponent 0 encodes zero and the subnormal numbers; without a mantissa, all numbers are powers of two.
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

    /// Returns the smallest magnitude with the highest exponent: that of infinity, if the format has one.
    constexpr unsigned infinity() const noexcept { return all_ones() >> mantissa_bits << mantissa_bits; }

    /// Returns the magnitude of a quiet NaN; for fnuz the pattern including its sign.
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

    /// Returns the magnitude of the largest finite number.
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

/// Returns the format of a floating-point element type of at most 16 bits; for any other type, a format of 0
/// bits.
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

} // namespace xloom::inline XLOOM_ABI::detail
