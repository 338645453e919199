// A flag that a move takes along.

#include <doctest/doctest.h>

#include <utility>

#include <xloom/detail/core/movable_flag.hpp>

namespace core_movable_flag_test {

using xloom::detail::movable_flag;

TEST_CASE("a copy leaves the source as it was, a move does not")
{
    movable_flag flag;
    CHECK(!flag);
    flag = true;
    movable_flag const copy = flag;
    CHECK(flag);
    CHECK(copy);
    movable_flag moved = std::move(flag);
    CHECK(moved);
    CHECK(!flag);
    flag = std::move(moved);
    CHECK(flag);
    CHECK(!moved);
    movable_flag& same = flag;
    flag = std::move(same);
    CHECK(flag);
    flag = moved;
    CHECK(!flag);
}

} // namespace core_movable_flag_test
