// Shapes and axes: counting, wrapping, positions, and what slices and stacks make of a shape.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>

#include <xloom/detail/core/shape.hpp>

namespace core_shape_test {

using namespace xloom;

namespace {

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();

constexpr bool axes_in_range()
{
    return is_axis(0, 2) && is_axis(1, 2) && is_axis(-1, 2) && is_axis(-2, 2) && !is_axis(2, 2) &&
           !is_axis(-3, 2) && !is_axis(0, 0) && !is_axis(-1, 0) && !is_axis(lowest, max_rank) &&
           !is_axis(highest, max_rank);
}

constexpr bool axes_wrap()
{
    return wrap_axis(0, 3) == 0 && wrap_axis(2, 3) == 2 && wrap_axis(-1, 3) == 2 && wrap_axis(-3, 3) == 0;
}

constexpr bool slices_and_stacks()
{
    return drop_axis(shape{2, 3, 4}, 1) == shape{2, 4} && drop_axis(shape{2}, 0) == shape{} &&
           insert_axis(shape{}, 0, 5) == shape{5} && insert_axis(shape{2, 3}, 0, 5) == shape{5, 2, 3} &&
           insert_axis(shape{2, 3}, 2, 5) == shape{2, 3, 5} &&
           drop_axis(insert_axis(shape{2, 3}, 1, 9), 1) == shape{2, 3};
}

constexpr bool elements_are_counted()
{
    return element_count({}) == 1 && element_count({7}) == 7 && element_count({2, 3, 4}) == 24 &&
           element_count({2, 0, 4}) == 0 && element_count({static_cast<std::size_t>(highest), 8, 0}) == 0;
}

constexpr bool counts_have_a_limit()
{
    auto const limit = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());
    return is_countable({}) && is_countable({}, 16) && is_countable({limit}) && !is_countable({limit}, 2) &&
           is_countable({limit / 2}, 2) && !is_countable({limit, 2}) &&
           !is_countable({limit, limit, limit}) && is_countable({limit, limit, 0});
}

/// Strides have to be counted where there is nothing to count, too.
constexpr bool strides_have_a_limit()
{
    auto const limit = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());
    return has_strides({}) && has_strides({0}, 16) && has_strides({limit}) && has_strides({limit, 0}) &&
           has_strides({0, limit, 0}) && !has_strides({limit, 0}, 2) && has_strides({limit / 2, 0}, 2) &&
           !has_strides({limit, 0, 2}) && !has_strides({limit, 2}) && !has_strides({limit, limit, 0});
}

constexpr bool positions_are_row_major()
{
    return unravel(0, {}) == shape{} && unravel(6, {7}) == shape{6} &&
           unravel(0, {2, 3, 4}) == shape{0, 0, 0} && unravel(3, {2, 3, 4}) == shape{0, 0, 3} &&
           unravel(4, {2, 3, 4}) == shape{0, 1, 0} && unravel(12, {2, 3, 4}) == shape{1, 0, 0} &&
           unravel(23, {2, 3, 4}) == shape{1, 2, 3} && unravel(5, {3, 1, 2}) == shape{2, 0, 1};
}

/// Of an empty tensor the other dimensions may be of any size. A signed overflow would not compile.
constexpr bool layouts_of_any_size()
{
    using detail::is_row_major, detail::merge_axes, detail::strided_layout;
    constexpr std::size_t n = std::size_t{1} << (sizeof(std::size_t) == 8 ? 40 : 20);
    constexpr auto m = static_cast<std::ptrdiff_t>(n);
    return is_row_major(strided_layout{{n, n}, {m, 1}}) &&
           !is_row_major(strided_layout{{n, n, n}, {m, m, 1}}) &&
           is_row_major(strided_layout{{0, n, n}, {m, m, 1}}) &&
           merge_axes(strided_layout{{0, n, n}, {m, m, 1}}).dims.size() == 2 &&
           merge_axes(strided_layout{{n, n, 0}, {m, m, 1}}).dims.size() == 3;
}

} // namespace

TEST_CASE("shape: axes")
{
    static_assert(axes_in_range());
    CHECK(axes_in_range());
    static_assert(axes_wrap());
    CHECK(axes_wrap());
    static_assert(slices_and_stacks());
    CHECK(slices_and_stacks());
}

TEST_CASE("shape: elements")
{
    static_assert(elements_are_counted());
    CHECK(elements_are_counted());
    static_assert(counts_have_a_limit());
    CHECK(counts_have_a_limit());
    static_assert(strides_have_a_limit());
    CHECK(strides_have_a_limit());
    static_assert(positions_are_row_major());
    CHECK(positions_are_row_major());
    static_assert(layouts_of_any_size());
    CHECK(layouts_of_any_size());
}

TEST_CASE("shape: more than max_rank axes")
{
    shape const full(max_rank, 1);
    CHECK_THROWS_WITH_AS(insert_axis(full, 0, 1),
        "xloom: a list holds at most 16 items (max_rank, max_operands), but was given 17.", option_error);
}

TEST_CASE("axes: more than max_operands are counted, for the operator that refuses them by name")
{
    CHECK(axes(max_operands + 1, 0).given() == 33);
    CHECK(axes(max_operands + 1, 0).size() == 32);
}

} // namespace core_shape_test
