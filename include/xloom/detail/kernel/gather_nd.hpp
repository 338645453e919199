#pragma once
// GatherND over raw memory: copies of the slices at index tuples into contiguous output.

#include <xloom/detail/kernel/gather_items.hpp>
#include <xloom/detail/kernel/strided_copy.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// A function object that copies slices of `size` contiguous elements.
struct copy_contiguous_slices {
    std::size_t size;

    /// Copies all slices. `slices.for_each(f)` calls f(offset of the slice in data, its position in the
    /// output).
    template <class Slices, class T>
    void operator()(Slices const& slices, T const* data, T* output) const
    {
        switch (size) {
        case 1:
            return kernel::copy_items(slices, data, output);
        case 2:
            return copy<2>(slices, data, output);
        case 3:
            return copy<3>(slices, data, output);
        case 4:
            return copy<4>(slices, data, output);
        default:
            slices.for_each([=, count = size](std::ptrdiff_t offset, std::size_t number) {
                T const* __restrict const from = data + offset;
                T* __restrict const to = output + number * count;
                for (std::size_t i = 0; i < count; ++i)
                    to[i] = from[i];
            });
        }
    }

private:
    template <std::size_t Size, class Slices, class T>
    static void copy(Slices const& slices, T const* data, T* output)
    {
        slices.for_each([=](std::ptrdiff_t offset, std::size_t number) {
            T const* __restrict const from = data + offset;
            T* __restrict const to = output + number * Size;
            for (std::size_t i = 0; i < Size; ++i)
                to[i] = from[i];
        });
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

} // namespace xloom::inline XLOOM_ABI::kernel
