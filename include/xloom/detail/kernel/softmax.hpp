#pragma once
// Softmax of a row.

#include <cstddef>

#include <xloom/detail/kernel/activations.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// Returns the largest of x, ignoring NaN; NaN if all are NaN. Requires count > 0.
template <class T>
T largest_of(T const* x, std::size_t count) noexcept
{
    // Not a != a: for NaN that is false with xsimd 8 on AVX.
    auto const larger = []<class V>(
                            V const& a, V const& b) { return select(a == a, select(b > a, b, a), b); };
    T largest = x[0];
    std::size_t i = 0;
    if constexpr (has_simd<T>)
        if (count >= batch_size<T>) {
            batch_t<T> all = load_batch(x);
            for (i = batch_size<T>; i + batch_size<T> <= count; i += batch_size<T>)
                all = larger(all, load_batch(x + i));
            T items[batch_size<T>];
            store_batch(items, all);
            for (std::size_t width = batch_size<T> / 2; width != 0; width /= 2)
                for (std::size_t j = 0; j < width; ++j)
                    items[j] = larger(items[j], items[j + width]);
            largest = items[0];
        }
    for (; i < count; ++i)
        largest = larger(largest, x[i]);
    return largest;
}

/// Computes y = exp(x - max(x)) / sum(exp(x - max(x))) over all of x. y is NaN if one of x is NaN or
/// +infinity, or all are -infinity.
template <class T>
void softmax(T const* x, T* y, std::size_t count) noexcept
{
    if (count == 0)
        return;
    T const largest = largest_of(x, count);
    map(x, y, count, [largest]<class V>(V const& v) { return detail::exp_of(v - V(largest)); });
    batch_t<T> sums(T(0));
    std::size_t i = 0;
    for (; i + batch_size<T> <= count; i += batch_size<T>)
        sums = sums + load_batch(y + i);
    if constexpr (has_simd<T>)
        if (i < count)
            sums = sums + load_first(y + i, count - i);
    T const scale = T(1) / sum_of<T>(sums);
    map(y, y, count, [scale]<class V>(V const& v) { return v * V(scale); });
}

} // namespace xloom::inline XLOOM_ABI::kernel
