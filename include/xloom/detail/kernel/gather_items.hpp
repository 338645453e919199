#pragma once
// Gathers of single items: at offsets, and from contiguous rows by indices whose offsets are not stored.

#include <algorithm>
#include <type_traits>
#include <utility>

#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/kernel/offsets.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

namespace detail {

/// Writes item(0) .. item(count - 1) to `output`. It reads several before it writes one, so that they become
/// a vector.
template <class T, class Item>
void write_items(std::size_t count, Item const item, T* output)
{
    std::size_t i = 0;
    if constexpr (std::is_trivially_copyable_v<T>) {
        constexpr std::size_t group = sizeof(T) <= 4 ? 8 : 4;
        for (; i + group <= count; i += group)
            [&]<std::size_t... K>(std::index_sequence<K...>) {
                T const items[] = {item(i + K)...};
                std::copy_n(items, group, output + i);
            }(std::make_index_sequence<group>());
    }
    for (; i < count; ++i)
        output[i] = item(i);
}

/// Copies the items of a row at `count` indices to consecutive items of `output`.
template <bool HasNegative, std::integral Index, class T>
void gather_row(Index const* indices, std::size_t count, T const* row, std::size_t length, T* output)
{
    auto const item = [=](std::size_t i) -> T const& {
        return row[HasNegative ? wrap_index(indices[i], length) : static_cast<std::ptrdiff_t>(indices[i])];
    };
    detail::write_items(count, item, output);
}

} // namespace detail

/// Copies single items. `slices.for_each(f)` calls f(offset of the item in data, its position in the output).
template <class Slices, class T>
void copy_items(Slices const& slices, T const* data, T* output)
{
    slices.for_each([=](std::ptrdiff_t offset, std::size_t number) { output[number] = data[offset]; });
}

/// Copies the items at the offsets of a block from which none is dropped.
template <class T>
void copy_items(offset_block<T const, false> const& block, T const* data, T* output)
{
    detail::write_items(
        block.size, [=, offsets = block.offsets](std::size_t i) -> T const& { return data[offsets[i]]; },
        output + block.first);
}

/// True if gather_items can read the items at these indices and positions.
template <std::integral Index>
bool are_in_rows(index_tuples<Index> const& indices, position_offsets const& positions)
{
    return indices.width() == 1 && indices.axes.strides[0] == 1 && positions.are_rows();
}

/// Copies the items at single indices `from` .. `to` - 1 to their positions in `output`. The offset of an
/// item is that of its index plus that of its position. With bounds::check it returns false if an index is
/// out of range, before its block of items is copied; other rules require that there is none. Requires
/// are_in_rows(indices, positions). Allocates nothing.
template <std::integral Index, class T>
bool gather_items(index_tuples<Index> const& indices, position_offsets const& positions, bounds rule,
    std::size_t from, std::size_t to, T const* data, T* output)
{
    std::size_t const length = indices.axes.dims[0];
    std::size_t const block = rule == bounds::check ? tuning::offsets_per_block : to - from;
    for (std::size_t first = from; first < to; first += block) {
        std::size_t const size = (std::min)(block, to - first);
        index_signs const signs =
            rule == bounds::check ? kernel::signs_of(indices, first, size) : indices.signs;
        if (signs == index_signs::out_of_range)
            return false;
        Index const* at = indices.first + first;
        T* to_items = output + first;
        positions.for_each_row(first, size, [&](std::ptrdiff_t base, std::ptrdiff_t, std::size_t count) {
            if (signs == index_signs::nonnegative)
                detail::gather_row<false>(at, count, data + base, length, to_items);
            else
                detail::gather_row<true>(at, count, data + base, length, to_items);
            at += count;
            to_items += count;
        });
    }
    return true;
}

} // namespace xloom::inline XLOOM_ABI::kernel
