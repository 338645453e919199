// What scatter_nd and scatter_nd_into refuse, word for word, and that they write nothing before.

#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <string>

#include <xloom/indexing/scatter_nd.hpp>

#include "../support/reduced_options.hpp"
#include "support/xtensor_extras.hpp"

namespace errors_scatter_nd_test {

using namespace xloom;

namespace {

using vector = xt::xtensor<double, 1>;
using matrix = xt::xtensor<double, 2>;
using tuples = xt::xtensor<std::int64_t, 2>;

template <class Tensor>
bool have_same_bits(Tensor const& a, Tensor const& b)
{
    return a.shape() == b.shape() &&
           (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(*a.data())) == 0);
}

reduced_options options_of(reduced_options const& options = {}) { return options; }

/// Both calls must end in this error, and leave data as it is, where it is.
template <class Error, class Data, class Indices, class Updates, class... More>
void refuse(std::string const& text, Data const& data, Indices const& indices, Updates const& updates,
    More const&... more)
{
    reduction const kind = options_of(more...).reduction;
    Data copy = data;
    auto const* const memory = copy.data();
    CHECK_THROWS_WITH_AS(scatter_nd_into(kind, copy, indices, updates, more...),
        ("xloom::scatter_nd_into: " + text).c_str(), Error);
    CHECK(have_same_bits(copy, data));
    CHECK_THROWS_WITH_AS(scatter_nd(kind, std::move(copy), indices, updates, more...),
        ("xloom::scatter_nd: " + text).c_str(), Error);
    CHECK(have_same_bits(copy, data));
    CHECK(copy.data() == memory);
}

double const nan = std::numeric_limits<double>::quiet_NaN();
vector const data = {-0.0, nan, 2, 3};
matrix const table = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, -0.0, nan, 12}};

/// The sentence about indices outside, around the facts.
std::string outside(std::string const& facts)
{
    return "an index into an axis of length d must be in [-d, d - 1], but " + facts +
           ". Correct it, or choose bounds::drop or bounds::clip.";
}

} // namespace

TEST_CASE("scatter_nd refuses shapes that do not fit together")
{
    refuse<shape_error>("indices' last axis must be no longer than data's rank, but indices is [1, 2] and "
                        "data is [4]. Index fewer axes.",
        data, tuples{{0, 1}}, vector{1});
    refuse<shape_error>("indices' last axis must be no longer than data's rank, but indices is [2] and data "
                        "is [4]. indices [2] is one tuple "
                        "of 2; pass xt::view(indices, xt::all(), xt::newaxis()) if it names 2 slices.",
        data, xt::xtensor<std::int64_t, 1>{0, 1}, vector{1, 2});
    refuse<shape_error>("updates must have the shape indices.shape[:-1] ++ data.shape[1:] = [2], but it is "
                        "[3] (data [4], indices [2, 1]). "
                        "Give updates that shape.",
        data, tuples{{0}, {1}}, vector{1, 2, 3});
    refuse<shape_error>("updates must have the shape indices.shape[:-1] ++ data.shape[1:] = [2], but it is "
                        "[] (data [4], indices [2, 1]). "
                        "Give updates that shape.",
        data, tuples{{0}, {1}}, 1.0);
    refuse<shape_error>("data and indices must have at least one axis, but indices has the shape []. Give it "
                        "an axis of length 1.",
        data, std::int64_t{0}, vector{1});
}

TEST_CASE("scatter_nd names an index that is outside its axis")
{
    refuse<index_error>(
        outside("indices[1, 0] is 4 (axis 0 of length 4)"), data, tuples{{1}, {4}, {0}}, vector{7, 8, 9});
    refuse<index_error>(outside("indices[0, 0] is -5 (axis 0 of length 4)"), data, tuples{{-5}}, vector{7});
    refuse<index_error>(
        outside("indices[1] is 4 (axis 1 of length 4)"), table, xt::xtensor<std::int64_t, 1>{2, 4}, 7.0);
    refuse<index_error>(outside("indices[1, 0, 0] is 3 (axis 0 of length 3)"), table,
        xt::xtensor<std::int64_t, 3>{{{0}, {1}}, {{3}, {2}}},
        xt::xtensor<double, 3>(xt::ones<double>({2, 2, 4})));
}

TEST_CASE("scatter_nd names the first four indices outside, and counts the others")
{
    refuse<index_error>(
        outside("indices[0, 0] is 3 (axis 0 of length 3) and indices[2, 1] is -5 (axis 1 of length 4)"),
        table, tuples{{3, 0}, {0, 0}, {2, -5}}, vector{7, 8, 9});
    refuse<index_error>(outside("indices[0, 0] is 4 (axis 0 of length 4), indices[1, 0] is 5 (axis 0 of "
                                "length 4), indices[3, 0] is 6 (axis "
                                "0 of length 4) and indices[4, 0] is 7 (axis 0 of length 4)"),
        data, tuples{{4}, {5}, {0}, {6}, {7}}, vector{1, 2, 3, 4, 5});
    refuse<index_error>(outside("indices[0, 0] is 4 (axis 0 of length 4), indices[1, 0] is 5 (axis 0 of "
                                "length 4), indices[3, 0] is 6 (axis "
                                "0 of length 4), indices[4, 0] is 7 (axis 0 of length 4) and 2 more"),
        data, tuples{{4}, {5}, {0}, {6}, {7}, {1}, {-9}, {8}}, vector{1, 2, 3, 4, 5, 6, 7, 8});
}

TEST_CASE("scatter_nd prints the ends of the widest types")
{
    refuse<index_error>(outside("indices[0, 0] is 9223372036854775807 (axis 0 of length 4) and indices[1, 0] "
                                "is -9223372036854775808 (axis 0 "
                                "of length 4)"),
        data, tuples{{std::numeric_limits<std::int64_t>::max()}, {std::numeric_limits<std::int64_t>::min()}},
        vector{1, 2});
    refuse<index_error>(outside("indices[0, 0] is 9223372036854775808 (axis 0 of length 4) and indices[1, 0] "
                                "is 18446744073709551615 (axis 0 "
                                "of length 4)"),
        data, xt::xtensor<std::uint64_t, 2>{{std::uint64_t{1} << 63}, {~std::uint64_t{0}}}, vector{1, 2});
}

TEST_CASE("scatter_nd names positions as indices has them, in any memory order")
{
    xt::xtensor<std::int64_t, 2, xt::layout_type::column_major> const columns = {{0, 1}, {2, 4}, {1, 1}};
    refuse<index_error>(outside("indices[1, 1] is 4 (axis 1 of length 4)"), table, columns, vector{7, 8, 9});
}

TEST_CASE("scatter_nd refuses every index into an empty axis")
{
    auto const none = matrix::from_shape({0, 4});
    matrix const row = {{1, 2, 3, 4}};
    refuse<index_error>(outside("indices[0, 0] is 0 (axis 0 of length 0)"), none, tuples{{0}}, row);
    refuse<index_error>(outside("indices[0, 0] is -1 (axis 0 of length 0)"), none, tuples{{-1}}, row);
    refuse<index_error>("an index can be clipped to an axis that has items only, but axis 0 of data has "
                        "length 0. Choose bounds::drop.",
        none, tuples{{0}}, row, reduced_options{.bounds = bounds::clip});
    auto const no_columns = matrix::from_shape({3, 0});
    refuse<index_error>("an index can be clipped to an axis that has items only, but axis 1 of data has "
                        "length 0. Choose bounds::drop.",
        no_columns, tuples{{0, 0}}, vector{1}, reduced_options{.bounds = bounds::clip});
}

TEST_CASE("scatter_nd refuses bounds and duplicates that are none")
{
    refuse<option_error>("options.bounds must be check, assume, drop or clip, but it is number 4. Choose "
                         "one.",
        data, tuples{{4}}, vector{1}, reduced_options{.bounds = static_cast<bounds>(4)});
    for (reduction const kind : {reduction::none, reduction::add})
        refuse<option_error>(
            "options.duplicates must be last, first or error, but it is number 3. Choose one.", data,
            tuples{{0}}, vector{1},
            reduced_options{.reduction = kind, .duplicates = static_cast<duplicates>(3)});
}

TEST_CASE("duplicates::error names the first two tuples of one slice")
{
    reduced_options const error{.duplicates = duplicates::error};
    refuse<index_error>("with duplicates::error a slice may be named once, but indices[1] names slice [2] "
                        "and indices[3] names slice [2]. "
                        "Choose duplicates::last.",
        data, tuples{{0}, {2}, {1}, {-2}, {0}}, vector{1, 2, 3, 4, 5}, error);
    refuse<index_error>("with duplicates::error a slice may be named once, but indices[0, 1] names slice [1, "
                        "2] and indices[1, 0] names "
                        "slice [1, 2]. Choose duplicates::last.",
        table, xt::xtensor<std::int64_t, 3>{{{0, 2}, {1, 2}}, {{-2, -2}, {0, 0}}}, matrix{{1, 2}, {3, 4}},
        error);
    refuse<index_error>("with duplicates::error a slice may be named once, but indices[0] names slice [] and "
                        "indices[1] names slice []. "
                        "Choose duplicates::last.",
        data, tuples::from_shape({2, 0}), matrix{{1, 2, 3, 4}, {5, 6, 7, 8}}, error);
    // Indices are compared after clipping: 9 is clipped to 3.
    refuse<index_error>("with duplicates::error a slice may be named once, but indices[0] names slice [3] "
                        "and indices[1] names slice [3]. "
                        "Choose duplicates::last.",
        data, tuples{{3}, {9}}, vector{1, 2},
        reduced_options{
            .reduction = reduction::add, .bounds = bounds::clip, .duplicates = duplicates::error});
}

// Promises are verified in debug builds.
#ifndef NDEBUG
TEST_CASE("scatter_nd finds a promise broken")
{
    refuse<index_error>("indices must keep the promise options.unique, but indices[0] names slice [3] and "
                        "indices[2] names slice [3]. Do not "
                        "promise it.",
        data, tuples{{3}, {0}, {-1}}, vector{1, 2, 3}, reduced_options{.unique = true});
    refuse<index_error>("indices must keep the promise options.sorted, but indices[1] names slice [2] and "
                        "indices[2] names slice [1]. Do not "
                        "promise it.",
        data, tuples{{0}, {2}, {1}}, vector{1, 2, 3}, reduced_options{.sorted = true});
    refuse<index_error>(outside("indices[1, 0] is 4 (axis 0 of length 4)"), data, tuples{{0}, {4}},
        vector{1, 2}, reduced_options{.bounds = bounds::assume});
}
#endif

TEST_CASE("scatter_nd refuses memory of data in indices and updates")
{
    auto const refuse_overlap = [](char const* what, auto& x, auto const& indices, auto const& updates) {
        auto const before = x;
        std::string const text =
            std::string(": an operand that is written must have memory of its own, but data overlaps ") +
            what + ". Copy one of the two.";
        CHECK_THROWS_WITH_AS(
            scatter_nd_into(x, indices, updates), ("xloom::scatter_nd_into" + text).c_str(), overlap_error);
        CHECK_THROWS_WITH_AS(
            scatter_nd(std::move(x), indices, updates), ("xloom::scatter_nd" + text).c_str(), overlap_error);
        CHECK(have_same_bits(x, before));
    };
    vector x = data;
    refuse_overlap("updates", x, tuples{{0}, {1}}, xt::view(x, xt::range(2, 4)));
    refuse_overlap("updates", x, xt::xtensor<std::int64_t, 1>{0}, x(2));
    tuples numbers = {{0, 1}, {1, 0}};
    xt::xtensor<std::int64_t, 1> const two = {5, 6};
    refuse_overlap("indices", numbers, numbers, two);
    refuse_overlap("indices and data overlaps updates", numbers, numbers, xt::view(numbers, 1));
}

TEST_CASE("a view that is handed over is copied, so that updates may be part of it")
{
    vector const x = {1, 2, 3};
    CHECK(scatter_nd(xt::view(x, xt::all()), tuples{{2}, {1}, {0}}, x) == vector{3, 2, 1});
}

TEST_CASE("scatter_nd_into refuses data whose items share memory")
{
    std::vector<double> memory = {1, 2, 3, 4, 5, 6};
    std::vector<std::size_t> const dims = {2, 3};
    auto rows = xt::adapt(memory.data(), 6, xt::no_ownership(), dims, std::vector<std::ptrdiff_t>{0, 1});
    CHECK_THROWS_WITH_AS(scatter_nd_into(rows, tuples{{1, 1}}, vector{7}),
        "xloom::scatter_nd_into: every item of data must have memory of its own, but data has the shape "
        "[2, 3] and the strides [0, 1]. Write to a container.",
        overlap_error);
    CHECK(memory == std::vector<double>{1, 2, 3, 4, 5, 6});
    CHECK(scatter_nd(rows, tuples{{1, 1}}, vector{7}) == matrix{{1, 2, 3}, {1, 7, 3}});
}

} // namespace errors_scatter_nd_test
