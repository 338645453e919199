#pragma once
// Counts of equal non-negative integers.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
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
/// integers, block by block; two counters for each bin, four if there are few bins.
///
/// Why several tables: equal neighbours would wait for each other's sums. Why of narrow counters, which are
/// carried to wide ones before they overflow: twice as many bins stay in a cache.
template <std::unsigned_integral Counter = std::uint32_t>
class bin_counts {
public:
    /// Counts integers up to `largest`.
    explicit bin_counts(std::uintmax_t largest = largest_bin) : largest_(largest) {}

    /// Adds `count` integers. Returns false if one of them is negative or too large; the counts are then
    /// unspecified.
    template <std::integral Index>
    bool add(Index const* x, std::size_t count)
    {
        for (std::size_t first = 0; first < count; first += block) {
            std::size_t const size = (std::min)(block, count - first);
            index_range<Index> const range = kernel::range_of(x + first, size);
            if (range.least < Index{} || static_cast<std::uintmax_t>(range.largest) > largest_)
                return false;
            reserve(static_cast<std::size_t>(range.largest) + 1);
            if (most - counted_ < size)
                carry();
            counted_ += size;
            if (bins_ <= most_in_all_tables)
                count_block<4>(x + first, size);
            else
                count_block<2>(x + first, size);
        }
        return true;
    }

    /// Returns the number of bins up to the largest integer.
    std::size_t bins() const { return bins_; }

    /// Adds the counts to those of `bins()` bins.
    void add_to(std::int64_t* counts) const
    {
        for (std::size_t bin = 0; bin < carried_.size(); ++bin)
            counts[bin] += carried_[bin];
        for (std::vector<Counter> const& table : tables_)
            for (std::size_t bin = 0; bin < table.size(); ++bin)
                counts[bin] += static_cast<std::int64_t>(table[bin]);
    }

private:
    static constexpr std::size_t most = (std::numeric_limits<Counter>::max)();
    static constexpr std::size_t block = (std::min)(std::size_t{2048}, most);
    static constexpr std::size_t most_in_all_tables = 1024;

    void reserve(std::size_t bins)
    {
        if (bins <= bins_)
            return;
        bins_ = bins;
        std::size_t const tables = bins <= most_in_all_tables ? 4 : 2;
        for (std::size_t i = 0; i < tables; ++i) {
            // Later integers are often a little larger. Memory that is only reserved is not touched.
            if (bins > tables_[i].capacity())
                tables_[i].reserve(bins + bins / 2);
            tables_[i].resize(bins);
        }
    }

    /// Adds the counts to the wide ones, and begins anew.
    void carry()
    {
        std::vector<std::int64_t> sums(bins_);
        add_to(sums.data());
        carried_ = std::move(sums);
        for (std::vector<Counter>& table : tables_)
            std::fill(table.begin(), table.end(), Counter{});
        counted_ = 0;
    }

    template <std::size_t Tables, std::integral Index>
    void count_block(Index const* x, std::size_t count)
    {
        Counter* const tables[] = {
            tables_[0].data(), tables_[1].data(), tables_[2 % Tables].data(), tables_[3 % Tables].data()};
        std::size_t i = 0;
        for (; i + 4 <= count; i += 4) {
            auto const a = static_cast<std::size_t>(x[i]), b = static_cast<std::size_t>(x[i + 1]),
                       c = static_cast<std::size_t>(x[i + 2]), d = static_cast<std::size_t>(x[i + 3]);
            ++tables[0][a];
            ++tables[1][b];
            ++tables[2][c];
            ++tables[3][d];
        }
        for (; i < count; ++i)
            ++tables[0][static_cast<std::size_t>(x[i])];
    }

    std::uintmax_t largest_;
    std::array<std::vector<Counter>, 4> tables_{};
    std::vector<std::int64_t> carried_;
    std::size_t bins_ = 0;
    std::size_t counted_ = 0; ///< since the last carry
};

} // namespace xloom::inline XLOOM_ABI::kernel
