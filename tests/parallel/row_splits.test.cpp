// row_splits_of: sorted segment ids as row splits.

#include <cstdint>

#include <doctest/doctest.h>

#include <xloom/parallel/row_splits.hpp>

#include "support/xtensor_extras.hpp"

namespace row_splits_test {

using splits = xt::xtensor<std::int64_t, 1>;

TEST_CASE("row_splits_of: segments in the middle and at both ends may be empty")
{
    CHECK(xloom::row_splits_of(xt::xtensor<int, 1>{1, 1, 3}, 6) == splits{0, 0, 2, 2, 3, 3, 3});
    CHECK(xloom::row_splits_of(xt::xtensor<std::uint8_t, 1>{0, 1, 1}, 2) == splits{0, 1, 3});
    CHECK(xloom::row_splits_of(xt::xtensor<std::int64_t, 1>::from_shape({0}), 2) == splits{0, 0, 0});
    CHECK(xloom::row_splits_of(xt::xtensor<std::int64_t, 1>::from_shape({0}), 0) == splits{0});
}

TEST_CASE("row_splits_of: ids of all integer types, up to their largest")
{
    CHECK(xloom::row_splits_of(xt::xtensor<char, 1>{1, 1}, 2) == splits{0, 0, 2});
    CHECK(xloom::row_splits_of(xt::xtensor<wchar_t, 1>{1, 1}, 2) == splits{0, 0, 2});
    CHECK(xloom::row_splits_of(xt::xtensor<char8_t, 1>{1, 1}, 2) == splits{0, 0, 2});
    auto const of_bytes = xloom::row_splits_of(xt::xtensor<std::int8_t, 1>{0, 127, 127}, 128);
    CHECK(of_bytes(0) == 0);
    CHECK(of_bytes(1) == 1);
    CHECK(of_bytes(127) == 1);
    CHECK(of_bytes(128) == 3);
}

TEST_CASE("row_splits_of: views and lazy expressions")
{
    xt::xtensor<int, 2> const two = {{0, 9}, {0, 9}, {2, 9}};
    CHECK(xloom::row_splits_of(xt::view(two, xt::all(), 0), 3) == splits{0, 2, 2, 3});
    CHECK(xloom::row_splits_of(xt::xtensor<int, 1>{1, 1, 3} - 1, 3) == splits{0, 2, 2, 3});
}

TEST_CASE("row_splits_of: errors")
{
    auto const rule = std::string("xloom::row_splits_of: segment ids must not decrease and be in [0, "
                                  "num_segments) = [0, 3), but ");
    auto const advice = std::string(". Sort the rows, or use scatter_nd, which takes ids in any order.");
    CHECK_THROWS_WITH_AS(xloom::row_splits_of(xt::xtensor<int, 1>{0, 2, 1}, 3),
        (rule + "segment_ids[2] is 1 after 2" + advice).c_str(), xloom::index_error);
    CHECK_THROWS_WITH_AS(xloom::row_splits_of(xt::xtensor<int, 1>{-1, 2}, 3),
        (rule + "segment_ids[0] is -1" + advice).c_str(), xloom::index_error);
    CHECK_THROWS_WITH_AS(xloom::row_splits_of(xt::xtensor<int, 1>{0, 3}, 3),
        (rule + "segment_ids[1] is 3 after 0" + advice).c_str(), xloom::index_error);
    CHECK_THROWS_AS(
        xloom::row_splits_of(xt::xtensor<std::uint64_t, 1>{0, ~std::uint64_t{0}}, 3), xloom::index_error);
    CHECK_THROWS_WITH_AS(xloom::row_splits_of(xt::xtensor<int, 2>{{0, 1}}, 3),
        "xloom::row_splits_of: segment_ids must have the shape [N], but it is [1, 2]. Give one id for each "
        "row.",
        xloom::shape_error);
}

} // namespace row_splits_test
