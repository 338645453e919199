// A list that keeps what there is room for, and counts the rest.

#include <doctest/doctest.h>

#include <vector>

#include <xloom/detail/core/static_vector.hpp>

namespace core_option_list_test {

using namespace xloom;

namespace {

constexpr bool counts_what_is_given()
{
    option_list<int, 3> list{4, 5, 6, 7, 8};
    bool right = list.size() == 3 && list.given() == 5 && list[2] == 6;
    list.push_back(9);
    return right && list.size() == 3 && list.given() == 6;
}

constexpr bool is_a_list_while_there_is_room()
{
    option_list<int, 3> list{4, 5};
    list.push_back(6);
    return list == static_vector<int, 3>{4, 5, 6} && list.given() == 3 && option_list<int, 3>().given() == 0;
}

} // namespace

TEST_CASE("option_list keeps what there is room for, and counts what is given")
{
    static_assert(counts_what_is_given() && is_a_list_while_there_is_room());
    CHECK(counts_what_is_given());
    CHECK(is_a_list_while_there_is_room());
    std::vector<int> const many(40, 1);
    CHECK(option_list<int, 32>(many.begin(), many.end()).given() == 40);
    CHECK(option_list<int, 3>(5, 1).given() == 5);
    CHECK(option_list<int, 3>(static_vector<int, 3>{1, 2}).given() == 2);
}

} // namespace core_option_list_test
