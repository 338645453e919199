#pragma once
// ScatterND over raw memory: updates of the slices at index tuples, those of one slice in order.

#include <utility>

#include <xloom/kernel/offset_blocks.hpp>
#include <xloom/kernel/strided_copy.hpp>
#include <xloom/kernel/with_reduction.hpp>

namespace xloom::kernel {

/// A function object that applies updates to `size` contiguous elements of each slice; updates have a stride
/// of `step` elements.
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

private:
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
            pairs.for_each_pair(values + number * size, data + offset,
                [&](T const& from, T& to) { to = static_cast<T>(reduce(std::move(to), from)); });
        });
    }
};

/// Applies updates `from` .. `to` - 1, of `step` elements each, to the slices of `data` at the offsets of
/// `read`. Returns false if an index is out of range, before its block of updates is applied. Allocates
/// nothing.
template <class T, class Slices, class Reduce>
bool scatter_nd(offset_reader const& read, std::size_t from, std::size_t to, T* data, T const* values,
    std::size_t step, Slices const& slices, Reduce& reduce)
{
    return kernel::for_each_block(read, from, to, data, step, [&](auto const& block) {
        kernel::with_reduction<T>(reduce, [&](auto& function) { slices(block, data, values, function); });
    });
}

} // namespace xloom::kernel
