// A value that a move takes along.

#include <doctest/doctest.h>

#include <cstddef>
#include <utility>

#include <xloom/detail/core/movable_value.hpp>

namespace core_movable_value_test {

using xloom::detail::movable_value;

TEST_CASE("a copy leaves the source as it was, a move does not")
{
    movable_value<bool> flag;
    CHECK(!flag);
    flag = true;
    movable_value<bool> const copy = flag;
    CHECK(flag);
    CHECK(copy);
    movable_value<bool> moved = std::move(flag);
    CHECK(moved);
    CHECK(!flag);
    flag = std::move(moved);
    CHECK(flag);
    CHECK(!moved);
    movable_value<bool>& same = flag;
    flag = std::as_const(same);
    CHECK(flag);
    flag = std::move(same);
    CHECK(!flag);
    flag = copy;
    CHECK(flag);
}

TEST_CASE("a size that is moved from is 0")
{
    movable_value<std::size_t> size(3);
    movable_value<std::size_t> const moved = std::move(size);
    CHECK(moved == 3);
    CHECK(size == 0);
}

} // namespace core_movable_value_test
