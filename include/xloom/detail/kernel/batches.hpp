#pragma once
// Further functions of numbers and SIMD batches, for code that takes both: item by item where xsimd's are
// wrong.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/kernel/elementary.hpp>

XLOOM_BEGIN_FALSE_UNINITIALIZED

namespace xloom::inline XLOOM_ABI::kernel {

/// Returns the first item of a batch of T.
template <class T>
T first_item(std::type_identity_t<batch_t<T>> const& batch)
{
    T items[batch_size<T>];
    store_batch(items, batch);
    return items[0];
}

namespace detail {

/// Returns exp(x) = y * 2^n, with n = x / log(2) rounded to an integer and y = 1 + rest of exp_parts. 2^n may
/// be subnormal or infinite.
template <class V>
V times_power_of_two(V const& y, V const& x)
{
    using T = batch_item_t<V>;
    V const shift(rounding_shift<V>), n = shifted_integer<V>(x, inverse_log_2<V>) - shift;
    V const half = shifted_integer<V>(n, T(0.5)); // 2^n = 2^half 2^(n - half), each of which is normal
    return y * power_of_two(half) * power_of_two((n - (half - shift)) + shift);
}

} // namespace detail

/// Returns exp(x) for every x, NaN for NaN, with subnormal results: 0 and infinity only where std::exp is.
///
/// Why not exp_of: it is 0 or infinite for results near the ends of the range.
template <class V>
V full_exp(V const& x)
{
    if constexpr (detail::is_float_batch<V> || detail::is_double_batch<V>) {
        constexpr bool is_float = detail::is_float_batch<V>;
        V const least(is_float ? -104 : -746), most(is_float ? 89 : 710);
        V const limited = max_nan_second(least, min_nan_second(most, x));
        return detail::times_power_of_two(V(1) + detail::exp_parts<V>(limited).rest, limited);
    } else if constexpr (is_batch<V>) {
        return item_by_item([](auto each) { return std::exp(each); }, x);
    } else {
        return std::exp(x);
    }
}

/// Returns the error function of x.
///
/// Why doubles item by item: xsimd's erf of them has errors of 68 ULP, and is NaN for the largest.
template <class V>
V erf_of(V const& x)
{
    if constexpr (!is_batch<V>)
        return std::erf(x);
    else if constexpr (std::is_same_v<batch_item_t<V>, float> && !detail::is_rounding_cancelled)
        return erf(x);
    else
        return item_by_item([](auto each) { return std::erf(each); }, x);
}

} // namespace xloom::inline XLOOM_ABI::kernel

XLOOM_END_FALSE_WARNINGS
