// Counts in tables of narrow counters: what is carried before they overflow, few and many bins, limits.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <xloom/detail/kernel/bin_counts.hpp>

namespace bin_counts_test {

using xloom::kernel::bin_counts;

namespace {

template <class Counter>
std::vector<std::int64_t> counts_of(bin_counts<Counter> const& counts)
{
    std::vector<std::int64_t> result(counts.bins());
    counts.add_to(result.data());
    return result;
}

/// Nine of ten integers are 3, so that a counter of 8 bits overflows.
std::vector<int> skewed(std::size_t count, unsigned bins)
{
    std::mt19937 random(1);
    std::vector<int> x(count);
    for (int& each : x)
        each = random() % 10 != 0 ? 3 : static_cast<int>(random() % bins);
    return x;
}

template <class Counter>
void check_counts(std::size_t count, unsigned bins)
{
    std::vector<int> x = skewed(count, bins);
    x.back() = static_cast<int>(bins) - 1; // the last block needs more bins
    std::vector<std::int64_t> expected(bins);
    for (int const each : x)
        ++expected[static_cast<std::size_t>(each)];
    CAPTURE(count);
    CAPTURE(bins);
    bin_counts<Counter> counts;
    CHECK(counts.add(x.data(), count / 3));
    CHECK(counts.add(x.data() + count / 3, count - count / 3));
    CHECK(counts_of(counts) == expected);
}

} // namespace

TEST_CASE_TEMPLATE(
    "counters of any width do not overflow", Counter, std::uint8_t, std::uint16_t, std::uint32_t)
{
    for (unsigned const bins : {4U, 100U, 1024U, 1025U, 5000U})
        for (std::size_t const count : {3U, 254U, 255U, 256U, 1000U, 70'000U})
            check_counts<Counter>(count, bins);
}

TEST_CASE("negative and too large integers")
{
    std::vector<std::int64_t> const x = {0, 7, 7};
    CHECK(bin_counts<>(7).add(x.data(), 3));
    CHECK_FALSE(bin_counts<>(6).add(x.data(), 3));
    std::vector<std::int64_t> const negative = {0, -1};
    CHECK_FALSE(bin_counts<>().add(negative.data(), 2));
    std::ptrdiff_t const beyond_memory = PTRDIFF_MAX / 8; // as a last bin: counts have 8 bytes
    CHECK_FALSE(bin_counts<>().add(&beyond_memory, 1));
    CHECK(counts_of(bin_counts<>()).empty());
}

} // namespace bin_counts_test
