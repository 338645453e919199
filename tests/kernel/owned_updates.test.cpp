// Updates sorted by owner: each comes once, those of one slice in their order, whatever the number of parts.

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <vector>

#include <xloom/core/policy.hpp>
#include <xloom/kernel/owned_updates.hpp>

using namespace xloom;
using namespace xloom::kernel;

namespace {

/// Runs the parts from the last to the first.
struct backwards {
    template <class F>
    void for_each(std::size_t count, F const& f) const
    {
        while (count-- > 0)
            f(count);
    }
};

using numbers_of_slices = std::map<std::ptrdiff_t, std::vector<std::size_t>>;

template <class Policy>
numbers_of_slices owned(Policy const& policy, std::size_t parts, offset_reader const& read)
{
    numbers_of_slices numbers;
    for_each_owned(policy, parts, read, {64, parts}, [&](owned_update const& update) { numbers[update.offset].push_back(update.number); });
    return numbers;
}

} // namespace

TEST_CASE("every update once, a slice's in order; what is dropped never comes")
{
    std::mt19937 random(11);
    // More than one round of two parts, and no multiple of a block.
    std::vector<std::int32_t> indices(2 * (std::size_t{1} << 16) + 777);
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
        CHECK(owned(backwards{}, parts, read) == expected);
    }
}

TEST_CASE("slices within a neighbourhood have one owner, and all owners get some")
{
    slice_owner const owner_of(100, 3);
    for (std::ptrdiff_t offset = 0; offset < 128; ++offset)
        CHECK(owner_of(offset) == owner_of(0));
    std::vector<int> slices(3);
    for (std::ptrdiff_t offset = 0; offset < 1024 * 128; offset += 128)
        ++slices[owner_of(offset)];
    for (int const count : slices)
        CHECK(count > 300);
    CHECK(owner_of(-1) < 3);
}
