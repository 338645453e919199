// Updates ordered by slice: each comes once, those of one slice in their order.

#include <doctest/doctest.h>

#include <random>
#include <vector>

#include <xloom/detail/kernel/scatter_rows.hpp>

namespace kernel_updates_by_slice_test {

using namespace xloom;
using namespace xloom::kernel;

namespace {

using lists = std::vector<std::vector<std::size_t>>;

lists ordered(std::vector<std::int32_t> const& indices, std::size_t slices)
{
    index_tuples<std::int32_t> const tuples{indices.data(), indices.size(), {{slices}, {1}}};
    updates_by_slice const order(offset_reader(tuples, bounds::drop), slices);
    lists numbers(slices);
    for (std::size_t slice = 0; slice < slices; ++slice)
        for (std::size_t i = order.first(slice); i < order.end(slice); ++i)
            numbers[slice].push_back(order.number(i));
    return numbers;
}

} // namespace

TEST_CASE("the updates of a slice, in their order")
{
    CHECK(ordered({2, 0, 2, -1, -4}, 4) == lists{{1, 4}, {}, {0, 2}, {3}});
    CHECK(ordered({1, 1, 1}, 2) == lists{{}, {0, 1, 2}});
    CHECK(ordered({0, 9, 0, -9}, 1) == lists{{0, 2}}); // what is dropped never comes
    CHECK(ordered({5}, 3) == lists{{}, {}, {}});
    CHECK(ordered({}, 2) == lists{{}, {}});
}

TEST_CASE("more updates than a block holds")
{
    std::mt19937 random(3);
    std::vector<std::int32_t> indices(1001);
    lists expected(70);
    for (std::size_t i = 0; i < indices.size(); ++i) {
        indices[i] = static_cast<std::int32_t>(random() % 80);
        if (indices[i] < 70)
            expected[static_cast<std::size_t>(indices[i])].push_back(i);
    }
    CHECK(ordered(indices, 70) == expected);
}

TEST_CASE("past the end is the last update")
{
    std::vector<std::int32_t> const indices{1, 0, 1, 7};
    index_tuples<std::int32_t> const tuples{indices.data(), indices.size(), {{2}, {1}}};
    updates_by_slice const order(offset_reader(tuples, bounds::drop), 2);
    CHECK(order.number(2) == 2);
    CHECK(order.number(3) == 2);
    CHECK(order.number(100) == 2);
}

} // namespace kernel_updates_by_slice_test
