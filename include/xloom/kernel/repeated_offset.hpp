#pragma once
// Whether index tuples name a slice twice, or out of order.

#include <optional>
#include <vector>

#include <xloom/kernel/offset_blocks.hpp>

namespace xloom::kernel {

/// Two tuples by their numbers.
struct tuple_pair {
    std::size_t earlier;
    std::size_t later;
};

/// The first tuple that names a slice which an earlier one names. `read` gives offsets below `slices`, or `dropped`.
/// Cost: a number for each slice.
inline std::optional<tuple_pair> find_repeated(offset_reader const& read, std::size_t slices)
{
    std::vector<std::size_t> named(slices); // by which tuple, counted from 1
    for (std::size_t i = 0; i < read.count(); ++i) {
        std::ptrdiff_t offset;
        read(i, 1, &offset);
        if (offset == dropped)
            continue;
        std::size_t& earlier = named[static_cast<std::size_t>(offset)];
        if (earlier != 0)
            return tuple_pair{earlier - 1, i};
        earlier = i + 1;
    }
    return std::nullopt;
}

/// The first tuple that names a slice before that of the one which precedes it; left-out tuples are passed over.
inline std::optional<tuple_pair> find_descent(offset_reader const& read)
{
    std::ptrdiff_t before = dropped;
    std::size_t earlier = 0;
    for (std::size_t i = 0; i < read.count(); ++i) {
        std::ptrdiff_t offset;
        read(i, 1, &offset);
        if (offset == dropped)
            continue;
        if (offset < before)
            return tuple_pair{earlier, i};
        before = offset;
        earlier = i;
    }
    return std::nullopt;
}

} // namespace xloom::kernel
