#pragma once
// ScatterND over raw memory: updates of the slices at index tuples, those of one slice in order.

#include <type_traits>
#include <utility>

#include <xloom/detail/kernel/broadcast_updates.hpp>
#include <xloom/detail/kernel/offsets.hpp>
#include <xloom/detail/kernel/strided_copy.hpp>
#include <xloom/detail/kernel/with_reduction.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// A function object that applies updates to `size` contiguous elements of each slice; updates have a stride
/// of `step` elements, or are broadcast.
struct contiguous_slices {
    std::size_t size;
    std::size_t step;

    /// Applies all updates. `updates.for_each(f)` calls f(offset of the slice in data, position of the
    /// update).
    template <class Updates, class T, class Reduce>
    void operator()(Updates const& updates, T* data, T const* values, Reduce& reduce) const
    {
        switch (size == step ? size : 0) {
        case 1:
            return apply<1>(updates, data, values, reduce);
        case 2:
            return apply<2>(updates, data, values, reduce);
        case 3:
            return apply<3>(updates, data, values, reduce);
        case 4:
            return apply<4>(updates, data, values, reduce);
        default:
            updates.for_each([&, count = size, distance = step](std::ptrdiff_t offset, std::size_t number) {
                T* __restrict const slice = data + offset;
                T const* __restrict const update = values + number * distance;
                for (std::size_t i = 0; i < count; ++i)
                    slice[i] = static_cast<T>(reduce(std::move(slice[i]), update[i]));
            });
        }
    }

    /// Applies updates that are broadcast. Requires one item or contiguous items in each.
    template <class Updates, class T, class Reduce>
    void operator()(Updates const& updates, T* data, broadcast_updates<T> const& values, Reduce& reduce) const
    {
        if (size == 1 && values.has_one_update()) {
            one_value<T> update = *values.first(0);
            updates.for_each([&](std::ptrdiff_t offset, std::size_t) {
                data[offset] = static_cast<T>(reduce(std::move(data[offset]), update));
            });
        } else if (values.has_one_item()) {
            updates.for_each([&, count = size](std::ptrdiff_t offset, std::size_t number) {
                T* __restrict const slice = data + offset;
                one_value<T> update = *values.first(number);
                for (std::size_t i = 0; i < count; ++i)
                    slice[i] = static_cast<T>(reduce(std::move(slice[i]), update));
            });
        } else {
            updates.for_each([&, count = size](std::ptrdiff_t offset, std::size_t number) {
                T* __restrict const slice = data + offset;
                T const* __restrict const update = values.first(number);
                for (std::size_t i = 0; i < count; ++i)
                    slice[i] = static_cast<T>(reduce(std::move(slice[i]), update[i]));
            });
        }
    }

private:
    /// An item that a loop reads again and again: kept in a register if that costs no copy of its memory.
    template <class T>
    using one_value = std::conditional_t<std::is_trivially_copyable_v<T>, T const, T const&>;

    template <std::size_t Size, class Updates, class T, class Reduce>
    static void apply(Updates const& updates, T* data, T const* values, Reduce& reduce)
    {
        updates.for_each([&](std::ptrdiff_t offset, std::size_t number) {
            T* __restrict const slice = data + offset;
            T const* __restrict const update = values + number * Size;
            for (std::size_t i = 0; i < Size; ++i)
                slice[i] = static_cast<T>(reduce(std::move(slice[i]), update[i]));
        });
    }
};

/// A function object that applies updates to slices of `size` elements with any strides.
struct strided_slices {
    strided_copy pairs; ///< from an update to a slice
    std::size_t size;

    template <class Updates, class T, class Reduce>
    void operator()(Updates const& updates, T* data, T const* values, Reduce& reduce) const
    {
        updates.for_each([&](std::ptrdiff_t offset, std::size_t number) {
            apply(values + number * size, data + offset, reduce);
        });
    }

    template <class Updates, class T, class Reduce>
    void operator()(Updates const& updates, T* data, broadcast_updates<T> const& values, Reduce& reduce) const
    {
        updates.for_each([&](std::ptrdiff_t offset, std::size_t number) {
            apply(values.first(number), data + offset, reduce);
        });
    }

private:
    template <class T, class Reduce>
    void apply(T const* update, T* slice, Reduce& reduce) const
    {
        pairs.for_each_pair(
            update, slice, [&](T const& from, T& to) { to = static_cast<T>(reduce(std::move(to), from)); });
    }
};

/// Applies updates `from` .. `to` - 1, of `step` elements each, to the slices of `data` at the offsets of
/// `read`. `values` is a T const* or broadcast_updates<T>. Returns false if an index is out of range, before
/// its block of updates is applied. Allocates nothing.
template <class T, class Values, class Slices, class Reduce>
bool scatter_nd(offset_reader const& read, std::size_t from, std::size_t to, T* data, Values const& values,
    std::size_t step, Slices const& slices, Reduce& reduce)
{
    return kernel::for_each_block(read, from, to, data, step, [&](auto const& block) {
        kernel::with_reduction<T>(reduce, [&](auto& function) { slices(block, data, values, function); });
    });
}

} // namespace xloom::inline XLOOM_ABI::kernel
