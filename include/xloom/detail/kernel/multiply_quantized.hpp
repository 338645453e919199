#pragma once
// Products of rows that are rounded to 8 bits with a constant matrix of 8 bits.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <xloom/detail/kernel/byte_panels.hpp>
#include <xloom/detail/kernel/byte_products.hpp>
#include <xloom/detail/kernel/multiply.hpp>
#include <xloom/detail/kernel/quantized_rows.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

namespace detail {

/// A piece of a depth in items of four numbers.
struct piece_of_depth {
    std::size_t first, end;
};

/// Computes sums = start + a b for `Count` rows, `Batches` batches of columns and a piece of the depth.
template <std::size_t Count, std::size_t Batches>
void multiply_bytes(quantized_row const* a, panels<float, four_weights> const& b, std::size_t panel,
    piece_of_depth piece, rows_of<float const> start, rows_of<float> sums) noexcept
{
    std::size_t const depth = items_of_depth(b.depth, 4), column = panel * panel_width<float>,
                      next_panel = depth * panel_width<float>;
    four_weights const* const first = b.items + column * depth;
    byte_unit::sums sum[Count][Batches];
#pragma GCC unroll 8
    for (std::size_t r = 0; r < Count; ++r)
#pragma GCC unroll 16
        for (std::size_t i = 0; i < Batches; ++i)
            sum[r][i] = byte_unit::begin(a[r].total);
    for (std::size_t k = piece.first; k < piece.end; ++k) {
        std::array<byte_unit::weights, Batches> weights;
#pragma GCC unroll 16
        for (std::size_t i = 0; i < Batches; ++i)
            weights[i] =
                byte_unit::load(column_batch<Batches, float>(first, next_panel, k, i)->stored.data());
#pragma GCC unroll 8
        for (std::size_t r = 0; r < Count; ++r) {
            auto const factors = byte_unit::spread(&a[r].items[4 * (k - piece.first)]);
#pragma GCC unroll 16
            for (std::size_t i = 0; i < Batches; ++i)
                sum[r][i] = byte_unit::add_products(sum[r][i], weights[i], factors);
        }
    }
#pragma GCC unroll 8
    for (std::size_t r = 0; r < Count; ++r)
#pragma GCC unroll 16
        for (std::size_t i = 0; i < Batches; ++i) {
            std::size_t const j = column + i * batch_size<float>;
            store_batch(
                sums.first + r * sums.step + j, multiply_add(byte_unit::to_floats(sum[r][i]),
                                                    batch_t<float>(a[r].scale) * load_batch(b.scales + j),
                                                    load_batch(start.first + r * start.step + j)));
        }
}

/// The blocks of rows that are rounded before the panels are read.
inline constexpr std::size_t quantized_blocks = 4;

/// Computes sums = start + a b for one row, several panels at a time.
inline void multiply_quantized_one(rows_of<float const> a, panels<float, four_weights> const& b,
    rows_of<float const> start, rows_of<float> sums, panel_order order) noexcept
{
    quantized_row row;
    for (std::size_t k = 0; k < b.depth; k += quantized_length) {
        std::size_t const end = (std::min)(k + quantized_length, b.depth);
        quantize_row(a.first + k, end - k, row);
        for_each_panel_group<float, panels_per_row<float>>(
            b.columns, order, [&](std::size_t panel, auto batches) {
                multiply_bytes<1, batches>(&row, b, panel, {k / 4, items_of_depth(end, 4)}, start, sums);
            });
        start = {sums.first, sums.step};
    }
}

/// Computes sums = start + a b for two or more rows, panel by panel.
///
/// Why some blocks at a time: a panel that is read serves all of them, and their bytes stay in L1.
inline void multiply_quantized_many(std::size_t rows, rows_of<float const> a,
    panels<float, four_weights> const& b, rows_of<float const> start, rows_of<float> sums,
    panel_order order) noexcept
{
    constexpr std::size_t most = block_rows<float>;
    std::array<quantized_row, quantized_blocks * most> quantized;
    blocks const parts{rows, most};
    auto const for_each_part = [&](std::size_t first, auto const& f) {
        for (std::size_t part = first; part < (std::min)(first + quantized_blocks, parts.count()); ++part) {
            std::size_t const begin = parts.begin(part);
            with_count<2, most>(parts.begin(part + 1) - begin,
                [&](auto count) { f(begin, count, &quantized[(part - first) * most]); });
        }
    };
    for (std::size_t k = 0; k < b.depth; k += quantized_length) {
        std::size_t const end = (std::min)(k + quantized_length, b.depth);
        for (std::size_t part = 0; part < parts.count(); part += quantized_blocks) {
            for_each_part(part, [&](std::size_t row, auto count, quantized_row* to) {
                for (std::size_t r = 0; r < count; ++r)
                    quantize_row(a.from(row + r).first + k, end - k, to[r]);
            });
            for_each_panel_group<float, 1>(b.columns, order, [&](std::size_t panel, auto batches) {
                for_each_part(part, [&](std::size_t row, auto count, quantized_row const* from) {
                    multiply_bytes<count, batches>(
                        from, b, panel, {k / 4, items_of_depth(end, 4)}, start.from(row), sums.from(row));
                });
            });
        }
        start = {sums.first, sums.step};
    }
}

} // namespace detail

/// Computes sums = start + a b as multiply does, with a rounded to 8 bits by quantize_row in pieces of
/// quantized_length numbers of a row.
inline void multiply_quantized(std::size_t rows, rows_of<float const> a, panels<float, four_weights> const& b,
    rows_of<float const> start, rows_of<float> sums, panel_order order) noexcept
{
    if (b.depth == 0)
        for (std::size_t r = 0; r < rows; ++r)
            std::copy_n(start.from(r).first, whole_batches<float>(b.columns), sums.from(r).first);
    else if (rows == 1)
        detail::multiply_quantized_one({a.first, 0}, b, start, sums, order);
    else
        detail::multiply_quantized_many(rows, a, b, start, sums, order);
}

} // namespace xloom::inline XLOOM_ABI::kernel
