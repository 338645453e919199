#pragma once
// The transposition of a block of numbers in vector registers.

#include <cstddef>
#include <utility>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/kernel/lanes.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

namespace detail {

/// Exchanges the upper halves of a and the lower halves of b, in pieces of 2 * Half lanes.
template <std::size_t Half, class V, std::size_t... I>
XLOOM_ALWAYS_INLINE inline void exchange_halves(V& a, V& b, std::index_sequence<I...>)
{
    V const lower =
        __builtin_shufflevector(a, b, static_cast<int>((I & Half) != 0 ? sizeof...(I) + I - Half : I)...);
    b = __builtin_shufflevector(a, b, static_cast<int>((I & Half) != 0 ? sizeof...(I) + I : I + Half)...);
    a = lower;
}

template <class T, std::size_t Half>
XLOOM_ALWAYS_INLINE inline void transpose_pieces(lanes_t<T> (&rows)[lane_count<T>])
{
    if constexpr (Half != 0) {
        XLOOM_UNROLL(16)
        for (std::size_t i = 0; i < lane_count<T>; ++i)
            if ((i & Half) == 0)
                exchange_halves<Half>(rows[i], rows[i + Half], lane_numbers<T>{});
        transpose_pieces<T, Half / 2>(rows);
    }
}

} // namespace detail

/// Exchanges lane j of vector i with lane i of vector j, for all i and j.
template <class T>
XLOOM_ALWAYS_INLINE inline void transpose_lanes(lanes_t<T> (&rows)[lane_count<T>])
{
    detail::transpose_pieces<T, lane_count<T> / 2>(rows);
}

} // namespace xloom::inline XLOOM_ABI::kernel
