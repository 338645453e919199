// Single indices of every integer type: inside or outside an axis, wrapped, clipped; and all tuples of a list
// inside.

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include <xloom/detail/kernel/index_tuples.hpp>

namespace kernel_index_tuples_test {

using namespace xloom;
using kernel::clip_index;
using kernel::is_index;
using kernel::wrap_index;

namespace {

template <class Index>
constexpr Index least = std::numeric_limits<Index>::min();
template <class Index>
constexpr Index largest = std::numeric_limits<Index>::max();

/// The longest axis there is.
constexpr auto longest = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());

/// What any type with room for 0 .. 4 can say of an axis of length 4.
template <class Index>
constexpr bool counts_from_the_front()
{
    bool holds = !is_index(Index{0}, 0) && !is_index(Index{4}, 4) && is_index(Index{0}, 1) &&
                 !is_index(Index{1}, 1) && clip_index(Index{4}, 4) == 3 && clip_index(Index{1}, 1) == 0;
    for (Index i = 0; i < 4; ++i)
        holds = holds && is_index(i, 4) && wrap_index(i, 4) == static_cast<std::ptrdiff_t>(i) &&
                clip_index(i, 4) == static_cast<std::ptrdiff_t>(i);
    return holds;
}

/// -1 is the last item, -4 the first of 4.
template <class Index>
constexpr bool counts_from_the_end()
{
    bool holds = !is_index(Index{-5}, 4) && clip_index(Index{-5}, 4) == 0 && !is_index(Index{-1}, 0) &&
                 is_index(Index{-1}, 1) && !is_index(Index{-2}, 1);
    for (Index i = -4; i < 0; ++i)
        holds = holds && is_index(i, 4) && wrap_index(i, 4) == i + 4 && clip_index(i, 4) == i + 4;
    return holds;
}

/// The ends of a signed type that is narrower than a length: Count values on either side of 0.
template <class Index, std::size_t Count>
constexpr bool signed_ends()
{
    constexpr auto end = static_cast<std::ptrdiff_t>(Count) - 1;
    return is_index(largest<Index>, Count) && !is_index(largest<Index>, Count - 1) &&
           is_index(least<Index>, Count) && !is_index(least<Index>, Count - 1) &&
           wrap_index(largest<Index>, Count) == end && wrap_index(least<Index>, Count) == 0 &&
           wrap_index(least<Index>, Count + 1) == 1 && clip_index(largest<Index>, 3) == 2 &&
           clip_index(least<Index>, 3) == 0;
}

/// 0 .. Count - 1 is all that the type holds.
template <class Index, std::size_t Count>
constexpr bool unsigned_ends()
{
    return is_index(largest<Index>, Count) && !is_index(largest<Index>, Count - 1) &&
           wrap_index(largest<Index>, Count) == static_cast<std::ptrdiff_t>(Count) - 1 &&
           clip_index(largest<Index>, 3) == 2;
}

constexpr bool int64_ends()
{
    return !is_index(largest<std::int64_t>, longest) && is_index(largest<std::int64_t> - 1, longest) &&
           !is_index(least<std::int64_t>, longest) && is_index(least<std::int64_t> + 1, longest) &&
           wrap_index(least<std::int64_t> + 1, longest) == 0 &&
           clip_index(largest<std::int64_t>, longest) == largest<std::ptrdiff_t> - 1 &&
           clip_index(least<std::int64_t>, longest) == 0;
}

constexpr bool uint64_ends()
{
    constexpr std::uint64_t half = std::uint64_t{1} << 63;
    return !is_index(largest<std::uint64_t>, longest) && !is_index(half, longest) &&
           is_index(std::uint64_t{longest} - 1, longest) && clip_index(half, 5) == 4 &&
           clip_index(largest<std::uint64_t>, 1) == 0 &&
           clip_index(largest<std::uint64_t>, longest) == largest<std::ptrdiff_t> - 1;
}

/// Are these contiguous tuples all inside axes of these lengths?
template <class Index>
bool all_inside(std::vector<Index> const& indices, shape const& lengths)
{
    std::size_t const count = lengths.empty() ? 3 : indices.size() / lengths.size();
    return kernel::are_in_range(indices.data(), count, lengths);
}

} // namespace

TEST_CASE_TEMPLATE("an index counts from the front", Index, std::int8_t, std::uint8_t, std::int16_t,
    std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, char)
{
    static_assert(counts_from_the_front<Index>());
    CHECK(counts_from_the_front<Index>());
}

TEST_CASE_TEMPLATE(
    "a negative index counts from the end", Index, std::int8_t, std::int16_t, std::int32_t, std::int64_t)
{
    static_assert(counts_from_the_end<Index>());
    CHECK(counts_from_the_end<Index>());
}

TEST_CASE("the least and the largest index of each type")
{
    static_assert(signed_ends<std::int8_t, 128>() && unsigned_ends<std::uint8_t, 256>());
    CHECK((signed_ends<std::int8_t, 128>() && unsigned_ends<std::uint8_t, 256>()));
    static_assert(signed_ends<std::int16_t, 32768>() && unsigned_ends<std::uint16_t, 65536>());
    CHECK((signed_ends<std::int16_t, 32768>() && unsigned_ends<std::uint16_t, 65536>()));
    static_assert(signed_ends<std::int32_t, 2147483648>() && unsigned_ends<std::uint32_t, 4294967296>());
    CHECK((signed_ends<std::int32_t, 2147483648>() && unsigned_ends<std::uint32_t, 4294967296>()));
    static_assert(int64_ends() && uint64_ends());
    CHECK((int64_ends() && uint64_ends()));
}

TEST_CASE_TEMPLATE("are_in_range looks at every index of every tuple, on its own axis", Index, std::int8_t,
    std::int32_t, std::int64_t)
{
    shape const lengths[] = {{5}, {5, 2}, {5, 2, 7}, {5, 2, 7, 1}};
    for (shape const& axes : lengths) {
        std::vector<Index> indices(axes.size() * 4, 0);
        for (std::size_t flat = 0; flat < indices.size(); ++flat) {
            auto const length = static_cast<int>(axes[flat % axes.size()]);
            for (int index = -length - 1; index <= length; ++index) {
                indices[flat] = static_cast<Index>(index);
                CHECK(all_inside(indices, axes) == (-length <= index && index < length));
            }
            indices[flat] = 0;
        }
    }
}

TEST_CASE("are_in_range: the ends of the widest types")
{
    CHECK_FALSE(all_inside<std::int64_t>({0, largest<std::int64_t>}, {4}));
    CHECK_FALSE(all_inside<std::int64_t>({least<std::int64_t>, 0}, {4}));
    CHECK_FALSE(all_inside<std::int64_t>({0, 0, 0, least<std::int64_t>}, {4, longest}));
    CHECK(all_inside<std::int64_t>({0, 0, 0, least<std::int64_t> + 1}, {4, longest}));
    CHECK_FALSE(all_inside<std::uint64_t>({0, ~std::uint64_t{0}, 0}, {4}));
    CHECK(all_inside<std::uint64_t>({3, 2, 1, 0}, {4}));
    CHECK(all_inside<std::int8_t>({-128, 127}, {128}));
    CHECK_FALSE(all_inside<std::int8_t>({-128, 127}, {127}));
}

TEST_CASE("are_in_range: no tuples are inside any axis, tuples of no index too, and none of one is on an "
          "empty axis")
{
    CHECK(all_inside<std::int64_t>({}, {0}));
    CHECK(all_inside<std::int64_t>({}, {3, 0}));
    CHECK(all_inside<std::int64_t>({}, {}));
    CHECK_FALSE(all_inside<std::int64_t>({0}, {0}));
    CHECK_FALSE(all_inside<std::int64_t>({-1}, {0}));
    CHECK_FALSE(all_inside<std::int64_t>({2, 0}, {3, 0}));
}

} // namespace kernel_index_tuples_test
