#pragma once
// Products with a constant matrix.
//
// Why every sum is made in the order of k, whatever else is done beside it: its bits then depend neither on how many rows there are nor on
// how the work is cut, so that a batch equals its rows, a sequence its pieces, and two threads one. It is made of chains of multiply-adds
// that are short: rounding errors grow with the length of a chain.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <optional>

#include <xloom/core/cache.hpp>
#include <xloom/kernel/panels.hpp>
#include <xloom/kernel/simd.hpp>

namespace xloom::kernel {

/// Products in a chain.
inline constexpr std::size_t chain_length = 128;

/// Rows whose sums are kept in registers at once.
inline constexpr std::size_t most_rows = 6;

/// Rows of numbers: row r begins at first[r * step]. A step of 0 gives all rows the same numbers.
template <class T>
struct rows_of {
    T* first;
    std::size_t step;
};

/// The order in which panels are taken. A matrix that just does not fit into the cache is worth taking backwards every other time: then a
/// part of it is still there.
enum class panel_order : bool { forwards, backwards };

constexpr panel_order order_of_step(std::size_t t) noexcept { return t % 2 == 0 ? panel_order::forwards : panel_order::backwards; }

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

/// Has `Count` items fetched that will be written: into the cache nearest to the core.
template <std::size_t Count, class T>
void fetch_to_write(T const* items) noexcept
{
#pragma GCC unroll 32
    for (std::size_t i = 0; i < Count; i += line_items<T>)
        __builtin_prefetch(items + i, 1, 3);
}

/// Has items fetched while products are made: into the next cache, for there is more to be done before they are read.
template <class T>
struct fetch_items {
    T const* first;
    std::size_t step; ///< from one product to the next

    void operator()(std::size_t k) const noexcept { __builtin_prefetch(first + k * step, 0, 2); }
};

struct fetch_nothing {
    void operator()(std::size_t) const noexcept {}
};

/// sums = start + a b for `Rows` rows and `Panels` panels side by side, the products from k to `end` in one chain.
///
/// Why four products a turn: counting is a seventh of a turn of one, and where two threads share a core it is instructions that are short.
/// g++ would besides load a row of b anew for each row of a, unless it unrolls.
template <std::size_t Rows, std::size_t Panels, class T, class Fetch>
void add_chain(rows_of<T const> a, std::size_t k, std::size_t end, T const* panel, std::size_t next_panel, rows_of<T const> start,
    rows_of<T> sums, Fetch const& fetch) noexcept
{
    using batch = batch_t<T>;
    constexpr std::size_t width = panel_batches<T> * Panels;

    std::array<std::array<batch, width>, Rows> sum;
    for (auto& row : sum)
        row.fill(batch(T(0)));

#pragma GCC unroll 4
    for (; k < end; ++k) {
        std::array<batch, width> const b = load_panels<Panels>(panel + k * panel_width<T>, next_panel);
        fetch(k);
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

/// The same for all products, in as many chains as it takes, and the columns from this panel of b on.
///
/// Why the sums are fetched first: they are wanted when the first chain is done, and then there is nothing to do while they come.
template <std::size_t Rows, std::size_t Panels, class T, class Fetch>
void multiply_tile(
    rows_of<T const> a, panels<T> const& b, std::size_t panel, rows_of<T const> start, rows_of<T> sums, Fetch const& fetch) noexcept
{
    std::size_t const column = panel * panel_width<T>;
    start.first += column;
    sums.first += column;
#pragma GCC unroll 8
    for (std::size_t r = 0; r < Rows; ++r)
        fetch_to_write<panel_width<T> * Panels>(sums.first + r * sums.step);
    for (std::size_t k = 0; k < b.depth; k += chain_length) {
        std::size_t const end = std::min(k + chain_length, b.depth);
        add_chain<Rows, Panels>(a, k, end, b.items + column * b.depth, b.depth * panel_width<T>, start, sums, fetch);
        start = {sums.first, sums.step};
    }
    if (b.depth == 0)
        for (std::size_t r = 0; r < Rows; ++r)
            std::copy_n(start.first + r * start.step, panel_width<T> * Panels, sums.first + r * sums.step);
}

/// As many rows as there are, at most `Rows`.
template <std::size_t Rows, class T, class Fetch>
void multiply_rows(std::size_t rows, rows_of<T const> a, panels<T> const& b, std::size_t panel, rows_of<T const> start, rows_of<T> sums,
    Fetch const& fetch) noexcept
{
    if constexpr (Rows > 1)
        if (rows < Rows)
            return multiply_rows<Rows - 1>(rows, a, b, panel, start, sums, fetch);
    multiply_tile<Rows, 1>(a, b, panel, start, sums, fetch);
}

/// One row has too few sums in flight to keep the multipliers busy: several panels at once.
template <class T>
void multiply_one(rows_of<T const> a, panels<T> const& b, rows_of<T const> start, rows_of<T> sums, panel_order order) noexcept
{
    constexpr std::size_t together = 8 / panel_batches<T>;
    std::size_t const count = whole_panels<T>(b.columns) / panel_width<T>, turns = (count + together - 1) / together;
    for (std::size_t i = 0; i < turns; ++i) {
        std::size_t panel = (order == panel_order::backwards ? turns - 1 - i : i) * together;
        if (panel + together <= count)
            multiply_tile<1, together>(a, b, panel, start, sums, fetch_nothing());
        else
            for (; panel < count; ++panel)
                multiply_tile<1, 1>(a, b, panel, start, sums, fetch_nothing());
    }
}

/// What block number `block` of `blocks` has fetched of a panel. The last blocks share it, up to four of them.
///
/// Why they share it: lines that are asked for faster than they come wait for each other.
template <class T>
std::optional<fetch_items<T>> share_of(T const* panel, std::size_t depth, std::size_t block, std::size_t blocks) noexcept
{
    std::size_t const shares = std::bit_floor(std::min<std::size_t>(blocks, 4)), width = panel_width<T> / shares;
    if (block + shares < blocks)
        return std::nullopt;
    return fetch_items<T>{panel + (block + shares - blocks) * width * depth, std::min(width, line_items<T>)};
}

/// Why the next panel is fetched: a matrix larger than the core's own cache would be waited for at the beginning of each panel. It costs a
/// twentieth of the time of the blocks that do it, which a matrix in the core's own cache would not give back.
template <class T>
void multiply_many(
    std::size_t rows, rows_of<T const> a, panels<T> const& b, rows_of<T const> start, rows_of<T> sums, panel_order order) noexcept
{
    std::size_t const count = whole_panels<T>(b.columns) / panel_width<T>, panel_size = b.depth * panel_width<T>;
    std::size_t const blocks = (rows + most_rows - 1) / most_rows;
    bool const fetches = count * panel_size * sizeof(T) > own_cache;
    for (std::size_t i = 0; i < count; ++i) {
        bool const is_backwards = order == panel_order::backwards;
        std::size_t const panel = is_backwards ? count - 1 - i : i, next = is_backwards ? panel - 1 : panel + 1;
        for (std::size_t block = 0; block < blocks; ++block) {
            std::size_t const begin = block * rows / blocks, end = (block + 1) * rows / blocks;
            auto const multiply_block = [&](auto const& fetch) {
                multiply_rows<most_rows>(end - begin, {a.first + begin * a.step, a.step}, b, panel,
                    {start.first + begin * start.step, start.step}, {sums.first + begin * sums.step, sums.step}, fetch);
            };
            std::optional<fetch_items<T>> share;
            if (fetches && i + 1 < count)
                share = share_of(b.items + next * panel_size, b.depth, block, blocks);
            if (share)
                multiply_block(*share);
            else
                multiply_block(fetch_nothing());
        }
    }
}

} // namespace detail

/// sums = start + a b for a [rows, b.depth]. start and sums [rows, whole panels]; start may be sums, nothing else may overlap.
template <class T>
void multiply(std::size_t rows, rows_of<T const> a, panels<T> const& b, rows_of<T const> start, rows_of<T> sums,
    panel_order order = panel_order::forwards) noexcept
{
    if (rows == 1)
        detail::multiply_one(a, b, start, sums, order);
    else
        detail::multiply_many(rows, a, b, start, sums, order);
}

} // namespace xloom::kernel
