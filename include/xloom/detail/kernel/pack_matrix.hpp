#pragma once
// Constant matrices, packed in the type that computes or in another storage.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/small_float.hpp>
#include <xloom/detail/core/weight_storage.hpp>
#include <xloom/detail/kernel/arena.hpp>
#include <xloom/detail/kernel/block_products.hpp>
#include <xloom/detail/kernel/byte_products.hpp>
#include <xloom/detail/kernel/multiply.hpp>
#include <xloom/detail/kernel/pair_products.hpp>
#include <xloom/detail/kernel/rounded_products.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

namespace detail {

/// The product with panels of Stored.
template <class Stored>
void multiply_stored(std::size_t rows, row_span<float const> a, stored_matrix<float> const& b,
    column_range columns, row_span<float const> start, row_span<float> sums, panel_order order) noexcept
{
    auto const panels = columns_of(b.template as<Stored>(), columns);
    if constexpr (std::is_same_v<Stored, four_weights>)
        multiply_rounded<byte_products>(rows, a, panels, start, sums, order);
    else if constexpr (std::is_same_v<Stored, two_weights>)
        multiply_rounded<pair_products>(rows, a, panels, start, sums, order);
    else
        multiply<float>(rows, a, panels, start, sums, order);
}

template <class T, class Stored>
inline constexpr stored_product<T> product_with = &multiply_stored<Stored>;
template <class T>
inline constexpr stored_product<T> product_with<T, T> = nullptr;

/// True for integers, which have a scale for each column.
template <class Stored>
inline constexpr bool has_scales =
    std::is_same_v<Stored, std::int8_t> || std::is_same_v<Stored, four_weights>;

/// Computes the scales that map the largest magnitude of each column to 127, but no less than the smallest
/// normal number: products may take subnormal numbers for 0.
///
/// Why not always column by column: a cache line is read completely while it is in cache.
template <class Item>
void scale_columns(strided_matrix<Item> from, std::size_t depth, std::size_t columns, float* scales) noexcept
{
    auto const larger = [&](float largest, std::size_t k, std::size_t j) {
        return (std::max)(largest, std::abs(static_cast<float>(*from.at(k, j))));
    };
    if (columns == 0)
        return; // a matrix of 2^60 rows may have none
    std::fill_n(scales, columns, 0.0f);
    if (from.column_stride == 1) {
        for (std::size_t k = 0; k < depth; ++k)
            for (std::size_t j = 0; j < columns; ++j)
                scales[j] = larger(scales[j], k, j);
    } else {
        for (std::size_t j = 0; j < columns; ++j) {
            float largest = 0;
            for (std::size_t k = 0; k < depth; ++k)
                largest = larger(largest, k, j);
            scales[j] = largest;
        }
    }
    for (std::size_t j = 0; j < columns; ++j)
        scales[j] = (std::max)(scales[j] / 127, (std::numeric_limits<float>::min)());
}

/// Returns the multiple of a scale that is nearest to an item, ties to even.
template <class Item>
std::int8_t round_to_scale(Item const& item, float scale) noexcept
{
    double const quotient = static_cast<double>(static_cast<float>(item)) / static_cast<double>(scale);
    return static_cast<std::int8_t>(std::nearbyint(quotient));
}

/// Allocates the scales of a matrix, and computes them; null for types without scales.
template <class Stored, class T, class Item>
T* pack_scales(matrix_parts<Item> const& from, arena<T>& memory)
{
    if constexpr (has_scales<Stored>) {
        T* const scales = memory.take(whole_batches<T>(from.packed_columns()));
        for (std::size_t part = 0; part < from.parts && !memory.only_counts(); ++part)
            scale_columns(from.part(part), from.depth, from.columns, scales + part * from.stride);
        return scales;
    } else {
        return nullptr;
    }
}

/// Returns a weight of a packed column as the number that is stored.
template <class Stored, class T, class Item>
auto stored_number(
    Item const& item, [[maybe_unused]] T const* scales, [[maybe_unused]] std::size_t column) noexcept
{
    if constexpr (std::is_same_v<Stored, four_weights>)
        return static_cast<std::uint8_t>(byte_offset + round_to_scale(item, scales[column]));
    else if constexpr (std::is_same_v<Stored, two_weights>)
        return static_cast<bfloat16>(item);
    else if constexpr (has_scales<Stored>)
        return round_to_scale(item, scales[column]);
    else
        return static_cast<Stored>(item);
}

/// Packs a matrix in panels of Stored.
template <class Stored, class T, class Item>
stored_matrix<T> pack_panels_of(matrix_parts<Item> const& from, arena<T>& memory)
{
    std::size_t const columns = from.packed_columns(), depth = from.depth,
                      rows = xloom::detail::ceil_div(depth, item_depth_of<Stored>);
    panel_writer<T, Stored> const to{
        memory.template take_as<Stored>(rows, whole_batches<T>(columns)), depth, columns};
    T const* const scales = pack_scales<Stored>(from, memory);
    for (std::size_t part = 0; part < from.parts && !memory.only_counts(); ++part) {
        std::size_t const first = part * from.stride;
        auto const convert = [&](Item const& item, std::size_t column) {
            return stored_number<Stored>(item, scales, first + column);
        };
        pack_converted(from.part(part), depth, from.columns, to, 0, first, convert);
    }
    return {panels<T, Stored>{to.items, depth, columns, scales}, product_with<T, Stored>};
}

/// Packs the blocks of a matrix that are not zeros; in panels, if more than 5/8 of them are not: a panel's
/// product has vectors of up to 64 bytes, a block's of 32.
template <class Number, class Item>
stored_matrix<float> pack_blocks_of(matrix_parts<Item> const& from, arena<float>& memory)
{
    std::size_t count = 0;
    for_each_block(from, [&](auto&&...) { ++count; });
    std::size_t const all = xloom::detail::ceil_div(from.packed_columns(), block_columns) *
                            xloom::detail::ceil_div(from.depth, block_depth);
    if (8 * count > 5 * all)
        return pack_panels_of<Number>(from, memory);
    stored_matrix<float> packed;
    float const* const scales = pack_scales<Number>(from, memory);
    packed.items = pack_blocks<Number>(from, count, memory,
        [&](Item const& item, std::size_t column) { return stored_number<Number>(item, scales, column); });
    packed.depth = from.depth;
    packed.columns = from.packed_columns();
    packed.scales = scales;
    packed.product = &multiply_blocks<Number>;
    return packed;
}

} // namespace detail

/// Packs a matrix in a storage. An arena that only counts allocates what is needed for the matrix.
template <class T, class Item>
stored_matrix<T> pack_matrix(matrix_parts<Item> const& from, arena<T>& memory)
{
    return detail::pack_panels_of<T>(from, memory);
}
template <class Item>
stored_matrix<float> pack_matrix(matrix_parts<Item> const& from, weight_storage storage, arena<float>& memory)
{
    switch (storage) {
    case weight_storage::float16:
        return detail::pack_panels_of<float16>(from, memory);
    case weight_storage::bfloat16:
        return detail::pack_panels_of<bfloat16>(from, memory);
    case weight_storage::int8:
        return detail::pack_panels_of<std::int8_t>(from, memory);
    case weight_storage::dynamic_int8:
        return detail::pack_panels_of<four_weights>(from, memory);
    case weight_storage::dynamic_bfloat16:
        return detail::pack_panels_of<two_weights>(from, memory);
    case weight_storage::block_sparse:
        return detail::pack_blocks_of<float>(from, memory);
    case weight_storage::block_sparse_int8:
        return detail::pack_blocks_of<std::int8_t>(from, memory);
    case weight_storage::full:
        break;
    }
    return pack_matrix(from, memory);
}

} // namespace xloom::inline XLOOM_ABI::kernel
