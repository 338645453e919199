#pragma once
// The small floating-point formats as a textbook has them: what a pattern means, and rounding by search among
// all numbers.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace textbook {

/// The format's row in ONNX's tables. Patterns are written without their sign.
struct float_format {
    int exponent_bits;
    int mantissa_bits;
    int bias;
    unsigned largest;       // the largest finite number
    unsigned saturated;     // what becomes of larger ones in Cast with saturate
    unsigned not_saturated; // and without
    unsigned cast_nan;      // what becomes of NaN
    bool has_negative_zero;
    bool has_signed_nan;

    int sign_bit() const { return exponent_bits + mantissa_bits; }
    unsigned sign() const { return 1u << sign_bit(); }
    unsigned patterns() const { return 2u << sign_bit(); }
};

/// sign, exponent, mantissa: (-1)^s 2^(e - bias) 1.m, or with e = 0 (-1)^s 2^(1 - bias) 0.m. Specials are not
/// looked at.
inline double number(float_format const& format, unsigned magnitude)
{
    unsigned const exponent = magnitude >> format.mantissa_bits;
    double const fraction = std::ldexp(magnitude & ((1u << format.mantissa_bits) - 1), -format.mantissa_bits);
    if (exponent == 0)
        return std::ldexp(fraction, 1 - format.bias);
    return std::ldexp(1 + fraction, static_cast<int>(exponent) - format.bias);
}

/// Every finite magnitude's number, and one more: the next if the exponent had no upper limit.
inline std::vector<double> numbers(float_format const& format)
{
    std::vector<double> all;
    for (unsigned magnitude = 0; magnitude <= format.largest + 1; ++magnitude)
        all.push_back(number(format, magnitude));
    return all;
}

/// The pattern that ONNX's Cast gives x. `all` are the format's numbers.
inline unsigned cast(double x, float_format const& format, std::vector<double> const& all, bool saturate)
{
    unsigned const sign = std::signbit(x) ? format.sign() : 0;
    if (std::isnan(x))
        return format.cast_nan | (format.has_signed_nan ? sign : 0);
    double const size = std::fabs(x);
    auto const above =
        static_cast<std::size_t>(std::upper_bound(all.data(), all.data() + all.size(), size) - all.data());
    std::size_t nearest = above - 1; // the largest number that is not above x
    if (above < all.size()) {
        double const middle = (all[above - 1] + all[above]) / 2; // exact: one bit more than the format has
        if (size > middle || (size == middle && above % 2 == 0))
            nearest = above;
    }
    unsigned pattern = static_cast<unsigned>(nearest);
    if (pattern > format.largest)
        pattern = saturate ? format.saturated : format.not_saturated;
    return pattern == 0 && !format.has_negative_zero ? 0 : pattern | sign;
}

} // namespace textbook
