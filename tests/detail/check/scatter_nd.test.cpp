// ScatterND's rule on concrete shapes, options and memory: what it accepts, in constant expressions too, and
// the text of every refusal.

#include <doctest/doctest.h>

#include <limits>

#include <xloom/detail/check/scatter_nd.hpp>

namespace check_scatter_nd_test {

using namespace xloom;
using namespace xloom::detail;

namespace {

constexpr std::size_t huge = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());

constexpr void check(
    shape const& data, shape const& indices, shape const& updates, detail::scatter_rules const& options = {})
{
    check_scatter_nd("xloom::scatter_nd", data, indices, updates, options);
}

/// Returns the shape to which updates are broadcast.
constexpr shape check_broadcast(shape const& data, shape const& indices, shape const& updates)
{
    return check_scatter_nd("f", data, indices, updates, {}, true).values;
}

/// Every check must return.
constexpr bool tuples_of_every_width()
{
    check({5}, {4, 0}, {4, 5});
    check({5}, {4, 1}, {4});
    check({2, 3, 4}, {7, 0}, {7, 2, 3, 4});
    check({2, 3, 4}, {7, 1}, {7, 3, 4});
    check({2, 3, 4}, {7, 2}, {7, 4});
    check({2, 3, 4}, {7, 3}, {7});
    return true;
}

constexpr bool any_number_of_axes_in_front()
{
    check({2, 3}, {1}, {3});
    check({2, 3}, {2}, {});
    check({2, 3}, {0}, {2, 3});
    check({2, 3}, {5, 6, 1}, {5, 6, 3});
    check({2, 3}, {5, 6, 7, 2}, {5, 6, 7});
    return true;
}

constexpr bool empty_operands()
{
    check({4}, {0, 1}, {0});
    check({0, 3}, {5, 1}, {5, 3});
    check({3, 0}, {5, 1}, {5, 0});
    check({4, 5}, {2, 0, 1}, {2, 0, 5});
    return true;
}

constexpr bool as_many_axes_as_allowed()
{
    check(shape(max_rank, 1), {1, 1}, shape(max_rank, 1));
    check({1}, shape(max_rank, 1), shape(max_rank - 1, 1));
    check(shape(max_rank, 1), {max_rank}, {});
    return true;
}

constexpr bool sizes_up_to_the_largest()
{
    check({huge}, {1, 1}, {1});
    check({huge, 0}, {1, 1}, {1, 0});
    check({1, 0}, {huge, 1}, {huge, 0});
    return true;
}

constexpr bool options_that_go_together()
{
    for (duplicates const of_none : {duplicates::last, duplicates::first, duplicates::error})
        check({4}, {2, 1}, {2}, {{.duplicates = of_none}});
    for (reduction const kind :
        {reduction::add, reduction::mul, reduction::max, reduction::min, reduction::mean})
        for (duplicates const any : {duplicates::last, duplicates::error})
            check({4}, {2, 1}, {2},
                {{.duplicates = any, .include_self = false, .unique = true, .sorted = true}, kind});
    return true;
}

constexpr memory_block block(std::uintptr_t address, shape const& dims, strides const& steps)
{
    return {address, 4, {dims, steps}};
}

constexpr memory_block const places = block(1000, {4, 4}, {4, 1}), elsewhere = block(2000, {9}, {1});

constexpr std::string_view op = "xloom::scatter_nd_into";

constexpr bool operands_apart()
{
    check_scatter_overlap(op, places, elsewhere, elsewhere);
    check_scatter_overlap(op, places, block(1064, {2}, {1}), block(996, {1}, {1}));
    // Data in the even columns, updates in the odd ones.
    check_scatter_overlap(op, block(1000, {4, 2}, {4, 2}), elsewhere, block(1004, {4, 2}, {4, 2}));
    check_scatter_overlap(op, block(1060, {4, 4}, {-4, -1}), elsewhere, elsewhere);
    check_scatter_overlap(op, block(1000, {0, 4}, {0, 0}), places, places);
    return true;
}

} // namespace

TEST_CASE("check_scatter_nd: updates is indices.shape[:-1] ++ data.shape[k:]")
{
    static_assert(tuples_of_every_width());
    CHECK(tuples_of_every_width());
    static_assert(any_number_of_axes_in_front());
    CHECK(any_number_of_axes_in_front());
    static_assert(empty_operands());
    CHECK(empty_operands());
    static_assert(as_many_axes_as_allowed());
    CHECK(as_many_axes_as_allowed());
    static_assert(sizes_up_to_the_largest());
    CHECK(sizes_up_to_the_largest());
    static_assert(options_that_go_together());
    CHECK(options_that_go_together());
}

TEST_CASE("check_scatter_nd requires an axis of data and of indices")
{
    CHECK_THROWS_WITH_AS(check({}, {1, 1}, {1}),
        "xloom::scatter_nd: data and indices must have at least one axis, but data has the shape []. Give it "
        "an axis of length 1.",
        shape_error);
    CHECK_THROWS_WITH_AS(check({4}, {}, {}),
        "xloom::scatter_nd: data and indices must have at least one axis, but indices has the shape []. Give "
        "it an axis of length 1.",
        shape_error);
}

TEST_CASE("check_scatter_nd requires tuples that are no longer than data has axes")
{
    CHECK_THROWS_WITH_AS(check({4, 5}, {7, 3}, {7}),
        "xloom::scatter_nd: indices' last axis must be no longer than data's rank, but indices is [7, 3] and "
        "data is [4, 5]. Index fewer "
        "axes.",
        shape_error);
    CHECK_THROWS_WITH_AS(check({4}, {2, 7, 100}, {2, 7}),
        "xloom::scatter_nd: indices' last axis must be no longer than data's rank, but indices is [2, 7, "
        "100] and data is [4]. Index fewer "
        "axes.",
        shape_error);
    // A list of indices that was meant as one tuple each.
    CHECK_THROWS_WITH_AS(check({4}, {3}, {3}),
        "xloom::scatter_nd: indices' last axis must be no longer than data's rank, but indices is [3] and "
        "data is [4]. indices [3] is one "
        "tuple of 3; pass xt::view(indices, xt::all(), xt::newaxis()) if it names 3 slices.",
        shape_error);
}

TEST_CASE("check_scatter_nd requires updates of exactly that shape, no broadcasting")
{
    CHECK_THROWS_WITH_AS(check({2, 3, 4}, {7, 2}, {7, 3, 4}),
        "xloom::scatter_nd: updates must have the shape indices.shape[:-1] ++ data.shape[2:] = [7, 4], but "
        "it is [7, 3, 4] (data [2, 3, "
        "4], indices [7, 2]). Give updates that shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(check({4}, {7, 1}, {1}),
        "xloom::scatter_nd: updates must have the shape indices.shape[:-1] ++ data.shape[1:] = [7], but it "
        "is [1] (data [4], indices [7, "
        "1]). Give updates that shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(check({4}, {7, 1}, {}),
        "xloom::scatter_nd: updates must have the shape indices.shape[:-1] ++ data.shape[1:] = [7], but it "
        "is [] (data [4], indices [7, "
        "1]). Give updates that shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(check({4, 5}, {2, 3, 0}, {2, 3}),
        "xloom::scatter_nd: updates must have the shape indices.shape[:-1] ++ data.shape[0:] = [2, 3, 4, 5], "
        "but it is [2, 3] (data [4, "
        "5], indices [2, 3, 0]). Give updates that shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(check({0}, {0, 1}, {1}),
        "xloom::scatter_nd: updates must have the shape indices.shape[:-1] ++ data.shape[1:] = [0], but it "
        "is [1] (data [0], indices [0, "
        "1]). Give updates that shape.",
        shape_error);
    // Two indices of rows are one tuple, which names one item.
    CHECK_THROWS_WITH_AS(check({4, 5}, {2}, {2, 5}),
        "xloom::scatter_nd: updates must have the shape indices.shape[:-1] ++ data.shape[2:] = [], but it is "
        "[2, 5] (data [4, 5], indices "
        "[2]). Give updates that shape. indices [2] is one tuple of 2; pass xt::view(indices, xt::all(), "
        "xt::newaxis()) "
        "if it names 2 slices.",
        shape_error);
}

TEST_CASE("check_scatter_nd counts the axes of updates")
{
    CHECK_THROWS_WITH_AS(check(shape(max_rank, 1), {1, 1, 0}, {1}),
        "xloom::scatter_nd: a tensor may have at most 16 axes (max_rank), but updates has 18. Merge some of "
        "them.",
        shape_error);
    CHECK_THROWS_WITH_AS(check({1, 1, 1}, shape(max_rank, 1), {1}),
        "xloom::scatter_nd: a tensor may have at most 16 axes (max_rank), but updates has 17. Merge some of "
        "them.",
        shape_error);
}

TEST_CASE("check_scatter_nd refuses empty tensors whose strides cannot be counted")
{
    CHECK_THROWS_WITH_AS(check({huge, 2, 0}, {1, 2}, {1, 0}),
        "xloom::scatter_nd: the size of a tensor must fit in memory, its strides too, but data is "
        "[9223372036854775807, 2, 0] and updates is [1, 0]. Reduce a dimension.",
        shape_error);
    CHECK_THROWS_WITH_AS(check({1, 0}, {huge, 3, 1}, {huge, 3, 0}),
        "xloom::scatter_nd: the size of a tensor must fit in memory, its strides too, but data is [1, 0] and "
        "updates is [9223372036854775807, 3, 0]. Reduce a dimension.",
        shape_error);
}

TEST_CASE("check_scatter_nd refuses options that contradict each other")
{
    CHECK_THROWS_WITH_AS(check({4}, {2, 1}, {2}, {{.duplicates = duplicates::first}, reduction::add}),
        "xloom::scatter_nd: duplicates::first requires reduction::none, but reduction is add. Choose "
        "duplicates::last, with which every update counts.",
        option_error);
    CHECK_THROWS_WITH_AS(check({4}, {2, 1}, {2}, {{.duplicates = duplicates::first}, reduction::mean}),
        "xloom::scatter_nd: duplicates::first requires reduction::none, but reduction is mean. Choose "
        "duplicates::last, with which every update counts.",
        option_error);
}

TEST_CASE("check_scatter_overlap accepts disjoint operands")
{
    static_assert(operands_apart());
    CHECK(operands_apart());
}

TEST_CASE("check_scatter_overlap names what shares memory with data")
{
    auto const refuse = [](memory_block const& indices, memory_block const& updates, char const* text) {
        CHECK_THROWS_WITH_AS(check_scatter_overlap(op, places, indices, updates), text, overlap_error);
    };
    refuse(elsewhere, block(1060, {2}, {1}),
        "xloom::scatter_nd_into: an operand that is written must have memory of its own, but data "
        "overlaps updates. Copy one of the two.");
    refuse(block(1003, {1}, {1}), elsewhere,
        "xloom::scatter_nd_into: an operand that is written must have memory of its own, but data "
        "overlaps indices. Copy one of the two.");
    refuse(places, places,
        "xloom::scatter_nd_into: an operand that is written must have memory of its own, but data "
        "overlaps indices and data overlaps updates. Copy one of the two.");
}

TEST_CASE("check_scatter_overlap refuses data whose items share memory")
{
    auto const refuse = [](memory_block const& data, char const* text) {
        CHECK_THROWS_WITH_AS(check_scatter_overlap(op, data, elsewhere, elsewhere), text, overlap_error);
    };
    refuse(block(1000, {3, 4}, {0, 1}),
        "xloom::scatter_nd_into: every item of data must have memory of its own, but data has the shape "
        "[3, 4] and the strides [0, 1]. Write to a container.");
    refuse(block(1000, {5, 3}, {-1, 1}),
        "xloom::scatter_nd_into: every item of data must have memory of its own, but data has the shape "
        "[5, 3] and the strides [-1, 1]. Write to a container.");
}

static_assert(check_broadcast({2, 3}, {5, 6, 1}, {}) == shape{5, 6, 3});
static_assert(check_broadcast({2, 3}, {5, 6, 1}, {3}) == shape{5, 6, 3});
static_assert(check_broadcast({2, 3}, {5, 6, 1}, {5, 1, 1}) == shape{5, 6, 3});
static_assert(check_broadcast({2, 0}, {5, 1}, {1}) == shape{5, 0});
static_assert(check_broadcast({2, 3}, {2}, {}) == shape{});

TEST_CASE("updates that cannot be broadcast")
{
    CHECK_THROWS_WITH_AS(check_broadcast({2, 3}, {5, 1}, {5}),
        "f: updates must broadcast to the shape indices.shape[:-1] ++ data.shape[1:] = [5, 3], but it is [5] "
        "(data [2, 3], indices [5, 1]). From the last axis on, give each the length there or 1.",
        shape_error);
    CHECK_THROWS_AS(check_broadcast({2, 3}, {5, 1}, {1, 1, 1}), shape_error);
    CHECK_THROWS_AS(check_broadcast({2, 1}, {1, 1}, {2}), shape_error);
    CHECK_THROWS_AS(check_broadcast({2, 0}, {5, 1}, {2}), shape_error);
    CHECK_THROWS_AS(check_broadcast({2, 3}, {5, 3}, {}), shape_error); // k > r
    CHECK_THROWS_AS(check_broadcast({}, {5, 1}, {}), shape_error);
    CHECK_THROWS_WITH_AS(check_broadcast({4}, {3}, {}),
        "f: indices' last axis must be no longer than data's rank, but indices is [3] and data is [4]. "
        "indices [3] is one tuple of 3; pass xt::view(indices, xt::all(), xt::newaxis()) if it names 3 "
        "slices.",
        shape_error);
}

} // namespace check_scatter_nd_test
