// segment_reduce and segment_reduce_into against the textbook form of the rule on bits, segment by segment.

#include <cmath>
#include <complex>
#include <limits>
#include <stdexcept>
#include <string>
#include <valarray>
#include <vector>

#include <doctest/doctest.h>

#include <xloom/interop/threads.hpp>
#include <xloom/parallel/segment_reduce.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "support/prefix_operands.hpp"
#include "support/textbook_prefix.hpp"
#include "support/xtensor_extras.hpp"

namespace segment_reduce_test {

namespace {

using prefix_operands::number, prefix_operands::splits_of;
using xloom::reduction;
using splits_tensor = xt::xtensor<std::int64_t, 1>;

/// Segments of lengths around the borders of vectors, groups and blocks, and empty ones at both ends.
splits_tensor uneven_splits()
{
    return splits_of({0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 0, 0, 16, 17, 31, 32, 33, 255, 256, 257, 513, 6, 11, 13,
        14, 273, 700, 1000, 0});
}

/// Requires y to hold the last results of the textbook's scans of the segments of x, column by column.
template <class X, class Y, class Op, class T>
void require_textbook(X const& x, splits_tensor const& splits, Y const& y, Op const& op, T const& identity)
{
    std::size_t const columns = x.dimension() == 1 ? 1 : x.shape(1);
    auto const at = [&](auto const& tensor, std::size_t row, std::size_t column) -> T {
        if (tensor.dimension() == 1)
            return tensor[std::vector<std::size_t>{row}];
        return tensor[std::vector<std::size_t>{row, column}];
    };
    for (std::size_t s = 0; s + 1 < splits.size(); ++s)
        for (std::size_t c = 0; c < columns; ++c) {
            std::vector<T> rows;
            for (auto i = splits(s); i < splits(s + 1); ++i)
                rows.push_back(at(x, static_cast<std::size_t>(i), c));
            T const expected = rows.empty() ? identity : textbook::associative_scan<T>(rows, op).back();
            T const reduced = at(y, s, c);
            if (!(reduced == expected) && (reduced == reduced || expected == expected))
                FAIL("segment " << s << " of " << rows.size() << " rows, column " << c);
        }
}

template <class T, class Op>
void compare(Op const& op, T const& identity)
{
    splits_tensor const splits = uneven_splits();
    auto const rows = static_cast<std::size_t>(splits(splits.size() - 1));
    auto x = xt::xtensor<T, 1>::from_shape({rows});
    for (std::size_t i = 0; i < rows; ++i)
        x(i) = number<T>(i);
    auto const y = xloom::segment_reduce(xloom::monoid{op, identity}, x, splits);
    REQUIRE(y.size() == splits.size() - 1);
    require_textbook<decltype(x), decltype(y), Op, T>(x, splits, y, op, identity);
}

/// Reduces rows of several widths, in every layout, on one thread and several. All results are those of the
/// first, which are the textbook's.
template <class T, class Op>
void compare_layouts(Op const& op, T const& identity)
{
    using array = xt::xtensor<T, 2, xt::layout_type::dynamic>;
    splits_tensor const splits = uneven_splits();
    auto const rows = static_cast<std::size_t>(splits(splits.size() - 1));
    for (std::size_t const columns : std::initializer_list<std::size_t>{1, 3, 16, 37, 270}) {
        array first;
        for (auto const layout : {xt::layout_type::row_major, xt::layout_type::column_major}) {
            array x({rows, columns}, layout);
            for (std::size_t i = 0; i < rows; ++i)
                for (std::size_t j = 0; j < columns; ++j)
                    x(i, j) = number<T>(i * columns + j);
            for (auto const y_layout : {xt::layout_type::row_major, xt::layout_type::column_major})
                for (std::size_t const threads : std::initializer_list<std::size_t>{1, 2, 5}) {
                    array y({splits.size() - 1, columns}, y_layout);
                    y.fill(number<T>(3));
                    xloom::segment_reduce_into(
                        xloom::monoid{op, identity}, x, splits, y, xloom::thread_policy(threads));
                    if (first.size() == 0) {
                        require_textbook<array, array, Op, T>(x, splits, y, op, identity);
                        first = y;
                    }
                    REQUIRE(y == first);
                }
        }
    }
}

} // namespace

TEST_CASE("segment_reduce: the rule on bits, reductions")
{
    compare<float>(xloom::reduce_add, 0.0f);
    compare<float>(xloom::reduce_mul, 1.0f);
    compare<double>(xloom::reduce_add, 0.25); // any value for empty segments
    compare<float>(xloom::reduce_max, -std::numeric_limits<float>::infinity());
    compare<double>(xloom::reduce_min, std::numeric_limits<double>::infinity());
}

TEST_CASE("segment_reduce: the rule on bits, integers, storage types and callables")
{
    compare<std::int32_t>(xloom::reduce_add, 0);
    compare<std::int64_t>(xloom::reduce_mul, 1);
    compare<std::uint64_t>(xloom::reduce_max, std::uint64_t{0});
    compare<std::int8_t>(xloom::reduce_add, std::int8_t{0});
    compare<bool>(xloom::reduce_add, false);
    compare<xloom::float16>(xloom::reduce_add, xloom::float16(0));
    compare<std::complex<double>>(xloom::reduce_add, std::complex<double>(0));
    compare<double>([](double a, double b) { return a + b; }, 0.0);
}

TEST_CASE("segment_reduce: layouts, widths, threads")
{
    compare_layouts<float>(xloom::reduce_add, 0.0f);
    compare_layouts<double>([](double a, double b) { return a - 0.5 * b; }, 0.5);
}

TEST_CASE("segment_reduce: rows of what is combined at a time, and wider")
{
    splits_tensor const splits = splits_of({1, 16, 0, 19, 290});
    for (std::size_t const width : {256U, 300U}) {
        xt::xtensor<float, 2> x = xt::xtensor<float, 2>::from_shape({326, width});
        std::size_t i = 0;
        for (float& item : x.storage())
            item = number<float>(i++);
        auto const y = xloom::segment_reduce(xloom::reduce_add, x, splits);
        require_textbook(x, splits, y, xloom::reduce_add, 0.0f);
    }
}

TEST_CASE("segment_reduce: many segments on several threads")
{
    std::size_t const segments = 30'000;
    auto splits = splits_tensor::from_shape({segments + 1});
    splits(0) = 0;
    for (std::size_t s = 0; s < segments; ++s)
        splits(s + 1) = splits(s) + static_cast<std::int64_t>(s * 7919 % 23);
    auto x = xt::xtensor<float, 1>::from_shape({static_cast<std::size_t>(splits(segments))});
    for (std::size_t i = 0; i < x.size(); ++i)
        x(i) = number<float>(i);
    auto const y = xloom::segment_reduce(reduction::add, x, splits);
    require_textbook<decltype(x), decltype(y), xloom::detail::reduce_add_t, float>(
        x, splits, y, xloom::reduce_add, 0.0f);
    for (std::size_t const threads : std::initializer_list<std::size_t>{2, 3, 7})
        CHECK(xloom::segment_reduce(reduction::add, x, splits, xloom::thread_policy(threads)) == y);
}

TEST_CASE("segment_reduce: row_splits of every integer type and layout")
{
    xt::xtensor<int, 1> const x = {1, 2, 3, 4, 5};
    xt::xtensor<int, 1> const expected = {3, 0, 12};
    CHECK(xloom::segment_reduce(reduction::add, x, xt::xtensor<std::uint8_t, 1>{0, 2, 2, 5}) == expected);
    CHECK(xloom::segment_reduce(reduction::add, x, xt::xtensor<std::int32_t, 1>{0, 2, 2, 5}) == expected);
    CHECK(xloom::segment_reduce(reduction::add, x, xt::xtensor<std::uint64_t, 1>{0, 2, 2, 5}) == expected);
    xt::xtensor<std::int64_t, 2> const two = {{0, 9}, {2, 9}, {2, 9}, {5, 9}};
    CHECK(xloom::segment_reduce(reduction::add, x, xt::view(two, xt::all(), 0)) == expected);
    CHECK(xloom::segment_reduce(reduction::add, x, two(3, 0) - xt::xtensor<int, 1>{5, 3, 3, 0}) == expected);
    std::vector<std::int64_t> const plain = {0, 2, 2, 5};
    CHECK(xloom::segment_reduce(reduction::add, x, xt::adapt(plain)) == expected);
}

TEST_CASE("segment_reduce: no segments, no rows, no columns")
{
    auto const none = xt::xtensor<float, 1>::from_shape({0});
    CHECK(xloom::segment_reduce(reduction::add, none, splits_tensor{0}).size() == 0);
    CHECK(xloom::segment_reduce(reduction::max, none, splits_tensor{0, 0})(0) ==
          -std::numeric_limits<float>::infinity());
    auto const narrow = xt::xtensor<float, 2>::from_shape({3, 0});
    auto const y = xloom::segment_reduce(reduction::add, narrow, splits_tensor{0, 1, 3});
    CHECK(y.shape(0) == 2);
    CHECK(y.shape(1) == 0);
}

TEST_CASE("segment_reduce: strings, which do not commute, and tuples")
{
    auto letters = xt::xtensor<std::string, 1>::from_shape({300});
    for (std::size_t i = 0; i < letters.size(); ++i)
        letters(i) = std::string(1, static_cast<char>('a' + i % 26));
    auto const words = xloom::segment_reduce(reduction::add, letters, splits_tensor{0, 3, 3, 26, 300});
    CHECK(words(0) == "abc");
    CHECK(words(1).empty());
    CHECK(words(2) == "defghijklmnopqrstuvwxyz");
    CHECK(words(3).size() == 274);

    // The largest value of each segment with its first position.
    using entry = std::tuple<float, int>;
    auto const larger = [](entry const& a, entry const& b) {
        return std::get<0>(b) > std::get<0>(a) ? b : a;
    };
    xt::xtensor<float, 1> const x = {3, 7, 7, 1, 5, 4};
    xt::xtensor<int, 1> const position = xt::arange(6);
    auto const [largest, where] = xloom::segment_reduce(
        xloom::monoid{larger, entry(-1.0f, -1)}, std::tie(x, position), splits_tensor{0, 3, 3, 6});
    CHECK(largest == xt::xtensor<float, 1>{7, -1, 5});
    CHECK(where == xt::xtensor<int, 1>{1, -1, 4});
}

TEST_CASE("segment_reduce: arrays, whose zero is not known")
{
    using array = std::valarray<double>;
    xt::xtensor<array, 1> const x = {array{1, 2}, array{3, 4}};
    auto const sum = xloom::segment_reduce(reduction::add, x, splits_tensor{0, 2});
    CHECK(sum(0)[0] == 4);
    CHECK(sum(0)[1] == 6);
    CHECK_THROWS_WITH_AS(xloom::segment_reduce(reduction::add, x, splits_tensor{0, 2, 2}),
        "xloom::segment_reduce: an empty segment has the identity of its operator, but that of this "
        "reduction is not known for the elements. Pass xloom::monoid{op, identity}; in place of a cumulative "
        "sum or product, call associative_scan with it.",
        xloom::option_error);
    auto const with_zero =
        xloom::segment_reduce(xloom::monoid{xloom::reduce_add, array{0, 0}}, x, splits_tensor{0, 2, 2});
    CHECK(with_zero(0)[1] == 6);
    CHECK(with_zero(1)[1] == 0);
}

TEST_CASE("segment_reduce: NaN, infinity and -0")
{
    auto const nan = std::numeric_limits<float>::quiet_NaN();
    xt::xtensor<float, 1> const x = {-0.0f, -0.0f, -0.0f, nan, 1, 2, nan, 3};
    splits_tensor const splits = {0, 1, 3, 5, 8};
    for (auto const kind : {reduction::add, reduction::mul, reduction::max, reduction::min}) {
        auto const y = xloom::segment_reduce(kind, x, splits);
        CHECK(y(0) == 0);
        CHECK(std::signbit(y(0)));
        CHECK(std::signbit(y(1)) == (kind != reduction::mul));
        CHECK(std::isnan(y(2)));
        CHECK(std::isnan(y(3)));
    }
}

TEST_CASE_TEMPLATE("segment_reduce: of 0 and -0 the first is the largest and the smallest", T, float, double)
{
    for (T const first : {T(0), T(-0.0)})
        for (std::size_t length = 1; length <= 40; ++length) {
            xt::xtensor<T, 1> x = -first * xt::ones<T>({length});
            x(0) = first;
            splits_tensor const splits = {0, static_cast<std::int64_t>(length)};
            for (auto const kind : {reduction::max, reduction::min})
                CHECK(std::signbit(xloom::segment_reduce(kind, x, splits)(0)) == std::signbit(first));
        }
}

TEST_CASE("segment_reduce: exceptions of the operator propagate")
{
    xt::xtensor<int, 1> const x = xt::arange(3000);
    auto const faulty = [](int a, int b) {
        return a == 2000 || b == 2000 ? throw std::runtime_error("2000") : a + b;
    };
    CHECK_THROWS_WITH_AS(
        xloom::segment_reduce(faulty, x, splits_tensor{0, 1500, 3000}), "2000", std::runtime_error);
}

TEST_CASE("segment_reduce: values of a fixed shape, of which the results have fewer rows or more")
{
    xt::xtensor_fixed<double, xt::xshape<4, 2>> const x = {{1, 10}, {2, 20}, {3, 30}, {4, 40}};
    xt::xtensor<double, 2> const two = {{3, 30}, {7, 70}},
                                 five = {{1, 10}, {0, 0}, {2, 20}, {3, 30}, {4, 40}};
    CHECK(xloom::segment_reduce(reduction::add, x, splits_tensor{0, 2, 4}) == two);
    CHECK(xloom::segment_reduce(reduction::add, x, splits_tensor{0, 1, 1, 2, 3, 4}) == five);
    CHECK(xloom::segment_reduce(reduction::add, 2 * x, splits_tensor{0, 2, 4}) == 2 * two);
    CHECK(xloom::segment_reduce(reduction::add, xt::view(x, xt::all(), 1), splits_tensor{0, 2, 4}) ==
          xt::xtensor<double, 1>{30, 70});
    xt::xtensor<int, 2> const numbers = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
    using pair = std::tuple<double, int>;
    auto const last = [](pair const&, pair const& b) { return b; };
    auto const [values, places] = xloom::segment_reduce(last, std::tie(x, numbers), splits_tensor{0, 3, 4});
    CHECK(values == xt::xtensor<double, 2>{{3, 30}, {4, 40}});
    CHECK(places == xt::xtensor<int, 2>{{5, 6}, {7, 8}});
}

TEST_CASE("segment_reduce: errors")
{
    xt::xtensor<float, 1> const x = {1, 2, 3};
    auto const reduce = [&](splits_tensor const& splits) {
        return xloom::segment_reduce(reduction::add, x, splits);
    };
    auto const rule = std::string(
        "xloom::segment_reduce: row_splits must begin with 0, not decrease, and end with the number of rows "
        "of the values, 3, but ");
    auto const advice = std::string(
        ". Correct it; for some of the rows pass a view of them, and row_splits less the first one. "
        "Ids of segments become row_splits by xloom::row_splits_of.");
    CHECK_THROWS_WITH_AS(reduce({0, 2}), (rule + "row_splits[1] is 2" + advice).c_str(), xloom::index_error);
    CHECK_THROWS_WITH_AS(reduce({1, 3}), (rule + "row_splits[0] is 1" + advice).c_str(), xloom::index_error);
    CHECK_THROWS_WITH_AS(
        reduce({0, 2, 1, 3}), (rule + "row_splits[2] is 1 after 2" + advice).c_str(), xloom::index_error);
    CHECK_THROWS_WITH_AS(
        reduce({0, -1, 3}), (rule + "row_splits[1] is -1" + advice).c_str(), xloom::index_error);
    CHECK_THROWS_WITH_AS(reduce({0, 5, 2}),
        (rule + "row_splits[1] is 5 and row_splits[2] is 2" + advice).c_str(), xloom::index_error);
    CHECK_THROWS_AS(
        xloom::segment_reduce(reduction::add, x, xt::xtensor<std::int8_t, 1>{0, -1, 3}), xloom::index_error);
    // The low 32 bits are the splits 0, 1, 3.
    CHECK_THROWS_WITH_AS(xloom::segment_reduce(reduction::add, x,
                             xt::xtensor<std::int64_t, 1>{0, (std::int64_t{1} << 32) + 1, 3}),
        (rule + "row_splits[1] is 4294967297" + advice).c_str(), xloom::index_error);
    CHECK_THROWS_WITH_AS(xloom::segment_reduce(reduction::add, x, xt::xtensor<int, 2>{{0, 3}}),
        "xloom::segment_reduce: row_splits must have the shape [S + 1] for S segments, but it is [1, 2]. "
        "Begin "
        "with 0, then say where each segment ends.",
        xloom::shape_error);
    CHECK_THROWS_AS(
        xloom::segment_reduce(reduction::add, x, splits_tensor::from_shape({0})), xloom::shape_error);
    CHECK_THROWS_WITH_AS(
        xloom::segment_reduce([](float a, float b) { return a * b; }, x, splits_tensor{0, 0, 3}),
        "xloom::segment_reduce: an empty segment has the identity of its operator, but that of a callable is "
        "not known. Pass xloom::monoid{op, identity}.",
        xloom::option_error);
    CHECK_THROWS_AS(xloom::segment_reduce(reduction::mean, x, splits_tensor{0, 3}), xloom::option_error);
    auto y = xt::xtensor<float, 1>::from_shape({1});
    CHECK_THROWS_WITH_AS(xloom::segment_reduce_into(reduction::add, x, splits_tensor{0, 1, 3}, y),
        "xloom::segment_reduce_into: there is one result for each segment, so y must have the shape [2], but "
        "it "
        "is [1]. Resize it.",
        xloom::shape_error);
    CHECK_THROWS_WITH_AS(xloom::segment_reduce(reduction::add, xt::xarray<float>(1.0f), splits_tensor{0, 1}),
        "xloom::segment_reduce: values must have at least one axis, but it has rank 0. Give it an axis for "
        "the "
        "scan.",
        xloom::shape_error);
    auto const sum = [](std::tuple<float, float> const& a, std::tuple<float, float> const& b) {
        return std::tuple(std::get<0>(a) + std::get<0>(b), std::get<1>(a) + std::get<1>(b));
    };
    CHECK_THROWS_WITH_AS(xloom::segment_reduce(sum, std::tie(x, y), splits_tensor{0, 1, 3}),
        "xloom::segment_reduce: all operands must have the same shape, but values[0] has [3] and values[1] "
        "has "
        "[1]. Give them one shape.",
        xloom::shape_error);
    xt::xtensor<float, 1> own = x;
    CHECK_THROWS_WITH_AS(xloom::segment_reduce_into(reduction::add, own, splits_tensor{0, 1, 2, 3}, own),
        "xloom::segment_reduce_into: an operand that is written must have memory of its own, but y "
        "overlaps values. Copy one of the two.",
        xloom::overlap_error);
    splits_tensor counts = {0, 1, 3, 3};
    auto first = xt::view(counts, xt::range(0, 3));
    CHECK_THROWS_WITH_AS(
        xloom::segment_reduce_into(reduction::add, xt::xtensor<std::int64_t, 1>{1, 2, 3}, counts, first),
        "xloom::segment_reduce_into: an operand that is written must have memory of its own, but y "
        "overlaps row_splits. Copy one of the two.",
        xloom::overlap_error);
}

TEST_CASE("empty segments only, of rows of any width")
{
    splits_tensor const none = {0, 0, 0};
    auto const x = xt::xtensor<float, 2>::from_shape({0, 300});
    auto const products = xloom::segment_reduce(xloom::reduce_mul, x, none);
    CHECK(products == xt::xtensor<float, 2>(xt::ones<float>({2, 300})));
    auto const cube = xt::xtensor<float, 3>::from_shape({0, 3, 40});
    xt::xtensor<float, 3, xt::layout_type::column_major> y(std::array<std::size_t, 3>{2, 3, 40}, 7.0f);
    xloom::segment_reduce_into(xloom::reduce_add, cube, none, y);
    CHECK(y(1, 2, 39) == 0);
    xt::xtensor<double, 2> const pairs = xt::xtensor<double, 2>::from_shape({0, 30});
    xt::xtensor<double, 2> a = xt::ones<double>({2, 30}), b = a;
    auto const add = [](std::tuple<double, double> const& l, std::tuple<double, double> const& r) {
        return std::tuple(std::get<0>(l) + std::get<0>(r), std::get<1>(l) + std::get<1>(r));
    };
    xloom::segment_reduce_into(
        xloom::monoid{add, std::tuple(5.0, 6.0)}, std::tie(pairs, pairs), none, std::tie(a, b));
    CHECK(a(1, 29) == 5);
    CHECK(b(0, 0) == 6);
}

namespace {

/// Runs parts as threads do that were started when subnormal numbers were none.
class early_threads {
public:
    int concurrency() const { return 4; }
    template <class F>
    void for_each(std::size_t parts, F const& f) const
    {
        xloom::detail::subnormal_mode<> const early(mode_);
        for (std::size_t part = 0; part < parts; ++part)
            f(part);
    }

private:
    xloom::detail::float_control_t mode_ = xloom::detail::float_control();
};

} // namespace

TEST_CASE("threads that were started early compute with subnormal numbers as the caller does")
{
    early_threads const policy;
    xt::xtensor<float, 1> const x = 1e-42f * xt::ones<float>({1 << 17});
    splits_tensor const halves = {0, 1 << 16, 1 << 17};
    auto const add = [](float a, float b) { return a + b; };
    CHECK(xloom::segment_reduce(add, x, halves, policy)(1) > 0);
    xloom::flush_subnormals const flushing;
    auto const one = xloom::segment_reduce(add, x, halves),
               several = xloom::segment_reduce(add, x, halves, policy);
    CHECK(one == several);
    CHECK((!xloom::flush_subnormals::is_supported || several(1) == 0));
}

} // namespace segment_reduce_test
