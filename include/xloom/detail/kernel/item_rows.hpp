#pragma once
// Strided matrices of items, whose neighbours in a row are the lanes of a batch.

#include <cstddef>
#include <type_traits>

#include <xloom/detail/kernel/widen.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// A strided matrix of items; omitted if `first` is null. Operands along time have a row for each step.
template <class Item>
struct item_rows {
    Item* first = nullptr;
    std::ptrdiff_t row = 0, column = 0;

    Item* at(std::size_t i, std::size_t j) const
    {
        return first + static_cast<std::ptrdiff_t>(i) * row + static_cast<std::ptrdiff_t>(j) * column;
    }

    /// Returns the rows and columns exchanged; those of an omitted operand are omitted.
    item_rows transposed() const { return {first, column, row}; }
    /// Returns the columns from j on.
    item_rows from(std::size_t j) const { return {first == nullptr ? first : at(0, j), row, column}; }
    /// Returns the matrix at a distance in items.
    item_rows moved(std::ptrdiff_t distance) const
    {
        return {first == nullptr ? first : first + distance, row, column};
    }
};

/// Loads the items of `count` channels of a row as numbers of type T, padded with zeros.
template <class T, class Item>
batch_t<T> load_channels(item_rows<Item> const& rows, std::size_t i, std::size_t channel, std::size_t count)
{
    Item* const from = rows.at(i, channel);
    if constexpr (std::is_same_v<std::remove_const_t<Item>, T>)
        if (rows.column == 1)
            return count == batch_size<T> ? load_batch<T>(from) : load_first<T>(from, count);
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
    T items[batch_size<T>];
    store_batch(items, values);
    for (std::size_t c = 0; c < count; ++c)
        to[static_cast<std::ptrdiff_t>(c) * rows.column] = static_cast<Item>(items[c]);
}

} // namespace xloom::inline XLOOM_ABI::kernel
