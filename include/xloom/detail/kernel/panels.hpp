#pragma once
// The operands of products: a constant matrix packed in panels as wide as the registers allow, in the type
// that computes or in a narrow one, and rows in blocks whose sums fit in registers.
//
// Why functions for narrow panels: only a program that packs them compiles their products.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/kernel/simd.hpp>
#include <xloom/detail/kernel/with_count.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The width of a panel in batches: 16 registers hold 3 by 4 sums and the factors, 32 hold 4 by 6.
template <class T>
inline constexpr std::size_t panel_batches = !has_simd<T> || sizeof(batch_t<T>) >= 64 ? 4 : 3;

template <class T>
inline constexpr std::size_t panel_width = panel_batches<T> * batch_size<T>;

/// Columns [first, first + count) of a matrix.
struct column_range {
    std::size_t first, count;
};

/// A matrix [depth, columns] in row-major panels, its columns padded to whole batches: panel p begins with
/// column p * panel_width. The last panel is as wide as the remaining columns. A product widens Stored to T.
template <class T, class Stored = T>
struct panels {
    Stored const* items = nullptr;
    std::size_t depth = 0;
    std::size_t columns = 0;
    T const* scales = nullptr; ///< a factor of each column, padded as the columns are; null: 1
};

/// Returns the width of the panel that begins with column `first` of `columns`.
template <class T>
constexpr std::size_t columns_of_panel(std::size_t first, std::size_t columns) noexcept
{
    return (std::min)(panel_width<T>, whole_batches<T>(columns) - first);
}

/// The numbers of a column that an item of panels holds: those of its array `stored`, if it has one.
template <class Stored>
inline constexpr std::size_t item_depth_of = 1;
template <class Stored>
    requires requires { &Stored::stored; }
inline constexpr std::size_t item_depth_of<Stored> = std::tuple_size_v<decltype(Stored::stored)>;

/// Returns some columns of panels, which begin a panel.
template <class T, class Stored>
constexpr panels<T, Stored> columns_of(panels<T, Stored> const& all, column_range columns) noexcept
{
    return {all.items + columns.first * xloom::detail::ceil_div(all.depth, item_depth_of<Stored>), all.depth,
        columns.count, all.scales == nullptr ? nullptr : all.scales + columns.first};
}

/// Returns the number of items of panels [depth, columns].
template <class T>
constexpr std::size_t panel_items(std::size_t depth, std::size_t columns) noexcept
{
    return depth * whole_batches<T>(columns);
}

/// The order in which panels are processed. Alternating it reuses the cached tail of a matrix slightly larger
/// than the cache.
enum class panel_order : bool { forwards, backwards };

/// Returns the stride of rows of sums, padded by a cache line so that power-of-two strides do not map all
/// rows to the same cache sets.
template <class T>
constexpr std::size_t row_stride(std::size_t columns) noexcept
{
    return whole_batches<T>(columns) + elements_per_cache_line<T>;
}

/// A strided matrix [depth, columns]: item (k, j) is at items[k * depth_stride + j * column_stride].
template <class Item>
struct strided_matrix {
    Item const* items;
    std::ptrdiff_t depth_stride;
    std::ptrdiff_t column_stride;

    Item const* at(std::size_t k, std::size_t j) const noexcept
    {
        return items + static_cast<std::ptrdiff_t>(k) * depth_stride +
               static_cast<std::ptrdiff_t>(j) * column_stride;
    }
};

/// A strided matrix [depth, parts * columns], each of whose parts is packed with `stride` columns.
template <class Item>
struct matrix_parts {
    strided_matrix<Item> all;
    std::size_t depth;
    std::size_t columns; ///< of a part
    std::size_t parts, stride;

    matrix_parts(strided_matrix<Item> const& whole, std::size_t rows, std::size_t columns_of_part) noexcept
        : matrix_parts(whole, rows, columns_of_part, 1, columns_of_part)
    {}
    matrix_parts(strided_matrix<Item> const& whole, std::size_t rows, std::size_t columns_of_part,
        std::size_t count, std::size_t packed_columns_of_part) noexcept
        : all(whole), depth(rows), columns(columns_of_part), parts(count), stride(packed_columns_of_part)
    {}

    std::size_t packed_columns() const noexcept { return parts * stride; }
    strided_matrix<Item> part(std::size_t number) const noexcept
    {
        return {all.at(0, number * columns), all.depth_stride, all.column_stride};
    }
};

/// Mutable panels, the destination of pack_panels.
template <class T, class Stored = T>
struct panel_writer {
    Stored* items;
    std::size_t depth;
    std::size_t columns;

    panels<T, Stored> packed() const noexcept { return {items, depth, columns}; }
};

/// Returns number k of a column of panels that are `width` items wide, given the column's first item.
template <class Stored>
constexpr auto& number_of_column(Stored* first, std::size_t k, std::size_t width) noexcept
{
    constexpr std::size_t together = item_depth_of<Stored>;
    if constexpr (together == 1)
        return first[k * width];
    else
        return first[k / together * width].stored[k % together];
}

/// Writes a matrix [rows, columns] into panels, to rows from first_row and columns from first_column on. Each
/// number becomes convert(item, its column of the matrix).
///
/// Why in blocks of rows: weights are contiguous along the depth or across it; in both cases a cache line is
/// read completely while it is in cache.
template <class T, class Stored, class Item, class Convert>
void pack_converted(strided_matrix<Item> from, std::size_t rows, std::size_t columns,
    panel_writer<T, Stored> const& to, std::size_t first_row, std::size_t first_column,
    Convert const& convert) noexcept
{
    constexpr std::size_t block = 16;
    auto const at = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
    for (std::size_t begin = 0, end; begin < columns; begin = end) {
        std::size_t const offset = (first_column + begin) % panel_width<T>,
                          panel = first_column + begin - offset;
        std::size_t const width = columns_of_panel<T>(panel, to.columns);
        end = (std::min)(columns, begin + width - offset);
        Stored* const target =
            to.items + panel * xloom::detail::ceil_div(to.depth, item_depth_of<Stored>) + offset;
        Item const* const source = from.items + at(begin) * from.column_stride;
        if (from.column_stride == 1) {
            for (std::size_t k = 0; k < rows; ++k)
                for (std::size_t j = 0; j < end - begin; ++j)
                    number_of_column(target + j, first_row + k, width) =
                        convert(source[at(k) * from.depth_stride + at(j)], begin + j);
        } else {
            for (std::size_t k0 = 0; k0 < rows; k0 += block)
                for (std::size_t j = 0; j < end - begin; ++j) {
                    Item const* const from_column =
                        source + at(k0) * from.depth_stride + at(j) * from.column_stride;
                    for (std::size_t k = 0, count = (std::min)(block, rows - k0); k < count; ++k)
                        number_of_column(target + j, first_row + k0 + k, width) =
                            convert(from_column[at(k) * from.depth_stride], begin + j);
                }
        }
    }
}

/// Writes a matrix [rows, columns] into panels, to rows from first_row and columns from first_column on.
template <class T, class Item>
void pack_panels(strided_matrix<Item> from, std::size_t rows, std::size_t columns, panel_writer<T> const& to,
    std::size_t first_row = 0, std::size_t first_column = 0) noexcept
{
    pack_converted(from, rows, columns, to, first_row, first_column,
        [](Item const& item, std::size_t) { return static_cast<T>(item); });
}

/// The maximum number of rows in a block, whose sums for one panel fit in registers.
template <class T>
inline constexpr std::size_t block_rows = panel_batches<T> == 3 ? 4 : 6;

/// A partition of `length` items into as few blocks of at most `most` as possible, of nearly equal sizes. If
/// most >= 3 and there are two rows or more, no block has size 1.
struct blocks {
    std::size_t length, most;

    constexpr std::size_t count() const noexcept { return xloom::detail::ceil_div(length, most); }
    constexpr std::size_t begin(std::size_t block) const noexcept
    {
        return xloom::detail::begin_of_part(block, count(), length);
    }
};

/// Rows of numbers at a stride: row r begins at first[r * stride]. With a stride of 0, all rows are the same.
template <class T>
struct row_span {
    T* first;
    std::size_t stride;

    constexpr operator row_span<T const>() const noexcept
        requires(!std::is_const_v<T>)
    {
        return {first, stride};
    }
    constexpr row_span from(std::size_t row) const noexcept { return {first + row * stride, stride}; }
};

/// Rows of numbers in contiguous blocks, each of which holds number k of all its rows contiguously.
///
/// Why: a product reads them sequentially.
template <class T>
struct interleaved_rows {
    T const* first;
};

/// True for numbers whose matrices may be stored otherwise than as panels of them.
template <class T>
inline constexpr bool has_storage_types = std::same_as<T, float>;

template <class T>
struct stored_matrix;

/// A function that computes sums = start + a b for some columns of b: see multiply.
template <class T>
using stored_product = void (*)(std::size_t rows, row_span<T const> a, stored_matrix<T> const& b,
    column_range columns, row_span<T const> start, row_span<T> sums, panel_order order) noexcept;

/// A constant matrix [depth, columns] in panels of T, or as `items` that a product of its own knows.
template <class T>
struct stored_matrix {
    void const* items = nullptr;
    std::size_t depth = 0;
    std::size_t columns = 0;
    T const* scales = nullptr;           ///< as in panels
    stored_product<T> product = nullptr; ///< null: panels of T

    stored_matrix() = default;
    template <class Stored>
    stored_matrix(panels<T, Stored> const& all, stored_product<T> of_stored = nullptr)
        : items(all.items), depth(all.depth), columns(all.columns), scales(all.scales), product(of_stored)
    {}

    bool is_full() const noexcept { return product == nullptr; }

    /// Returns panels of the type that they are stored in.
    template <class Stored = T>
    panels<T, Stored> as() const noexcept
    {
        return {static_cast<Stored const*>(items), depth, columns, scales};
    }
};

} // namespace xloom::inline XLOOM_ABI::kernel
