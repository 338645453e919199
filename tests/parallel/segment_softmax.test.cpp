// segment_softmax against its definition in long double.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <xloom/interop/threads.hpp>
#include <xloom/parallel/segment_softmax.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "support/larger_error.hpp"
#include "support/softmax_segments.hpp"
#include "support/threads_or_backwards.hpp"
#include "support/xtensor_extras.hpp"

namespace segment_softmax_test {

using namespace softmax_segments;

namespace {

/// Returns the largest error of y [N, C], relative to the exact result, as a part of the stated bound.
template <class X, class Y>
long double largest_error(X const& x, Y const& y, long double epsilon)
{
    long double largest = 0;
    for (std::size_t s = 0; s + 1 < splits.size(); ++s)
        for (std::size_t c = 0; c < x.shape(1); ++c) {
            auto const begin = splits(s), end = splits(s + 1);
            long double most = -std::numeric_limits<long double>::infinity(), sum = 0;
            for (auto i = begin; i < end; ++i)
                most = std::max(most, static_cast<long double>(x(i, c)));
            for (auto i = begin; i < end; ++i)
                sum += std::exp(static_cast<long double>(x(i, c)) - most);
            for (auto i = begin; i < end; ++i) {
                long double const exact = std::exp(static_cast<long double>(x(i, c)) - most) / sum;
                long double const error =
                    std::abs(static_cast<long double>(y(i, c)) - exact) / exact / epsilon;
                long double const distance = most - static_cast<long double>(x(i, c));
                long double const of_sum = std::min(static_cast<long double>(end - begin) / 64, 6.0L);
                largest = larger_error(largest, error / (4 + distance / 2 + of_sum));
            }
        }
    return largest;
}

template <class T>
using array = xt::xtensor<T, 2, xt::layout_type::dynamic>;

template <class T>
void compare(long double epsilon)
{
    for (std::size_t const columns : std::initializer_list<std::size_t>{1, 3, 40})
        for (auto const layout : {xt::layout_type::row_major, xt::layout_type::column_major}) {
            array<T> x({rows, columns}, layout);
            std::size_t i = 0;
            for (T& item : x.storage())
                item = number<T>(i++);
            auto const y = xloom::segment_softmax(x, splits);
            CHECK(largest_error(x, y, epsilon) <= 1);
            for (std::size_t const threads : std::initializer_list<std::size_t>{2, 5}) {
                array<T> z({rows, columns}, layout);
                std::atomic<std::size_t> parts = 1;
                xloom::segment_softmax_into(x, splits, z, threads_or_backwards{threads, false, &parts});
                CHECK(z == y);
                CHECK((parts > 1) == (columns == 40));
            }
            array<T> other({rows, columns}, xt::layout_type::row_major);
            xloom::segment_softmax_into(x, splits, other);
            CHECK(other == y);
            xloom::segment_softmax_into(x, splits, x);
            CHECK(x == y);
        }
}

} // namespace

TEST_CASE("segment_softmax: the definition in long double")
{
    compare<float>(std::numeric_limits<float>::epsilon());
    compare<double>(std::numeric_limits<double>::epsilon());
}

TEST_CASE("segment_softmax: storage floats are rounded once")
{
    array<xloom::bfloat16> x({rows, 2}, xt::layout_type::row_major);
    array<float> wide({rows, 2}, xt::layout_type::row_major);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x.storage()[i] = number<xloom::bfloat16>(i);
        wide.storage()[i] = static_cast<float>(x.storage()[i]);
    }
    auto const y = xloom::segment_softmax(x, splits);
    auto const exact = xloom::segment_softmax(wide, splits);
    for (std::size_t i = 0; i < x.size(); ++i)
        REQUIRE(y.storage()[i] == static_cast<xloom::bfloat16>(exact.storage()[i]));
}

TEST_CASE("segment_softmax: infinity, NaN and empty segments")
{
    float const infinity = std::numeric_limits<float>::infinity(), nan = std::nanf("");
    xt::xtensor<float, 1> const x = {-infinity, 0, -infinity, -infinity, infinity, 0, nan, 0, 1000, 1000};
    auto const y = xloom::segment_softmax(x, splits_tensor{0, 2, 2, 4, 6, 8, 10});
    CHECK(y(0) == 0);
    CHECK(y(1) == 1);
    for (std::size_t i = 2; i < 8; ++i)
        CHECK(std::isnan(y(i)));
    CHECK(y(8) == 0.5f);
    auto const none = xt::xtensor<float, 1>::from_shape({0});
    CHECK(xloom::segment_softmax(none, splits_tensor{0, 0}).size() == 0);
}

TEST_CASE("segment_softmax: errors")
{
    xt::xtensor<float, 1> x = {1, 2, 3};
    CHECK_THROWS_AS(xloom::segment_softmax(x, splits_tensor{0, 2}), xloom::index_error);
    CHECK_THROWS_AS(xloom::segment_softmax(xt::xarray<float>(1.0f), splits_tensor{0, 1}), xloom::shape_error);
    auto y = xt::xtensor<float, 1>::from_shape({2});
    CHECK_THROWS_WITH_AS(xloom::segment_softmax_into(x, splits_tensor{0, 3}, y),
        "xloom::segment_softmax_into: all operands must have the same shape, but x has [3] and y has [2]. "
        "Give "
        "them one shape.",
        xloom::shape_error);
    auto shifted = xt::view(x, xt::range(1, 3));
    CHECK_THROWS_AS(xloom::segment_softmax_into(xt::view(x, xt::range(0, 2)), splits_tensor{0, 2}, shifted),
        xloom::overlap_error);
}

TEST_CASE("segment_softmax: segments without elements are passed over")
{
    using xloom::detail::row_split_list, xloom::detail::sequences;
    splits_tensor const row_splits = {0, 0, 2, 2};
    row_split_list const one_of_three("op", row_splits, 2);
    sequences<1> const all({{{{2, 2}, {2, 1}}}}, 0, false);
    std::vector<std::ptrdiff_t> begins;
    xloom::detail::for_each_segment_sequence(
        one_of_three, all, 1,
        [&](std::size_t, sequences<1>::offsets const& at, std::size_t length) {
            CHECK(length == 2);
            begins.push_back(at[0]);
        },
        xloom::serial);
    CHECK(begins == std::vector<std::ptrdiff_t>{0, 1});
}

TEST_CASE("segment_softmax: empty segments only")
{
    auto const x = xt::xtensor<float, 2>::from_shape({0, 300});
    splits_tensor const none = {0, 0, 0};
    CHECK(xloom::segment_softmax(x, none).shape() == x.shape());
}

TEST_CASE_TEMPLATE("segment_softmax: errors of long sums do not grow", T, float, double)
{
    constexpr std::size_t n = 100'000;
    constexpr T epsilon = std::numeric_limits<T>::epsilon();
    xt::xtensor<T, 1> x(std::array<std::size_t, 1>{n}, std::log(epsilon / 2)); // each rounds a lane's sum
    std::fill_n(x.begin(), 16, T(0));
    auto const y = xloom::segment_softmax(x, splits_tensor{0, static_cast<std::int64_t>(n)});
    long double const sum = 16 + static_cast<long double>(n - 16) * std::exp(static_cast<long double>(x(16)));
    CHECK(std::abs(static_cast<long double>(y(0)) * sum - 1) <= 10 * static_cast<long double>(epsilon));
}

} // namespace segment_softmax_test
