#pragma once
// Vectors of stored numbers, widened to float, and of floats, rounded to stored numbers.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/small_float.hpp>
#include <xloom/detail/kernel/simd.hpp>

XLOOM_BEGIN_FALSE_UNINITIALIZED

namespace xloom::inline XLOOM_ABI::kernel {

namespace detail {

/// Widens numbers one by one: every value is exact.
template <class Stored>
batch_t<float> load_one_by_one(Stored const* from)
{
    float items[batch_size<float>];
    for (std::size_t i = 0; i < batch_size<float>; ++i)
        items[i] = static_cast<float>(from[i]);
    return load_batch(items);
}

#if defined(__SSE2__) && !defined(XLOOM_NO_SIMD)
/// Widens patterns of float16 in 32 bits each.
inline __m128 widen_float16(__m128i pattern)
{
    __m128i const magnitude = _mm_and_si128(pattern, _mm_set1_epi32(0x7fff)),
                  sign = _mm_slli_epi32(_mm_andnot_si128(magnitude, pattern), 16);
    __m128i const normal = _mm_add_epi32(_mm_slli_epi32(magnitude, 13), _mm_set1_epi32((127 - 15) << 23));
    // In units of the smallest number.
    __m128 const subnormal = _mm_mul_ps(_mm_cvtepi32_ps(magnitude), _mm_set1_ps(0x1p-24f));
    __m128i const is_subnormal = _mm_cmplt_epi32(magnitude, _mm_set1_epi32(0x400)),
                  is_special = _mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x7bff));
    __m128i const number = _mm_or_si128(
        _mm_and_si128(is_subnormal, _mm_castps_si128(subnormal)), _mm_andnot_si128(is_subnormal, normal));
    return _mm_castsi128_ps(
        _mm_or_si128(_mm_or_si128(number, sign), _mm_and_si128(is_special, _mm_set1_epi32(0x7f800000))));
}
#endif

// Templates, so that only the branch for Batch must compile.

template <class Batch>
Batch widen(bfloat16 const* from)
{
#ifndef XLOOM_NO_SIMD
    [[maybe_unused]] constexpr std::size_t bytes = sizeof(Batch);
#if defined(__AVX512F__)
    if constexpr (bytes == 64)
        return _mm512_castsi512_ps(_mm512_slli_epi32(
            _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<__m256i const*>(from))), 16));
#endif
#if defined(__AVX2__)
    if constexpr (bytes == 32)
        return _mm256_castsi256_ps(_mm256_slli_epi32(
            _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<__m128i const*>(from))), 16));
#endif
#if defined(__SSE2__)
    if constexpr (bytes == 16)
        return _mm_castsi128_ps(
            _mm_unpacklo_epi16(_mm_setzero_si128(), _mm_loadl_epi64(reinterpret_cast<__m128i const*>(from))));
#elif defined(__aarch64__)
    if constexpr (bytes == 16)
        return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(reinterpret_cast<std::uint16_t const*>(from)), 16));
#endif
#endif
    return load_one_by_one(from);
}

template <class Batch>
Batch widen(float16 const* from)
{
#ifndef XLOOM_NO_SIMD
    [[maybe_unused]] constexpr std::size_t bytes = sizeof(Batch);
#if defined(__AVX512F__)
    if constexpr (bytes == 64)
        return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<__m256i const*>(from)));
#endif
#if defined(__F16C__)
    if constexpr (bytes == 32)
        return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<__m128i const*>(from)));
#elif defined(__AVX__)
    if constexpr (bytes == 32) {
        __m128i const patterns = _mm_loadu_si128(reinterpret_cast<__m128i const*>(from)),
                      zero = _mm_setzero_si128();
        return _mm256_set_m128(widen_float16(_mm_unpackhi_epi16(patterns, zero)),
            widen_float16(_mm_unpacklo_epi16(patterns, zero)));
    }
#endif
#if defined(__SSE2__)
    if constexpr (bytes == 16)
        return widen_float16(
            _mm_unpacklo_epi16(_mm_loadl_epi64(reinterpret_cast<__m128i const*>(from)), _mm_setzero_si128()));
#elif defined(__aarch64__)
    if constexpr (bytes == 16)
        return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(reinterpret_cast<std::uint16_t const*>(from))));
#endif
#endif
    return load_one_by_one(from);
}

template <class Batch>
Batch widen(std::int8_t const* from)
{
#ifndef XLOOM_NO_SIMD
    [[maybe_unused]] constexpr std::size_t bytes = sizeof(Batch);
#if defined(__AVX512F__)
    if constexpr (bytes == 64)
        return _mm512_cvtepi32_ps(
            _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<__m128i const*>(from))));
#endif
#if defined(__AVX2__)
    if constexpr (bytes == 32)
        return _mm256_cvtepi32_ps(
            _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<__m128i const*>(from))));
#endif
#if defined(__SSE2__)
    if constexpr (bytes == 16) {
        std::int32_t four;
        std::memcpy(&four, from, sizeof four);
        // Each byte becomes the highest one of 4, whose shift extends the sign.
        __m128i const zero = _mm_setzero_si128(), words = _mm_unpacklo_epi8(zero, _mm_cvtsi32_si128(four));
        return _mm_cvtepi32_ps(_mm_srai_epi32(_mm_unpacklo_epi16(zero, words), 24));
    }
#elif defined(__aarch64__)
    if constexpr (bytes == 16) {
        std::int32_t four;
        std::memcpy(&four, from, sizeof four);
        int16x8_t const words = vmovl_s8(vreinterpret_s8_s32(vdup_n_s32(four)));
        return vcvtq_f32_s32(vmovl_s16(vget_low_s16(words)));
    }
#endif
#endif
    return load_one_by_one(from);
}

/// Rounds numbers one by one.
template <class Stored>
void store_one_by_one(batch_t<float> const& numbers, Stored* to)
{
    float items[batch_size<float>];
    store_batch(items, numbers);
    for (std::size_t i = 0; i < batch_size<float>; ++i)
        to[i] = Stored(items[i]);
}

/// Rounds a batch to nearest. A NaN becomes quiet and keeps its sign and the high bits of its payload.
/// Returns false if the target has no instructions for it.
template <class Batch>
[[nodiscard]] bool narrow(Batch const& numbers, bfloat16* to)
{
    [[maybe_unused]] constexpr std::size_t bytes = sizeof(Batch);
#ifndef XLOOM_NO_SIMD
#if defined(__AVX512BW__)
    if constexpr (bytes == 64) {
        __m512i const bits = _mm512_castps_si512(numbers), minus_one = _mm512_set1_epi32(-1);
        __mmask16 const is_odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000)),
                        is_nan = _mm512_cmp_ps_mask(numbers, numbers, _CMP_UNORD_Q);
        __m512i rounded = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff));
        rounded = _mm512_mask_sub_epi32(rounded, is_odd, rounded, minus_one);
        rounded = _mm512_mask_or_epi32(rounded, is_nan, bits, _mm512_set1_epi32(0x400000));
        __m512i const upper_words = _mm512_castsi256_si512(
            _mm256_setr_epi16(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
            _mm512_castsi512_si256(_mm512_permutexvar_epi16(upper_words, rounded)));
        return true;
    }
#endif
#if defined(__AVX2__)
    if constexpr (bytes == 32) {
        __m256i const bits = _mm256_castps_si256(numbers);
        __m256i const half = _mm256_add_epi32(
            _mm256_set1_epi32(0x7fff), _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1)));
        __m256 const rounded = _mm256_castsi256_ps(_mm256_add_epi32(bits, half)),
                     quiet = _mm256_castsi256_ps(_mm256_or_si256(bits, _mm256_set1_epi32(0x400000)));
        __m256i const high = _mm256_srli_epi32(_mm256_castps_si256(_mm256_blendv_ps(rounded, quiet,
                                                   _mm256_cmp_ps(numbers, numbers, _CMP_UNORD_Q))),
            16);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
            _mm_packus_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1)));
        return true;
    }
#endif
#endif
    static_cast<void>(numbers), static_cast<void>(to);
    return false;
}

template <class Batch>
[[nodiscard]] bool narrow(Batch const& numbers, float16* to)
{
    [[maybe_unused]] constexpr std::size_t bytes = sizeof(Batch);
#ifndef XLOOM_NO_SIMD
#if defined(__AVX512F__)
    if constexpr (bytes == 64) {
        _mm256_storeu_si256(
            reinterpret_cast<__m256i*>(to), _mm512_cvtps_ph(numbers, _MM_FROUND_TO_NEAREST_INT));
        return true;
    }
#endif
#if defined(__F16C__)
    if constexpr (bytes == 32) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(numbers, _MM_FROUND_TO_NEAREST_INT));
        return true;
    }
#endif
#endif
    static_cast<void>(numbers), static_cast<void>(to);
    return false;
}

} // namespace detail

/// Loads as many numbers as a batch has lanes, and widens them exactly.
template <class T>
batch_t<T> load_widened(T const* from)
{
    return load_batch(from);
}
inline batch_t<float> load_widened(bfloat16 const* from) { return detail::widen<batch_t<float>>(from); }
inline batch_t<float> load_widened(float16 const* from) { return detail::widen<batch_t<float>>(from); }
inline batch_t<float> load_widened(std::int8_t const* from) { return detail::widen<batch_t<float>>(from); }

/// True for the types of storage whose vectors are converted by instructions.
template <class Stored>
inline constexpr bool has_narrow_vectors =
    std::is_same_v<Stored, float16> || std::is_same_v<Stored, bfloat16>;

/// Stores a batch as rounded numbers: those that a conversion gives.
template <class Stored>
    requires has_narrow_vectors<Stored>
void store_narrowed(Stored* to, batch_t<float> const& numbers)
{
    if (!detail::narrow(numbers, to))
        detail::store_one_by_one(numbers, to);
}

} // namespace xloom::inline XLOOM_ABI::kernel

XLOOM_END_FALSE_WARNINGS
