// segment_scan and segment_scan_into against the textbook form of the rule on bits, segment by segment.

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <xloom/interop/threads.hpp>
#include <xloom/parallel/segment_scan.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "support/prefix_operands.hpp"
#include "support/textbook_prefix.hpp"
#include "support/xtensor_extras.hpp"

namespace segment_scan_test {

namespace {

using prefix_operands::number, prefix_operands::splits_of;
using xloom::reduction;
using splits_tensor = xt::xtensor<std::int64_t, 1>;

splits_tensor uneven_splits()
{
    return splits_of({0, 1, 2, 3, 5, 8, 15, 0, 16, 17, 31, 33, 255, 256, 257, 513, 13, 0});
}

/// Segments of at most 23 rows, more than a buffer of results holds.
splits_tensor short_segments()
{
    auto splits = splits_tensor::from_shape({401});
    splits(0) = 0;
    for (std::size_t s = 0; s < 400; ++s)
        splits(s + 1) = splits(s) + static_cast<std::int64_t>(s * 7 % 24);
    return splits;
}

/// Requires y [N, C] to hold the textbook's scans of the segments of x, column by column.
template <class T, class Op>
void require_textbook(xt::xarray<T> const& x, splits_tensor const& splits, xt::xarray<T> const& y,
    Op const& op, xloom::segment_scan_options const& options, T const& identity)
{
    for (std::size_t s = 0; s + 1 < splits.size(); ++s)
        for (std::size_t c = 0; c < x.shape(1); ++c) {
            std::vector<T> rows, results;
            for (auto i = splits(s); i < splits(s + 1); ++i) {
                rows.push_back(x(i, c));
                results.push_back(y(i, c));
            }
            if (options.reverse) {
                std::reverse(rows.begin(), rows.end());
                std::reverse(results.begin(), results.end());
            }
            auto const expected = textbook::associative_scan<T>(
                rows, op, options.exclusive ? std::optional<T>(identity) : std::nullopt);
            if (results != expected)
                FAIL("segment " << s << " of " << rows.size() << " rows, column " << c);
        }
}

template <class T, class Op>
void compare(Op const& op, T const& identity, splits_tensor const& splits = uneven_splits())
{
    auto const rows = static_cast<std::size_t>(splits(splits.size() - 1));
    for (std::size_t const columns : std::initializer_list<std::size_t>{1, 3, 18})
        for (bool const is_column_major : {false, true})
            for (bool const reverse : {false, true})
                for (bool const exclusive : {false, true}) {
                    auto const layout =
                        is_column_major ? xt::layout_type::column_major : xt::layout_type::row_major;
                    xt::xarray<T, xt::layout_type::dynamic> x(
                        std::vector<std::size_t>{rows, columns}, layout);
                    std::size_t i = 0;
                    for (T& item : x.storage())
                        item = number<T>(i++);
                    xloom::segment_scan_options const options{.reverse = reverse, .exclusive = exclusive};
                    auto y = x;
                    for (std::size_t const threads : std::initializer_list<std::size_t>{1, 3}) {
                        y.fill(number<T>(3));
                        xloom::segment_scan_into(xloom::monoid{op, identity}, x, splits, y, options,
                            xloom::thread_policy(threads));
                        require_textbook<T, Op>(x, splits, y, op, options, identity);
                    }
                    auto in_place = x;
                    xloom::segment_scan_into(xloom::monoid{op, identity}, in_place, splits, in_place, options,
                        xloom::thread_policy(2));
                    CHECK(in_place == y);
                }
}

} // namespace

TEST_CASE("segment_scan: the rule on bits, reductions")
{
    compare<float>(xloom::reduce_add, 0.0f);
    compare<float>(xloom::reduce_add, 0.0f, short_segments());
    compare<float>(xloom::reduce_mul, 1.0f, short_segments());
    compare<double>(xloom::reduce_max, -std::numeric_limits<double>::infinity());
    compare<std::int32_t>(xloom::reduce_mul, 1);
    compare<xloom::float16>(xloom::reduce_add, xloom::float16(0));
}

TEST_CASE("segment_scan: the rule on bits, callables")
{
    compare<double>([](double a, double b) { return a - 0.5 * b; }, 0.5);
}

TEST_CASE("segment_scan: a new tensor, of a vector and of a tuple")
{
    xt::xtensor<int, 1> const x = {1, 2, 3, 4, 5}, splits = {0, 2, 2, 5};
    CHECK(xloom::segment_scan(reduction::add, x, splits) == xt::xtensor<int, 1>{1, 3, 3, 7, 12});
    xt::xtensor<std::string, 1> const letters = {"a", "b", "c", "d", "e"};
    CHECK(xloom::segment_scan(reduction::add, letters, splits, {.exclusive = true})(4) == "cd");
    using map = std::tuple<double, double>;
    auto const compose = [](map const& f, map const& g) {
        return map(std::get<0>(g) * std::get<0>(f), std::get<0>(g) * std::get<1>(f) + std::get<1>(g));
    };
    xt::xtensor<double, 1> const a = {2, 2, 2, 2, 2}, b = {1, 1, 1, 1, 1};
    auto const [slope, state] = xloom::segment_scan(compose, std::tie(a, b), splits);
    CHECK(slope == xt::xtensor<double, 1>{2, 4, 2, 4, 8});
    CHECK(state == xt::xtensor<double, 1>{1, 3, 1, 3, 7});
}

TEST_CASE("segment_scan: no segments and no rows")
{
    auto const none = xt::xtensor<float, 1>::from_shape({0});
    CHECK(xloom::segment_scan(reduction::add, none, splits_tensor{0}).size() == 0);
    CHECK(xloom::segment_scan(reduction::add, none, splits_tensor{0, 0, 0}).size() == 0);
}

TEST_CASE("segment_scan: errors")
{
    xt::xtensor<float, 1> x = {1, 2, 3};
    CHECK_THROWS_AS(xloom::segment_scan(reduction::add, x, splits_tensor{0, 2}), xloom::index_error);
    CHECK_THROWS_AS(xloom::segment_scan(reduction::add, xt::xarray<float>(1.0f), splits_tensor{0, 1}),
        xloom::shape_error);
    CHECK_THROWS_WITH_AS(
        xloom::segment_scan([](float a, float) { return a; }, x, splits_tensor{0, 3}, {.exclusive = true}),
        "xloom::segment_scan: an exclusive scan begins with the identity of its operator, but that of a "
        "callable is not known. Pass xloom::monoid{op, identity}.",
        xloom::option_error);
    auto y = xt::xtensor<float, 1>::from_shape({2});
    CHECK_THROWS_AS(xloom::segment_scan_into(reduction::add, x, splits_tensor{0, 3}, y), xloom::shape_error);
    splits_tensor splits = {0, 1, 3};
    CHECK_THROWS_WITH_AS(
        xloom::segment_scan_into(reduction::add, xt::xtensor<std::int64_t, 1>{1, 2, 3}, splits, splits),
        "xloom::segment_scan_into: an operand that is written must have memory of its own, but y "
        "overlaps row_splits. Copy one of the two.",
        xloom::overlap_error);
    auto shifted = xt::view(x, xt::range(1, 3));
    CHECK_THROWS_AS(
        xloom::segment_scan_into(reduction::add, xt::view(x, xt::range(0, 2)), splits_tensor{0, 2}, shifted),
        xloom::overlap_error);
}

} // namespace segment_scan_test
