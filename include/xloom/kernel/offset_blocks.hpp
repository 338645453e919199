#pragma once
// The offsets of many index tuples, one after the other, while the memory of those to come is on its way.

#include <array>
#include <type_traits>

#include <xloom/kernel/offset_reader.hpp>

namespace xloom::kernel {

/// Offsets are read so many at a time.
inline constexpr std::size_t offset_block = 64;

/// Slices of at most so many items have loops of their own, for which offsets are read one at a time.
inline constexpr std::size_t most_few_items = 4;

/// Calls f(slice, number) for `from` .. `to` - 1 with a slice = slice_of(number), which is cheap to compute.
///
/// Why the memory is asked for here: the core looks ahead by itself, but not far enough for memory that no cache holds, and half as far
/// where another thread shares the core.
template <class SliceOf, class F>
void for_each_slice(std::size_t from, std::size_t to, SliceOf const& slice_of, F const& f)
{
    constexpr std::size_t ahead = 32;
    std::size_t number = from;
    for (; number + ahead < to; ++number) {
        auto* const coming = slice_of(number + ahead);
        __builtin_prefetch(coming, !std::is_const_v<std::remove_pointer_t<decltype(coming)>>);
        f(slice_of(number), number);
    }
    for (; number < to; ++number)
        f(slice_of(number), number);
}

/// Calls f(offset, number) for tuples `from` .. `to` - 1 in their order, but not for those that are left out.
template <class F>
void for_each_named(offset_reader const& read, std::size_t from, std::size_t to, F const& f)
{
    std::ptrdiff_t offsets[offset_block];
    for (std::size_t begin = from; begin < to; begin += offset_block) {
        std::size_t const block = (std::min)(offset_block, to - begin);
        read(begin, block, offsets);
        for (std::size_t i = 0; i < block; ++i)
            if (offsets[i] != dropped)
                f(offsets[i], begin + i);
    }
}

/// The same where f uses `slice` items at data + offset: they are prefetched.
///
/// Why: the core itself does not see past the work on a slice to the next offset.
template <class T, class F>
void for_each_offset(offset_reader const& read, std::size_t from, std::size_t to, T* data, std::size_t slice, F&& f)
{
    constexpr std::size_t ahead = 16;
    constexpr std::size_t ring = 2 * offset_block;
    std::array<std::ptrdiff_t, ring> offsets{};
    auto const read_block = [&](std::size_t first) {
        if (first < to)
            read(first, (std::min)(offset_block, to - first), offsets.data() + (first - from) % ring);
    };
    read_block(from);
    for (std::size_t first = from; first < to; first += offset_block) {
        read_block(first + offset_block);
        std::size_t const end = (std::min)(first + offset_block, to);
        for (std::size_t number = first; number < end; ++number) {
            std::ptrdiff_t const coming = offsets[(number - from + ahead) % ring];
            T* const place = data + (coming == dropped ? 0 : coming);
            __builtin_prefetch(place, !std::is_const_v<T>);
            __builtin_prefetch(place + (slice - 1), !std::is_const_v<T>);
            std::ptrdiff_t const offset = offsets[(number - from) % ring];
            if (offset != dropped)
                f(offset, number);
        }
    }
}

} // namespace xloom::kernel
