// GatherND's rule on concrete shapes, options and memory: the output's shape, in constant expressions too,
// and the text of every refusal.

#include <doctest/doctest.h>

#include <limits>

#include <xloom/detail/check/gather_nd.hpp>

namespace check_gather_nd_test {

using namespace xloom;
using namespace xloom::detail;

namespace {

constexpr std::size_t huge = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());

constexpr shape gathered(
    shape const& data, shape const& indices, std::int64_t batch_dims = 0, std::size_t item_bytes = 1)
{
    return check_gather_nd("xloom::gather_nd", data, indices, {.batch_dims = batch_dims}, item_bytes).values;
}

constexpr bool tuples_of_every_width()
{
    return gathered({2, 3, 4}, {7, 0}) == shape{7, 2, 3, 4} &&
           gathered({2, 3, 4}, {7, 1}) == shape{7, 3, 4} && gathered({2, 3, 4}, {7, 2}) == shape{7, 4} &&
           gathered({2, 3, 4}, {7, 3}) == shape{7} && gathered({5}, {1}) == shape{} &&
           gathered({2, 3, 4}, {1}) == shape{3, 4} && gathered({2, 3, 4}, {3}) == shape{} &&
           gathered({2, 3, 4}, {5, 6, 2}) == shape{5, 6, 4};
}

constexpr bool batches()
{
    return gathered({2, 3, 4}, {2, 0}, 1) == shape{2, 3, 4} &&
           gathered({2, 3, 4}, {2, 1}, 1) == shape{2, 4} && gathered({2, 3, 4}, {2, 2}, 1) == shape{2} &&
           gathered({2, 3, 4}, {2, 7, 1}, 1) == shape{2, 7, 4} &&
           gathered({2, 3, 4}, {2, 3, 1}, 2) == shape{2, 3} &&
           gathered({2, 3, 4}, {2, 3, 0}, 2) == shape{2, 3, 4} &&
           gathered({2, 3, 4, 5}, {2, 3, 6, 7, 1}, 2) == shape{2, 3, 6, 7, 5};
}

constexpr bool empty_operands()
{
    return gathered({4, 5}, {0, 1}) == shape{0, 5} && gathered({0, 5}, {3, 1}) == shape{3, 5} &&
           gathered({5, 0}, {3, 1}) == shape{3, 0} && gathered({0, 5}, {0, 7, 1}, 1) == shape{0, 7};
}

constexpr bool as_many_axes_as_allowed()
{
    return gathered(shape(max_rank, 1), {1, 1}) == shape(max_rank, 1) &&
           gathered({1, 1}, shape(max_rank, 1)) == shape(max_rank, 1) &&
           gathered(shape(max_rank, 1), shape(max_rank, 1), max_rank - 1) == shape(max_rank - 1, 1);
}

constexpr bool sizes_up_to_the_largest()
{
    return gathered({huge}, {huge, 1}) == shape{huge} && gathered({1, 0}, {huge, 1}) == shape{huge, 0} &&
           gathered({5}, {huge / 8, 1}, 0, 8) == shape{huge / 8};
}

constexpr memory_block block(std::uintptr_t address, shape const& dims, strides const& steps)
{
    return {address, 4, {dims, steps}};
}

constexpr memory_block const output = block(1000, {4, 4}, {4, 1}), elsewhere = block(2000, {9}, {1});

constexpr void check_output(
    memory_block const& to, shape const& dims, memory_block const& data, memory_block const& indices)
{
    check_gathered_output("xloom::gather_nd_into", gather_nd_shape_rule, to, dims, data, indices);
}

constexpr bool operands_apart()
{
    check_output(output, {4, 4}, elsewhere, elsewhere);
    check_output(output, {4, 4}, block(1064, {2}, {1}), block(996, {1}, {1}));
    check_output(block(1000, {4, 2}, {4, 2}), {4, 2}, block(1004, {4, 2}, {4, 2}), elsewhere);
    check_output(block(1000, {0, 4}, {0, 0}), {0, 4}, output, output);
    check_output(block(1000, {}, {}), {}, elsewhere, elsewhere);
    return true;
}

} // namespace

TEST_CASE("check_gather_nd: the output is indices.shape[:-1] ++ data.shape[b + k:]")
{
    static_assert(tuples_of_every_width());
    CHECK(tuples_of_every_width());
    static_assert(batches());
    CHECK(batches());
    static_assert(empty_operands());
    CHECK(empty_operands());
    static_assert(as_many_axes_as_allowed());
    CHECK(as_many_axes_as_allowed());
    static_assert(sizes_up_to_the_largest());
    CHECK(sizes_up_to_the_largest());
}

TEST_CASE("check_gather_nd requires an axis of data and of indices")
{
    CHECK_THROWS_WITH_AS(gathered({}, {1, 1}),
        "xloom::gather_nd: data and indices must have at least one axis, but data has the shape []. Give it "
        "an axis of length 1.",
        shape_error);
    CHECK_THROWS_WITH_AS(gathered({4}, {}),
        "xloom::gather_nd: data and indices must have at least one axis, but indices has the shape []. Give "
        "it an axis of length 1.",
        shape_error);
}

TEST_CASE("check_gather_nd requires batch_dims below both ranks, and not negative")
{
    CHECK_THROWS_WITH_AS(gathered({2, 3}, {2, 3, 1}, -1),
        "xloom::gather_nd: batch_dims must be in [0, min(q, r) - 1] = [0, 1], but it is -1 (data [2, 3], "
        "indices [2, 3, 1]). Name fewer axes.",
        option_error);
    CHECK_THROWS_WITH_AS(gathered({2, 3}, {2, 3, 1}, 2),
        "xloom::gather_nd: batch_dims must be in [0, min(q, r) - 1] = [0, 1], but it is 2 (data [2, 3], "
        "indices [2, 3, 1]). Name fewer axes.",
        option_error);
    CHECK_THROWS_WITH_AS(gathered({2, 3}, {2}, 1),
        "xloom::gather_nd: batch_dims must be in [0, min(q, r) - 1] = [0, 0], but it is 1 (data [2, 3], "
        "indices [2]). Name fewer axes.",
        option_error);
    CHECK_THROWS_WITH_AS(gathered({2}, {2, 1}, std::numeric_limits<std::int64_t>::max()),
        "xloom::gather_nd: batch_dims must be in [0, min(q, r) - 1] = [0, 0], but it is 9223372036854775807 "
        "(data [2], indices [2, 1]). Name fewer axes.",
        option_error);
    CHECK_THROWS_WITH_AS(gathered({2}, {2, 1}, std::numeric_limits<std::int64_t>::min()),
        "xloom::gather_nd: batch_dims must be in [0, min(q, r) - 1] = [0, 0], but it is -9223372036854775808 "
        "(data [2], indices [2, 1]). Name fewer axes.",
        option_error);
}

TEST_CASE("check_gather_nd requires batch axes of equal lengths")
{
    CHECK_THROWS_WITH_AS(gathered({3, 2, 2}, {2, 1}, 1),
        "xloom::gather_nd: the first batch_dims = 1 axes of data and indices must be equally long, but axis "
        "0 has 3 in data [3, 2, 2] and "
        "2 in indices [2, 1]. Name fewer axes.",
        shape_error);
    CHECK_THROWS_WITH_AS(gathered({3, 4, 2}, {3, 1, 1}, 2),
        "xloom::gather_nd: the first batch_dims = 2 axes of data and indices must be equally long, but axis "
        "1 has 4 in data [3, 4, 2] and "
        "1 in indices [3, 1, 1]. Name fewer axes.",
        shape_error);
}

TEST_CASE("check_gather_nd requires tuples that are no longer than data has axes after the batch")
{
    CHECK_THROWS_WITH_AS(gathered({4, 5}, {7, 3}),
        "xloom::gather_nd: indices' last axis must be no longer than data's rank less batch_dims, but "
        "indices is [7, 3], data is [4, 5] "
        "and batch_dims is 0. Index fewer axes.",
        shape_error);
    CHECK_THROWS_WITH_AS(gathered({7, 5}, {7, 2}, 1),
        "xloom::gather_nd: indices' last axis must be no longer than data's rank less batch_dims, but "
        "indices is [7, 2], data is [7, 5] "
        "and batch_dims is 1. Index fewer axes.",
        shape_error);
    // A list of indices that was meant as one tuple each.
    CHECK_THROWS_WITH_AS(gathered({4}, {3}),
        "xloom::gather_nd: indices' last axis must be no longer than data's rank less batch_dims, but "
        "indices is [3], data is [4] and "
        "batch_dims is 0. indices [3] is one tuple of 3; pass xt::view(indices, xt::all(), xt::newaxis()) if "
        "it names 3 slices.",
        shape_error);
}

TEST_CASE("check_gather_nd counts the output's axes")
{
    CHECK_THROWS_WITH_AS(gathered(shape(max_rank, 1), {1, 1, 1}),
        "xloom::gather_nd: a tensor may have at most 16 axes (max_rank), but the output has 17. Merge some "
        "of them.",
        shape_error);
    CHECK_THROWS_WITH_AS(gathered(shape(max_rank, 1), shape(max_rank, 1), 2),
        "xloom::gather_nd: a tensor may have at most 16 axes (max_rank), but the output has 28. Merge some "
        "of them.",
        shape_error);
}

TEST_CASE("check_gather_nd refuses an output that memory cannot hold, or whose strides it cannot count")
{
    CHECK_THROWS_WITH_AS(gathered({4, 3}, {huge, 1}),
        "xloom::gather_nd: the size of a result must fit in memory, but the output would have the shape "
        "[9223372036854775807, 3]. Gather "
        "fewer slices.",
        shape_error);
    CHECK_THROWS_WITH_AS(gathered({4, 0}, {huge, 2, 1}),
        "xloom::gather_nd: the size of a result must fit in memory, but the output would have the shape "
        "[9223372036854775807, 2, 0]. "
        "Gather fewer slices.",
        shape_error);
    CHECK_THROWS_WITH_AS(gathered({5}, {huge / 8 + 1, 1}, 0, 8),
        "xloom::gather_nd: the size of a result must fit in memory, but the output would have the shape "
        "[1152921504606846976]. Gather "
        "fewer "
        "slices.",
        shape_error);
}

TEST_CASE("check_gathered_output accepts disjoint operands")
{
    static_assert(operands_apart());
    CHECK(operands_apart());
}

TEST_CASE("check_gathered_output requires the gathered shape")
{
    CHECK_THROWS_WITH_AS(check_output(output, {4, 5}, elsewhere, elsewhere),
        "xloom::gather_nd_into: output must have the shape indices.shape[:-1] ++ data.shape[b + k:] = [4, "
        "5], but it is [4, 4]. Give it "
        "that shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(check_output(output, {}, elsewhere, elsewhere),
        "xloom::gather_nd_into: output must have the shape indices.shape[:-1] ++ data.shape[b + k:] = [], "
        "but it is [4, 4]. Give it that "
        "shape.",
        shape_error);
}

TEST_CASE("check_gathered_output names what shares memory with output")
{
    auto const refuse = [](memory_block const& data, memory_block const& indices, char const* text) {
        CHECK_THROWS_WITH_AS(check_output(output, {4, 4}, data, indices), text, overlap_error);
    };
    refuse(block(1060, {2}, {1}), elsewhere,
        "xloom::gather_nd_into: an operand that is written must have memory of its own, but output "
        "overlaps data. Copy one of the two.");
    refuse(elsewhere, block(1003, {1}, {1}),
        "xloom::gather_nd_into: an operand that is written must have memory of its own, but output "
        "overlaps indices. Copy one of the two.");
    refuse(output, output,
        "xloom::gather_nd_into: an operand that is written must have memory of its own, but output "
        "overlaps data and output overlaps indices. Copy one of the two.");
}

TEST_CASE("check_gathered_output refuses an output whose items share memory")
{
    CHECK_THROWS_WITH_AS(check_output(block(1000, {3, 4}, {0, 1}), {3, 4}, elsewhere, elsewhere),
        "xloom::gather_nd_into: every item of output must have memory of its own, but output has the shape "
        "[3, 4] and the strides [0, 1]. "
        "Write to a container.",
        overlap_error);
}

} // namespace check_gather_nd_test
