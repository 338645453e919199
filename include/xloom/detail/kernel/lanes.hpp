#pragma once
// Vectors of lanes for parallel scans, by the vector extension of g++ and clang, which has integers and the
// permutations of lanes that a prefix tree consists of.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__AVX__) && !defined(XLOOM_NO_SIMD)
#include <immintrin.h>
#elif defined(__SSE2__) && !defined(XLOOM_NO_SIMD)
#include <emmintrin.h> // immintrin.h takes a third of a second to compile
#endif

#include <xloom/detail/core/abi.hpp>
#include <xloom/detail/core/compiler.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The bytes of a vector register; 0 without vector units, or with XLOOM_NO_SIMD.
#if defined(XLOOM_NO_SIMD)
inline constexpr std::size_t lane_bytes = 0;
#elif defined(__AVX512F__)
inline constexpr std::size_t lane_bytes = 64;
#elif defined(__AVX__)
inline constexpr std::size_t lane_bytes = 32;
#elif defined(__SSE2__) || defined(__ARM_NEON)
inline constexpr std::size_t lane_bytes = 16;
#else
inline constexpr std::size_t lane_bytes = 0;
#endif

/// True for numbers of 4 and 8 bytes if the target has vector units.
template <class T>
inline constexpr bool has_lanes =
    lane_bytes != 0 && (std::same_as<T, float> || std::same_as<T, double> ||
                           (std::integral<T> && (sizeof(T) == 4 || sizeof(T) == 8)));

namespace detail {

template <class T, bool = has_lanes<T>>
struct lanes_of {
    using type = T;
    static constexpr std::size_t count = 1;
};
template <class T>
struct lanes_of<T, true> {
    using type XLOOM_VECTOR(lane_bytes) = T;
    static constexpr std::size_t count = lane_bytes / sizeof(T);
};

} // namespace detail

/// A vector register of Ts; T itself if it has no lanes.
template <class T>
using lanes_t = typename detail::lanes_of<T>::type;

template <class T>
inline constexpr std::size_t lane_count = detail::lanes_of<T>::count;

/// The signed integer of 4 or 8 bytes.
template <std::size_t Bytes>
using signed_integer = std::conditional_t<Bytes == 4, std::int32_t, std::int64_t>;

/// The numbers of the lanes of a vector of Ts.
template <class T>
using lane_numbers = std::make_index_sequence<lane_count<T>>;

template <class T>
XLOOM_ALWAYS_INLINE inline lanes_t<T> load_lanes(T const* from)
{
    lanes_t<T> lanes;
    std::memcpy(&lanes, from, sizeof lanes);
    return lanes;
}

template <class T>
XLOOM_ALWAYS_INLINE inline void store_lanes(T* to, std::type_identity_t<lanes_t<T>> const& lanes)
{
    std::memcpy(to, &lanes, sizeof lanes);
}

namespace detail {

template <class T, std::size_t... I>
XLOOM_ALWAYS_INLINE inline lanes_t<T> broadcast(T x, std::index_sequence<I...>)
{
    return lanes_t<T>{(static_cast<void>(I), x)...};
}

} // namespace detail

/// Returns a vector whose lanes all are x.
template <class T>
XLOOM_ALWAYS_INLINE inline lanes_t<T> broadcast(T x)
{
    return detail::broadcast(x, lane_numbers<T>{});
}

/// True if a comparison of lanes of at least 32 bits is true for all of them.
template <class Mask>
XLOOM_ALWAYS_INLINE inline bool all_lanes(Mask const& mask)
{
#if defined(XLOOM_NO_SIMD)
    return static_cast<bool>(mask);
#elif defined(__AVX512F__)
    return _mm512_cmpneq_epi64_mask(reinterpret_cast<__m512i>(mask), _mm512_set1_epi64(-1)) == 0;
#elif defined(__AVX__)
    return _mm256_movemask_ps(reinterpret_cast<__m256>(mask)) == 0xff;
#elif defined(__SSE2__)
    return _mm_movemask_epi8(reinterpret_cast<__m128i>(mask)) == 0xffff;
#else
    bool are_all = true;
    for (std::size_t i = 0; i < sizeof(mask) / sizeof(mask[0]); ++i)
        are_all = are_all && mask[i] != 0;
    return are_all;
#endif
}

/// True if the target stores the first lanes of a vector at the cost of all of them. AVX does not on AMD.
inline constexpr bool has_fast_masks =
#if defined(__AVX512F__) && !defined(XLOOM_NO_SIMD)
    true;
#else
    false;
#endif

#if defined(__AVX512F__) && !defined(XLOOM_NO_SIMD)
namespace detail {

/// A mask of the first `count` lanes, or of all.
template <class T>
XLOOM_ALWAYS_INLINE inline auto lane_mask(std::size_t count)
{
    using mask = std::conditional_t<sizeof(T) == 4, __mmask16, __mmask8>;
    return static_cast<mask>((1U << (std::min)(count, lane_count<T>)) - 1);
}

} // namespace detail
#elif defined(__AVX__) && !defined(XLOOM_NO_SIMD)
namespace detail {

/// A vector of the type T whose first `count` lanes, or all, have all bits set, the others none.
template <class T>
XLOOM_ALWAYS_INLINE inline __m256i lane_mask(std::size_t count)
{
    using item = signed_integer<sizeof(T)>;
    using vector XLOOM_VECTOR(lane_bytes) = item;
    vector numbers{};
    for (std::size_t i = 0; i < lane_count<T>; ++i)
        numbers[i] = static_cast<item>(i);
    item const end = static_cast<item>((std::min)(count, lane_count<T>));
    return reinterpret_cast<__m256i>(numbers < end);
}

} // namespace detail
#endif

/// Loads the first `count` lanes of a vector, or all; the others are those of `others`. Reads no other items.
template <class T>
XLOOM_ALWAYS_INLINE inline lanes_t<T> load_first_lanes(
    T const* from, std::size_t count, std::type_identity_t<lanes_t<T>> const& others)
{
#if defined(__AVX512F__) && !defined(XLOOM_NO_SIMD)
    auto const mask = detail::lane_mask<T>(count);
    if constexpr (sizeof(T) == 4)
        return reinterpret_cast<lanes_t<T>>(
            _mm512_mask_loadu_epi32(reinterpret_cast<__m512i>(others), mask, from));
    else
        return reinterpret_cast<lanes_t<T>>(
            _mm512_mask_loadu_epi64(reinterpret_cast<__m512i>(others), mask, from));
#elif defined(__AVX__) && !defined(XLOOM_NO_SIMD)
    __m256i const mask = detail::lane_mask<T>(count);
    if constexpr (sizeof(T) == 4)
        return reinterpret_cast<lanes_t<T>>(_mm256_blendv_ps(reinterpret_cast<__m256>(others),
            _mm256_maskload_ps(reinterpret_cast<float const*>(from), mask), reinterpret_cast<__m256>(mask)));
    else
        return reinterpret_cast<lanes_t<T>>(_mm256_blendv_pd(reinterpret_cast<__m256d>(others),
            _mm256_maskload_pd(reinterpret_cast<double const*>(from), mask),
            reinterpret_cast<__m256d>(mask)));
#else
    lanes_t<T> lanes = others;
    for (std::size_t i = 0; i < lane_count<T> && i < count; ++i)
        lanes[i] = from[i];
    return lanes;
#endif
}

/// Stores the first `count` lanes of a vector, or all.
template <class T>
XLOOM_ALWAYS_INLINE inline void store_first_lanes(
    T* to, std::type_identity_t<lanes_t<T>> const& lanes, std::size_t count)
{
#if defined(__AVX512F__) && !defined(XLOOM_NO_SIMD)
    auto const mask = detail::lane_mask<T>(count);
    if constexpr (sizeof(T) == 4)
        _mm512_mask_storeu_epi32(to, mask, reinterpret_cast<__m512i>(lanes));
    else
        _mm512_mask_storeu_epi64(to, mask, reinterpret_cast<__m512i>(lanes));
#elif defined(__AVX__) && !defined(XLOOM_NO_SIMD)
    __m256i const mask = detail::lane_mask<T>(count);
    if constexpr (sizeof(T) == 4)
        _mm256_maskstore_ps(reinterpret_cast<float*>(to), mask, reinterpret_cast<__m256>(lanes));
    else
        _mm256_maskstore_pd(reinterpret_cast<double*>(to), mask, reinterpret_cast<__m256d>(lanes));
#else
    for (std::size_t i = 0; i < lane_count<T> && i < count; ++i)
        to[i] = lanes[i];
#endif
}

namespace detail {

template <class V, std::size_t... I>
XLOOM_ALWAYS_INLINE inline V reverse_lanes(V const& x, std::index_sequence<I...>)
{
    return __builtin_shufflevector(x, x, static_cast<int>(sizeof...(I) - 1 - I)...);
}

/// Returns every second lane of a and then of b, from lane First on.
template <std::size_t First, class V, std::size_t... I>
XLOOM_ALWAYS_INLINE inline V every_second_lane(V const& a, V const& b, std::index_sequence<I...>)
{
    return __builtin_shufflevector(a, b, static_cast<int>(2 * I + First)...);
}

template <class V, std::size_t... I>
XLOOM_ALWAYS_INLINE inline V last_lane(V const& x, std::index_sequence<I...>)
{
    return __builtin_shufflevector(x, x, static_cast<int>(sizeof...(I) - 1 + 0 * I)...);
}

template <class V, std::size_t... I>
XLOOM_ALWAYS_INLINE inline V shift_lanes(V const& before, V const& x, std::index_sequence<I...>)
{
    return __builtin_shufflevector(before, x, static_cast<int>(sizeof...(I) - 1 + I)...);
}

template <std::size_t Half, class V, std::size_t... I>
XLOOM_ALWAYS_INLINE inline V spread_lanes(V const& x, V const& others, std::index_sequence<I...>)
{
    return __builtin_shufflevector(x, others,
        static_cast<int>((I & Half) != 0 ? (I & ~(2 * Half - 1)) + Half - 1 : sizeof...(I) + I)...);
}

template <std::size_t Distance, class V, std::size_t... I>
XLOOM_ALWAYS_INLINE inline V rotate_lanes(V const& x, std::index_sequence<I...>)
{
    return __builtin_shufflevector(x, x, static_cast<int>((I + Distance) % sizeof...(I))...);
}

template <std::size_t Half, class V, std::size_t... I>
XLOOM_ALWAYS_INLINE inline V merge_halves(V const& lower, V const& upper, std::index_sequence<I...>)
{
    return __builtin_shufflevector(lower, upper, static_cast<int>((I & Half) != 0 ? sizeof...(I) + I : I)...);
}

} // namespace detail

/// Returns the lanes in the opposite order.
template <class T>
XLOOM_ALWAYS_INLINE inline lanes_t<T> reverse_lanes(lanes_t<T> const& x)
{
    return detail::reverse_lanes(x, lane_numbers<T>{});
}

/// Returns a vector whose lanes all are the last lane of x.
template <class T>
XLOOM_ALWAYS_INLINE inline lanes_t<T> last_lane(lanes_t<T> const& x)
{
    return detail::last_lane(x, lane_numbers<T>{});
}

/// Returns the lanes moved down by a distance: lane i is lane i + Distance of x, modulo the number of lanes.
template <class T, std::size_t Distance>
XLOOM_ALWAYS_INLINE inline lanes_t<T> rotate_lanes(lanes_t<T> const& x)
{
    return detail::rotate_lanes<Distance>(x, lane_numbers<T>{});
}

/// Returns lanes 0, 2, 4, ... of a and then of b.
template <class T>
XLOOM_ALWAYS_INLINE inline lanes_t<T> even_lanes(lanes_t<T> const& a, lanes_t<T> const& b)
{
    return detail::every_second_lane<0>(a, b, lane_numbers<T>{});
}

/// Returns lanes 1, 3, 5, ... of a and then of b.
template <class T>
XLOOM_ALWAYS_INLINE inline lanes_t<T> odd_lanes(lanes_t<T> const& a, lanes_t<T> const& b)
{
    return detail::every_second_lane<1>(a, b, lane_numbers<T>{});
}

/// Returns the last lane of `before`, then all lanes of x but the last.
template <class T>
XLOOM_ALWAYS_INLINE inline lanes_t<T> shift_lanes(lanes_t<T> const& before, lanes_t<T> const& x)
{
    return detail::shift_lanes(before, x, lane_numbers<T>{});
}

/// Returns a vector whose upper halves, the lanes whose number has the bit `Half`, are the last lane of the
/// lower half of x before them; its lower halves are those of `others`.
template <class T, std::size_t Half>
XLOOM_ALWAYS_INLINE inline lanes_t<T> spread_lanes(lanes_t<T> const& x, lanes_t<T> const& others)
{
    return detail::spread_lanes<Half>(x, others, lane_numbers<T>{});
}

/// Returns the lower halves of one vector and the upper halves of another.
template <class T, std::size_t Half>
XLOOM_ALWAYS_INLINE inline lanes_t<T> merge_halves(lanes_t<T> const& lower, lanes_t<T> const& upper)
{
    return detail::merge_halves<Half>(lower, upper, lane_numbers<T>{});
}

} // namespace xloom::inline XLOOM_ABI::kernel
