#pragma once
// exp, expm1, log1p and tanh of a scalar or a SIMD batch. NaN stays NaN in all of them.
//
// For batches they are implemented here without branches, so that the cost of an item does not depend on its
// value; but log1p of doubles is xsimd's, and so are all functions of doubles with -ffast-math. Scalars use
// <cmath> or the functions of their type.

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/kernel/simd.hpp>

XLOOM_BEGIN_FALSE_UNINITIALIZED

namespace xloom::inline XLOOM_ABI::kernel::detail {

using std::abs, std::exp, std::expm1, std::log, std::log1p, std::tanh;

template <class V>
inline constexpr bool is_float_batch = std::is_same_v<V, batch_t<float>> && has_simd<float>;

/// True for batches of doubles whose exponentials are those of this file.
///
/// Why not with -ffast-math: these add a number and subtract it again, which compilers then cancel.
template <class V>
inline constexpr bool is_double_batch =
    !xloom::detail::is_reassociated && std::is_same_v<V, batch_t<double>> && has_simd<double>;

/// Evaluates a polynomial by Horner's method; `first` is the coefficient of x^0.
template <class V, class Number, class... Coefficients>
V polynomial(V const& x, Number first, Coefficients... others)
{
    if constexpr (sizeof...(others) == 0)
        return V(first);
    else
        return multiply_add(polynomial(x, others...), x, V(first));
}

/// Returns the bits of a batch as a batch of type To, whose items are Items.
template <class Item, class To, class From>
To bits_as(From const& from)
{
    if constexpr (requires {
                      {
                          bitwise_cast<Item>(from)
                      } -> std::same_as<To>;
                  })
        return bitwise_cast<Item>(from);
    else
        return bitwise_cast<To>(from); // the signature before xsimd 9
}

/// The unsigned integer that has the bits of a float or a double.
template <class V>
using word_t = std::conditional_t<sizeof(batch_item_t<V>) == 4, std::uint32_t, std::uint64_t>;

template <class V>
inline constexpr int fraction_bits = std::numeric_limits<batch_item_t<V>>::digits - 1;

template <class V>
batch_t<word_t<V>> words_of(V const& x)
{
    return bits_as<word_t<V>, batch_t<word_t<V>>>(x);
}

/// A number whose sum with a smaller one is rounded to an integer, which is in its last bits: 1.5 * 2^23 for
/// floats, 1.5 * 2^52 for doubles.
///
/// Why not a conversion to integers: that and one back take longer; for doubles, without AVX-512, longer than
/// all the rest of an exponential.
template <class V>
inline constexpr batch_item_t<V> rounding_shift =
    static_cast<batch_item_t<V>>(1.5) * static_cast<batch_item_t<V>>(word_t<V>(1) << fraction_bits<V>);

/// Returns factor * x, rounded to an integer, plus rounding_shift.
template <class V>
V shifted_integer(V const& x, batch_item_t<V> factor)
{
    V shifted = multiply_add(x, V(factor), V(rounding_shift<V>));
    if constexpr (xloom::detail::is_reassociated)
        xloom::detail::forget_value(shifted.data); // whose subtraction would cancel the addition
    return shifted;
}

/// Returns 2^n of n + rounding_shift, where that is a normal number; 0 for the exponent below, infinity for
/// the one above.
template <class V>
V power_of_two(V const& shifted)
{
    using T = batch_item_t<V>;
    batch_t<word_t<V>> const one(std::bit_cast<word_t<V>>(T(1))), n = words_of(shifted) << fraction_bits<V>;
    return bits_as<T, V>(n + one);
}

/// 1 / log(2).
template <class V>
inline constexpr auto inverse_log_2 = static_cast<batch_item_t<V>>(1.4426950408889634);

/// log(2) in two parts (Cody-Waite), the first with so few bits that its product with an exponent is exact.
template <class T>
struct log_2;
template <>
struct log_2<float> {
    static constexpr float high = 0.693359375f, low = -2.12194440e-4f;
};
template <>
struct log_2<double> {
    static constexpr double high = 0.693147180369123816490, low = 1.90821492927058770002e-10;
};

/// A decomposition exp(x) = scale + scale * rest, with scale a power of two and rest small. Of floats in
/// [-88, 89] and doubles in [-709.2, 710].
template <class V>
struct exp_parts {
    V scale, rest;

    explicit exp_parts(V const& x)
    {
        V const shifted = shifted_integer<V>(x, inverse_log_2<V>), n = shifted - V(rounding_shift<V>);
        scale = power_of_two(shifted);
        using parts = log_2<batch_item_t<V>>;
        V const r = multiply_add(n, V(-parts::low), multiply_add(n, V(-parts::high), x)), r2 = r * r;
        rest = multiply_add(polynomial_of(r, r2), r2, r);
    }

    V exp() const { return (V(1) + rest) * scale; }
    // Of floats up to 88 and doubles up to 709, so that the scale is finite.
    V expm1() const { return multiply_add(scale, rest, scale - V(1)); }
    V exp_plus_1() const { return multiply_add(scale, rest, scale + V(1)); }

private:
    /// Returns q(r) of expm1(r) = r + r^2 q(r), by Remez's algorithm for |r| <= log(2) / 2, evaluated in
    /// independent groups (Estrin's scheme).
    static V polynomial_of(V const& r, V const& r2)
    {
        if constexpr (is_float_batch<V>) {
            V const q01 = polynomial(r, 0.49999998154f, 0.166665436212f),
                    q23 = polynomial(r, 0.0416671998777f, 0.00836652056784f);
            return multiply_add(multiply_add(V(0.00138825202682f), r2, q23), r2, q01);
        } else {
            V const r4 = r2 * r2;
            V const q0 = multiply_add(polynomial(r, 0.04166666666651493, 0.008333333333307118), r2,
                polynomial(r, 0.5000000000000013, 0.166666666666667));
            V const q4 = multiply_add(polynomial(r, 2.4801489785876372e-05, 2.7557216131226187e-06), r2,
                polynomial(r, 0.0013888888947156083, 0.00019841269917571938));
            V const q8 = polynomial(r, 2.7631339684433234e-07, 2.511791523013135e-08);
            return multiply_add(multiply_add(q8, r4, q4), r4, q0);
        }
    }
};

/// True if xsimd's exponentials and logarithms of doubles are wrong: it adds a number and subtracts it again,
/// which clang's -ffast-math cancels before version 14, and g++'s -fassociative-math without -ffast-math.
inline constexpr bool is_rounding_cancelled =
#if defined(__clang__) && defined(__FAST_MATH__) && !defined(XLOOM_NO_SIMD)
    XSIMD_VERSION_MAJOR < 14;
#elif defined(__ASSOCIATIVE_MATH__) && !defined(__FAST_MATH__)
    true;
#else
    false;
#endif

/// Returns f(x) for a function that has reached its limits at +-800.
///
/// Why arguments are limited: without AVX-512, xsimd converts doubles to integers as C++ does, which is
/// undefined behaviour for NaN and for values out of range.
template <class V, class F>
V within_limits(V const& x, F const& f)
{
    if constexpr (has_simd<double> && std::is_same_v<V, batch_t<double>>) {
        if constexpr (is_rounding_cancelled)
            return item_by_item(f, x);
        auto const is_number = x == x;
        V const limited = select(x > V(800), V(800), select(x < V(-800), V(-800), x));
        return select(is_number, f(select(is_number, limited, V(0))), x);
    } else
        return f(x);
}

/// Returns log(1 + x), without cancellation near 0 if the scalar has log1p. Requires 0 <= x <= 1, or NaN.
template <class V>
V log_of_1_plus(V const& x)
{
    if constexpr (is_float_batch<V>) {
        // x + x^2 q(x), q by Remez's algorithm.
        V const q = polynomial(x, -0.499999327629f, 0.333305113057f, -0.249585873186f, 0.196954002014f,
            -0.153553957836f, 0.106805552876f, -0.0576644475447f, 0.0202045892726f, -0.00331847401456f);
        return multiply_add(q, x * x, x);
    } else if constexpr (requires { log1p(x); })
        return within_limits(x, [](auto const& v) { return log1p(v); });
    else
        return log(V(1) + x);
}

template <class V>
V tanh_of(V const& x)
{
    if constexpr (is_float_batch<V>) {
        // For |x| >= 0.5494, that is |tanh(x)| >= 1/2: 1 - 2 / (exp(2 |x|) + 1). Below, where that cancels:
        // |x| + |x|^3 p(x^2), p by Remez's algorithm.
        V const size = abs(x), z = x * x;
        V const large = V(1) - divide(V(2), exp_parts<V>(min_nan_second(V(20), size + size)).exp_plus_1());
        V const p = polynomial(z, -0.33332949765f, 0.133208001303f, -0.0526767985362f, 0.0164473737971f);
        return select(size < V(0.5494f), multiply_add(p * z, size, size), large) | bitofsign(x);
    } else if constexpr (is_double_batch<V>) {
        V const size = abs(x), z = x * x;
        V const large = V(1) - V(2) / exp_parts<V>(min_nan_second(V(40), size + size)).exp_plus_1();
        V const z2 = z * z, z4 = z2 * z2;
        V const p0 = multiply_add(polynomial(z, -0.05396825387980377, 0.021869486060738432), z2,
            polynomial(z, -0.3333333333333237, 0.13333333333176614));
        V const p4 = multiply_add(polynomial(z, -0.0014532594778071948, 0.00057926160470473), z2,
            polynomial(z, -0.008863195624786982, 0.003591728516912878));
        V const p8 = polynomial(z, -0.00021050301310015303, 5.115847933972259e-05);
        V const p = multiply_add(multiply_add(p8, z4, p4), z4, p0);
        return select(size < V(0.5494), multiply_add(p * z, size, size), large) | bitofsign(x);
    } else
        return within_limits(x, [](auto const& v) { return tanh(v); });
}

} // namespace xloom::inline XLOOM_ABI::kernel::detail

namespace xloom::inline XLOOM_ABI::kernel {

/// Returns exp(x) for every x, NaN for NaN. In batches of floats: 0 from -87.7 down, infinity from 88.4 up.
/// In batches of doubles: 0 from -708.8 down, infinity from 709.5 up.
template <class V>
V exp_of(V const& x)
{
    using std::exp;
    if constexpr (detail::is_float_batch<V>)
        return detail::exp_parts<V>(max_nan_second(V(-88), min_nan_second(V(89), x))).exp();
    else if constexpr (detail::is_double_batch<V>)
        return detail::exp_parts<V>(max_nan_second(V(-709.2), min_nan_second(V(710), x))).exp();
    else
        return detail::within_limits(x, [](auto const& v) { return exp(v); });
}

/// Returns exp(x) - 1, NaN for NaN, without cancellation near 0 if the scalar has expm1. Requires x <= 88 for
/// floats, x <= 709 for doubles.
template <class V>
V expm1_of(V const& x)
{
    using std::exp, std::expm1;
    if constexpr (detail::is_float_batch<V>)
        return detail::exp_parts<V>(max_nan_second(V(-88), x)).expm1();
    else if constexpr (detail::is_double_batch<V>)
        return detail::exp_parts<V>(max_nan_second(V(-709.2), x)).expm1();
    else if constexpr (requires { expm1(x); })
        return detail::within_limits(x, [](auto const& v) { return expm1(v); });
    else
        return exp(x) - V(1);
}

} // namespace xloom::inline XLOOM_ABI::kernel

XLOOM_END_FALSE_WARNINGS
