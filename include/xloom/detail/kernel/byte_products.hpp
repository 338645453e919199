#pragma once
// Rows rounded to bytes, and integer products of bytes, four for each lane of a batch of floats: exact, so
// that their sums have the same bits on all processors and in any order.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/kernel/panels.hpp>
#include <xloom/detail/kernel/simd.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The offset with which a weight of 8 bits is stored as an unsigned byte: VNNI multiplies unsigned bytes by
/// signed ones.
inline constexpr std::int32_t byte_offset = 128;

/// Four numbers of a column of panels: integers from -127 to 127, each stored as the integer + byte_offset.
struct four_weights {
    std::array<std::uint8_t, 4> stored;
};

/// The numbers of a row that share a scale. A sum of as many products of 7 bits and a sign is below 2^24, so
/// that it is exact as a float.
inline constexpr std::size_t quantized_length = 1024;

/// A piece of a row: scale * items[k], the items from -127 to 127, padded with zeros to whole fours.
struct quantized_row {
    alignas(64) std::array<std::int8_t, quantized_length> items;
    float scale;
    std::int32_t total; ///< of the items
};

namespace detail {

/// The number of floats that are rounded at a time.
inline constexpr std::size_t quantized_step = 16;

/// Calls f with the next numbers of a row, the last of them padded with zeros, and the index of the first.
template <class F>
void for_each_step(float const* row, std::size_t count, F const& f) noexcept
{
    std::array<float, quantized_step> items;
    std::size_t k = 0;
    for (; k + quantized_step <= count; k += quantized_step) {
        std::memcpy(items.data(), row + k, sizeof items);
        f(items, k);
    }
    if (k < count) {
        items.fill(0);
        std::copy(row + k, row + count, items.begin());
        f(items, k);
    }
}

/// Returns the largest magnitude; infinity or NaN if one of the numbers is that.
///
/// Why as integers: their order is that of the magnitudes, and NaN is above all.
inline float largest_magnitude(float const* row, std::size_t count) noexcept
{
    std::array<std::int32_t, quantized_step> largest{};
    for_each_step(row, count, [&](std::array<float, quantized_step> const& items, std::size_t) {
        auto const patterns = std::bit_cast<std::array<std::int32_t, quantized_step>>(items);
        for (std::size_t i = 0; i < quantized_step; ++i)
            largest[i] = (std::max)(largest[i], patterns[i] & 0x7fffffff);
    });
    return std::bit_cast<float>(*std::max_element(largest.begin(), largest.end()));
}

} // namespace detail

/// Rounds numbers to multiples of 1/127 of their largest magnitude, to nearest, ties to even. If that is less
/// than 2^-100, they become zeros; if one of them is not finite, the scale is NaN.
inline void quantize_row(float const* row, std::size_t count, quantized_row& to) noexcept
{
    float const largest = detail::largest_magnitude(row, count);
    bool const is_finite = largest <= (std::numeric_limits<float>::max)(), is_zero = !(largest >= 0x1p-100f);
    to.total = 0;
    if (!is_finite || is_zero) {
        to.items.fill(0);
        to.scale = is_finite ? 0 : std::numeric_limits<float>::quiet_NaN();
        return;
    }
    to.scale = largest / 127;
    // Added to this number, a float is rounded to an integer, which its last bits hold.
    constexpr float rounding = 0x1.8p23f;
    std::array<std::int32_t, detail::quantized_step> totals{};
    detail::for_each_step(row, count,
        [&, factor = 127 / largest](std::array<float, detail::quantized_step> items, std::size_t k) {
            for (float& item : items)
                item = multiply_add(item, factor, rounding);
            auto const patterns = std::bit_cast<std::array<std::int32_t, detail::quantized_step>>(items);
            std::array<std::int8_t, detail::quantized_step> bytes;
            for (std::size_t i = 0; i < detail::quantized_step; ++i) {
                totals[i] += patterns[i] - std::bit_cast<std::int32_t>(rounding);
                bytes[i] = static_cast<std::int8_t>(patterns[i]);
            }
            std::copy(bytes.begin(), bytes.end(), to.items.begin() + static_cast<std::ptrdiff_t>(k));
        });
    for (std::int32_t const total : totals)
        to.total += total;
}

} // namespace xloom::inline XLOOM_ABI::kernel

XLOOM_BEGIN_FALSE_UNINITIALIZED

namespace xloom::inline XLOOM_ABI::kernel {

/// The bytes of a batch of floats.
inline constexpr std::size_t bytes_of_batch = sizeof(float) * batch_size<float>;

namespace detail {

// A unit has types for a batch: weights, four stored bytes for each lane; factors, four signed bytes that all
// lanes have; sums, an int32 for each lane. `begin(total)` is what sums begin with, given the total of the
// factors that follow, so that the offset of the weights cancels out.

inline std::int32_t word_of(std::int8_t const* four)
{
    std::int32_t word;
    std::memcpy(&word, four, sizeof word);
    return word;
}

#if defined(__SSE2__) && !defined(XLOOM_NO_SIMD)

// Multiply 16-bit numbers, and add the products of each two neighbours.
inline __m128i multiply_pairs(__m128i a, __m128i b) { return _mm_madd_epi16(a, b); }
#if defined(__AVX2__)
inline __m256i multiply_pairs(__m256i a, __m256i b) { return _mm256_madd_epi16(a, b); }
#elif defined(__AVX__)
inline __m256i multiply_pairs(__m256i a, __m256i b)
{
    return _mm256_set_m128i(_mm_madd_epi16(_mm256_extractf128_si256(a, 1), _mm256_extractf128_si256(b, 1)),
        _mm_madd_epi16(_mm256_castsi256_si128(a), _mm256_castsi256_si128(b)));
}
#endif
#if defined(__AVX512BW__)
inline __m512i multiply_pairs(__m512i a, __m512i b) { return _mm512_madd_epi16(a, b); }
#elif defined(__AVX512F__)
inline __m512i multiply_pairs(__m512i a, __m512i b)
{
    return _mm512_inserti64x4(
        _mm512_castsi256_si512(_mm256_madd_epi16(_mm512_castsi512_si256(a), _mm512_castsi512_si256(b))),
        _mm256_madd_epi16(_mm512_extracti64x4_epi64(a, 1), _mm512_extracti64x4_epi64(b, 1)), 1);
}
#endif

struct byte_sums {
    using bytes = xsimd::batch<std::int32_t>::register_type;
    /// Why not bytes: g++ 12 would copy each sum before it adds to it, because its integers are of 64 bits.
    using sums XLOOM_VECTOR(bytes_of_batch) = std::int32_t;

    static sums begin(std::int32_t total) { return sums{} - byte_offset * total; }
    static bytes load_bytes(std::uint8_t const* from)
    {
        return xsimd::batch<std::uint8_t>::load_unaligned(from);
    }
    static bytes spread_bytes(std::int8_t const* four) { return xsimd::batch<std::int32_t>(word_of(four)); }
    static batch_t<float> to_floats(sums from)
    {
        return xsimd::to_float(xsimd::batch<std::int32_t>(reinterpret_cast<bytes>(from)));
    }
};

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__) && !defined(__AVX512F__)

// Multiply unsigned bytes by signed ones, and add the products of each four neighbours to a sum. Batches may
// be narrower than the vector unit (XSIMD_DEFAULT_ARCH).
#if !defined(__AVX512VNNI__)
inline __m128i add_fours(__m128i to, __m128i a, __m128i b) { return _mm_dpbusd_avx_epi32(to, a, b); }
inline __m256i add_fours(__m256i to, __m256i a, __m256i b) { return _mm256_dpbusd_avx_epi32(to, a, b); }
#else
inline __m512i add_fours(__m512i to, __m512i a, __m512i b) { return _mm512_dpbusd_epi32(to, a, b); }
#if defined(__AVX512VL__)
inline __m128i add_fours(__m128i to, __m128i a, __m128i b) { return _mm_dpbusd_epi32(to, a, b); }
inline __m256i add_fours(__m256i to, __m256i a, __m256i b) { return _mm256_dpbusd_epi32(to, a, b); }
#endif
#endif

struct byte_unit : byte_sums {
    struct weights {
        bytes all;
    };
    using factors = weights;

    static weights load(std::uint8_t const* from) { return {load_bytes(from)}; }
    static factors spread(std::int8_t const* four) { return {spread_bytes(four)}; }
    static sums add_products(sums to, weights a, factors b)
    {
        return reinterpret_cast<sums>(add_fours(reinterpret_cast<bytes>(to), a.all, b.all));
    }
};

#else

struct byte_unit : byte_sums {
    /// Bytes as 16-bit numbers: numbers 0 and 2 of each four, then 1 and 3.
    struct weights {
        bytes even, odd;
    };
    using factors = weights;

    static weights load(std::uint8_t const* from)
    {
        xsimd::batch<std::uint16_t> const all = load_bytes(from);
        return {all & xsimd::batch<std::uint16_t>(0xff), all >> 8};
    }
    static factors spread(std::int8_t const* four)
    {
        xsimd::batch<std::int16_t> const all = spread_bytes(four);
        return {(all << 8) >> 8, all >> 8};
    }
    static sums add_products(sums to, weights a, factors b)
    {
        return to + (reinterpret_cast<sums>(multiply_pairs(a.even, b.even)) +
                        reinterpret_cast<sums>(multiply_pairs(a.odd, b.odd)));
    }
};

#endif

#elif defined(__aarch64__) && !defined(XLOOM_NO_SIMD)

struct byte_unit {
    struct weights {
        int8x16_t all;
    };
    using factors = weights;
    using sums = xsimd::batch<std::int32_t>;

    static sums begin(std::int32_t) { return sums(0); }
    static weights load(std::uint8_t const* from)
    {
        return {vreinterpretq_s8_u8(veorq_u8(vld1q_u8(from), vdupq_n_u8(byte_offset)))};
    }
    static factors spread(std::int8_t const* four)
    {
        return {vreinterpretq_s8_s32(vdupq_n_s32(word_of(four)))};
    }
    static sums add_products(sums const& to, weights a, factors b)
    {
#ifdef __ARM_FEATURE_DOTPROD
        return vdotq_s32(to, a.all, b.all);
#else
        int32x4_t const low = vpaddlq_s16(vmull_s8(vget_low_s8(a.all), vget_low_s8(b.all))),
                        high = vpaddlq_s16(vmull_s8(vget_high_s8(a.all), vget_high_s8(b.all)));
        return to + sums(vpaddq_s32(low, high));
#endif
    }
    static batch_t<float> to_floats(sums const& from) { return xsimd::to_float(from); }
};

#else

struct byte_unit {
    using weights = std::array<std::uint8_t, bytes_of_batch>;
    using factors = std::array<std::int8_t, 4>;
    using sums = std::array<std::int32_t, batch_size<float>>;

    static sums begin(std::int32_t total)
    {
        sums all;
        all.fill(-byte_offset * total);
        return all;
    }
    static weights load(std::uint8_t const* from)
    {
        weights all;
        std::memcpy(all.data(), from, sizeof all);
        return all;
    }
    static factors spread(std::int8_t const* four)
    {
        factors all;
        std::memcpy(all.data(), four, sizeof all);
        return all;
    }
    static sums add_products(sums to, weights const& a, factors const& b)
    {
        for (std::size_t lane = 0; lane < to.size(); ++lane)
            for (std::size_t i = 0; i < 4; ++i)
                to[lane] += a[4 * lane + i] * b[i];
        return to;
    }
    static batch_t<float> to_floats(sums const& from)
    {
        float items[batch_size<float>];
        for (std::size_t lane = 0; lane < from.size(); ++lane)
            items[lane] = static_cast<float>(from[lane]);
        return load_batch(items);
    }
};

#endif

} // namespace detail

/// Products with rows that are rounded to bytes, for multiply_rounded.
struct byte_products : detail::byte_unit {
    using stored = four_weights;
    using row = quantized_row;
    static constexpr std::size_t piece_length = quantized_length;

    static void round(float const* from, std::size_t count, row& to) noexcept
    {
        quantize_row(from, count, to);
    }
    static sums begin(row const& a, float const*) { return byte_unit::begin(a.total); }
    static weights load(stored const* from) { return byte_unit::load(from->stored.data()); }
    static factors spread(row const& a, std::size_t k) { return byte_unit::spread(&a.items[k]); }
    /// Why a limit: an infinite product of scales would make NaN of a sum that is 0.
    static batch_t<float> finish(sums const& sum, row const& a, float const* scales, float const* start)
    {
        batch_t<float> const scale = batch_t<float>(a.scale) * load_batch(scales),
                             largest((std::numeric_limits<float>::max)());
        return multiply_add(to_floats(sum), select(scale > largest, largest, scale), load_batch(start));
    }
};

} // namespace xloom::inline XLOOM_ABI::kernel

XLOOM_END_FALSE_WARNINGS
