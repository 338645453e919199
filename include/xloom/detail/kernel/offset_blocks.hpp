#pragma once
// The offsets of index tuples in blocks, and prefetching of the slices at them.

#include <array>
#include <cstdint>
#include <type_traits>

#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/kernel/offset_reader.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// Prefetches the first cache line of a slice of `length` elements and, beyond a few elements, the last one.
/// The slice may be at `dropped_offset`: prefetching any address is harmless, so it is not tested.
template <class T>
void prefetch_slice(T* data, std::ptrdiff_t offset, std::size_t length)
{
    std::uintptr_t const first =
        reinterpret_cast<std::uintptr_t>(data) + static_cast<std::uintptr_t>(offset) * sizeof(T);
    __builtin_prefetch(reinterpret_cast<void const*>(first), !std::is_const_v<T>);
    if (length > tuning::max_small_slice)
        __builtin_prefetch(
            reinterpret_cast<void const*>(first + (length - 1) * sizeof(T)), !std::is_const_v<T>);
}

/// A block of offsets of consecutive index tuples into `data`, some of which may be dropped if MayDrop.
template <class T, bool MayDrop>
struct offset_block {
    std::ptrdiff_t const* offsets;
    std::size_t first; ///< the position of the first tuple
    std::size_t size;
    T* data;
    std::size_t length; ///< of a slice

    /// Calls f(offset, position) for each tuple that is not dropped, in order, and prefetches slices ahead of
    /// it: out-of-order execution reaches past the work on an item to the next offsets, but not past that on
    /// a slice.
    template <class F>
    void for_each(F const& f) const
    {
        std::size_t const ahead = length == 1 ? size : (std::min)(tuning::prefetch_distance(length), size);
        for (std::size_t i = 0; i < size - ahead; ++i) {
            kernel::prefetch_slice(data, offsets[i + ahead], length);
            visit(i, f);
        }
        for (std::size_t i = size - ahead; i < size; ++i)
            visit(i, f);
    }

private:
    template <class F>
    void visit(std::size_t i, F const& f) const
    {
        if (!MayDrop || offsets[i] != dropped_offset)
            f(offsets[i], first + i);
    }
};

/// Calls f(offset, position) for those of tuples `from` .. `to` - 1 that are not dropped, in order.
template <class F>
void for_each_named(offset_reader const& read, std::size_t from, std::size_t to, F const& f)
{
    std::array<std::ptrdiff_t, tuning::offsets_per_block> offsets;
    for (std::size_t first = from; first < to; first += tuning::offsets_per_block) {
        std::size_t const size = (std::min)(tuning::offsets_per_block, to - first);
        read(first, size, offsets.data());
        for (std::size_t i = 0; i < size; ++i)
            if (offsets[i] != dropped_offset)
                f(offsets[i], first + i);
    }
}

/// True if one of `count` tuples, at least one, is dropped.
inline bool are_dropped(std::ptrdiff_t const* offsets, std::size_t count)
{
    std::ptrdiff_t least = offsets[0];
    for (std::size_t i = 1; i < count; ++i)
        least = (std::min)(least, offsets[i]);
    return least == dropped_offset;
}

/// Calls f(offset_block) for tuples `from` .. `to` - 1 in order, where f uses `length` elements at data +
/// offset. Returns false at the first block that cannot be read because an index is out of range.
template <class T, class F>
bool for_each_block(
    offset_reader const& read, std::size_t from, std::size_t to, T* data, std::size_t length, F const& f)
{
    std::array<std::ptrdiff_t, tuning::offsets_per_block> offsets;
    for (std::size_t first = from; first < to; first += tuning::offsets_per_block) {
        std::size_t const size = (std::min)(tuning::offsets_per_block, to - first);
        if (!read(first, size, offsets.data()))
            return false;
        if (read.may_drop() && kernel::are_dropped(offsets.data(), size))
            f(offset_block<T, true>{offsets.data(), first, size, data, length});
        else
            f(offset_block<T, false>{offsets.data(), first, size, data, length});
    }
    return true;
}

} // namespace xloom::inline XLOOM_ABI::kernel
