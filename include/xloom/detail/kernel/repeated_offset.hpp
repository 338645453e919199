#pragma once
// Tuples that name a slice again, and tuples out of order.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <xloom/detail/core/abi.hpp>
#include <xloom/detail/kernel/offsets.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The positions of two tuples.
struct tuple_pair {
    std::size_t earlier;
    std::size_t later;
};

namespace detail {

/// Finds the first repeated offset with a table of all slices. Cost: a number for each slice.
inline std::optional<tuple_pair> find_repeated_in_table(offset_reader const& read, std::size_t slices)
{
    std::vector<std::size_t> indexed(slices); // the position of its tuple, counted from 1; 0: none
    std::optional<tuple_pair> first;
    for_each_indexed(read, 0, read.count(), [&](std::ptrdiff_t offset, std::size_t number) {
        std::size_t& earlier = indexed[static_cast<std::size_t>(offset)];
        if (earlier != 0 && !first)
            first = tuple_pair{earlier - 1, number};
        earlier = number + 1;
    });
    return first;
}

/// Finds the first repeated offset by sorting the tuples. Cost: two numbers for each tuple.
inline std::optional<tuple_pair> find_repeated_by_sorting(offset_reader const& read)
{
    std::vector<std::pair<std::ptrdiff_t, std::size_t>> indexed; // offset and position
    indexed.reserve(read.count());
    for_each_indexed(read, 0, read.count(),
        [&](std::ptrdiff_t offset, std::size_t number) { indexed.emplace_back(offset, number); });
    std::sort(indexed.begin(), indexed.end());
    std::optional<tuple_pair> first;
    for (std::size_t i = 1; i < indexed.size(); ++i)
        if (indexed[i - 1].first == indexed[i].first && (!first || indexed[i].second < first->later))
            first = tuple_pair{indexed[i - 1].second, indexed[i].second};
    return first;
}

} // namespace detail

/// Returns the first tuple that has the offset of an earlier one, and the earlier one. Requires offsets below
/// `slices`, or `dropped_offset`, and what offset_reader::read_checked requires. Cost: a number for each
/// slice or, if there are few tuples, two for each tuple.
inline std::optional<tuple_pair> find_repeated(offset_reader const& read, std::size_t slices)
{
    bool const are_few = read.count() < slices / 8;
    return are_few ? detail::find_repeated_by_sorting(read) : detail::find_repeated_in_table(read, slices);
}

/// Returns the first tuple with an offset less than that of the preceding one, and the preceding one; skips
/// dropped tuples. Requires what offset_reader::read_checked requires.
inline std::optional<tuple_pair> find_descent(offset_reader const& read)
{
    std::ptrdiff_t before = dropped_offset;
    std::size_t earlier = 0;
    std::optional<tuple_pair> first;
    for_each_indexed(read, 0, read.count(), [&](std::ptrdiff_t offset, std::size_t number) {
        if (offset < before && !first)
            first = tuple_pair{earlier, number};
        before = offset;
        earlier = number;
    });
    return first;
}

} // namespace xloom::inline XLOOM_ABI::kernel
