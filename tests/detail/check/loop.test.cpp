// Loop's rule: what may be omitted, and how much room its outputs need; in constant expressions too, and the
// text of every refusal.

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include <xloom/detail/check/loop.hpp>

namespace check_loop_test {

using namespace xloom;
using namespace xloom::detail;

namespace {

constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();

constexpr std::int64_t limit(
    std::optional<std::int64_t> max_trip_count, std::optional<bool> cond, bool can_be_stopped)
{
    return check_loop("xloom::loop", max_trip_count, cond, can_be_stopped);
}

constexpr bool one_way_to_end_is_enough()
{
    return limit(3, std::nullopt, false) == 3 && limit(std::nullopt, true, false) == endless &&
           limit(std::nullopt, false, false) == endless &&
           limit(std::nullopt, std::nullopt, true) == endless && limit(3, false, true) == 3 &&
           limit(endless, std::nullopt, false) == endless;
}

constexpr bool a_trip_count_below_0_is_0()
{
    return limit(0, std::nullopt, false) == 0 && limit(-1, true, false) == 0 &&
           limit(std::numeric_limits<std::int64_t>::min(), std::nullopt, false) == 0;
}

template <std::size_t N>
constexpr std::int64_t room(std::array<shape, N> const& outputs, std::int64_t needed)
{
    return check_loop_outputs("xloom::loop_into", outputs, needed);
}

constexpr bool the_smallest_output_decides()
{
    return room<0>({}, endless) == endless && room<1>({{{3, 4}}}, 3) == 3 &&
           room<2>({{{5}, {4, 0}}}, 3) == 4 && room<1>({{{0}}}, 0) == 0;
}

/// A tensor without items may be longer than an iteration counts.
constexpr bool the_largest_length_is_endless()
{
    return room<1>({{{std::numeric_limits<std::size_t>::max(), 0}}}, 3) == endless;
}

} // namespace

TEST_CASE("check_loop counts the iterations that there may be")
{
    static_assert(one_way_to_end_is_enough());
    CHECK(one_way_to_end_is_enough());
    static_assert(a_trip_count_below_0_is_0());
    CHECK(a_trip_count_below_0_is_0());
}

TEST_CASE("check_loop refuses a loop that nothing ends")
{
    CHECK_THROWS_WITH_AS(limit(std::nullopt, std::nullopt, false),
        "xloom::loop: a loop must be able to end, but max_trip_count and cond are both absent and "
        "options.stop can never be requested. Give one of them.",
        option_error);
}

TEST_CASE("check_loop_outputs finds the room that all outputs have")
{
    static_assert(the_smallest_output_decides());
    CHECK(the_smallest_output_decides());
    static_assert(the_largest_length_is_endless());
    CHECK(the_largest_length_is_endless());
}

TEST_CASE("check_loop_outputs names every output that is too small")
{
    CHECK_THROWS_WITH_AS(room<1>({{{2, 4}}}, 3),
        "xloom::loop_into: a scan output must have room for every iteration, but scan_outputs[0] has room "
        "for 2 and there will be 3. Give "
        "it a longer leading axis.",
        shape_error);
    CHECK_THROWS_WITH_AS(room<4>({{{2, 4}, {3}, {0}, {1}}}, 3),
        "xloom::loop_into: a scan output must have room for every iteration, but scan_outputs[0] has room "
        "for 2, scan_outputs[2] has room "
        "for 0 and scan_outputs[3] has room for 1 and there will be 3. Give it a longer leading axis.",
        shape_error);
}

TEST_CASE("check_loop_outputs requires a leading axis")
{
    CHECK_THROWS_WITH_AS(room<2>({{{3}, {}}}, 0),
        "xloom::loop_into: each of scan_outputs must have at least one axis, but scan_outputs[1] has rank 0. "
        "Give it an axis for the iterations.",
        shape_error);
}

} // namespace check_loop_test
