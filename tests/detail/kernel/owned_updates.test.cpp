// Updates sorted by owner: each comes once, those of one slice in their order, whatever the number of parts.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/kernel/owned_updates.hpp>

#include "support/threads_or_backwards.hpp"

namespace kernel_owned_updates_test {

using namespace xloom;
using namespace xloom::kernel;

namespace {

using numbers_of_slices = std::map<std::ptrdiff_t, std::vector<std::size_t>>;

template <class Policy>
numbers_of_slices owned(Policy const& policy, std::size_t parts, offset_reader const& read)
{
    numbers_of_slices numbers;
    slice_owners const owner_of(64, parts, read);
    owned_rounds(read, owner_of).for_each(policy, read, owner_of, [&](owned_updates const& updates) {
        updates.for_each(
            [&](std::ptrdiff_t offset, std::size_t number) { numbers[offset].push_back(number); });
    });
    return numbers;
}

} // namespace

TEST_CASE("every update once, a slice's in order; what is dropped never comes")
{
    std::mt19937 random(11);
    // More than one round of eight parts, and no multiple of a block.
    std::vector<std::int32_t> indices(9 * sorted_share::max_size + 777);
    for (std::int32_t& index : indices)
        index = static_cast<std::int32_t>(random() % 5000) - 100;
    index_tuples<std::int32_t> const tuples{indices.data(), indices.size(), {{4000}, {3}}};
    numbers_of_slices expected;
    for (std::size_t i = 0; i < indices.size(); ++i)
        if (indices[i] < 4000)
            expected[3 * (indices[i] < 0 ? indices[i] + 4000 : indices[i])].push_back(i);

    offset_reader const read(tuples, bounds::drop);
    for (std::size_t const parts : {1u, 2u, 3u, 8u}) {
        CHECK(owned(serial, parts, read) == expected);
        CHECK(owned(threads_or_backwards{1, true}, parts, read) == expected);
    }
}

TEST_CASE("as many parts as updates")
{
    std::vector<std::int32_t> const indices = {3, 1, 3};
    index_tuples<std::int32_t> const tuples{indices.data(), indices.size(), {{4000}, {1}}};
    CHECK(
        owned(serial, 3, offset_reader(tuples, bounds::assume)) == numbers_of_slices{{1, {1}}, {3, {0, 2}}});
}

TEST_CASE("more parts than updates take memory for the updates only")
{
    std::vector<std::int32_t> const indices = {3, 1, 3};
    index_tuples<std::int32_t> const tuples{indices.data(), indices.size(), {{4000}, {1}}};
    CHECK(owned(serial, 3000, offset_reader(tuples, bounds::assume)) ==
          numbers_of_slices{{1, {1}}, {3, {0, 2}}});
}

TEST_CASE("slices within a neighbourhood have one owner, and each owner gets about as many updates")
{
    std::mt19937 random(12);
    // Few contiguous slices, distant ones, and one of ten that half of the updates go to.
    for (std::ptrdiff_t const distance : {1, 128, 128 * 1024, 128 * 1000})
        for (unsigned const often : {8000u, 10u}) {
            std::vector<std::int32_t> indices(100'000);
            for (std::int32_t& index : indices)
                index = static_cast<std::int32_t>(random() % (random() % 2 ? 8000 : often)) - 8000;
            index_tuples<std::int32_t> const tuples{indices.data(), indices.size(), {{8000}, {distance}}};
            offset_reader const read(tuples, bounds::assume);
            slice_owners const owner_of(100, 4, read);
            CHECK(owner_of.count() == 4);
            for (std::ptrdiff_t offset = -128; offset < 128; ++offset)
                CHECK(owner_of(offset) == owner_of(offset < 0 ? -128 : 0));
            std::vector<int> counts(4);
            for_each_indexed(read, 0, indices.size(),
                [&](std::ptrdiff_t offset, std::size_t) { ++counts[owner_of(offset)]; });
            int const most = *std::max_element(counts.begin(), counts.end());
            bool const is_skewed = distance == 1 && often == 10;
            CHECK(most < (is_skewed ? 65'000 : 35'000));
            CHECK(owner_of.load() * 100'000 == doctest::Approx(most).epsilon(0.1));
        }
}

TEST_CASE("indices of a period that an even distance between samples would hit")
{
    std::vector<std::int32_t> indices(1 << 16);
    for (std::size_t i = 0; i < indices.size(); ++i)
        indices[i] = static_cast<std::int32_t>(i % 1024);
    index_tuples<std::int32_t> const tuples{indices.data(), indices.size(), {{1 << 16}, {64}}};
    CHECK(slice_owners(64, 4, offset_reader(tuples, bounds::assume)).load() < 0.3);
}

} // namespace kernel_owned_updates_test
