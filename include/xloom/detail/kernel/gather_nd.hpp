#pragma once
// GatherND over raw memory: copies of the slices at index tuples into contiguous output.

#include <algorithm>
#include <type_traits>
#include <utility>

#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/kernel/offsets.hpp>
#include <xloom/detail/kernel/strided_copy.hpp>
#include <xloom/detail/kernel/with_count.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

namespace detail {

/// The distances in data of consecutive indices and of consecutive positions.
struct item_steps {
    std::ptrdiff_t axis, position;
};

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

/// Copies items of `data` to consecutive items of `output`: that of index i is `steps.axis` times the index
/// and i times `steps.position` away. IsInRow: these are 1 and 0.
template <bool IsInRow, bool HasNegative, std::integral Index, class T>
void gather_row(
    Index const* indices, std::size_t count, T const* data, std::size_t length, item_steps steps, T* output)
{
    auto const item = [=](std::size_t i) -> T const& {
        auto const index =
            HasNegative ? wrap_index(indices[i], length) : static_cast<std::ptrdiff_t>(indices[i]);
        return data[IsInRow ? index : index * steps.axis + static_cast<std::ptrdiff_t>(i) * steps.position];
    };
    if (IsInRow && count >= tuning::items_in_groups)
        return detail::write_items(count, item, output);
    for (std::size_t i = 0; i < count; ++i)
        output[i] = item(i);
}

/// Calls f with two conditions as constants.
template <class F>
void with_row_kind(bool is_in_row, bool has_negative, F const& f)
{
    if (is_in_row)
        has_negative ? f(std::true_type(), std::true_type()) : f(std::true_type(), std::false_type());
    else
        has_negative ? f(std::false_type(), std::true_type()) : f(std::false_type(), std::false_type());
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

/// A function object that copies slices of `size` contiguous elements.
struct copy_contiguous_slices {
    std::size_t size;

    /// Copies all slices. `slices.for_each(f)` calls f(offset of the slice in data, its position in the
    /// output).
    template <class Slices, class T>
    void operator()(Slices const& slices, T const* data, T* output) const
    {
        if (size == 1)
            return kernel::copy_items(slices, data, output);
        auto const copy = [&](auto count) {
            slices.for_each([=](std::ptrdiff_t offset, std::size_t number) {
                T const* __restrict const from = data + offset;
                T* __restrict const to = output + number * count;
                for (std::size_t i = 0; i < count; ++i)
                    to[i] = from[i];
            });
        };
        if (!kernel::with_few<2, 4>(size, copy))
            copy(size);
    }
};

/// A function object that copies slices of `size` elements with any strides.
struct copy_strided_slices {
    strided_copy copy; ///< from a slice to the output
    std::size_t size;

    template <class Slices, class T>
    void operator()(Slices const& slices, T const* data, T* output) const
    {
        slices.for_each(
            [&](std::ptrdiff_t offset, std::size_t number) { copy(data + offset, output + number * size); });
    }
};

/// Copies the slices of tuples `from` .. `to` - 1 to their positions in `output`, whose slices of dropped
/// tuples are not written. Returns false if an index is out of range, before its block of slices is copied.
/// Allocates nothing.
template <class T, class Copy>
bool gather_nd(
    offset_reader const& read, std::size_t from, std::size_t to, T const* data, T* output, Copy const& copy)
{
    return kernel::for_each_block(
        read, from, to, data, copy.size, [&](auto const& block) { copy(block, data, output); });
}

/// Copies the items at single indices `from` .. `to` - 1 to their positions in `output`. The offset of an
/// item is that of its index plus that of its position. Returns false if the rule is bounds::check and an
/// index is out of range, before its block of items is copied. Requires tuples of width 1. Allocates nothing.
template <std::integral Index, class T>
bool gather_items(index_tuples<Index> const& indices, position_offsets const& positions, bounds rule,
    std::size_t from, std::size_t to, T const* data, T* output)
{
    std::size_t const length = indices.axes.dims[0];
    std::ptrdiff_t const axis_step = indices.axes.strides[0];
    std::size_t const block = rule == bounds::assume ? to - from : tuning::offsets_per_block;
    for (std::size_t first = from; first < to; first += block) {
        std::size_t const size = (std::min)(block, to - first);
        index_signs const signs = rule == bounds::assume
                                      ? indices.signs
                                      : kernel::signs_of(indices.first + first, size, indices.axes.dims);
        if (signs == index_signs::out_of_range) {
            offset_reader const read(indices, rule, positions);
            if (!kernel::gather_nd(read, first, first + size, data, output, copy_contiguous_slices{1}))
                return false;
            continue;
        }
        detail::with_row_kind(axis_step == 1 && positions.are_rows(), signs == index_signs::any,
            [&]<bool IsInRow, bool HasNegative>(
                std::bool_constant<IsInRow>, std::bool_constant<HasNegative>) {
                Index const* at = indices.first + first;
                T* to_items = output + first;
                positions.for_each_row(
                    first, size, [&](std::ptrdiff_t base, std::ptrdiff_t step, std::size_t count) {
                        detail::gather_row<IsInRow, HasNegative>(
                            at, count, data + base, length, {axis_step, step}, to_items);
                        at += count;
                        to_items += count;
                    });
            });
    }
    return true;
}

} // namespace xloom::inline XLOOM_ABI::kernel
