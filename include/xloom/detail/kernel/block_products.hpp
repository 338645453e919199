#pragma once
// Matrices of which most blocks of 4 rows and 8 columns are zeros: the others, and their products.
//
// Why lists of the blocks of the same rows: their factors stay in registers, and consecutive blocks add to
// sums that do not depend on each other, while blocks of the same columns would wait for each other. The sums
// of a strip of columns are in L1.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/kernel/arena.hpp>
#include <xloom/detail/kernel/multiply.hpp>
#include <xloom/detail/kernel/panels.hpp>
#include <xloom/detail/kernel/simd.hpp>
#include <xloom/detail/kernel/widen.hpp>

XLOOM_BEGIN_FALSE_UNINITIALIZED

namespace xloom::inline XLOOM_ABI::kernel {

inline constexpr std::size_t block_depth = 4, block_columns = 8;

/// The number of blocks beside each other in a strip, which has a bit for each.
inline constexpr std::size_t strip_blocks = 64, strip_columns = strip_blocks * block_columns;
inline constexpr std::size_t strip_stride = strip_columns + elements_per_cache_line<float>; ///< as row_stride

template <class Number>
using weight_block = std::array<std::array<Number, block_columns>, block_depth>;

/// The stored blocks of block_depth rows and of a strip of columns.
struct block_list {
    std::uint64_t mask; ///< bit i: block i of the strip is stored
    std::size_t first;  ///< the index of the first one
};

/// The blocks of a matrix that are not zeros, in the order of their lists: strip by strip, along the depth.
template <class Number>
struct block_matrix {
    block_list* lists;
    weight_block<Number>* blocks;
};

namespace detail {

/// The items of a block; null: padding.
template <class Item>
using block_items = std::array<std::array<Item const*, block_columns>, block_depth>;

/// Calls f(block, k, items) for the blocks of a matrix that are not zeros: block `block` of its columns, in
/// block k of the depth.
template <class Item, class F>
void for_each_block(matrix_parts<Item> const& from, F const& f)
{
    if (from.depth == 0)
        return; // however many columns there are
    for (std::size_t column = 0; column < from.packed_columns(); column += block_columns)
        for (std::size_t k = 0; k < from.depth; k += block_depth) {
            block_items<Item> items{};
            bool is_zero = true;
            for (std::size_t j = 0; j < block_columns; ++j) {
                std::size_t const part = (column + j) / from.stride, of_part = (column + j) % from.stride;
                if (part >= from.parts || of_part >= from.columns)
                    continue;
                for (std::size_t i = 0; i < block_depth && k + i < from.depth; ++i) {
                    items[i][j] = from.part(part).at(k + i, of_part);
                    is_zero &= static_cast<float>(*items[i][j]) == 0;
                }
            }
            if (!is_zero)
                f(column / block_columns, k / block_depth, items);
        }
}

/// Returns the list of a block of the columns, in block k of the depth.
template <class Number>
block_list& list_of(block_matrix<Number> const& matrix, std::size_t depth, std::size_t block, std::size_t k)
{
    return matrix.lists[block / strip_blocks * xloom::detail::ceil_div(depth, block_depth) + k];
}

constexpr std::uint64_t bit_of(std::size_t block) noexcept
{
    return std::uint64_t{1} << block % strip_blocks;
}
constexpr std::size_t count_bits(std::uint64_t mask) noexcept
{
    return static_cast<std::size_t>(std::popcount(mask));
}

/// Returns the index of a stored block of a list; of a block that is not stored, that of the next one.
inline std::size_t index_of(block_list const& list, std::size_t block) noexcept
{
    return list.first + count_bits(list.mask & (bit_of(block) - 1));
}

/// Packs `count` blocks that are not zeros. An item of a packed column becomes convert(item, column). Returns
/// nullptr if the arena only counts.
template <class Number, class Item, class Convert>
block_matrix<Number> const* pack_blocks(
    matrix_parts<Item> const& from, std::size_t count, arena<float>& memory, Convert const& convert)
{
    std::size_t const lists = xloom::detail::ceil_div(from.packed_columns(), strip_columns) *
                              xloom::detail::ceil_div(from.depth, block_depth);
    auto* const matrix = memory.take_as<block_matrix<Number>>(1, 1);
    block_matrix<Number> const to{
        memory.take_as<block_list>(1, lists), memory.take_as<weight_block<Number>>(1, count)};
    if (memory.only_counts())
        return nullptr;

    for_each_block(from, [&](std::size_t block, std::size_t k, auto const&) {
        list_of(to, from.depth, block, k).mask |= bit_of(block);
    });
    for (std::size_t list = 0, first = 0; list < lists; ++list) {
        to.lists[list].first = first;
        first += count_bits(to.lists[list].mask);
    }
    for_each_block(from, [&](std::size_t block, std::size_t k, auto const& items) {
        block_list const& list = list_of(to, from.depth, block, k);
        weight_block<Number>& weights = to.blocks[index_of(list, block)];
        for (std::size_t i = 0; i < block_depth; ++i)
            for (std::size_t j = 0; j < block_columns; ++j)
                if (items[i][j] != nullptr)
                    weights[i][j] = convert(*items[i][j], block * block_columns + j);
    });
    *matrix = to;
    return matrix;
}

/// A row of a block, or of sums.
///
/// Why lddqu: g++ would load weights as operands of each row's instructions.
#if defined(__AVX2__) && (defined(__FMA__) || defined(__AVX512F__)) && !defined(XLOOM_NO_SIMD)
struct block_row {
    __m256 all;

    block_row() = default;
    explicit block_row(float number) : all(_mm256_set1_ps(number)) {}
    explicit block_row(float const* from)
        : all(_mm256_castsi256_ps(_mm256_lddqu_si256(reinterpret_cast<__m256i const*>(from))))
    {}
    explicit block_row(std::int8_t const* from)
        : all(_mm256_cvtepi32_ps(
              _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<__m128i const*>(from)))))
    {}

    void add_products(block_row const& a, block_row const& b)
    {
#ifdef __FMA__
        all = _mm256_fmadd_ps(a.all, b.all, all);
#else // g++ -mavx512f
        all = _mm512_castps512_ps256(_mm512_fmadd_ps(
            _mm512_castps256_ps512(a.all), _mm512_castps256_ps512(b.all), _mm512_castps256_ps512(all)));
#endif
    }
    void store(float* to) const { _mm256_storeu_ps(to, all); }
};
#else
struct block_row {
    static constexpr std::size_t width = batch_size<float>, count = block_columns / width;
    static_assert(count * width == block_columns);

    std::array<batch_t<float>, count> all;

    block_row() = default;
    explicit block_row(float number) { all.fill(batch_t<float>(number)); }
    template <class Number>
    explicit block_row(Number const* from)
    {
        XLOOM_UNROLL(8)
        for (std::size_t i = 0; i < count; ++i)
            all[i] = load_widened(from + i * width);
    }

    void add_products(block_row const& a, block_row const& b)
    {
        XLOOM_UNROLL(8)
        for (std::size_t i = 0; i < count; ++i)
            all[i] = multiply_add(a.all[i], b.all[i], all[i]);
    }
    void store(float* to) const
    {
        XLOOM_UNROLL(8)
        for (std::size_t i = 0; i < count; ++i)
            store_batch(to + i * width, all[i]);
    }
};
#endif

/// Returns the blocks of a strip that have one of its columns [first, end).
constexpr std::uint64_t mask_of(std::size_t first, std::size_t end) noexcept
{
    std::size_t const begin = first / block_columns,
                      count = xloom::detail::ceil_div(end, block_columns) - begin;
    return (~std::uint64_t{0} >> (strip_blocks - count)) << begin;
}

/// Adds the products of rows with the wanted blocks of a list to the sums of a strip.
template <std::size_t Count, class Number>
void add_blocks(std::array<std::array<block_row, block_depth>, Count> const& factors, block_list const& list,
    std::uint64_t wanted, weight_block<Number> const* blocks, float (&sums)[Count][strip_stride]) noexcept
{
    weight_block<Number> const* block =
        blocks + index_of(list, static_cast<std::size_t>(std::countr_zero(wanted)));
    for (std::uint64_t mask = list.mask & wanted; mask != 0; mask &= mask - 1, ++block) {
        std::size_t const column = static_cast<std::size_t>(std::countr_zero(mask)) * block_columns;
        std::array<block_row, block_depth> weights;
        XLOOM_UNROLL(4)
        for (std::size_t i = 0; i < block_depth; ++i)
            weights[i] = block_row((*block)[i].data());
        XLOOM_UNROLL(4)
        for (std::size_t r = 0; r < Count; ++r) {
            block_row sum(sums[r] + column);
            XLOOM_UNROLL(4)
            for (std::size_t i = 0; i < block_depth; ++i)
                sum.add_products(factors[r][i], weights[i]);
            sum.store(sums[r] + column);
        }
    }
}

/// Computes sums = start + scales * (a b) for `Count` rows and columns [first, end) of a strip. start, sums
/// and scales begin with the first of them.
template <std::size_t Count, class Number>
XLOOM_FLATTEN void multiply_strip(row_span<float const> a, std::size_t depth, block_list const* lists,
    weight_block<Number> const* blocks, std::size_t first, std::size_t end, row_span<float const> scales,
    row_span<float const> start, row_span<float> sums) noexcept
{
    alignas(64) float chain[Count][strip_stride];
    std::uint64_t const wanted = mask_of(first, end);
    std::size_t k = 0;
    do {
        for (auto& row : chain)
            std::fill_n(row, strip_columns, 0.0f);
        for (std::size_t const chain_end = (std::min)(k + chain_length, depth); k < chain_end;
             k += block_depth) {
            std::array<std::array<block_row, block_depth>, Count> factors;
            XLOOM_UNROLL(4)
            for (std::size_t r = 0; r < Count; ++r) {
                XLOOM_UNROLL(4)
                for (std::size_t i = 0; i < block_depth; ++i)
                    factors[r][i] = block_row(k + i < depth ? a.from(r).first[k + i] : 0.0f);
            }
            add_blocks(factors, lists[k / block_depth], wanted, blocks, chain);
        }
        for (std::size_t r = 0; r < Count; ++r)
            for (std::size_t j = first; j < end; j += batch_size<float>)
                store_batch(sums.from(r).first + (j - first),
                    add_scaled(start.from(r).first + (j - first), scales.first + scales.stride * (j - first),
                        load_batch(chain[r] + j)));
        start = sums;
    } while (k < depth);
}

/// The product with a block_matrix.
template <class Number>
void multiply_blocks(std::size_t rows, row_span<float const> a, stored_matrix<float> const& b,
    column_range columns, row_span<float const> start, row_span<float> sums, panel_order) noexcept
{
    auto const& matrix = *static_cast<block_matrix<Number> const*>(b.items);
    constexpr std::size_t most_rows = 4;
    kernel::blocks const parts{rows, most_rows};
    std::size_t const end = columns.first + columns.count;
    for (std::size_t first = columns.first, next; first < end; first = next) {
        std::size_t const begin = first / strip_columns * strip_columns, offset = first - columns.first;
        next = (std::min)(begin + strip_columns, end);
        row_span<float const> const scales = b.scales == nullptr
                                                 ? row_span<float const>{unit_scales<float>.data(), 0}
                                                 : row_span<float const>{b.scales + first, 1};
        block_list const* const lists = &list_of(matrix, b.depth, begin / block_columns, 0);
        for (std::size_t part = 0; part < parts.count(); ++part) {
            std::size_t const row = parts.begin(part);
            with_count<1, most_rows>(parts.begin(part + 1) - row, [&](auto count) {
                multiply_strip<count>(a.from(row), b.depth, lists, matrix.blocks, first - begin, next - begin,
                    scales, {start.from(row).first + offset, start.stride},
                    {sums.from(row).first + offset, sums.stride});
            });
        }
    }
}

} // namespace detail
} // namespace xloom::inline XLOOM_ABI::kernel

XLOOM_END_FALSE_WARNINGS
