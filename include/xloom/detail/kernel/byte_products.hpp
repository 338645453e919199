#pragma once
// Integer products of bytes, four for each lane of a batch of floats: exact, so that their sums have the same
// bits on all processors and in any order.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

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

/// Writes a matrix [to.depth, columns] into panels, to columns from first_column on. Each item becomes the
/// integer round(item, its column of the matrix).
template <class Item, class Round>
void pack_fours(strided_matrix<Item> from, std::size_t columns, panel_writer<float, four_weights> const& to,
    std::size_t first_column, Round const& round) noexcept
{
    auto const at = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
    for (std::size_t j = 0; j < columns; ++j) {
        std::size_t const column = first_column + j, offset = column % panel_width<float>,
                          width = columns_of_panel<float>(column - offset, to.columns);
        four_weights* const first = to.items + (column - offset) * items_of_depth(to.depth, 4) + offset;
        for (std::size_t k = 0; k < to.depth; ++k)
            first[k / 4 * width].stored[k % 4] = static_cast<std::uint8_t>(
                byte_offset + round(from.items[at(k) * from.depth_stride + at(j) * from.column_stride], j));
    }
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

struct byte_unit : byte_sums {
    struct weights {
        bytes all;
    };
    using factors = weights;

    static weights load(std::uint8_t const* from) { return {load_bytes(from)}; }
    static factors spread(std::int8_t const* four) { return {spread_bytes(four)}; }
    static sums add_products(sums to, weights a, factors b)
    {
#ifdef __AVX512VNNI__
        return reinterpret_cast<sums>(_mm512_dpbusd_epi32(reinterpret_cast<bytes>(to), a.all, b.all));
#else
        return reinterpret_cast<sums>(_mm256_dpbusd_avx_epi32(reinterpret_cast<bytes>(to), a.all, b.all));
#endif
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

} // namespace xloom::inline XLOOM_ABI::kernel

XLOOM_END_FALSE_WARNINGS
