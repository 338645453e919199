#pragma once
// Strided matrices of items that may be omitted, and copies of them that convert the items.

#include <cstddef>
#include <type_traits>
#include <utility>

#include <xloom/detail/core/abi.hpp>
#include <xloom/detail/kernel/strided_copy.hpp>
#include <xloom/detail/kernel/widen.hpp>
#include <xloom/detail/kernel/with_count.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// A strided matrix of items; omitted if `first` is null. Operands along time have a row for each step.
template <class Item>
struct item_rows {
    Item* first = nullptr;
    std::ptrdiff_t row = 0, column = 0;

    operator item_rows<Item const>() const
        requires(!std::is_const_v<Item>)
    {
        return {first, row, column};
    }

    Item* at(std::size_t i, std::size_t j) const
    {
        return first + static_cast<std::ptrdiff_t>(i) * row + static_cast<std::ptrdiff_t>(j) * column;
    }

    /// Returns the rows and columns exchanged; those of an omitted operand are omitted.
    item_rows transposed() const { return {first, column, row}; }
    /// Returns the columns from j on.
    item_rows from_column(std::size_t j) const { return {first == nullptr ? first : at(0, j), row, column}; }
    /// Returns the rows from i on.
    item_rows from_row(std::size_t i) const { return {first == nullptr ? first : at(i, 0), row, column}; }
    /// Returns the matrix at a distance in items.
    item_rows moved(std::ptrdiff_t distance) const
    {
        return {first == nullptr ? first : first + distance, row, column};
    }
};

namespace detail {

/// Assigns from[i * N + j] to to[j * stride + i], for i < count and j < N. Requires that the two do not
/// overlap. Why N is a constant: compilers then permute vectors instead of copying item by item.
template <std::size_t N, class T>
void split_columns(
    T const* __restrict from, T* __restrict to, std::ptrdiff_t stride, std::size_t count) noexcept
{
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t j = 0; j < N; ++j)
            (to + static_cast<std::ptrdiff_t>(j) * stride)[i] = from[i * N + j];
}

/// Assigns from[j * stride + i] to to[i * N + j], as above.
template <std::size_t N, class T>
void join_columns(
    T const* __restrict from, std::ptrdiff_t stride, T* __restrict to, std::size_t count) noexcept
{
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t j = 0; j < N; ++j)
            to[i * N + j] = (from + static_cast<std::ptrdiff_t>(j) * stride)[i];
}

/// Assigns from[j * from_stride + i] to to[i * to_stride + j], for i < rows and j < columns.
template <class T>
void copy_turned(T const* from, std::ptrdiff_t from_stride, T* to, std::ptrdiff_t to_stride, std::size_t rows,
    std::size_t columns)
{
    bool const is_done =
        (from_stride == static_cast<std::ptrdiff_t>(rows) &&
            with_few<2, 4>(rows, [&](auto n) { split_columns<n()>(from, to, to_stride, columns); })) ||
        (to_stride == static_cast<std::ptrdiff_t>(columns) &&
            with_few<2, 4>(columns, [&](auto n) { join_columns<n()>(from, from_stride, to, rows); }));
    if (!is_done)
        copy_transposed(from, from_stride, to, to_stride, columns, rows);
}

} // namespace detail

/// Assigns `rows` rows of `columns` items, converted to Tos. Requires that the two do not overlap.
template <class From, class To>
void copy_matrix(item_rows<From> from, item_rows<To> to, std::size_t rows, std::size_t columns)
{
    if (to.column != 1 && to.row == 1) {
        from = from.transposed();
        to = to.transposed();
        std::swap(rows, columns);
    }
    if constexpr (std::is_same_v<std::remove_const_t<From>, To>)
        if (from.row == 1 && to.column == 1)
            return detail::copy_turned(from.first, from.column, to.first, to.row, rows, columns);
    for (std::size_t i = 0; i < rows; ++i) {
        From* const source = from.at(i, 0);
        To* const target = to.at(i, 0);
        if (from.column == 1 && to.column == 1)
            for (std::size_t j = 0; j < columns; ++j)
                target[j] = static_cast<To>(source[j]);
        else
            for (std::size_t j = 0; j < columns; ++j)
                target[static_cast<std::ptrdiff_t>(j) * to.column] =
                    static_cast<To>(source[static_cast<std::ptrdiff_t>(j) * from.column]);
    }
}

/// Sets `rows` rows of `columns` items to zeros.
template <class T>
void clear_matrix(item_rows<T> const& to, std::size_t rows, std::size_t columns)
{
    T const zero(0);
    copy_matrix(item_rows<T const>{&zero, 0, 0}, to, rows, columns);
}

/// Loads the items of `count` channels of a row as numbers of type T, padded with zeros.
template <class T, class Item>
batch_t<T> load_channels(item_rows<Item> const& rows, std::size_t i, std::size_t channel, std::size_t count)
{
    Item* const from = rows.at(i, channel);
    if constexpr (std::is_same_v<std::remove_const_t<Item>, T>)
        if (rows.column == 1)
            return count == batch_size<T> ? load_batch<T>(from) : load_first<T>(from, count);
    if constexpr (std::is_same_v<T, float> && has_narrow_vectors<std::remove_const_t<Item>>)
        if (rows.column == 1 && count == batch_size<T>)
            return load_widened(from);
    T items[batch_size<T>]{};
    for (std::size_t c = 0; c < count; ++c)
        items[c] = static_cast<T>(from[static_cast<std::ptrdiff_t>(c) * rows.column]);
    return load_batch(items);
}

template <class T, class Item>
void store_channels(batch_t<T> const& values, item_rows<Item> const& rows, std::size_t i, std::size_t channel,
    std::size_t count)
{
    Item* const to = rows.at(i, channel);
    if constexpr (std::is_same_v<Item, T>)
        if (rows.column == 1)
            return count == batch_size<T> ? store_batch<T>(to, values) : store_first<T>(values, to, count);
    if constexpr (std::is_same_v<T, float> && has_narrow_vectors<Item>)
        if (rows.column == 1 && count == batch_size<T>)
            return store_narrowed(to, values);
    T items[batch_size<T>];
    store_batch(items, values);
    for (std::size_t c = 0; c < count; ++c)
        to[static_cast<std::ptrdiff_t>(c) * rows.column] = static_cast<Item>(items[c]);
}

/// Adds numbers to items, unless these are omitted.
template <class T, class Item>
void add_matrix(
    item_rows<T const> const& from, item_rows<Item> const& to, std::size_t rows, std::size_t columns)
{
    if (to.first == nullptr)
        return;
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j) {
            Item& item = *to.at(i, j);
            item = static_cast<Item>(static_cast<T>(item) + *from.at(i, j));
        }
}

} // namespace xloom::inline XLOOM_ABI::kernel
