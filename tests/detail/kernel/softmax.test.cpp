// Softmax of a row: exact in more digits, at its edges, and the largest of a row.

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include <xloom/detail/core/reduction.hpp> // first: its reduce_add does not hide that of xsimd

#include <xloom/detail/kernel/activations.hpp>

#include "support/special_numbers.hpp"

namespace kernel_softmax_test {

using namespace xloom::kernel;

namespace {

template <class T>
std::vector<T> softmax_of(std::vector<T> const& x)
{
    std::vector<T> y(x.size());
    softmax(x.data(), y.data(), x.size());
    return y;
}

template <class T>
bool is_all_nan(std::vector<T> const& y)
{
    for (T const each : y)
        if (each == each)
            return false;
    return true;
}

} // namespace

TEST_CASE_TEMPLATE("largest_of: anywhere in rows of any length, NaN omitted", T, float, double, long double)
{
    for (std::size_t count = 1; count <= 3 * batch_size<T> + 2; ++count)
        for (std::size_t i = 0; i < count; ++i) {
            std::vector<T> x(count, T(-3));
            x[i] = -2;
            REQUIRE(largest_of(x.data(), count) == -2);
            x.assign(count, not_a_number<T>);
            x[i] = -5;
            REQUIRE(largest_of(x.data(), count) == -5);
            x.assign(count, T(1));
            x[i] = not_a_number<T>;
            REQUIRE(
                (count == 1 ? std::isnan(largest_of(x.data(), count)) : largest_of(x.data(), count) == 1));
        }
    std::vector<T> const none(2 * batch_size<T> + 1, not_a_number<T>);
    CHECK(std::isnan(largest_of(none.data(), none.size())));
}

// The difference from the maximum is rounded; an error in it is the exponential's relative error.
TEST_CASE_TEMPLATE("softmax: rows of any length, in place too", T, float, double, long double)
{
    std::mt19937 random(1);
    std::uniform_real_distribution<double> draw(-20, 20);
    for (std::size_t count = 0; count <= 3 * batch_size<T> + 2; ++count) {
        std::vector<T> x(count);
        for (T& each : x)
            each = static_cast<T>(draw(random));
        long double sum = 0;
        long double largest = -20;
        for (T const each : x) {
            sum += std::exp(static_cast<long double>(each));
            largest = std::fmax(largest, static_cast<long double>(each));
        }
        std::vector<T> y = softmax_of(x);
        for (std::size_t i = 0; i < count; ++i) {
            long double const expected = std::exp(static_cast<long double>(x[i])) / sum;
            long double const units = 8 + largest - static_cast<long double>(x[i]);
            CHECK(std::fabs(static_cast<long double>(y[i]) - expected) <=
                  units * std::numeric_limits<T>::epsilon() * expected);
        }
        softmax(x.data(), x.data(), count);
        CHECK(x == y);
    }
}

TEST_CASE_TEMPLATE("softmax: nothing but its row counts", T, float, double)
{
    std::size_t const count = batch_size<T> + 1;
    std::vector<T> x(2 * count + 2, not_a_number<T>), y(x.size(), T(9));
    std::iota(x.begin() + 1, x.begin() + 1 + static_cast<std::ptrdiff_t>(count), T(0));
    softmax(&x[1], &y[1], count);
    CHECK(std::vector<T>(&y[1], &y[1] + count) == softmax_of(std::vector<T>(&x[1], &x[1] + count)));
    CHECK(y[0] == 9);
    CHECK(std::vector<T>(&y[1] + count, y.data() + y.size()) == std::vector<T>(count + 1, T(9)));
}

TEST_CASE_TEMPLATE("softmax: no overflow, and nothing lost by a common shift", T, float, double)
{
    T const most = std::numeric_limits<T>::max();
    for (T const each : {T(0), T(1000), T(-1000), most, -most})
        for (std::size_t const count : {std::size_t{1}, 2 * batch_size<T>})
            CHECK(
                softmax_of(std::vector<T>(count, each)) == std::vector<T>(count, 1 / static_cast<T>(count)));
    CHECK(softmax_of<T>({most, -most, 0}) == std::vector<T>{1, 0, 0});
}

TEST_CASE_TEMPLATE("softmax: infinity and NaN", T, float, double)
{
    for (std::size_t const count : {std::size_t{2}, batch_size<T>, 2 * batch_size<T> + 1})
        for (std::size_t i = 0; i < count; ++i) {
            // What is -infinity has no share; this is how places that do not count are omitted.
            std::vector<T> x(count, -infinity<T>), expected(count, T(0));
            x[i] = 3;
            expected[i] = 1;
            CHECK(softmax_of(x) == expected);
            x.assign(count, T(1));
            x[i] = not_a_number<T>;
            CHECK(is_all_nan(softmax_of(x)));
            x[i] = infinity<T>;
            CHECK(std::isnan(softmax_of(x)[i]));
        }
    CHECK(is_all_nan(softmax_of(std::vector<T>(5, -infinity<T>))));
    CHECK(is_all_nan(softmax_of(std::vector<T>(5, not_a_number<T>))));
}

} // namespace kernel_softmax_test
