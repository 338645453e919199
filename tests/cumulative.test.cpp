// cumulative_sum and cumulative_prod: the examples of ONNX CumSum, and sums in double.

#include <cmath>
#include <cstdint>

#include <doctest/doctest.h>

#include <xloom/cumulative.hpp>
#include <xloom/storage_types.hpp>

#include "support/jthread_policy.hpp"
#include "support/xtensor_extras.hpp"

namespace cumulative_test {

namespace {

using vector = xt::xtensor<double, 1>;
using matrix = xt::xtensor<double, 2>;

vector const x = {1, 2, 3, 4, 5};
matrix const m = {{1, 2, 3}, {4, 5, 6}};

} // namespace

TEST_CASE("cumulative_sum: the examples of ONNX CumSum")
{
    CHECK(xloom::cumulative_sum(x) == vector{1, 3, 6, 10, 15});
    CHECK(xloom::cumulative_sum(x, {.exclusive = true}) == vector{0, 1, 3, 6, 10});
    CHECK(xloom::cumulative_sum(x, {.reverse = true}) == vector{15, 14, 12, 9, 5});
    CHECK(xloom::cumulative_sum(x, {.reverse = true, .exclusive = true}) == vector{14, 12, 9, 5, 0});
    CHECK(xloom::cumulative_sum(m, {.axis = 0}) == matrix{{1, 2, 3}, {5, 7, 9}});
    CHECK(xloom::cumulative_sum(m, {.axis = 1}) == matrix{{1, 3, 6}, {4, 9, 15}});
    CHECK(xloom::cumulative_sum(m, {.axis = -1}) == matrix{{1, 3, 6}, {4, 9, 15}});
    xt::xtensor<std::int32_t, 1> const n = {1, 2, 3, 4, 5};
    CHECK(xloom::cumulative_sum(n, {.exclusive = true}) == xt::xtensor<std::int32_t, 1>{0, 1, 3, 6, 10});
}

TEST_CASE("cumulative_prod: NumPy's cumprod, and the options of CumSum")
{
    CHECK(xloom::cumulative_prod(x) == vector{1, 2, 6, 24, 120});
    CHECK(xloom::cumulative_prod(x, {.exclusive = true}) == vector{1, 1, 2, 6, 24});
    CHECK(xloom::cumulative_prod(x, {.reverse = true}) == vector{120, 120, 60, 20, 5});
    CHECK(xloom::cumulative_prod(m, {.axis = 0}) == matrix{{1, 2, 3}, {4, 10, 18}});
}

TEST_CASE("cumulative_sum: in place, on threads, of storage floats")
{
    vector y = x;
    xloom::cumulative_sum_into(y, y);
    CHECK(y == vector{1, 3, 6, 10, 15});
    xloom::cumulative_prod_into(x, y, {.axis = 0}, jthread_policy{2});
    CHECK(y == vector{1, 2, 6, 24, 120});
    xt::xtensor<xloom::float16, 1> const ones(std::array<std::size_t, 1>{100}, xloom::float16(1));
    CHECK(static_cast<float>(xloom::cumulative_sum(ones, {}, jthread_policy{2})(99)) == 100.0f);
}

TEST_CASE("cumulative_sum: its errors are smaller than those of a serial sum")
{
    std::size_t const length = 200'000;
    auto tenths = xt::xtensor<float, 1>::from_shape({length});
    tenths.fill(0.1f);
    auto const sums = xloom::cumulative_sum(tenths);
    float serial = 0;
    double exact = 0, largest = 0, largest_serial = 0;
    for (std::size_t i = 0; i < length; ++i) {
        serial += 0.1f;
        exact += static_cast<double>(0.1f);
        largest = std::max(largest, std::abs(static_cast<double>(sums(i)) - exact) / exact);
        largest_serial = std::max(largest_serial, std::abs(static_cast<double>(serial) - exact) / exact);
    }
    CHECK(largest < 0.1 * largest_serial);
}

TEST_CASE("cumulative_sum: errors")
{
    xt::xarray<float> const scalar = 1.0f;
    CHECK_THROWS_WITH_AS(xloom::cumulative_prod(scalar),
        "xloom::cumulative_prod: x must have at least one axis, but it has rank 0. Give it an axis for the "
        "scan.",
        xloom::shape_error);
    CHECK_THROWS_AS(xloom::cumulative_sum(m, {.axis = -3}), xloom::shape_error);
    vector y(std::array<std::size_t, 1>{4});
    CHECK_THROWS_AS(xloom::cumulative_sum_into(x, y), xloom::shape_error);
}

} // namespace cumulative_test
