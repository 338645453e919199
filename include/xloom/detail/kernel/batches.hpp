#pragma once
// Traits of numbers and SIMD batches for code that takes both, and further functions of them: item by item
// where xsimd's are wrong.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/kernel/elementary.hpp>

XLOOM_BEGIN_FALSE_UNINITIALIZED

namespace xloom::inline XLOOM_ABI::kernel {

/// True for a SIMD batch of any item type.
template <class V>
inline constexpr bool is_batch = false;
/// True for the result of a comparison of batches.
template <class V>
inline constexpr bool is_mask = false;

namespace detail {

template <class V>
struct item_of_batch {
    using type = V;
};

} // namespace detail

#ifndef XLOOM_NO_SIMD
template <class T, class Arch>
inline constexpr bool is_batch<xsimd::batch<T, Arch>> = true;
template <class T, class Arch>
inline constexpr bool is_mask<xsimd::batch_bool<T, Arch>> = true;

namespace detail {

template <class T, class Arch>
struct item_of_batch<xsimd::batch<T, Arch>> {
    using type = T;
};
template <class T, class Arch>
struct item_of_batch<xsimd::batch_bool<T, Arch>> {
    using type = T;
};

} // namespace detail
#endif

/// The item type of a batch or mask; of a number its own type.
template <class V>
using batch_item_t = typename detail::item_of_batch<V>::type;

/// Returns the first item of a batch of T.
template <class T>
T first_item(std::type_identity_t<batch_t<T>> const& batch)
{
    T items[batch_size<T>];
    store_batch(items, batch);
    return items[0];
}

/// Returns f of the items of batches, one by one.
template <class F, class V, class... Vs>
    requires(is_batch<V>)
V item_by_item(F const& f, V const& first, Vs const&... others)
{
    constexpr std::size_t size = V::size;
    batch_item_t<V> x[1 + sizeof...(Vs)][size];
    store_batch(x[0], first);
    std::size_t n = 1;
    (store_batch(x[n++], others), ...);
    for (std::size_t i = 0; i < size; ++i) {
        if constexpr (sizeof...(Vs) == 0)
            x[0][i] = f(x[0][i]);
        else
            x[0][i] = f(x[0][i], x[1][i]);
    }
    return load_batch(x[0]);
}

namespace detail {

/// Returns y * 2^n, n being x / log(2) rounded to an integer, of doubles; x in [-746, 710].
template <class V>
V times_power_of_two(V const& y, V const& x)
{
    V const shift(6755399441055744.0); // as in exp_parts
    V const n = multiply_add(x, V(1.4426950408889634), shift) - shift;
    using integers = decltype(nearbyint_as_int(x));
    auto const power = [](V const& shifted) {
        return bits_as<double, V>((bits_as<std::int64_t, integers>(shifted) + integers(1023)) << 52);
    };
    V const half = multiply_add(n, V(0.5), shift); // 2^n = 2^half 2^(n - half)
    return y * power(half) * power((n - (half - shift)) + shift);
}

} // namespace detail

/// Returns exp(x), with subnormal results.
///
/// Why not exp_of: it is 0 or infinite for results near the ends of the range.
template <class V>
V full_exp(V const& x)
{
    if constexpr (detail::is_float_batch<V>) {
        V const limited = max_nan_second(V(-104), min_nan_second(V(89), x));
        auto const exponent = nearbyint_as_int(limited * V(1.44269504f));
        using ints = std::remove_const_t<decltype(exponent)>;
        ints const half = exponent >> 1; // 2^n = 2^half 2^(n - half), each of which is a normal number
        V const rest = detail::exp_parts<V>(limited).rest;
        return (V(1) + rest) * detail::power_of_two<V>(half) * detail::power_of_two<V>(ints(exponent - half));
    } else if constexpr (detail::is_double_batch<V>) {
        V const limited = max_nan_second(V(-746), min_nan_second(V(710), x));
        return detail::times_power_of_two(V(1) + detail::exp_parts<V>(limited).rest, limited);
    } else if constexpr (is_batch<V>) {
        return item_by_item([](auto each) { return std::exp(each); }, x);
    } else {
        return std::exp(x);
    }
}

namespace detail {

/// Returns vector(x) for a batch, unless xsimd's function is wrong for that type; item(x) for a number.
template <bool IsRight, class Vector, class Item, class V>
V by_batch(Vector const& vector, Item const& item, V const& x)
{
    if constexpr (!is_batch<V>)
        return item(x);
    else if constexpr (IsRight && !is_rounding_cancelled)
        return vector(x);
    else
        return item_by_item(item, x);
}

} // namespace detail

/// Returns the natural logarithm of x.
template <class V>
V log_of(V const& x)
{
    auto const of_batch = [](auto const& v) {
        if constexpr (std::is_same_v<batch_item_t<V>, float>) {
            return V(log(v));
        } else { // xsimd's log of a subnormal double is another number's
            V const scaled = select(v < V(0x1p-1022), V(v * V(0x1p54)), v);
            return V(log(scaled) - select(v < V(0x1p-1022), V(37.42994775023704670), V(0)));
        }
    };
    return detail::by_batch<true>(
        of_batch, [](auto each) { return std::log(each); }, x);
}

/// Returns the sine of x.
template <class V>
V sin_of(V const& x)
{
    return detail::by_batch<true>(
        [](auto const& v) { return V(sin(v)); }, [](auto each) { return std::sin(each); }, x);
}

/// Returns the cosine of x.
template <class V>
V cos_of(V const& x)
{
    return detail::by_batch<true>(
        [](auto const& v) { return V(cos(v)); }, [](auto each) { return std::cos(each); }, x);
}

/// Returns the error function of x.
///
/// Why doubles item by item: xsimd's erf of them has errors of 68 ULP, and is NaN for the largest.
template <class V>
V erf_of(V const& x)
{
    return detail::by_batch<std::is_same_v<batch_item_t<V>, float>>(
        [](auto const& v) { return V(erf(v)); }, [](auto each) { return std::erf(each); }, x);
}

} // namespace xloom::inline XLOOM_ABI::kernel

XLOOM_END_FALSE_WARNINGS
