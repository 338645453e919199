#pragma once
// The bit layouts of ONNX's small floating-point types, the rounding of float and double to them in integer
// arithmetic, and the exact conversion back; both with the same results at compile time.

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <utility>

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

namespace xloom::inline XLOOM_ABI {

/// The rounding of float8_e8m0: to the next power of two away from zero, towards zero, or to the nearest,
/// ties up.
enum class round_mode : unsigned char { up, down, nearest };

/// The attributes of ONNX's Cast. `saturate` applies to float 8: a value out of range becomes the nearest
/// finite number if true, else infinity (float8_e5m2) or NaN (the others). `round_mode` applies to
/// float8_e8m0 only.
struct cast_options {
    bool saturate = true;
    xloom::round_mode round_mode = xloom::round_mode::up;
};

namespace detail {

template <std::floating_point Float>
struct float_layout;
template <>
struct float_layout<float> {
    using word = std::uint32_t;
    static constexpr int exponent_bits = 8, mantissa_bits = 23, bias = 127;
};
template <>
struct float_layout<double> {
    using word = std::uint64_t;
    static constexpr int exponent_bits = 11, mantissa_bits = 52, bias = 1023;
};

/// Returns the magnitude of a number beyond the largest finite one; for fnuz, the pattern of NaN including
/// its sign.
constexpr unsigned overflow_of(float_format const& format, bool saturate) noexcept
{
    bool const saturates = format.bits() == 8 ? saturate : format.specials == float_specials::none;
    if (saturates)
        return format.largest();
    return format.has_infinity() ? format.infinity() : format.nan();
}

/// Returns the nearest magnitude of the format, ties to even, as if its exponent had no upper limit.
/// `magnitude` is that of a float or double.
///
/// Why no case for subnormal numbers: those of the format only drop more bits, and a mantissa that rounds up
/// to the next power of two carries into the exponent; those of the source are treated as normal and still
/// round to 0.
template <class Float, element_type Target>
constexpr typename float_layout<Float>::word round_magnitude(
    typename float_layout<Float>::word magnitude) noexcept
{
    using source = float_layout<Float>;
    using word = typename source::word;
    constexpr float_format format = format_of(Target);
    constexpr int excess = source::mantissa_bits - format.mantissa_bits;
    constexpr word one = 1;

    if constexpr (format.exponent_bits == source::exponent_bits)
        return (magnitude + ((one << (excess - 1)) - 1) + (magnitude >> excess & 1)) >> excess;

    constexpr word hidden = one << source::mantissa_bits;
    word const significand = (magnitude & (hidden - 1)) | hidden;
    int const exponent = static_cast<int>(magnitude >> source::mantissa_bits) + (format.bias - source::bias);
    // Dropping more than mantissa_bits + 2 bits gives 0, as does dropping exactly that many.
    int const dropped = (std::min)(excess + (std::max)(1 - exponent, 0), source::mantissa_bits + 2);
    word const rounded =
        (significand + ((one << (dropped - 1)) - 1) + (significand >> dropped & 1)) >> dropped;
    return (static_cast<word>((std::max)(exponent, 1) - 1) << format.mantissa_bits) + rounded;
}

/// Returns the pattern of a float or double in the format. A NaN keeps its sign and the high bits of its
/// payload, if the format has them.
template <element_type Target, class Float>
constexpr unsigned encode(Float value, bool saturate) noexcept
{
    using source = float_layout<Float>;
    using word = typename source::word;
    constexpr float_format format = format_of(Target);
    constexpr word source_infinity = ((word{1} << source::exponent_bits) - 1) << source::mantissa_bits;
    constexpr int excess = source::mantissa_bits - format.mantissa_bits;

    word const bits = std::bit_cast<word>(value);
    word const magnitude = bits & (~word{0} >> 1);
    unsigned const sign = bits != magnitude ? format.sign() : 0;
    word const rounded = round_magnitude<Float, Target>(magnitude);
    unsigned const finite =
        rounded > format.largest() ? overflow_of(format, saturate) : static_cast<unsigned>(rounded);
    if constexpr (format.specials == float_specials::none)
        return magnitude > source_infinity
                   ? format.largest()
                   : finite | sign; // ONNX: NaN becomes the largest number, as +Inf does
    else if constexpr (format.specials == float_specials::fnuz)
        return magnitude > source_infinity ? format.nan() : finite == 0 ? 0 : finite | sign;
    else if constexpr (format.specials == float_specials::fn)
        return (magnitude > source_infinity ? format.nan() : finite) | sign;
    else
        return (magnitude > source_infinity
                       ? format.nan() | (static_cast<unsigned>(magnitude >> excess) & format.all_ones())
                       : finite) |
               sign;
}

/// Returns the pattern of a number in float8_e8m0. ONNX does not specify negative numbers: they become NaN,
/// but -0 is treated as 0.
constexpr unsigned encode_power_of_two(double value, cast_options options) noexcept
{
    constexpr float_format format = format_of(element_type::float8_e8m0);
    constexpr std::uint64_t one = std::uint64_t{1} << float_layout<double>::mantissa_bits;
    auto const bits = std::bit_cast<std::uint64_t>(value);
    if (bits > std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity()) && value != 0)
        return format.nan();
    if (value < 0x1p-127 || value > 0x1p127)
        return !options.saturate ? format.nan() : value < 1 ? 0 : format.largest();
    std::uint64_t const fraction = bits & (one - 1);
    std::uint64_t const least = options.round_mode == round_mode::up        ? 1
                                : options.round_mode == round_mode::nearest ? one / 2
                                                                            : one;
    int const exponent =
        static_cast<int>(bits / one) - float_layout<double>::bias + (fraction >= least ? 1 : 0);
    return static_cast<unsigned>(exponent + format.bias);
}

/// Selects one of two words by a mask: g++ does not vectorise a loop that selects a computed float by a
/// branch.
constexpr std::uint32_t select(bool condition, std::uint32_t yes, std::uint32_t no) noexcept
{
    std::uint32_t const mask = 0u - static_cast<std::uint32_t>(condition);
    return (mask & yes) | (~mask & no);
}

/// Returns the exact value of a pattern. A NaN keeps its sign and payload.
template <element_type Source>
constexpr float decode(unsigned bits) noexcept
{
    constexpr float_format format = format_of(Source);
    constexpr int excess = 23 - format.mantissa_bits;
    constexpr std::uint32_t float_infinity = 0x7f800000, float_nan = 0x7fc00000;

    std::uint32_t const magnitude = bits & format.all_ones();
    std::uint32_t const sign = (bits & format.sign()) << (31 - format.magnitude_bits());
    std::uint32_t const normal =
        (magnitude << excess) + (static_cast<std::uint32_t>(127 - format.bias) << 23);
    if constexpr (!format.has_zero())
        return std::bit_cast<float>(magnitude == format.nan() ? float_nan
                                    : magnitude == 0          ? std::uint32_t{1} << 22
                                                              : normal);
    else if constexpr (format.exponent_bits == 8)
        return std::bit_cast<float>(normal | sign);
    else {
        // In units of the smallest number, which is a normal float.
        constexpr float unit =
            std::bit_cast<float>(static_cast<std::uint32_t>(128 - format.bias - format.mantissa_bits) << 23);
        auto const subnormal =
            std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<int>(magnitude)) * unit);
        std::uint32_t const number = select(magnitude >> format.mantissa_bits == 0, subnormal, normal) | sign;
        if constexpr (format.specials == float_specials::ieee)
            return std::bit_cast<float>(number | (magnitude >= format.infinity() ? float_infinity : 0));
        else if constexpr (format.specials == float_specials::fn)
            return std::bit_cast<float>(number | (magnitude == format.nan() ? float_nan : 0));
        else if constexpr (format.specials == float_specials::fnuz)
            return std::bit_cast<float>(select(bits == format.nan(), float_nan, number));
        else
            return std::bit_cast<float>(number);
    }
}

/// Converts an integer to a double that every format rounds as it would round the integer: the bits beyond
/// the 53 of the mantissa are combined into the lowest one (rounding to odd).
template <std::integral Integer>
constexpr double widen(Integer value) noexcept
{
    if constexpr (sizeof(Integer) < sizeof(std::uint64_t)) {
        return static_cast<double>(value);
    } else {
        bool const is_negative = std::cmp_less(value, 0);
        std::uint64_t const magnitude =
            is_negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
        std::uint64_t const odd = magnitude >> 53 == 0
                                      ? magnitude
                                      : magnitude >> 11 << 11 | ((magnitude & 0x7ff) != 0 ? 0x800u : 0u);
        return is_negative ? -static_cast<double>(odd) : static_cast<double>(odd);
    }
}
constexpr float widen(float value) noexcept { return value; }
constexpr double widen(double value) noexcept { return value; }

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
