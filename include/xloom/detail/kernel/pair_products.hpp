#pragma once
// Rows rounded to bfloat16, and products of bfloat16 numbers, two for each lane of a batch of floats, which
// are added to floats: of each two the second one first, each rounded once, with zeros in place of subnormal
// numbers where a thread computes so. These are the bits of the instruction vdpbf16ps, on all processors.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/small_float.hpp>
#include <xloom/detail/kernel/panels.hpp>
#include <xloom/detail/kernel/simd.hpp>
#include <xloom/detail/kernel/widen.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// Two numbers of a column of panels.
struct two_weights {
    std::array<bfloat16, 2> stored;
};

} // namespace xloom::inline XLOOM_ABI::kernel

XLOOM_BEGIN_FALSE_UNINITIALIZED

namespace xloom::inline XLOOM_ABI::kernel {

namespace detail {

// Why not with AMX: Intel's processors that have it, such as Sapphire Rapids, execute vdpbf16ps at a quarter
// of the rate of an FMA, so that two FMAs take half as long.
#if defined(__AVX512BF16__) && !defined(__AMX_BF16__) && !defined(XLOOM_NO_SIMD)

// Add products of each two neighbours to a sum. Batches may be narrower than the vector unit
// (XSIMD_DEFAULT_ARCH).
inline __m512 add_pairs(__m512 to, __m512i a, __m512i b)
{
    return _mm512_dpbf16_ps(to, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
}
#if defined(__AVX512VL__)
inline __m128 add_pairs(__m128 to, __m128i a, __m128i b)
{
    return _mm_dpbf16_ps(to, reinterpret_cast<__m128bh>(a), reinterpret_cast<__m128bh>(b));
}
inline __m256 add_pairs(__m256 to, __m256i a, __m256i b)
{
    return _mm256_dpbf16_ps(to, reinterpret_cast<__m256bh>(a), reinterpret_cast<__m256bh>(b));
}
#endif

/// The two numbers of each lane of a batch. `item` is the type in which rounded numbers of a row are kept.
struct pair_unit {
    using pairs = xsimd::batch<std::int32_t>;
    struct weights {
        pairs::register_type all;
    };
    using item = bfloat16;

    static void round(batch_t<float> const& numbers, item* to) { store_narrowed(to, numbers); }
    static weights load(two_weights const* from)
    {
        return {pairs::load_unaligned(reinterpret_cast<std::int32_t const*>(from))};
    }
    static weights spread(item const* pair)
    {
        std::int32_t both;
        std::memcpy(&both, pair, sizeof both);
        return {pairs(both)};
    }
    static batch_t<float> add_products(batch_t<float> const& to, weights a, weights b)
    {
        return add_pairs(to, a.all, b.all);
    }
};

#else

struct pair_unit {
    struct weights {
        batch_t<float> first, second;
    };
    using item = float;

    static void round(batch_t<float> const& numbers, item* to)
    {
        std::array<bfloat16, batch_size<float>> rounded;
        store_narrowed(rounded.data(), numbers);
        store_batch(to, load_widened(rounded.data()));
    }
    static weights load(two_weights const* from)
    {
#ifndef XLOOM_NO_SIMD
        if constexpr (has_simd<float>) {
            // The second of two is the upper half of 32 bits, which are a float then.
            auto const pairs =
                xsimd::batch<std::int32_t>::load_unaligned(reinterpret_cast<std::int32_t const*>(from));
            return {as_floats(pairs << 16), as_floats(pairs & xsimd::batch<std::int32_t>(-0x10000))};
        } else
#endif
            return {static_cast<float>(from->stored[0]), static_cast<float>(from->stored[1])};
    }
    static weights spread(item const* pair) { return {batch_t<float>(pair[0]), batch_t<float>(pair[1])}; }
    static batch_t<float> add_products(batch_t<float> const& to, weights const& a, weights const& b)
    {
        return multiply_add(a.first, b.first, multiply_add(a.second, b.second, to));
    }

private:
#ifndef XLOOM_NO_SIMD
    static batch_t<float> as_floats(xsimd::batch<std::int32_t> const& bits)
    {
        return reinterpret_cast<typename batch_t<float>::register_type>(bits.data);
    }
#endif
};

#endif

} // namespace detail

/// Products with rows that are rounded to bfloat16, for multiply_rounded.
struct pair_products : detail::pair_unit {
    static constexpr std::size_t piece_length = 1024 / sizeof(item);

    using stored = two_weights;
    /// A piece of a row, rounded to nearest, ties to even, and padded with a zero to whole pairs.
    struct row {
        alignas(64) std::array<item, piece_length> items;
    };
    using factors = weights;
    using sums = batch_t<float>;

    static void round(float const* from, std::size_t count, row& to) noexcept
    {
        constexpr std::size_t width = batch_size<float>;
        std::size_t k = 0;
        for (; k + width <= count; k += width)
            pair_unit::round(load_batch(from + k), to.items.data() + k);
        if (k < count)
            pair_unit::round(load_first(from + k, count - k), to.items.data() + k);
        if (count % 2 != 0)
            to.items[count] = item(0.0f);
    }
    static sums begin(row const&, float const* start) { return load_batch(start); }
    static factors spread(row const& a, std::size_t k) { return pair_unit::spread(&a.items[k]); }
    static batch_t<float> finish(sums const& sum, row const&, float const*, float const*) { return sum; }
};

} // namespace xloom::inline XLOOM_ABI::kernel

XLOOM_END_FALSE_WARNINGS
