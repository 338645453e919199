#pragma once
// exp, expm1, log1p and tanh of one number or of a batch of them. NaN stays NaN in all of them.
//
// Of batches of floats they are computed here, without branches, so that an item costs the same whatever its
// value. Those of doubles are xsimd's, and those of single numbers <cmath>'s or their type's own.

#include <cmath>
#include <concepts>
#include <type_traits>

#include <xloom/kernel/simd.hpp>

// As in kernel/simd.hpp, for g++ 12.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace xloom::kernel::detail {

using std::abs, std::exp, std::expm1, std::log, std::log1p, std::tanh;

template <class V>
inline constexpr bool is_float_batch = std::is_same_v<V, batch_t<float>> && has_simd<float>;

/// The polynomial of these coefficients, that of x^0 first.
template <class V, class... Coefficients>
V polynomial(V const& x, float first, Coefficients... others)
{
    if constexpr (sizeof...(others) == 0)
        return V(first);
    else
        return multiply_add(polynomial(x, others...), x, V(first));
}

/// 2^n for -127 < n < 128; 0 for -127, infinity for 128. Not ldexp, which gives a subnormal for -127 on some
/// vector units.
template <class V, class Integers>
V power_of_two(Integers const& n)
{
    Integers const bits = (n + Integers(127)) << 23;
    if constexpr (requires {
                      {
                          bitwise_cast<float>(bits)
                      } -> std::same_as<V>;
                  })
        return bitwise_cast<float>(bits);
    else
        return bitwise_cast<V>(bits); // its form before xsimd 9
}

/// exp(x) = scale + scale * rest, scale a power of two and rest small.
template <class V>
struct exp_parts {
    V scale, rest;

    explicit exp_parts(V const& x)
    {
        // Two pieces of log(2), the first of so few bits that n times it is exact.
        auto const exponent = nearbyint_as_int(x * V(1.44269504f));
        V const n = to_float(exponent);
        V const r = multiply_add(n, V(2.12194440e-4f), multiply_add(n, V(-0.693359375f), x));
        scale = power_of_two<V>(exponent);
        // expm1(r) = r + r^2 q(r), q by Remez's algorithm for |r| <= log(2) / 2; in pairs, which do not wait
        // for each other.
        V const r2 = r * r, q01 = polynomial(r, 0.49999998154f, 0.166665436212f),
                q23 = polynomial(r, 0.0416671998777f, 0.00836652056784f);
        V const q = multiply_add(multiply_add(V(0.00138825202682f), r2, q23), r2, q01);
        rest = multiply_add(q, r2, r);
    }

    V exp() const { return (V(1) + rest) * scale; }
    V exp_less_1() const { return multiply_add(scale, rest, scale - V(1)); }
};

/// True if xsimd's exponentials of doubles are wrong: where no instruction rounds, versions before 14 add
/// 2^52 and subtract it again, which clang's -ffast-math cancels.
inline constexpr bool is_rounding_cancelled =
#if defined(__clang__) && defined(__FAST_MATH__) && !defined(__SSE4_1__) && !defined(XLOOM_NO_SIMD)
    XSIMD_VERSION_MAJOR < 14;
#else
    false;
#endif

/// f(x), computed item by item.
template <class T, class F>
batch_t<T> one_by_one(batch_t<T> const& x, F const& f)
{
    T items[batch_size<T>];
    store_batch(items, x);
    for (T& item : items)
        item = f(item);
    return load_batch(items);
}

/// f(x) for a function that has reached its limits at +-800.
///
/// Why not with other arguments: without AVX-512, xsimd turns doubles into integers by C++'s own conversion,
/// which is undefined for NaN and for what is too large.
template <class V, class F>
V within_limits(V const& x, F const& f)
{
    if constexpr (has_simd<double> && std::is_same_v<V, batch_t<double>>) {
        if constexpr (is_rounding_cancelled)
            return one_by_one<double>(x, f);
        auto const is_number = x == x;
        V const limited = select(x > V(800), V(800), select(x < V(-800), V(-800), x));
        return select(is_number, f(select(is_number, limited, V(0))), x);
    } else
        return f(x);
}

/// exp(x). Of a float: 0 from -87.7 down, infinity from 88.4 up.
template <class V>
V exp_of(V const& x)
{
    if constexpr (is_float_batch<V>)
        return exp_parts<V>(max_nan_second(V(-88), min_nan_second(V(89), x))).exp();
    else
        return within_limits(x, [](auto const& v) { return exp(v); });
}

/// exp(x) - 1, without loss near 0 where the scalar has expm1. Of a float above 88 it is no use.
template <class V>
V exp_less_1(V const& x)
{
    if constexpr (is_float_batch<V>)
        return exp_parts<V>(max_nan_second(V(-88), x)).exp_less_1();
    else if constexpr (requires { expm1(x); })
        return within_limits(x, [](auto const& v) { return expm1(v); });
    else
        return exp(x) - V(1);
}

/// log(1 + x), likewise. Requires 0 <= x <= 1, or NaN.
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
        // From 1/2 on, the tanh of 0.5494, 1 - 2 / (exp(2 |x|) + 1). Below, where that would lose digits, |x|
        // + |x|^3 p(x^2), p by Remez's algorithm.
        V const size = abs(x), z = x * x;
        V const large = V(1) - divide(V(2), exp_parts<V>(min_nan_second(V(20), size + size)).exp() + V(1));
        V const p = polynomial(z, -0.33332949765f, 0.133208001303f, -0.0526767985362f, 0.0164473737971f);
        return select(size < V(0.5494f), multiply_add(p * z, size, size), large) | bitofsign(x);
    } else
        return within_limits(x, [](auto const& v) { return tanh(v); });
}

} // namespace xloom::kernel::detail

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
