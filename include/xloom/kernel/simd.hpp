#pragma once
// A function of one number over many: with xsimd where it has the type, else item by item.

#include <algorithm>
#include <cstddef>

#include <xsimd/xsimd.hpp>

namespace xloom::kernel {

/// float and double, where the target has vector units for them.
template <class T>
inline constexpr bool has_simd = xsimd::has_simd_register<T>::value;

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
        if (i < count) {
            T rest[batch::size] = {};
            std::copy(x + i, x + count, rest);
            f(batch::load_unaligned(rest)).store_unaligned(rest);
            std::copy(rest, rest + (count - i), y + i);
        }
    } else {
        for (std::size_t i = 0; i < count; ++i)
            y[i] = f(x[i]);
    }
}

} // namespace xloom::kernel
