#pragma once
// Elementary functions of lanes and of numbers: the body of a scan computes the same bits with either.

#include <bit>
#include <concepts>
#include <cstddef>
#include <type_traits>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/kernel/functions.hpp>
#include <xloom/detail/scan/lanes.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// True for float, double, and lanes of them.
template <class V>
inline constexpr bool is_lane_float = std::same_as<V, float> || std::same_as<V, double>;
template <class T, std::size_t N>
inline constexpr bool is_lane_float<lanes<T, N>> = std::floating_point<T>;

/// Returns f of numbers, or of the batches that hold lanes.
template <class F, class T, class... Others>
    requires std::floating_point<T>
T by_batches(F const& f, T const& x, Others const&... others)
{
    return f(x, others...);
}
template <class F, class T, std::size_t N, class... Others>
XLOOM_ALWAYS_INLINE inline lanes<T, N> by_batches(F const& f, lanes<T, N> const& x, Others const&... others)
{
    using batch = kernel::batch_t<T>;
    using part = typename lanes<T, N>::part;
    if constexpr (sizeof(batch) == sizeof(part)) {
        return lanes<T, N>::made([&](std::size_t i) {
            return std::bit_cast<part>(f(std::bit_cast<batch>(x[i]), std::bit_cast<batch>(others[i])...));
        });
    } else { // a type or a target whose vectors only xsimd has
        return lanes<T, N>::made(
            [&](std::size_t i) { return kernel::first_item<T>(f(batch(x[i]), batch(others[i])...)); });
    }
}

} // namespace detail

/// Returns e to the power of x. Max error 1.2 ULP, of a subnormal result in units of the smallest number.
template <class V>
    requires detail::is_lane_float<V>
V exp(V const& x)
{
    return detail::by_batches([](auto const& v) { return kernel::lane_exp(v); }, x);
}

/// Returns the natural logarithm of x: -infinity for 0, NaN below. Max error 1 ULP.
template <class V>
    requires detail::is_lane_float<V>
V log(V const& x)
{
    return detail::by_batches([](auto const& v) { return kernel::lane_log(v); }, x);
}

/// Returns the sine of x. Max error 1 ULP. Cost: a call of std::sin for each |x| above 3000, of doubles
/// 800,000.
template <class V>
    requires detail::is_lane_float<V>
V sin(V const& x)
{
    return detail::by_batches([](auto const& v) { return kernel::lane_sin(v); }, x);
}

/// Returns the cosine of x. Max error 1 ULP. Cost as that of sin.
template <class V>
    requires detail::is_lane_float<V>
V cos(V const& x)
{
    return detail::by_batches([](auto const& v) { return kernel::lane_cos(v); }, x);
}

/// Returns the hyperbolic tangent of x. Max error 1.5 ULP, without SIMD 2.5.
template <class V>
    requires detail::is_lane_float<V>
V tanh(V const& x)
{
    return detail::by_batches([](auto const& v) { return kernel::lane_tanh(v); }, x);
}

/// Returns 1 / (1 + exp(-x)). Max error 2.5 ULP; possibly 0 where it is below 1e-38, of doubles 1e-308.
template <class V>
    requires detail::is_lane_float<V>
V sigmoid(V const& x)
{
    return detail::by_batches([](auto const& v) { return kernel::lane_sigmoid(v); }, x);
}

/// Returns the square root of x, correctly rounded: NaN below 0.
template <class V>
    requires detail::is_lane_float<V>
V sqrt(V const& x)
{
    return detail::by_batches([](auto const& v) { return kernel::lane_sqrt(v); }, x);
}

/// Returns x to the power of y, with the special values of std::pow. Max error 1.5 ULP, of floats 1. One of
/// the two may be a number.
template <class X, class Y>
    requires(detail::is_lanes<X> || detail::is_lanes<Y>)
auto pow(X const& x, Y const& y)
{
    using result = detail::either_lanes<X, Y>;
    return detail::by_batches(
        [](auto const& a, auto const& b) { return kernel::lane_pow(a, b); }, result(x), result(y));
}
/// As above, of numbers, in their common type.
template <class X, class Y>
    requires(std::is_arithmetic_v<X> && std::is_arithmetic_v<Y> && lane_item<std::common_type_t<X, Y>> &&
             std::floating_point<std::common_type_t<X, Y>>)
std::common_type_t<X, Y> pow(X x, Y y)
{
    using T = std::common_type_t<X, Y>;
    return kernel::lane_pow(static_cast<T>(x), static_cast<T>(y));
}

} // namespace xloom::inline XLOOM_ABI
