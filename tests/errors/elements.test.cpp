// What gather_elements and scatter_elements refuse, word for word, and that they write nothing before.

#include <doctest/doctest.h>

#include <string>

#include <xloom/indexing/gather_elements.hpp>
#include <xloom/indexing/scatter_elements.hpp>

#include "support/xtensor_extras.hpp"

namespace errors_elements_test {

using namespace xloom;

namespace {

using matrix = xt::xtensor<double, 2>;
using index_matrix = xt::xtensor<std::int64_t, 2>;

matrix const data = {{1, 2, 3}, {4, 5, 6}};

/// All four calls must end in this error, and leave what they would write as it is.
template <class Error, class Indices>
void refuse(std::string const& text, Indices const& indices, std::int64_t axis = 0)
{
    CHECK_THROWS_WITH_AS(
        gather_elements(data, indices, {.axis = axis}), ("xloom::gather_elements: " + text).c_str(), Error);
    xt::xarray<double> output = data;
    CHECK_THROWS_WITH_AS(gather_elements_into(data, indices, output, {.axis = axis}),
        ("xloom::gather_elements_into: " + text).c_str(), Error);
    CHECK(output == data);
    CHECK_THROWS_WITH_AS(scatter_elements(data, indices, broadcast(1), {.axis = axis}),
        ("xloom::scatter_elements: " + text).c_str(), Error);
    CHECK_THROWS_WITH_AS(scatter_elements_into(output, indices, broadcast(1), {.axis = axis}),
        ("xloom::scatter_elements_into: " + text).c_str(), Error);
    CHECK(output == data);
}

} // namespace

TEST_CASE("shapes, axes and indices that do not fit together")
{
    refuse<shape_error>(
        "indices must have data's rank, but indices is [1] and data is [2, 3]. Reshape one of "
        "the two.",
        xt::xtensor<std::int64_t, 1>{0});
    refuse<shape_error>(
        "indices must be no longer than data along every axis but the indexed one, but axis 1 "
        "has 4 in indices [1, 4] and 3 in data [2, 3] (options.axis 0). Shorten indices.",
        index_matrix{{0, 0, 0, 0}});
    refuse<shape_error>("data and indices must have at least one axis, but indices has the shape []. Give it "
                        "an axis of length 1.",
        std::int64_t{0});
    refuse<shape_error>(
        "an axis of a tensor of rank r must be in [-r, r - 1], but options.axis is 2 and data "
        "has the shape [2, 3]. Name an axis that the tensor has.",
        index_matrix{{0}}, 2);
    refuse<index_error>(
        "an index into an axis of length d must be in [-d, d - 1], but indices[0, 1] is 2 (axis "
        "0 of length 2) and indices[1, 0] is -3 (axis 0 of length 2). Correct it, or choose "
        "bounds::drop or bounds::clip.",
        index_matrix{{0, 2}, {-3, 1}});
    refuse<index_error>(
        "an index into an axis of length d must be in [-d, d - 1], but indices[0, 1] is 3 (axis "
        "1 of length 3). Correct it, or choose bounds::drop or bounds::clip.",
        index_matrix{{0, 3}}, -1);
}

TEST_CASE("updates, outputs, options, memory")
{
    matrix x = data;
    index_matrix const indices = {{0, 0}};
    CHECK_THROWS_WITH_AS(scatter_elements_into(x, indices, data),
        "xloom::scatter_elements_into: updates must have the shape of indices [1, 2], but it is [2, 3]. Give "
        "updates that shape, or pass broadcast(updates).",
        shape_error);
    CHECK_THROWS_WITH_AS(scatter_elements_into(x, indices, broadcast(data)),
        "xloom::scatter_elements_into: updates must broadcast to the shape of indices [1, 2], but it is [2, "
        "3]. From the last axis on, give each the length there or 1.",
        shape_error);
    CHECK_THROWS_WITH_AS(
        scatter_elements_into(reduction::add, x, indices, matrix{{1, 2}}, {.duplicates = duplicates::first}),
        "xloom::scatter_elements_into: duplicates::first requires reduction::none, but reduction is add. "
        "Choose duplicates::last, with which every update counts.",
        option_error);
    CHECK_THROWS_WITH_AS(scatter_elements_into(x, index_matrix{{0, 1}, {0, 0}}, matrix{{1, 2}, {3, 4}},
                             {.duplicates = duplicates::error}),
        "xloom::scatter_elements_into: with duplicates::error a slice may be named once, but indices[0, 0] "
        "names slice [0, 0] and indices[1, 0] names slice [0, 0]. Choose duplicates::last.",
        index_error);
    CHECK_THROWS_AS(
        scatter_elements_into(x, indices, xt::strided_view(x, {xt::range(0, 1), xt::range(0, 2)})),
        overlap_error);
    CHECK(x == data);
    matrix output = {{1, 2, 3}};
    CHECK_THROWS_WITH_AS(gather_elements_into(data, indices, output),
        "xloom::gather_elements_into: output must have the shape of indices [1, 2], but it is [1, 3]. Give "
        "it "
        "that shape.",
        shape_error);
    CHECK_THROWS_AS(gather_elements_into(x, index_matrix{{0, 0, 0}, {0, 0, 0}}, x), overlap_error);
}

} // namespace errors_elements_test
