// What gather_nd and gather_nd_into refuse, word for word, and that they write nothing before.

#include <doctest/doctest.h>

#include <limits>
#include <string>

#include <xloom/indexing/gather_nd.hpp>

#include "support/xtensor_extras.hpp"

namespace errors_gather_nd_test {

using namespace xloom;

namespace {

using vector = xt::xtensor<double, 1>;
using matrix = xt::xtensor<double, 2>;
using tuples = xt::xtensor<std::int64_t, 2>;

vector const data = {10, 20, 30, 40};
matrix const table = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};

/// Both calls must end in this error, and leave the output as it is.
template <class Error, class Data, class Indices>
void refuse(std::string const& text, Data const& operand, Indices const& indices,
    gather_nd_options const& options = {})
{
    CHECK_THROWS_WITH_AS(gather_nd(operand, indices, options), ("xloom::gather_nd: " + text).c_str(), Error);
    vector output = {1, 2, 3};
    CHECK_THROWS_WITH_AS(
        gather_nd_into(operand, indices, output, options), ("xloom::gather_nd_into: " + text).c_str(), Error);
    CHECK(output == vector{1, 2, 3});
}

/// The sentence about indices outside, around the facts.
std::string outside(std::string const& facts)
{
    return "an index into an axis of length d must be in [-d, d - 1], but " + facts +
           ". Correct it, or choose bounds::drop or bounds::clip.";
}

} // namespace

TEST_CASE("gather_nd refuses shapes that do not fit together")
{
    refuse<shape_error>("indices' last axis must be no longer than data's rank less batch_dims, but indices "
                        "is [3], data is [4] and batch_dims "
                        "is 0. indices [3] is one tuple of 3; pass xt::view(indices, xt::all(), "
                        "xt::newaxis()) if it names 3 slices.",
        data, xt::xtensor<std::int64_t, 1>{0, 1, 2});
    refuse<shape_error>("indices' last axis must be no longer than data's rank less batch_dims, but indices "
                        "is [3, 2], data is [3, 4] and "
                        "batch_dims is 1. Index fewer axes.",
        table, tuples{{0, 0}, {1, 1}, {2, 2}}, {.batch_dims = 1});
    refuse<shape_error>("the first batch_dims = 1 axes of data and indices must be equally long, but axis 0 "
                        "has 3 in data [3, 4] and 2 in "
                        "indices [2, 1]. Name fewer axes.",
        table, tuples{{0}, {1}}, {.batch_dims = 1});
    refuse<shape_error>("data and indices must have at least one axis, but indices has the shape []. Give it "
                        "an axis of length 1.",
        data, std::int64_t{0});
}

TEST_CASE("gather_nd refuses batch_dims that an operand has not")
{
    refuse<option_error>("batch_dims must be in [0, min(q, r) - 1] = [0, 0], but it is 1 (data [4], indices "
                         "[1, 1]). Name fewer axes.",
        data, tuples{{0}}, {.batch_dims = 1});
    refuse<option_error>("batch_dims must be in [0, min(q, r) - 1] = [0, 0], but it is -1 (data [4], indices "
                         "[1, 1]). Name fewer axes.",
        data, tuples{{0}}, {.batch_dims = -1});
}

TEST_CASE("gather_nd refuses bounds that are none")
{
    gather_nd_options const none{.bounds = static_cast<bounds>(7)};
    std::string const text =
        "options.bounds must be check, assume, drop or clip, but it is number 7. Choose one.";
    refuse<option_error>(text, data, tuples{{1}, {4}, {0}}, none);
    refuse<option_error>(text, data, tuples{{1}, {2}, {0}}, none);
}

TEST_CASE("gather_nd names an index that is outside its axis, which is counted after the batch")
{
    refuse<index_error>(outside("indices[1, 0] is 4 (axis 0 of length 4)"), data, tuples{{1}, {4}, {0}});
    refuse<index_error>(outside("indices[0, 0] is -5 (axis 0 of length 4)"), data, tuples{{-5}});
    refuse<index_error>(
        outside("indices[1] is 4 (axis 1 of length 4)"), table, xt::xtensor<std::int64_t, 1>{2, 4});
    refuse<index_error>(
        outside("indices[2, 0] is 4 (axis 1 of length 4)"), table, tuples{{3}, {-4}, {4}}, {.batch_dims = 1});
}

TEST_CASE("gather_nd names the first four indices outside, and counts the others")
{
    refuse<index_error>(
        outside("indices[0, 0] is 3 (axis 0 of length 3) and indices[2, 1] is -5 (axis 1 of length 4)"),
        table, tuples{{3, 0}, {0, 0}, {2, -5}});
    refuse<index_error>(outside("indices[0, 0] is 4 (axis 0 of length 4), indices[1, 0] is 5 (axis 0 of "
                                "length 4), indices[3, 0] is 6 (axis "
                                "0 of length 4), indices[4, 0] is 7 (axis 0 of length 4) and 1 more"),
        data, tuples{{4}, {5}, {0}, {6}, {7}, {-9}});
}

TEST_CASE("gather_nd prints the ends of the widest types")
{
    refuse<index_error>(outside("indices[0, 0] is 9223372036854775807 (axis 0 of length 4) and indices[1, 0] "
                                "is -9223372036854775808 (axis 0 "
                                "of length 4)"),
        data, tuples{{std::numeric_limits<std::int64_t>::max()}, {std::numeric_limits<std::int64_t>::min()}});
    refuse<index_error>(outside("indices[0, 0] is 18446744073709551615 (axis 0 of length 4)"), data,
        xt::xtensor<std::uint64_t, 2>{{~std::uint64_t{0}}});
}

TEST_CASE("gather_nd refuses every index into an empty axis")
{
    auto const none = matrix::from_shape({0, 4});
    refuse<index_error>(outside("indices[0, 0] is 0 (axis 0 of length 0)"), none, tuples{{0}});
    refuse<index_error>("an index can be clipped to an axis that has items only, but axis 0 of data has "
                        "length 0. Choose bounds::drop.",
        none, tuples{{0}}, {.bounds = bounds::clip});
    refuse<index_error>("an index can be clipped to an axis that has items only, but axis 1 of data has "
                        "length 0. Choose bounds::drop.",
        matrix::from_shape({1, 0}), tuples{{0}}, {.batch_dims = 1, .bounds = bounds::clip});
}

// The promise is verified in debug builds.
#ifndef NDEBUG
TEST_CASE("gather_nd finds bounds::assume broken")
{
    refuse<index_error>(outside("indices[1, 0] is 4 (axis 0 of length 4)"), data, tuples{{0}, {4}},
        {.bounds = bounds::assume});
}
#endif

TEST_CASE("gather_nd refuses to give another rank than the output's")
{
    CHECK_THROWS_WITH_AS(gather_nd<1>(table, tuples{{0}, {1}}),
        "xloom::gather_nd: the output must have the requested rank, but its shape is [2, 4] and the "
        "requested "
        "rank is 1. Request 2.",
        shape_error);
    CHECK_THROWS_WITH_AS(gather_nd<2>(table, xt::xtensor<std::int64_t, 1>{0, 1}),
        "xloom::gather_nd: the output must have the requested rank, but its shape is [] and the requested "
        "rank "
        "is 2. Request 0.",
        shape_error);
}

TEST_CASE("gather_nd_into refuses an output of another shape")
{
    matrix output = xt::ones<double>({2, 3});
    CHECK_THROWS_WITH_AS(gather_nd_into(table, tuples{{0}, {1}}, output),
        "xloom::gather_nd_into: output must have the shape indices.shape[:-1] ++ data.shape[b + k:] = [2, "
        "4], but it is [2, 3]. Give it "
        "that "
        "shape.",
        shape_error);
    CHECK(output == matrix{{1, 1, 1}, {1, 1, 1}});
    vector items = {1, 1};
    CHECK_THROWS_WITH_AS(gather_nd_into(table, xt::xtensor<std::int64_t, 1>{0, 1}, items),
        "xloom::gather_nd_into: output must have the shape indices.shape[:-1] ++ data.shape[b + k:] = [], "
        "but it is [2]. Give it that "
        "shape.",
        shape_error);
    CHECK(items == vector{1, 1});
}

TEST_CASE("gather_nd_into refuses an output in the memory of data or of indices")
{
    vector x = data;
    CHECK_THROWS_WITH_AS(gather_nd_into(x, tuples{{3}, {2}, {1}, {0}}, x),
        "xloom::gather_nd_into: an operand that is written must have memory of its own, but output "
        "overlaps data. Copy one of the two.",
        overlap_error);
    CHECK_THROWS_WITH_AS(
        gather_nd_into(xt::view(x, xt::range(0, 3)), tuples{{0}, {1}}, xt::view(x, xt::range(2, 4))),
        "xloom::gather_nd_into: an operand that is written must have memory of its own, but output "
        "overlaps data. Copy one of the two.",
        overlap_error);
    CHECK(x == data);
    tuples numbers = {{0}, {1}};
    CHECK_THROWS_WITH_AS(
        gather_nd_into(xt::xtensor<std::int64_t, 1>{5, 6}, numbers, xt::view(numbers, xt::all(), 0)),
        "xloom::gather_nd_into: an operand that is written must have memory of its own, but output "
        "overlaps indices. Copy one of the two.",
        overlap_error);
    CHECK_THROWS_WITH_AS(gather_nd_into(numbers, numbers, xt::view(numbers, xt::all(), xt::all())),
        "xloom::gather_nd_into: an operand that is written must have memory of its own, but output "
        "overlaps data and output overlaps indices. Copy one of the two.",
        overlap_error);
    CHECK(numbers == tuples{{0}, {1}});
}

TEST_CASE("gather_nd_into refuses an output whose items share memory")
{
    std::vector<double> memory = {1, 2, 3, 4, 5, 6, 7, 8};
    auto rows = xt::adapt(memory.data(), 8, xt::no_ownership(), std::vector<std::size_t>{2, 4},
        std::vector<std::ptrdiff_t>{0, 1});
    CHECK_THROWS_WITH_AS(gather_nd_into(table, tuples{{0}, {1}}, rows),
        "xloom::gather_nd_into: every item of output must have memory of its own, but output has the shape "
        "[2, 4] and the strides [0, 1]. "
        "Write to a container.",
        overlap_error);
    CHECK(memory == std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
}

} // namespace errors_gather_nd_test
