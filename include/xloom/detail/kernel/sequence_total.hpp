#pragma once
// The total of a sequence, in the order of a parallel scan: the last of its results.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/kernel/lane_scan.hpp>
#include <xloom/detail/kernel/lanes.hpp>
#include <xloom/detail/kernel/with_count.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// Combines `Count` elements by the tree of a group, in registers. read(t) is element t; they are read in
/// order.
template <std::size_t Count, class Read, class Op>
XLOOM_ALWAYS_INLINE inline auto unrolled_tree(Read const& read, std::size_t begin, Op const& op)
{
    if constexpr (Count == 1) {
        return read(begin);
    } else {
        constexpr std::size_t lower = std::bit_ceil(Count) / 2;
        auto const first = kernel::unrolled_tree<lower>(read, begin, op);
        return op(first, kernel::unrolled_tree<Count - lower>(read, begin + lower, op));
    }
}

/// Combines elements of type V into the total of a sequence. If IsUnrolled, there is code for each number of
/// elements of a group, for operators of a few instructions; else elements wait in an array.
template <class V, class Op, bool IsUnrolled>
struct sequence_total {
    Op op;

    /// Calls write(c, total) for the elements read(begin, c) to read(begin + length - 1, c) of the sequences
    /// c < width. Requires a length of at least 1.
    template <class Read, class Write>
    void operator()(
        std::size_t begin, std::size_t length, std::size_t width, Read const& read, Write const& write) const
    {
        if constexpr (IsUnrolled)
            if (length <= elements_per_group)
                return kernel::with_count<1, elements_per_group>(length, [&](auto count) {
                    for (std::size_t c = 0; c < width; ++c)
                        write(c, V(kernel::unrolled_tree<count>(
                                     [&](std::size_t t) { return read(t, c); }, begin, op)));
                });
        for (std::size_t c = 0; c < width; ++c)
            write(c, blocks(begin, begin + length, [&](std::size_t t) -> V { return read(t, c); }));
    }

private:
    /// Combines the blocks before the last one, its groups before the last one, and that, as the last result
    /// of a scan.
    template <class Read>
    V blocks(std::size_t begin, std::size_t end, Read const& read) const
    {
        auto const group_at = [&](std::size_t first, std::size_t last) {
            return group(first, last - first, read);
        };
        auto const groups = [&](std::size_t first, std::size_t last) {
            return join(first, last, elements_per_group, group_at);
        };
        std::size_t const last_group = begin + (end - begin - 1) / elements_per_group * elements_per_group,
                          last_block = begin + (end - begin - 1) / elements_per_block * elements_per_block;
        if (last_group == begin)
            return group_at(begin, end);
        V base = last_block == begin ? groups(begin, last_group)
                                     : join(begin, last_block, elements_per_block, groups);
        if (begin < last_block && last_block < last_group)
            base = op(base, groups(last_block, last_group));
        return op(base, group_at(last_group, end));
    }

    /// Combines the totals of the parts that begin at begin, begin + step ..., from the left.
    template <class Total>
    V join(std::size_t begin, std::size_t end, std::size_t step, Total const& total) const
    {
        V all = total(begin, (std::min)(begin + step, end));
        for (begin += step; begin < end; begin += step)
            all = op(all, total(begin, (std::min)(begin + step, end)));
        return all;
    }

    template <class Read>
    V group(std::size_t begin, std::size_t count, Read const& read) const
    {
        if constexpr (IsUnrolled)
            if (count == elements_per_group)
                return kernel::unrolled_tree<elements_per_group>(read, begin, op);
        V items[elements_per_group];
        for (std::size_t i = 0; i < count; ++i)
            items[i] = read(begin + i);
        for (std::size_t half = 1; half < count; half *= 2)
            for (std::size_t i = 0; i + half < count; i += 2 * half)
                items[i] = op(items[i], items[i + half]);
        return items[0];
    }
};

/// Combines contiguous numbers into the total of a sequence; the groups are vectors. `Ops` combines vectors
/// of lanes (lane_reduction).
template <class Ops>
struct contiguous_total {
    using value_type = typename Ops::value_type;
    using vector = typename Ops::lanes;

    /// Returns the total of `length` numbers, at least 1.
    XLOOM_ALWAYS_INLINE value_type operator()(value_type const* x, std::size_t length) const
    {
        return Ops::first_lane(length <= elements_per_group ? group(x, length) : blocks(x, length));
    }

private:
    static constexpr std::size_t lanes = Ops::lane_count;
    static constexpr std::size_t vectors = elements_per_group / lanes;

    /// Requires more than a group.
    static vector blocks(value_type const* x, std::size_t length)
    {
        std::size_t const last_group = (length - 1) / elements_per_group * elements_per_group,
                          last_block = (length - 1) / elements_per_block * elements_per_block;
        vector base = groups(x, last_block == 0 ? last_group : elements_per_block);
        for (std::size_t begin = elements_per_block; begin < last_block; begin += elements_per_block)
            base = Ops{}(base, groups(x + begin, elements_per_block));
        if (0 < last_block && last_block < last_group)
            base = Ops{}(base, groups(x + last_block, last_group - last_block));
        return Ops{}(base, group(x + last_group, length - last_group));
    }
    /// Combines whole groups, at least one.
    static vector groups(value_type const* x, std::size_t length)
    {
        vector all = group(x, elements_per_group);
        for (std::size_t begin = elements_per_group; begin < length; begin += elements_per_group)
            all = Ops{}(all, group(x + begin, elements_per_group));
        return all;
    }

    /// Returns a vector whose first lane is the total of a group. Elements that are missing are neutral.
    XLOOM_ALWAYS_INLINE static vector group(value_type const* x, std::size_t count)
    {
        vector const neutral = kernel::broadcast(Ops::neutral());
        vector v[vectors];
        for (std::size_t i = 0; i < vectors; ++i) {
            std::size_t const begin = (std::min)(i * lanes, count);
            v[i] = combine_pairs<1>(load_first_lanes<value_type>(x + begin, count - begin, neutral));
        }
        for (std::size_t half = 1; half < vectors; half *= 2)
            for (std::size_t i = 0; i < vectors; i += 2 * half)
                v[i] = Ops{}(v[i], v[i + half]);
        return v[0];
    }

    /// Combines the first lane with the others, neighbours first.
    template <std::size_t Distance>
    XLOOM_ALWAYS_INLINE static vector combine_pairs(vector const& x)
    {
        if constexpr (Distance < lanes)
            return combine_pairs<2 * Distance>(Ops{}(x, rotate_lanes<value_type, Distance>(x)));
        else
            return x;
    }
};

} // namespace xloom::inline XLOOM_ABI::kernel
