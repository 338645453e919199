#pragma once
// Products with a constant matrix.
//
// Why every sum is accumulated in the order of k: its bits then depend neither on the number of rows nor on
// how the work is partitioned, so that a batch equals its rows, a sequence its pieces, and two threads one.
// Each sum is split into dependency chains of at most chain_length multiply-adds, because rounding errors
// grow with the length of a chain.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <numeric>
#include <optional>
#include <type_traits>

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/kernel/panels.hpp>
#include <xloom/detail/kernel/simd.hpp>
#include <xloom/detail/kernel/widen.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The maximum number of products in a dependency chain.
inline constexpr std::size_t chain_length = 128;

constexpr panel_order order_of_step(std::size_t t) noexcept
{
    return t % 2 == 0 ? panel_order::forwards : panel_order::backwards;
}

/// The number of panels by which one row is multiplied at a time: one panel has too few independent sums to
/// keep the multipliers busy.
template <class T>
inline constexpr std::size_t panels_per_row = (7 + panel_batches<T>) / panel_batches<T>;

namespace detail {

/// Returns the element at k of row r of a block of `Count` rows.
template <std::size_t Count, class T>
T const& element_at(row_span<T const> block, std::size_t r, std::size_t k) noexcept
{
    return block.first[r * block.stride + k];
}
template <std::size_t Count, class T>
T const& element_at(interleaved_rows<T> block, std::size_t r, std::size_t k) noexcept
{
    return block.first[k * Count + r];
}

/// Returns the block that begins with row `row`.
template <class T>
row_span<T const> row_block(row_span<T const> rows, std::size_t row, std::size_t) noexcept
{
    return rows.from(row);
}
template <class T>
interleaved_rows<T> row_block(interleaved_rows<T> rows, std::size_t row, std::size_t depth) noexcept
{
    return {rows.first + row * depth};
}

/// Returns batch i of row k of `Batches` batches of columns in panels at a stride of `next_panel`.
template <std::size_t Batches, class T, class Stored>
Stored const* column_batch(Stored const* panel, std::size_t next_panel, std::size_t k, std::size_t i) noexcept
{
    std::size_t const number = i / panel_batches<T>, column = i * batch_size<T> - number * panel_width<T>;
    std::size_t const width = columns_of_panel<T>(number * panel_width<T>, Batches * batch_size<T>);
    return panel + number * next_panel + k * width + column;
}

/// Loads row k of `Batches` batches of columns from panels at a stride of `next_panel`.
template <std::size_t Batches, class T, class Stored>
std::array<batch_t<T>, Batches> load_batches(
    Stored const* panel, std::size_t next_panel, std::size_t k) noexcept
{
    std::array<batch_t<T>, Batches> batches;
    XLOOM_UNROLL(16)
    for (std::size_t i = 0; i < Batches; ++i)
        batches[i] = load_widened(column_batch<Batches, T>(panel, next_panel, k, i));
    return batches;
}

/// Prefetches `Count` items for writing, into L1.
template <std::size_t Count, class T>
void prefetch_for_write(T const* items) noexcept
{
    XLOOM_UNROLL(32)
    for (std::size_t i = 0; i < Count; i += elements_per_cache_line<T>)
        prefetch_to_write<3>(items + i);
}

/// A prefetch of the next panel, spread over the products of this one: into L2, because other work precedes
/// its use.
template <class T>
struct prefetch_next_panel {
    T const* first;
    std::size_t stride; ///< the stride from product to product

    void operator()(std::size_t k) const noexcept { prefetch_to_read<2>(first + k * stride); }
};

struct no_prefetch {
    void operator()(std::size_t) const noexcept {}
};

/// Computes sums = factor * b + sums.
///
/// Why g++ without SIMD keeps a loop where there are vector units: it vectorises a loop over std::fma but not
/// the unrolled calls, while clang vectorises the unrolled calls only.
template <class T, std::size_t Batches>
void add_row(batch_t<T> const& factor, std::array<batch_t<T>, Batches> const& b,
    std::array<batch_t<T>, Batches>& sums) noexcept
{
#if !defined(__clang__) && !defined(__arm__)
    if constexpr (!has_simd<T>) {
        XLOOM_UNROLL(1)
        for (std::size_t i = 0; i < Batches; ++i)
            sums[i] = multiply_add(factor, b[i], sums[i]);
        return;
    }
#endif
    XLOOM_UNROLL(16)
    for (std::size_t i = 0; i < Batches; ++i)
        sums[i] = multiply_add(factor, b[i], sums[i]);
}

/// Computes sums = factor * (row k of `Batches` batches of columns) + sums.
///
/// Why batch by batch: 16 registers do not hold a widened row beside the sums.
template <std::size_t Batches, class T, class Stored>
void add_widened_row(batch_t<T> const& factor, Stored const* panel, std::size_t next_panel, std::size_t k,
    std::array<batch_t<T>, Batches>& sums) noexcept
{
    XLOOM_UNROLL(16)
    for (std::size_t i = 0; i < Batches; ++i)
        sums[i] =
            multiply_add(factor, load_widened(column_batch<Batches, T>(panel, next_panel, k, i)), sums[i]);
}

/// The scales of columns whose scale is 1.
template <class T>
inline constexpr std::array<T, batch_size<T>> unit_scales = [] {
    std::array<T, batch_size<T>> ones{};
    ones.fill(T(1));
    return ones;
}();

/// Returns start + scale * sum, which is start + sum if the scale is 1.
template <class T>
batch_t<T> add_scaled(T const* start, T const* scale, batch_t<T> const& sum) noexcept
{
    if constexpr (has_storage_types<T>)
        return multiply_add(load_batch(scale), sum, load_batch(start));
    else
        return load_batch(start) + sum;
}

/// Computes sums = start + scales * (a b) for `Count` rows and `Batches` batches of columns, with products
/// [k, end) in one dependency chain. Batch i of the columns has the scales of row i.
///
/// Why unrolled by 4: loop overhead is 1/7 of an iteration of one product, and SMT siblings compete for issue
/// slots. Without unrolling, g++ also loads a row of b again for each row of a. Why flatten: g++ -O2 would
/// call a function to load a row.
template <std::size_t Count, std::size_t Batches, class T, class Stored, class Rows, class Prefetch>
XLOOM_FLATTEN void add_chain(Rows a, std::size_t k, std::size_t end, Stored const* panel,
    std::size_t next_panel, row_span<T const> scales, row_span<T const> start, row_span<T> sums,
    Prefetch const& prefetch) noexcept
{
    using batch = batch_t<T>;

    std::array<std::array<batch, Batches>, Count> sum;
    XLOOM_UNROLL(8)
    for (std::size_t r = 0; r < Count; ++r) {
        XLOOM_UNROLL(16)
        for (std::size_t i = 0; i < Batches; ++i)
            sum[r][i] = batch(T(0));
    }

    XLOOM_UNROLL(4)
    for (; k < end; ++k) {
        if constexpr (Count == 1 && !std::is_same_v<Stored, T>) {
            add_widened_row<Batches, T>(batch(element_at<Count>(a, 0, k)), panel, next_panel, k, sum[0]);
        } else {
            std::array<batch, Batches> const b = load_batches<Batches, T>(panel, next_panel, k);
            prefetch(k);
            XLOOM_UNROLL(8)
            for (std::size_t r = 0; r < Count; ++r) {
                batch const factor(element_at<Count>(a, r, k));
                add_row<T>(factor, b, sum[r]);
            }
        }
    }

    XLOOM_UNROLL(8)
    for (std::size_t r = 0; r < Count; ++r) {
        XLOOM_UNROLL(16)
        for (std::size_t i = 0; i < Batches; ++i)
            store_batch(sums.first + r * sums.stride + i * batch_size<T>,
                add_scaled(
                    start.first + r * start.stride + i * batch_size<T>, scales.from(i).first, sum[r][i]));
    }
}

/// Computes sums = start + a b for `Count` rows and `Batches` batches of columns, which begin at the given
/// panel of b, with all products in as many dependency chains as needed.
///
/// Why the sums are prefetched first: they are needed at the end of the first chain, where no other work
/// hides the latency.
template <std::size_t Count, std::size_t Batches, class T, class Stored, class Rows, class Prefetch>
void multiply_tile(Rows a, panels<T, Stored> const& b, std::size_t panel, row_span<T const> start,
    row_span<T> sums, Prefetch const& prefetch) noexcept
{
    constexpr std::size_t width = Batches * batch_size<T>;
    std::size_t const column = panel * panel_width<T>;
    start.first += column;
    sums.first += column;
    row_span<T const> scales{nullptr, 0};
    if constexpr (has_storage_types<T>)
        scales = b.scales == nullptr ? row_span<T const>{unit_scales<T>.data(), 0}
                                     : row_span<T const>{b.scales + column, batch_size<T>};
    XLOOM_UNROLL(8)
    for (std::size_t r = 0; r < Count; ++r)
        prefetch_for_write<width>(sums.first + r * sums.stride);
    for (std::size_t k = 0; k < b.depth; k += chain_length) {
        std::size_t const end = (std::min)(k + chain_length, b.depth);
        add_chain<Count, Batches>(
            a, k, end, b.items + column * b.depth, b.depth * panel_width<T>, scales, start, sums, prefetch);
        start = sums;
    }
    if (b.depth == 0)
        for (std::size_t r = 0; r < Count; ++r)
            std::copy_n(start.first + r * start.stride, width, sums.first + r * sums.stride);
}

/// Calls f(panel, number of batches) for groups of up to `Panels` panels, of nearly equal sizes; the number
/// is a compile-time constant.
template <class T, std::size_t Panels, class F>
void for_each_panel_group(std::size_t columns, panel_order order, F const& f)
{
    constexpr std::size_t width = panel_batches<T>;
    std::size_t const batches = whole_batches<T>(columns) / batch_size<T>;
    blocks const groups{xloom::detail::ceil_div(batches, width), Panels};
    for (std::size_t i = 0; i < groups.count(); ++i) {
        std::size_t const group = order == panel_order::backwards ? groups.count() - 1 - i : i;
        std::size_t const panel = groups.begin(group),
                          end = (std::min)(groups.begin(group + 1) * width, batches);
        with_count<1, Panels * width>(end - panel * width, [&](auto count) { f(panel, count); });
    }
}

/// Computes sums = start + a b for one row, several panels at a time.
template <class T, class Stored>
void multiply_one(row_span<T const> a, panels<T, Stored> const& b, row_span<T const> start, row_span<T> sums,
    panel_order order) noexcept
{
    for_each_panel_group<T, panels_per_row<T>>(b.columns, order, [&](std::size_t panel, auto batches) {
        multiply_tile<1, batches>(a, b, panel, start, sums, no_prefetch());
    });
}

/// Returns the prefetch of a panel that part `part` of the rows issues, if any. The last parts, up to four of
/// them, share a panel evenly.
///
/// Why they share it: prefetches that are issued faster than cache lines arrive delay each other.
template <class T>
std::optional<prefetch_next_panel<T>> prefetch_slice(
    T const* panel, std::size_t depth, std::size_t part, std::size_t parts) noexcept
{
    std::size_t const shares = std::gcd(std::bit_floor(std::min<std::size_t>(parts, 4)), panel_width<T>),
                      width = panel_width<T> / shares;
    if (part + shares < parts)
        return std::nullopt;
    return prefetch_next_panel<T>{
        panel + (part + shares - parts) * width * depth, (std::min)(width, elements_per_cache_line<T>)};
}

template <class T>
bool is_larger_than_l2(panels<T> const& b) noexcept
{
    return panel_items<T>(b.depth, b.columns) * sizeof(T) > tuning::l2_cache_size;
}

/// Computes sums = start + a b for two or more rows, panel by panel.
///
/// Why the next panel is prefetched: a matrix larger than L2 would stall at the beginning of each panel.
/// Prefetching costs 1/20 of the time of the rows that issue it, which neither a matrix that fits in L2 would
/// recover nor one of a narrow type, whose numbers are widened in the meantime.
template <class T, class Stored, class Rows>
void multiply_many(std::size_t rows, Rows a, panels<T, Stored> const& b, row_span<T const> start,
    row_span<T> sums, panel_order order) noexcept
{
    constexpr std::size_t width = panel_batches<T>;
    std::size_t const batches = whole_batches<T>(b.columns) / batch_size<T>,
                      count = xloom::detail::ceil_div(batches, width), whole = batches / width;
    blocks const parts{rows, block_rows<T>};
    bool const is_backwards = order == panel_order::backwards;
    for (std::size_t i = 0; i < count; ++i) {
        std::size_t const panel = is_backwards ? count - 1 - i : i,
                          next = is_backwards ? panel - 1 : panel + 1;
        for (std::size_t part = 0; part < parts.count(); ++part) {
            std::size_t const begin = parts.begin(part), end = parts.begin(part + 1);
            auto const multiply_part = [&](auto batches_here, auto const& prefetch) {
                with_count<2, block_rows<T>>(end - begin, [&](auto rows_here) {
                    multiply_tile<rows_here, batches_here>(row_block(a, begin, b.depth), b, panel,
                        start.from(begin), sums.from(begin), prefetch);
                });
            };
            if constexpr (std::is_same_v<Stored, T>)
                if (panel < whole && next < whole && is_larger_than_l2(b))
                    if (auto const slice = prefetch_slice(
                            b.items + next * panel_width<T> * b.depth, b.depth, part, parts.count())) {
                        multiply_part(std::integral_constant<std::size_t, width>(), *slice);
                        continue;
                    }
            with_count<1, width>((std::min)(width, batches - panel * width),
                [&](auto batches_here) { multiply_part(batches_here, no_prefetch()); });
        }
    }
}

/// The product of any number of rows.
template <class T, class Rows, class Stored>
void multiply_rows(std::size_t rows, Rows a, panels<T, Stored> const& b, row_span<T const> start,
    row_span<T> sums, panel_order order) noexcept
{
    if (rows == 1)
        multiply_one(row_span<T const>{a.first, 0}, b, start, sums, order);
    else
        multiply_many(rows, a, b, start, sums, order);
}

} // namespace detail

/// Computes sums = start + a b for a [rows, b.depth]. start and sums are [rows, whole batches]; start may be
/// sums, other overlaps are not allowed.
template <class T, class Stored>
void multiply(std::size_t rows, row_span<T const> a, panels<T, Stored> const& b, row_span<T const> start,
    row_span<T> sums, panel_order order = panel_order::forwards) noexcept
{
    detail::multiply_rows(rows, a, b, start, sums, order);
}
template <class T, class Stored>
void multiply(std::size_t rows, interleaved_rows<T> a, panels<T, Stored> const& b, row_span<T const> start,
    row_span<T> sums, panel_order order = panel_order::forwards) noexcept
{
    detail::multiply_rows(rows, a, b, start, sums, order);
}
/// Computes sums = start + a b for some columns of b, the first of which begins a panel; start and sums begin
/// with it.
template <class T>
void multiply_columns(std::size_t rows, row_span<T const> a, stored_matrix<T> const& b, column_range columns,
    row_span<T const> start, row_span<T> sums, panel_order order = panel_order::forwards) noexcept
{
    if (b.is_full())
        multiply<T>(rows, a, columns_of(b.as(), columns), start, sums, order);
    else
        b.product(rows, a, b, columns, start, sums, order);
}
template <class T>
void multiply(std::size_t rows, row_span<T const> a, stored_matrix<T> const& b, row_span<T const> start,
    row_span<T> sums, panel_order order = panel_order::forwards) noexcept
{
    multiply_columns<T>(rows, a, b, {0, b.columns}, start, sums, order);
}

} // namespace xloom::inline XLOOM_ABI::kernel
