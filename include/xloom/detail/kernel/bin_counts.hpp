#pragma once
// Counts of equal non-negative integers.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <xloom/detail/core/abi.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The least and the largest of some integers.
template <std::integral Index>
struct index_range {
    Index least;
    Index largest;
};

/// Requires count > 0.
template <std::integral Index>
index_range<Index> range_of(Index const* x, std::size_t count)
{
    Index least = x[0], largest = x[0];
    for (std::size_t i = 0; i < count; ++i) {
        least = x[i] < least ? x[i] : least;
        largest = x[i] > largest ? x[i] : largest;
    }
    return {least, largest};
}

/// The last bin of as many as may fit in memory.
inline constexpr std::uintmax_t largest_bin =
    static_cast<std::uintmax_t>((std::numeric_limits<std::ptrdiff_t>::max)()) / sizeof(std::int64_t) - 1;

/// The numbers of occurrences of 0, 1, 2 ..., in as many bins as were needed. Cost: one pass over the
/// integers, block by block; up to twice as many bins as are needed.
///
/// Why several tables while there are few bins: equal neighbours would wait for each other's sums.
class bin_counts {
public:
    /// Adds `count` integers. Returns false if one of them is negative, or exceeds `largest_bin`; the counts
    /// are then unspecified.
    template <std::integral Index>
    bool add(Index const* x, std::size_t count)
    {
        for (std::size_t first = 0; first < count; first += block) {
            std::size_t const size = (std::min)(block, count - first);
            index_range<Index> const range = kernel::range_of(x + first, size);
            if (range.least < Index{} || static_cast<std::uintmax_t>(range.largest) > largest_bin)
                return false;
            reserve(static_cast<std::size_t>(range.largest) + 1);
            count_block(x + first, size);
        }
        return true;
    }

    /// Returns the number of bins up to the largest integer.
    std::size_t bins() const { return bins_; }

    /// Adds the counts to those of `bins()` bins.
    void add_to(std::int64_t* counts) const
    {
        for (std::vector<std::int64_t> const& table : tables_)
            for (std::size_t bin = 0; bin < (std::min)(bins_, table.size()); ++bin)
                counts[bin] += table[bin];
    }

private:
    static constexpr std::size_t block = 2048;
    static constexpr std::size_t most_in_tables = 1024;

    void reserve(std::size_t bins)
    {
        bins_ = (std::max)(bins_, bins);
        if (bins <= tables_[0].size())
            return;
        std::size_t const room = (std::max)(bins, 2 * tables_[0].size());
        tables_[0].resize(room);
        for (std::size_t i = 1; room <= most_in_tables && i < tables_.size(); ++i)
            tables_[i].resize(room);
    }

    template <std::integral Index>
    void count_block(Index const* x, std::size_t count)
    {
        std::int64_t* const a = tables_[0].data();
        std::size_t i = 0;
        if (tables_[0].size() <= most_in_tables) {
            std::int64_t *const b = tables_[1].data(), *const c = tables_[2].data(),
                                *const d = tables_[3].data();
            for (; i + 4 <= count; i += 4) {
                ++a[static_cast<std::size_t>(x[i])];
                ++b[static_cast<std::size_t>(x[i + 1])];
                ++c[static_cast<std::size_t>(x[i + 2])];
                ++d[static_cast<std::size_t>(x[i + 3])];
            }
        }
        for (; i < count; ++i)
            ++a[static_cast<std::size_t>(x[i])];
    }

    std::array<std::vector<std::int64_t>, 4> tables_{};
    std::size_t bins_ = 0;
};

} // namespace xloom::inline XLOOM_ABI::kernel
