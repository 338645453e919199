// Integers and bool with every reduction that means something for them, against the textbook.

#include "support/every_reduction.hpp"

namespace scatter_nd_integers_test {

using namespace xloom;

TEST_CASE("bool: add is or, mul is and") { check_type<bool>(all_five); }
TEST_CASE("uint8") { check_type<std::uint8_t>(all_five); }
TEST_CASE("int8") { check_type<std::int8_t>(all_five); }
TEST_CASE("uint16") { check_type<std::uint16_t>(all_five); }
TEST_CASE("int16") { check_type<std::int16_t>(all_five); }
TEST_CASE("uint32") { check_type<std::uint32_t>(all_five); }
TEST_CASE("int32") { check_type<std::int32_t>(all_five); }
TEST_CASE("int64") { check_type<std::int64_t>(all_five); }
TEST_CASE("uint64") { check_type<std::uint64_t>(all_five); }

TEST_CASE("integers wrap, without undefined behaviour")
{
    xt::xtensor<std::int64_t, 2> const index = {{0}};
    auto const reduced = [&]<class T>(T old, T update, reduction kind) {
        return scatter_nd(kind, xt::xtensor<T, 1>{old}, index, xt::xtensor<T, 1>{update})(0);
    };
    CHECK(reduced(std::int8_t{127}, std::int8_t{1}, reduction::add) == -128);
    CHECK(reduced(std::int8_t{-128}, std::int8_t{-1}, reduction::mul) == -128);
    CHECK(reduced(std::uint16_t{65535}, std::uint16_t{65535}, reduction::mul) == 1);
    CHECK(reduced(std::int32_t{2147483647}, std::int32_t{1}, reduction::add) == -2147483647 - 1);
    CHECK(reduced(std::int32_t{-2147483647 - 1}, std::int32_t{-1}, reduction::mul) == -2147483647 - 1);
    CHECK(reduced(std::numeric_limits<std::int64_t>::max(), std::int64_t{2}, reduction::mul) == -2);
}

} // namespace scatter_nd_integers_test
