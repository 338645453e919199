#pragma once
// Products of rows that are rounded first with a constant matrix of a narrow type (dynamic quantization).
//
// A Unit has the types of a batch of columns: `stored`, an item of the panels, which holds several numbers of
// a column; `weights`, the items of a batch; `row`, a piece of a row, as round(from, count, row) rounds it;
// `factors`, as many numbers of a row as an item holds, which all columns have; and `sums`. These are what
// begin(row, start) returns, and add_products(sums, weights, factors) adds to; finish(sums, row, scales,
// start) returns them as floats.

#include <algorithm>
#include <array>
#include <cstddef>

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/kernel/multiply.hpp>
#include <xloom/detail/kernel/panels.hpp>
#include <xloom/detail/kernel/simd.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

namespace detail {

/// A piece of a depth, in items.
struct piece_of_depth {
    std::size_t first, end;
};

/// Returns the piece of the numbers [begin, end) of a depth.
template <class Unit>
constexpr piece_of_depth piece_of(std::size_t begin, std::size_t end) noexcept
{
    constexpr std::size_t together = item_depth_of<typename Unit::stored>;
    return {begin / together, xloom::detail::ceil_div(end, together)};
}

/// Computes sums = start + a b for `Count` rows, `Batches` batches of columns and a piece of the depth.
template <class Unit, std::size_t Count, std::size_t Batches>
void multiply_piece(typename Unit::row const* a, panels<float, typename Unit::stored> const& b,
    std::size_t panel, piece_of_depth piece, row_span<float const> start, row_span<float> sums) noexcept
{
    constexpr std::size_t together = item_depth_of<typename Unit::stored>;
    std::size_t const depth = xloom::detail::ceil_div(b.depth, together), column = panel * panel_width<float>,
                      next_panel = depth * panel_width<float>;
    auto const* const first = b.items + column * depth;
    auto const column_of = [&](std::size_t i) { return column + i * batch_size<float>; };
    auto const start_at = [&](std::size_t r, std::size_t i) {
        return start.first + r * start.stride + column_of(i);
    };
    typename Unit::sums sum[Count][Batches];
    XLOOM_UNROLL(8)
    for (std::size_t r = 0; r < Count; ++r) {
        XLOOM_UNROLL(16)
        for (std::size_t i = 0; i < Batches; ++i)
            sum[r][i] = Unit::begin(a[r], start_at(r, i));
    }
    for (std::size_t k = piece.first; k < piece.end; ++k) {
        std::array<typename Unit::weights, Batches> weights;
        XLOOM_UNROLL(16)
        for (std::size_t i = 0; i < Batches; ++i)
            weights[i] = Unit::load(column_batch<Batches, float>(first, next_panel, k, i));
        XLOOM_UNROLL(8)
        for (std::size_t r = 0; r < Count; ++r) {
            auto const factors = Unit::spread(a[r], together * (k - piece.first));
            XLOOM_UNROLL(16)
            for (std::size_t i = 0; i < Batches; ++i)
                sum[r][i] = Unit::add_products(sum[r][i], weights[i], factors);
        }
    }
    XLOOM_UNROLL(8)
    for (std::size_t r = 0; r < Count; ++r) {
        XLOOM_UNROLL(16)
        for (std::size_t i = 0; i < Batches; ++i) {
            float const* const scales = b.scales == nullptr ? nullptr : b.scales + column_of(i);
            store_batch(sums.first + r * sums.stride + column_of(i),
                Unit::finish(sum[r][i], a[r], scales, start_at(r, i)));
        }
    }
}

/// The blocks of rows that are rounded before the panels are read.
inline constexpr std::size_t rounded_blocks = 4;

/// Computes sums = start + a b for one row, several panels at a time.
template <class Unit>
void multiply_rounded_one(row_span<float const> a, panels<float, typename Unit::stored> const& b,
    row_span<float const> start, row_span<float> sums, panel_order order) noexcept
{
    typename Unit::row row;
    for (std::size_t k = 0; k < b.depth; k += Unit::piece_length) {
        std::size_t const end = (std::min)(k + Unit::piece_length, b.depth);
        Unit::round(a.first + k, end - k, row);
        for_each_panel_group<float, panels_per_row<float>>(
            b.columns, order, [&](std::size_t panel, auto batches) {
                multiply_piece<Unit, 1, batches>(&row, b, panel, piece_of<Unit>(k, end), start, sums);
            });
        start = sums;
    }
}

/// Computes sums = start + a b for two or more rows, panel by panel.
///
/// Why some blocks at a time: a panel that is read serves all of them, and their rows stay in L1.
template <class Unit>
void multiply_rounded_many(std::size_t rows, row_span<float const> a,
    panels<float, typename Unit::stored> const& b, row_span<float const> start, row_span<float> sums,
    panel_order order) noexcept
{
    using row_type = typename Unit::row;
    constexpr std::size_t most = block_rows<float>;
    std::array<row_type, rounded_blocks * most> rounded;
    blocks const parts{rows, most};
    auto const for_each_part = [&](std::size_t first, auto const& f) {
        for (std::size_t part = first; part < (std::min)(first + rounded_blocks, parts.count()); ++part) {
            std::size_t const begin = parts.begin(part);
            with_count<2, most>(parts.begin(part + 1) - begin,
                [&](auto count) { f(begin, count, &rounded[(part - first) * most]); });
        }
    };
    for (std::size_t k = 0; k < b.depth; k += Unit::piece_length) {
        std::size_t const end = (std::min)(k + Unit::piece_length, b.depth);
        for (std::size_t part = 0; part < parts.count(); part += rounded_blocks) {
            for_each_part(part, [&](std::size_t row, auto count, row_type* to) {
                for (std::size_t r = 0; r < count; ++r)
                    Unit::round(a.from(row + r).first + k, end - k, to[r]);
            });
            for_each_panel_group<float, 1>(b.columns, order, [&](std::size_t panel, auto batches) {
                for_each_part(part, [&](std::size_t row, auto count, row_type const* from) {
                    multiply_piece<Unit, count, batches>(
                        from, b, panel, piece_of<Unit>(k, end), start.from(row), sums.from(row));
                });
            });
        }
        start = sums;
    }
}

} // namespace detail

/// Computes sums = start + a b as multiply does, with a rounded by Unit in pieces of Unit::piece_length
/// numbers of a row.
template <class Unit>
void multiply_rounded(std::size_t rows, row_span<float const> a,
    panels<float, typename Unit::stored> const& b, row_span<float const> start, row_span<float> sums,
    panel_order order) noexcept
{
    if (b.depth == 0)
        for (std::size_t r = 0; r < rows; ++r)
            std::copy_n(start.from(r).first, whole_batches<float>(b.columns), sums.from(r).first);
    else if (rows == 1)
        detail::multiply_rounded_one<Unit>({a.first, 0}, b, start, sums, order);
    else
        detail::multiply_rounded_many<Unit>(rows, a, b, start, sums, order);
}

} // namespace xloom::inline XLOOM_ABI::kernel
