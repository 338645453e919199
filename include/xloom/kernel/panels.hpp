#pragma once
// Products with a constant matrix, which is laid out for them once: in panels, each so many columns wide as the registers hold.
//
// Why every sum is made in the order of k, whatever else is done beside it: its bits then depend neither on how many rows there are nor on
// how the work is cut, so that a batch equals its rows, a sequence its pieces, and two threads one. It is made of chains of multiply-adds
// that are short: rounding errors grow with the length of a chain.

#include <algorithm>
#include <array>
#include <cstddef>

#include <xloom/kernel/simd.hpp>

namespace xloom::kernel {

/// Batches side by side in a panel: what the registers of the target hold for most_rows rows of sums.
template <class T>
inline constexpr std::size_t panel_batches = sizeof(batch_t<T>) >= 64 || !has_simd<T> ? 4 : 2;

template <class T>
inline constexpr std::size_t panel_width = panel_batches<T>* batch_size<T>;

/// Products in a chain.
inline constexpr std::size_t chain_length = 128;

/// Rows whose sums are kept in registers at once.
inline constexpr std::size_t most_rows = 6;

/// `columns` and what is missing to whole panels.
template <class T>
constexpr std::size_t whole_panels(std::size_t columns) noexcept
{
    return (columns + panel_width<T> - 1) / panel_width<T> * panel_width<T>;
}

/// A matrix [depth, columns], columns in whole panels: panel p holds the columns from p * panel_width on, row after row.
template <class T>
struct panels {
    T const* items = nullptr;
    std::size_t depth = 0;
    std::size_t columns = 0;
};

/// What panels [depth, columns] take up.
template <class T>
constexpr std::size_t panel_items(std::size_t depth, std::size_t columns) noexcept
{
    return depth * whole_panels<T>(columns);
}

/// A matrix [depth, columns] wherever it lies: item (k, j) at items[k * depth_step + j * column_step].
template <class Item>
struct strided_matrix {
    Item const* items;
    std::ptrdiff_t depth_step;
    std::ptrdiff_t column_step;
};

/// Writes a matrix into panels of `depth` rows, to their rows from first_row and columns from first_column on.
///
/// Why in blocks of rows: weights lie along the depth in memory or across it; either way a line of the cache is read while it is there.
template <class T, class Item>
void pack_panels(strided_matrix<Item> from, std::size_t rows, std::size_t columns, T* to, std::size_t depth, std::size_t first_row,
    std::size_t first_column) noexcept
{
    constexpr std::size_t width = panel_width<T>, block = 16;
    auto const at = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
    for (std::size_t begin = 0, end; begin < columns; begin = end) {
        std::size_t const panel = (first_column + begin) / width, offset = (first_column + begin) % width;
        end = std::min(columns, begin + width - offset);
        T* const target = to + panel * width * depth + first_row * width + offset;
        Item const* const source = from.items + at(begin) * from.column_step;
        if (from.column_step == 1) {
            for (std::size_t k = 0; k < rows; ++k)
                for (std::size_t j = 0; j < end - begin; ++j)
                    target[k * width + j] = static_cast<T>(source[at(k) * from.depth_step + at(j)]);
        } else {
            for (std::size_t k0 = 0; k0 < rows; k0 += block)
                for (std::size_t j = 0; j < end - begin; ++j) {
                    T* const to_column = target + k0 * width + j;
                    Item const* const from_column = source + at(k0) * from.depth_step + at(j) * from.column_step;
                    for (std::size_t k = 0, count = std::min(block, rows - k0); k < count; ++k)
                        to_column[k * width] = static_cast<T>(from_column[at(k) * from.depth_step]);
                }
        }
    }
}

/// Rows of numbers: row r begins at first[r * step]. A step of 0 gives all rows the same numbers.
template <class T>
struct rows_of {
    T* first;
    std::size_t step;
};

namespace detail {

/// Row k of so many panels side by side.
template <std::size_t Panels, class T>
std::array<batch_t<T>, panel_batches<T> * Panels> load_panels(T const* row, std::size_t next_panel) noexcept
{
    std::array<batch_t<T>, panel_batches<T> * Panels> batches;
#pragma GCC unroll 16
    for (std::size_t i = 0; i < batches.size(); ++i)
        batches[i] = load_batch(row + i / panel_batches<T> * next_panel + i % panel_batches<T> * batch_size<T>);
    return batches;
}

/// sums = start + a b for `Rows` rows and `Panels` panels side by side, `depth` products in one chain.
///
/// Why four products a turn: counting is a seventh of a turn of one, and where two threads share a core it is instructions that are short.
/// g++ would besides load a row of b anew for each row of a, unless it unrolls.
template <std::size_t Rows, std::size_t Panels, class T>
void add_chain(
    rows_of<T const> a, std::size_t depth, T const* panel, std::size_t next_panel, rows_of<T const> start, rows_of<T> sums) noexcept
{
    using batch = batch_t<T>;
    constexpr std::size_t width = panel_batches<T> * Panels;

    std::array<std::array<batch, width>, Rows> sum;
    for (auto& row : sum)
        row.fill(batch(T(0)));

#pragma GCC unroll 4
    for (std::size_t k = 0; k < depth; ++k) {
        std::array<batch, width> const b = load_panels<Panels>(panel + k * panel_width<T>, next_panel);
#pragma GCC unroll 8
        for (std::size_t r = 0; r < Rows; ++r) {
            batch const factor(a.first[r * a.step + k]);
#pragma GCC unroll 16
            for (std::size_t i = 0; i < width; ++i)
                sum[r][i] = multiply_add(factor, b[i], sum[r][i]);
        }
    }

#pragma GCC unroll 8
    for (std::size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 16
        for (std::size_t i = 0; i < width; ++i)
            store_batch(
                sums.first + r * sums.step + i * batch_size<T>, load_batch(start.first + r * start.step + i * batch_size<T>) + sum[r][i]);
}

/// The same, in as many chains as it takes.
template <std::size_t Rows, std::size_t Panels, class T>
void multiply_tile(rows_of<T const> a, std::size_t depth, T const* panel, rows_of<T const> start, rows_of<T> sums) noexcept
{
    std::size_t const next_panel = depth * panel_width<T>;
    for (std::size_t k = 0; k < depth; k += chain_length) {
        add_chain<Rows, Panels>(
            {a.first + k, a.step}, std::min(chain_length, depth - k), panel + k * panel_width<T>, next_panel, start, sums);
        start = {sums.first, sums.step};
    }
    if (depth == 0)
        for (std::size_t r = 0; r < Rows; ++r)
            std::copy_n(start.first + r * start.step, panel_width<T> * Panels, sums.first + r * sums.step);
}

/// As many rows as there are, at most `Rows`.
template <std::size_t Rows, class T>
void multiply_rows(
    std::size_t rows, rows_of<T const> a, std::size_t depth, T const* panel, rows_of<T const> start, rows_of<T> sums) noexcept
{
    if constexpr (Rows > 1)
        if (rows < Rows)
            return multiply_rows<Rows - 1>(rows, a, depth, panel, start, sums);
    multiply_tile<Rows, 1>(a, depth, panel, start, sums);
}

} // namespace detail

/// The order in which panels are taken. A matrix that just does not fit into the cache is worth taking backwards every other time: then a
/// part of it is still there.
enum class panel_order : bool { forwards, backwards };

constexpr panel_order order_of_step(std::size_t t) noexcept { return t % 2 == 0 ? panel_order::forwards : panel_order::backwards; }

/// sums = start + a b for a [rows, b.depth]. start and sums [rows, whole panels]; start may be sums, nothing else may overlap.
template <class T>
void multiply(std::size_t rows, rows_of<T const> a, panels<T> const& b, rows_of<T const> start, rows_of<T> sums,
    panel_order order = panel_order::forwards) noexcept
{
    constexpr std::size_t width = panel_width<T>;
    // One row has too few sums in flight to keep the multipliers busy: several panels at once.
    constexpr std::size_t together = 8 / panel_batches<T>;
    std::size_t const count = whole_panels<T>(b.columns) / width;
    std::size_t const blocks = (rows + most_rows - 1) / most_rows;
    std::size_t const taken = rows == 1 ? together : 1;
    std::size_t const turns = (count + taken - 1) / taken;
    for (std::size_t i = 0; i < turns; ++i) {
        std::size_t const first = (order == panel_order::backwards ? turns - 1 - i : i) * taken;
        if (rows == 1 && first + together <= count) {
            detail::multiply_tile<1, together>(
                a, b.depth, b.items + first * width * b.depth, {start.first + first * width, 0}, {sums.first + first * width, 0});
            continue;
        }
        for (std::size_t panel = first; panel < std::min(first + taken, count); ++panel)
            for (std::size_t block = 0; block < blocks; ++block) {
                std::size_t const begin = block * rows / blocks, end = (block + 1) * rows / blocks, column = panel * width;
                detail::multiply_rows<most_rows>(end - begin, {a.first + begin * a.step, a.step}, b.depth, b.items + column * b.depth,
                    {start.first + begin * start.step + column, start.step}, {sums.first + begin * sums.step + column, sums.step});
            }
    }
}

} // namespace xloom::kernel
