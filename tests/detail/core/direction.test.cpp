// The directions: their names, how many each walks, and what is refused.

#include <doctest/doctest.h>

#include <cstddef>
#include <string_view>

#include <xloom/detail/core/direction.hpp>

#include "infer/is_constant.hpp"

namespace core_direction_test {

using namespace xloom;

namespace {

struct expected_direction {
    direction value;
    std::string_view name;
    std::size_t count;
};

constexpr expected_direction directions[] = {{direction::forward, "forward", 1},
    {direction::reverse, "reverse", 1}, {direction::bidirectional, "bidirectional", 2}};

constexpr bool directions_hold()
{
    for (expected_direction const& expected : directions)
        if (name_of(expected.value) != expected.name ||
            parse_direction("xloom::op", expected.name) != expected.value ||
            detail::direction_count(expected.value) != expected.count)
            return false;
    return name_of(static_cast<direction>(3)) == "unknown";
}

} // namespace

TEST_CASE("direction: names and counts")
{
    static_assert(directions_hold());
    CHECK(directions_hold());
}

TEST_CASE("direction: a name that is none")
{
    constexpr auto misspelt = [] { return parse_direction("xloom::lstm", "foward"); };
    constexpr auto shouted = [] { return parse_direction("xloom::gru", "Reverse"); };
    constexpr auto empty = [] { return parse_direction("xloom::rnn", ""); };
    static_assert(!is_constant<misspelt> && !is_constant<shouted> && !is_constant<empty>);
    CHECK_THROWS_WITH_AS(misspelt(),
        "xloom::lstm: a direction must be one that ONNX names, but direction is \"foward\". Choose one of "
        "forward, reverse and "
        "bidirectional.",
        option_error);
    CHECK_THROWS_WITH_AS(shouted(),
        "xloom::gru: a direction must be one that ONNX names, but direction is \"Reverse\". Choose one of "
        "forward, reverse and "
        "bidirectional.",
        option_error);
    CHECK_THROWS_WITH_AS(empty(),
        "xloom::rnn: a direction must be one that ONNX names, but direction is \"\". Choose one of forward, "
        "reverse and bidirectional.",
        option_error);
}

} // namespace core_direction_test
