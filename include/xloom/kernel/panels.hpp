#pragma once
// A constant matrix laid out for products: in panels, each so many columns wide as the registers hold.

#include <algorithm>
#include <cstddef>

#include <xloom/core/cache.hpp>
#include <xloom/kernel/simd.hpp>

namespace xloom::kernel {

/// Batches side by side in a panel: 16 registers hold 3 by 4 sums and what is multiplied, 32 hold 4 by 6.
template <class T>
inline constexpr std::size_t panel_batches = !has_simd<T> || sizeof(batch_t<T>) >= 64 ? 4 : 3;

template <class T>
inline constexpr std::size_t panel_width = panel_batches<T> * batch_size<T>;

/// A matrix [depth, columns], its columns filled up to whole batches: panel p holds those from p *
/// panel_width on, row after row. The last one is as wide as what is left.
template <class T>
struct panels {
    T const* items = nullptr;
    std::size_t depth = 0;
    std::size_t columns = 0;
};

/// Columns of the panel that begins with this one, out of so many.
template <class T>
constexpr std::size_t columns_of_panel(std::size_t first, std::size_t columns) noexcept
{
    return (std::min)(panel_width<T>, whole_batches<T>(columns) - first);
}

/// What panels [depth, columns] take up.
template <class T>
constexpr std::size_t panel_items(std::size_t depth, std::size_t columns) noexcept
{
    return depth * whole_batches<T>(columns);
}

/// From one row of sums to the next: a line of the cache more than they take up, for rows that lie as far
/// apart as a power of two would share a few places of the cache.
template <class T>
constexpr std::size_t row_step(std::size_t columns) noexcept
{
    return whole_batches<T>(columns) + elements_per_cache_line<T>;
}

/// A matrix [depth, columns] wherever it lies: item (k, j) at items[k * depth_step + j * column_step].
template <class Item>
struct strided_matrix {
    Item const* items;
    std::ptrdiff_t depth_step;
    std::ptrdiff_t column_step;
};

/// Panels to be written.
template <class T>
struct unpacked_panels {
    T* items;
    std::size_t depth;
    std::size_t columns;

    panels<T> packed() const noexcept { return {items, depth, columns}; }
};

/// Writes a matrix [rows, columns] into panels, to their rows from first_row and columns from first_column
/// on.
///
/// Why in blocks of rows: weights lie along the depth in memory or across it; either way a line of the cache
/// is read while it is there.
template <class T, class Item>
void pack_panels(strided_matrix<Item> from, std::size_t rows, std::size_t columns,
    unpacked_panels<T> const& to, std::size_t first_row = 0, std::size_t first_column = 0) noexcept
{
    constexpr std::size_t block = 16;
    auto const at = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
    for (std::size_t begin = 0, end; begin < columns; begin = end) {
        std::size_t const offset = (first_column + begin) % panel_width<T>,
                          panel = first_column + begin - offset;
        std::size_t const width = columns_of_panel<T>(panel, to.columns);
        end = (std::min)(columns, begin + width - offset);
        T* const target = to.items + panel * to.depth + first_row * width + offset;
        Item const* const source = from.items + at(begin) * from.column_step;
        if (from.column_step == 1) {
            for (std::size_t k = 0; k < rows; ++k)
                for (std::size_t j = 0; j < end - begin; ++j)
                    target[k * width + j] = static_cast<T>(source[at(k) * from.depth_step + at(j)]);
        } else {
            for (std::size_t k0 = 0; k0 < rows; k0 += block)
                for (std::size_t j = 0; j < end - begin; ++j) {
                    T* const to_column = target + k0 * width + j;
                    Item const* const from_column =
                        source + at(k0) * from.depth_step + at(j) * from.column_step;
                    for (std::size_t k = 0, count = (std::min)(block, rows - k0); k < count; ++k)
                        to_column[k * width] = static_cast<T>(from_column[at(k) * from.depth_step]);
                }
        }
    }
}

} // namespace xloom::kernel
