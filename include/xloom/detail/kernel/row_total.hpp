#pragma once
// The totals of neighbouring sequences, in the order of a parallel scan, whose rows are read one by one.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include <xloom/detail/core/ceil.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/kernel/lane_scan.hpp>
#include <xloom/detail/kernel/lanes.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// Combines rows of contiguous numbers into the row of their totals, each in the order of sequence_total.
/// `Op` combines vectors.
///
/// The rows of a group are the leaves of a tree. Two of them are combined when they are read, and that with
/// the subtrees of the same size that wait for it.
template <class T, class Op>
class row_total {
public:
    static constexpr std::size_t max_vectors = 16; ///< of a row; all that waits stays in L1 cache

    /// Writes to y the totals of `length` rows of `width` numbers, which are `stride` numbers apart. Requires
    /// a length of at least 1, and a width of one to max_vectors vectors; the last one may overlap the one
    /// before.
    void operator()(T const* x, std::ptrdiff_t stride, std::size_t length, std::size_t width, T* y)
    {
        vectors_ = xloom::detail::ceil_div(width, lane_count<T>);
        last_ = width - lane_count<T>;
        stride_ = stride;
        bytes_ahead_ = bytes_ahead(stride);
        bool has_blocks = false, has_groups = false;
        for (std::size_t begin = 0; begin + elements_per_group < length; begin += elements_per_group) {
            combine_group(row(x, begin), elements_per_group);
            append(groups_, total(), has_groups);
            if ((begin + elements_per_group) % elements_per_block == 0) {
                append(blocks_, groups_, has_blocks);
                has_groups = false;
            }
        }
        std::size_t const last = (length - 1) / elements_per_group * elements_per_group;
        combine_group(row(x, last), length - last);
        if (has_groups)
            append(blocks_, groups_, has_blocks);
        if (has_blocks)
            append(blocks_, total(), has_blocks);
        vectors_of_row const& all = has_blocks ? blocks_ : total();
        for (std::size_t c = 0; c < vectors_; ++c)
            kernel::store_lanes(y + place(c), all[c]);
    }

private:
    using lanes = lanes_t<T>;
    using vectors_of_row = lanes[max_vectors];
    static constexpr std::size_t pairs_per_group = elements_per_group / 2;

    T const* row(T const* x, std::size_t t) const { return x + static_cast<std::ptrdiff_t>(t) * stride_; }
    vectors_of_row& total() { return waiting_[levels]; } ///< of the last group
    /// Returns where vector c of a row begins.
    std::size_t place(std::size_t c) const { return (std::min)(c * lane_count<T>, last_); }
    lanes load(T const* row, std::size_t c) const { return kernel::load_lanes(row + place(c)); }
    /// Loads vector c, and prefetches that of a later row.
    lanes stream(T const* row, std::size_t c) const
    {
        auto const address = reinterpret_cast<std::uintptr_t>(row + place(c));
        xloom::detail::prefetch_to_read<3>(reinterpret_cast<void const*>(address + bytes_ahead_));
        return load(row, c);
    }
    /// Returns the distance of prefetching, in whole pairs of rows.
    ///
    /// Why it is needed: hardware prefetches what is read row by row, not two rows at once.
    static std::uintptr_t bytes_ahead(std::ptrdiff_t stride)
    {
        auto const pair = static_cast<std::uintptr_t>(2 * stride) * sizeof(T);
        std::size_t const size = 2 * sizeof(T) * static_cast<std::size_t>(std::abs(stride));
        return (tuning::scan_prefetch_bytes / (size + 1) + 1) * pair;
    }

    /// Combines what is there so far with what follows, or begins with that.
    void append(vectors_of_row& all, vectors_of_row const& next, bool& has_any) const
    {
        for (std::size_t c = 0; c < vectors_; ++c)
            all[c] = has_any ? Op{}(all[c], next[c]) : next[c];
        has_any = true;
    }

    /// Combines up to elements_per_group rows into total().
    void combine_group(T const* x, std::size_t count)
    {
        [&]<std::size_t... Pair>(std::index_sequence<Pair...>) {
            static_cast<void>(((2 * Pair + 1 < count && (combine_pair<Pair>(x), true)) && ...));
        }(std::make_index_sequence<pairs_per_group>{});
        if (count == elements_per_group)
            return; // the last pair has completed the tree
        std::size_t const pairs = count / 2;
        bool has_any = count % 2 != 0;
        for (std::size_t c = 0; has_any && c < vectors_; ++c)
            total()[c] = load(row(x, count - 1), c);
        for (std::size_t level = 0; level < levels; ++level)
            if ((pairs >> level) % 2 != 0)
                prepend(waiting_[level], has_any);
    }

    /// Combines rows 2 Pair and 2 Pair + 1 with the subtrees that wait for them; the result waits. That of
    /// the last pair is the total of the group.
    template <std::size_t Pair>
    void combine_pair(T const* x)
    {
        constexpr std::size_t merged = static_cast<std::size_t>(std::countr_one(Pair));
        T const* const first = row(x, 2 * Pair);
        T const* const second = row(x, 2 * Pair + 1);
        for (std::size_t c = 0; c < vectors_; ++c) {
            lanes all = Op{}(stream(first, c), stream(second, c));
            for (std::size_t level = 0; level < merged; ++level)
                all = Op{}(waiting_[level][c], all);
            waiting_[merged][c] = all;
        }
    }

    /// Combines a subtree that waits with total(), which follows it, or begins with it.
    void prepend(vectors_of_row const& earlier, bool& has_any)
    {
        for (std::size_t c = 0; c < vectors_; ++c)
            total()[c] = has_any ? Op{}(earlier[c], total()[c]) : earlier[c];
        has_any = true;
    }

    static constexpr std::size_t levels = std::countr_zero(pairs_per_group);
    std::size_t vectors_ = 0, last_ = 0;
    std::ptrdiff_t stride_ = 0;
    std::uintptr_t bytes_ahead_ = 0;
    vectors_of_row waiting_[levels + 1], groups_, blocks_;
};

} // namespace xloom::inline XLOOM_ABI::kernel
