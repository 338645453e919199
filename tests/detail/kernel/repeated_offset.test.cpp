// The first two tuples that name one slice, or slices out of order.

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <xloom/detail/kernel/repeated_offset.hpp>

namespace kernel_repeated_offset_test {

using namespace xloom;
using namespace xloom::detail;

namespace {

using pair = std::optional<std::pair<std::size_t, std::size_t>>;

/// Tuples for the axes of a tensor of slices, and what is found among them.
struct found {
    pair repeated;
    pair descent;

    found(std::vector<std::int64_t> const& indices, shape const& slices, std::size_t count,
        bounds rule = bounds::check)
    {
        kernel::index_tuples<std::int64_t> const tuples{
            indices.data(), count, {slices, row_major_strides(slices)}};
        kernel::offset_reader const read(tuples, rule);
        if (auto const two = kernel::find_repeated(read, element_count(slices)))
            repeated = {two->earlier, two->later};
        if (auto const two = kernel::find_descent(read))
            descent = {two->earlier, two->later};
    }
};

} // namespace

TEST_CASE("find_repeated finds the first tuple that names a slice again, and the one before it")
{
    CHECK(found({3, 1, 4, 0}, {5}, 4).repeated == std::nullopt);
    CHECK(found({3, 1, 4, 1, 3}, {5}, 5).repeated == std::pair<std::size_t, std::size_t>{1, 3});
    CHECK(found({0, 0}, {5}, 2).repeated == std::pair<std::size_t, std::size_t>{0, 1});
    CHECK(found({4, 2, -1}, {5}, 3).repeated == std::pair<std::size_t, std::size_t>{0, 2}); // -1 is 4
    CHECK(found({0, 1, 1, 0, 1, 1}, {2, 2}, 3).repeated == std::nullopt);
    CHECK(found({0, 1, 1, 0, -2, -1}, {2, 2}, 3).repeated == std::pair<std::size_t, std::size_t>{0, 2});
}

TEST_CASE("find_repeated: three of one slice are two pairs, the first is found")
{
    CHECK(found({2, 2, 2}, {3}, 3).repeated == std::pair<std::size_t, std::size_t>{0, 1});
}

TEST_CASE("find_descent finds the first slice that comes before its predecessor")
{
    CHECK(found({0, 1, 1, 4}, {5}, 4).descent == std::nullopt);
    CHECK(found({0, 3, 2, 1}, {5}, 4).descent == std::pair<std::size_t, std::size_t>{1, 2});
    CHECK(found({0, -1, 3}, {5}, 3).descent == std::pair<std::size_t, std::size_t>{1, 2}); // -1 is 4
    CHECK(found({0, 1, 1, 0}, {2, 2}, 2).descent == std::nullopt);
    CHECK(found({1, 0, 0, 1}, {2, 2}, 2).descent == std::pair<std::size_t, std::size_t>{0, 1});
}

TEST_CASE("what is dropped neither repeats nor descends; what is clipped may")
{
    CHECK(found({9, 1, 9, 2}, {5}, 4, bounds::drop).repeated == std::nullopt);
    CHECK(found({9, 1, -9, 2}, {5}, 4, bounds::drop).descent == std::nullopt);
    CHECK(found({3, 9, 2}, {5}, 3, bounds::drop).descent == std::pair<std::size_t, std::size_t>{0, 2});
    CHECK(found({4, 9}, {5}, 2, bounds::clip).repeated == std::pair<std::size_t, std::size_t>{0, 1});
    CHECK(found({1, -9}, {5}, 2, bounds::clip).descent == std::pair<std::size_t, std::size_t>{0, 1});
}

TEST_CASE("no tuples, and tuples of no index")
{
    CHECK(found({}, {5}, 0).repeated == std::nullopt);
    CHECK(found({}, {0}, 0).descent == std::nullopt);
    CHECK(found({}, {}, 1).repeated == std::nullopt);
    CHECK(found({}, {}, 2).repeated == std::pair<std::size_t, std::size_t>{0, 1});
    CHECK(found({}, {}, 2).descent == std::nullopt);
}

TEST_CASE("few tuples of many slices take memory for the tuples only")
{
    constexpr std::size_t many = std::size_t{1} << (sizeof(std::size_t) == 8 ? 40 : 28);
    CHECK(found({3, 1 << 20, 4, 0}, {many}, 4).repeated == std::nullopt);
    CHECK(found({3, 1, 4, 1, 3, 3, 4}, {many}, 7).repeated == std::pair<std::size_t, std::size_t>{1, 3});
    CHECK(found({3, 1, -1, 3, 1}, {many}, 5, bounds::drop).repeated ==
          std::pair<std::size_t, std::size_t>{0, 3});
    CHECK(found({}, {many}, 0).repeated == std::nullopt);
}

} // namespace kernel_repeated_offset_test
