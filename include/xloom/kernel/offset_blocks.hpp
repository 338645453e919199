#pragma once
// The offsets of many index tuples a block at a time: while one block is worked on, the memory of the next is on its way.

#include <array>

#include <xloom/kernel/offset_reader.hpp>

namespace xloom::kernel {

/// Enough for a cache miss to end before its turn comes, few enough for the loads that a core can have under way.
inline constexpr std::size_t offset_block = 64;

/// Calls f(offsets, first, count) for tuples `from` .. `to` - 1, block by block in their order: count offsets, those of tuples first, ...
/// Left-out tuples are in no call. `data` is where the offsets count from, `slice` the number of items at each.
template <class T, class F>
void for_each_offset_block(offset_reader const& read, std::size_t from, std::size_t to, T* data, std::size_t slice, F&& f)
{
    constexpr bool is_written = !std::is_const_v<T>;
    std::array<std::array<std::ptrdiff_t, offset_block>, 2> blocks;
    auto const fetch = [&](std::size_t first, auto& offsets) {
        std::size_t const count = std::min(offset_block, to - first);
        read(first, count, offsets.data());
        if (slice > 1)
            for (std::size_t i = 0; i < count; ++i) {
                std::ptrdiff_t const offset = offsets[i] == dropped ? 0 : offsets[i];
                __builtin_prefetch(data + offset, is_written);
                __builtin_prefetch(data + offset + (slice - 1), is_written);
            }
    };
    if (from < to)
        fetch(from, blocks[0]);
    for (std::size_t first = from, block = 0; first < to; first += offset_block, block = 1 - block) {
        if (to - first > offset_block)
            fetch(first + offset_block, blocks[1 - block]);
        std::ptrdiff_t const* const offsets = blocks[block].data();
        std::size_t const count = std::min(offset_block, to - first);
        if (!read.may_drop()) {
            f(offsets, first, count);
            continue;
        }
        for (std::size_t i = 0; i < count; ++i)
            if (offsets[i] != dropped)
                f(offsets + i, first + i, std::size_t{1});
    }
}

} // namespace xloom::kernel
