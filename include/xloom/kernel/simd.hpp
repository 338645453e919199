#pragma once
// A function of one number over many: with xsimd where it has the type, else item by item.

#include <algorithm>
#include <cstddef>

#include <xsimd/xsimd.hpp>

namespace xloom::kernel {

/// float and double, where the target has vector units for them.
template <class T>
inline constexpr bool has_simd = xsimd::has_simd_register<T>::value;

/// A batch of the first `count` items and zeros; count is less than a batch holds.
template <class T>
xsimd::batch<T> load_first(T const* from, std::size_t count)
{
    T items[xsimd::batch<T>::size] = {};
    std::copy_n(from, count, items);
    return xsimd::batch<T>::load_unaligned(items);
}

template <class T>
void store_first(xsimd::batch<T> const& batch, T* to, std::size_t count)
{
    T items[xsimd::batch<T>::size];
    batch.store_unaligned(items);
    std::copy_n(items, count, to);
}

/// y[i] = f(x[i]) for i < count. f takes and gives a T or a batch of them. x and y may be the same array.
///
/// Why the rest goes through a batch too: an item's result must not depend on where it lies among the others.
template <class T, class F>
void map(T const* x, T* y, std::size_t count, F const& f)
{
    if constexpr (has_simd<T>) {
        using batch = xsimd::batch<T>;
        std::size_t i = 0;
        for (; i + batch::size <= count; i += batch::size)
            f(batch::load_unaligned(x + i)).store_unaligned(y + i);
        if (i < count)
            store_first(f(load_first(x + i, count - i)), y + i, count - i);
    } else {
        for (std::size_t i = 0; i < count; ++i)
            y[i] = f(x[i]);
    }
}

} // namespace xloom::kernel
