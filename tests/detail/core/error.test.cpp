// The error family, and how texts are put together.

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <xloom/detail/core/error.hpp>

namespace core_error_test {

using namespace xloom;

namespace elsewhere {

/// A type that brings its own text, found where it is defined.
struct point {
    int x;
    friend void append(std::string& text, point const& p) { text += "point " + std::to_string(p.x); }
};

} // namespace elsewhere

TEST_CASE("error: one family")
{
    static_assert(std::is_base_of_v<std::invalid_argument, error>);
    static_assert(std::is_base_of_v<error, type_error> && std::is_base_of_v<error, shape_error> &&
                  std::is_base_of_v<error, index_error> && std::is_base_of_v<error, option_error> &&
                  std::is_base_of_v<error, body_error>);
    CHECK_THROWS_WITH_AS(throw index_error("text"), "text", std::invalid_argument);
}

TEST_CASE("error: parts of a text")
{
    CHECK(detail::concat() == "");
    CHECK(detail::concat("a", std::string_view("b"), std::string("c")) == "abc");
    CHECK(detail::concat(true, " ", false) == "true false");
    CHECK(detail::concat(-1, " ", std::size_t{2}, " ", std::uint8_t{200}) == "-1 2 200");
    CHECK(detail::concat(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
    CHECK(detail::concat(std::vector<int>{}, std::vector<int>{7}, std::vector<int>{2, 3}) == "[][7][2, 3]");
    CHECK(detail::concat(std::vector<std::string>{"a", "b"}) == "[a, b]");
    CHECK(detail::concat(std::vector<std::vector<int>>{{1}, {}, {2, 3}}) == "[[1], [], [2, 3]]");
    CHECK(detail::concat(elsewhere::point{4}, std::vector{elsewhere::point{5}}) == "point 4[point 5]");
}

TEST_CASE("error: fail throws the type that the call names")
{
    CHECK_THROWS_WITH_AS(detail::fail<option_error>("count is ", 3, "."), "count is 3.", option_error);
    CHECK_THROWS_WITH_AS(detail::fail<body_error>("no parts"), "no parts", body_error);
}

TEST_CASE("a fact_list has four facts, and the number of the others")
{
    detail::fact_list facts;
    CHECK(facts.empty());
    CHECK(detail::concat(facts) == "");
    char const* const texts[] = {"0 is 5", "0 is 5 and 1 is 5", "0 is 5, 1 is 5 and 2 is 5",
        "0 is 5, 1 is 5, 2 is 5 and 3 is 5", "0 is 5, 1 is 5, 2 is 5, 3 is 5 and 1 more",
        "0 is 5, 1 is 5, 2 is 5, 3 is 5 and 2 more"};
    for (std::size_t i = 0; i < 6; ++i) {
        facts.add(i, " is ", 5);
        CHECK(facts.size() == i + 1);
        CHECK(detail::concat(facts) == texts[i]);
    }
    CHECK(!facts.empty());
}

} // namespace core_error_test
