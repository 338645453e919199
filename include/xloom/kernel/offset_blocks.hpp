#pragma once
// The offsets of index tuples in blocks, and prefetching of the slices at them.

#include <array>
#include <cstdint>
#include <type_traits>

#include <xloom/core/tuning.hpp>
#include <xloom/kernel/offset_reader.hpp>

namespace xloom::kernel {

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

/// A block of offsets of consecutive index tuples into `data`, with the offsets of the next block.
template <class T>
struct offset_block {
    std::ptrdiff_t const* offsets;
    std::ptrdiff_t const* next;
    std::size_t first; ///< the position of the first tuple
    std::size_t size;
    T* data;
    std::size_t length; ///< of a slice

    /// Calls f(offset, position) for each tuple that is not dropped, in order, and prefetches the slices of
    /// the next block.
    template <class F>
    void for_each(F const& f) const
    {
        for (std::size_t i = 0; i < size; ++i) {
            kernel::prefetch_slice(data, next[i], length);
            if (offsets[i] != dropped_offset)
                f(offsets[i], first + i);
        }
    }
};

/// Tuples of one index each, none of which is negative or out of range: their offsets need not be computed
/// ahead of their use. If IsBackward, they are visited from the last to the first.
template <class T, std::integral Index, bool IsBackward = false>
class single_indices {
public:
    /// Refers to tuples `from` .. `to` - 1 and to slices of `length` elements of `data`.
    single_indices(
        index_tuples<Index> const& tuples, std::size_t from, std::size_t to, T* data, std::size_t length)
        : indices_(tuples.first),
          from_(from),
          to_(to),
          stride_(tuples.axes.strides[0]),
          data_(data),
          length_(length)
    {}

    /// Calls f(offset, position) for each tuple in order, and prefetches slices ahead of it.
    template <class F>
    void for_each(F const& f) const
    {
        std::size_t const ahead = tuning::prefetch_distance(length_);
        if constexpr (IsBackward)
            for (std::size_t i = to_; i-- > from_;) {
                kernel::prefetch_slice(data_, offset((std::max)(i, from_ + ahead) - ahead), length_);
                f(offset(i), i);
            }
        else
            for (std::size_t i = from_; i < to_; ++i) {
                kernel::prefetch_slice(data_, offset((std::min)(i + ahead, to_ - 1)), length_);
                f(offset(i), i);
            }
    }

private:
    std::ptrdiff_t offset(std::size_t i) const { return static_cast<std::ptrdiff_t>(indices_[i]) * stride_; }

    Index const* indices_;
    std::size_t from_;
    std::size_t to_;
    std::ptrdiff_t stride_;
    T* data_;
    std::size_t length_;
};

/// True if the tuples can be read as single_indices.
template <std::integral Index>
bool are_single_indices(index_tuples<Index> const& tuples, bounds rule)
{
    return tuples.width() == 1 && !tuples.has_negative && guarantees_in_range(rule);
}

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

/// Calls f(offset_block) for tuples `from` .. `to` - 1 in order, where f uses `length` elements at data +
/// offset.
///
/// The slices of the next block are prefetched: out-of-order execution does not reach past the work on a
/// slice to the next offset. Blocks of longer slices are smaller, so that prefetched slices are still in
/// cache when they are used.
template <class T, class F>
void for_each_block(
    offset_reader const& read, std::size_t from, std::size_t to, T* data, std::size_t length, F const& f)
{
    std::size_t const step =
        length <= tuning::max_small_slice ? tuning::offsets_per_block : tuning::offsets_per_block / 4;
    std::array<std::array<std::ptrdiff_t, tuning::offsets_per_block>, 2> offsets{};
    auto const size_at = [=](std::size_t first) { return first < to ? (std::min)(step, to - first) : 0; };
    if (from < to)
        read(from, size_at(from), offsets[0].data());
    for (std::size_t first = from, i = 0; first < to; first += step, i = 1 - i) {
        std::size_t const next = first + step;
        if (next < to)
            read(next, size_at(next), offsets[1 - i].data());
        f(offset_block<T>{offsets[i].data(), offsets[1 - i].data(), first, size_at(first), data, length});
    }
}

} // namespace xloom::kernel
