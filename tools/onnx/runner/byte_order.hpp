#pragma once
// The order of bytes in raw_data: that of a little-endian processor, on every processor.

#include <algorithm>
#include <bit>
#include <complex>
#include <cstddef>
#include <cstring>

namespace runner {

/// The type of the numbers in an item.
template <class T>
struct number_in {
    using type = T;
};
template <class T>
struct number_in<std::complex<T>> {
    using type = T;
};

/// Copies `count` items between this processor's order of bytes and another one, in either direction.
template <class T>
void copy_in_order(std::endian order, char const* from, std::size_t count, char* to)
{
    constexpr std::size_t width = sizeof(typename number_in<T>::type);
    std::size_t const bytes = count * sizeof(T);
    if (bytes != 0)
        std::memcpy(to, from, bytes);
    if (order != std::endian::native && width > 1)
        for (std::size_t i = 0; i < bytes; i += width)
            std::reverse(to + i, to + i + width);
}

} // namespace runner
