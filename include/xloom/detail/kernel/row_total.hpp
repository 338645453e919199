#pragma once
// The totals of neighbouring sequences, in the order of a parallel scan, of rows of contiguous numbers.

#include <algorithm>
#include <cstddef>

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/kernel/lane_scan.hpp>
#include <xloom/detail/kernel/lanes.hpp>
#include <xloom/detail/kernel/sequence_total.hpp>
#include <xloom/detail/kernel/with_count.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// Combines rows of contiguous numbers into the row of their totals, each in the order of sequence_total.
/// `Op` combines vectors.
///
/// The rows of a group are the leaves of a tree, which is computed in registers, vector by vector of a row.
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
        bool has_blocks = false, has_groups = false;
        for (std::size_t begin = 0; begin + elements_per_group < length; begin += elements_per_group) {
            combine_group(row(x, begin), elements_per_group);
            append(groups_, total_, has_groups);
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
            append(blocks_, total_, has_blocks);
        vectors_of_row const& all = has_blocks ? blocks_ : total_;
        for (std::size_t c = 0; c < vectors_; ++c)
            kernel::store_lanes(y + place(c), all[c]);
    }

private:
    using lanes = lanes_t<T>;
    using vectors_of_row = lanes[max_vectors];

    T const* row(T const* x, std::size_t t) const { return x + static_cast<std::ptrdiff_t>(t) * stride_; }
    /// Returns where vector c of a row begins.
    std::size_t place(std::size_t c) const { return (std::min)(c * lane_count<T>, last_); }
    /// Loads a vector, and prefetches that of a later row: hardware does so only where one row is read after
    /// the other.
    lanes stream(T const* x) const
    {
        xloom::detail::prefetch_ahead<2>(x, stride_, tuning::total_prefetch_rows);
        return kernel::load_lanes(x);
    }

    /// Combines what is there so far with what follows, or begins with that.
    void append(vectors_of_row& all, vectors_of_row const& next, bool& has_any) const
    {
        for (std::size_t c = 0; c < vectors_; ++c)
            all[c] = has_any ? Op{}(all[c], next[c]) : next[c];
        has_any = true;
    }

    /// Combines up to elements_per_group rows into total_.
    void combine_group(T const* x, std::size_t count)
    {
        kernel::with_count<1, elements_per_group>(count, [&](auto rows) {
            for (std::size_t c = 0; c < vectors_; ++c) {
                T const* const first = x + place(c);
                auto const read = [&](std::size_t t)
                                      XLOOM_ALWAYS_INLINE_LAMBDA { return stream(row(first, t)); };
                total_[c] = kernel::unrolled_tree<rows>(read, 0, Op{});
            }
        });
    }

    std::size_t vectors_ = 0, last_ = 0;
    std::ptrdiff_t stride_ = 0;
    vectors_of_row total_, groups_, blocks_;
};

} // namespace xloom::inline XLOOM_ABI::kernel
