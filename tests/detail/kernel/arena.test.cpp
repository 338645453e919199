// The arena: what it counts without memory is what it hands out with it, each piece from a line of the cache
// on.

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <utility>

#include <xloom/detail/kernel/arena.hpp>

namespace kernel_arena_test {

using namespace xloom;

namespace {

/// Longer than a line of the cache.
using long_item = std::array<double, 9>;

} // namespace

TEST_CASE("arena counts first, then hands out pieces of whole lines, one after the other")
{
    kernel::arena<float> counts;
    CHECK(counts.only_counts());
    CHECK(counts.used() == 0);
    float items[64];
    kernel::arena<float> memory(items);
    CHECK(!memory.only_counts());
    std::size_t const begins[] = {0, 16, 32, 32, 64}, sizes[] = {1, 16, 0, 17};
    for (std::size_t i = 0; i < 4; ++i) {
        CAPTURE(i);
        CHECK(counts.take(sizes[i]) == nullptr);
        CHECK(memory.take(sizes[i]) == items + begins[i]);
        CHECK(counts.used() == begins[i + 1]);
        CHECK(memory.used() == begins[i + 1]);
    }
}

TEST_CASE("arena: a size that cannot be counted stays the largest one")
{
    constexpr std::size_t most = static_cast<std::size_t>(-1);
    auto const used_after = [](auto const&... rows_and_columns) {
        kernel::arena<float> counts;
        (counts.take(rows_and_columns.first, rows_and_columns.second), ...);
        counts.take(1);
        return counts.used();
    };
    using pair = std::pair<std::size_t, std::size_t>;
    CHECK(used_after(pair{3, 5}) == 32);
    CHECK(used_after(pair{0, most}) == 16);
    CHECK(used_after(pair{most / 2, 1}) == most / 2 + 1 + 16);
    CHECK(used_after(pair{most, 1}) == most);
    CHECK(used_after(pair{most / 2, 3}) == most);
    CHECK(used_after(pair{most / 2, 1}, pair{1, most / 2}) == most);
    kernel::arena<long_item> of_longer;
    of_longer.take(most, 2);
    of_longer.take(1);
    CHECK(of_longer.used() == most);
}

TEST_CASE("arena: items of a line and longer are contiguous")
{
    std::array<double, 8> lines[4];
    kernel::arena<std::array<double, 8>> of_lines(lines);
    CHECK(of_lines.take(1) == lines);
    CHECK(of_lines.take(2) == lines + 1);
    CHECK(of_lines.used() == 3);
    long_item items[4];
    kernel::arena<long_item> of_longer(items);
    CHECK(of_longer.take(1) == items);
    CHECK(of_longer.take(2) == items + 1);
    CHECK(of_longer.used() == 3);
}

} // namespace kernel_arena_test
