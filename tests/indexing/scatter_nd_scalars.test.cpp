// ScatterND on scalars that ONNX does not know.

#include <doctest/doctest.h>

#include <Eigen/Core>
#define BOOST_CSTDFLOAT_NO_LIBQUADMATH_SUPPORT // else its output of __float128 requires another library
#include <boost/math/differentiation/autodiff.hpp>
#include <boost/multiprecision/cpp_int.hpp>

#include <xloom/indexing/scatter_nd.hpp>

#include "support/one_item.hpp"

namespace scatter_nd_scalars_test {

using namespace xloom;

TEST_CASE("Eigen::half")
{
    using Eigen::half;
    CHECK(static_cast<float>(
              reduced<half>(half(1.5f), {half(2.0f), half(3.0f)}, {.reduction = reduction::add})) == 6.5f);
    CHECK(static_cast<float>(reduced<half>(
              half(2048.0f), {half(1.0f), half(1.0f)}, {.reduction = reduction::add})) == 2048.0f);
    CHECK(
        static_cast<float>(reduced<half>(half(1.0f), {half(-2.0f)}, {.reduction = reduction::min})) == -2.0f);
}

TEST_CASE("exact rational numbers")
{
    using rational = boost::multiprecision::cpp_rational;
    rational const third(1, 3), sixth(1, 6);
    CHECK(reduced<rational>(third, {third, sixth}, {.reduction = reduction::add}) == rational(5, 6));
    CHECK(reduced<rational>(third, {third, sixth}, {.reduction = reduction::mul}) == rational(1, 54));
    CHECK(reduced<rational>(third, {sixth, third}, {.reduction = reduction::min}) == sixth);
    CHECK(reduced<rational>(third, {third, sixth}, {.reduction = reduction::mean}) == rational(5, 18));
}

// x = 3 scattered into y: d(y0 * x)/dx = y0, d(y1 + x)/dx = 1.
TEST_CASE("numbers that carry derivatives")
{
    using boost::math::differentiation::make_fvar;
    auto const x = make_fvar<double, 1>(3.0);
    using dual = std::remove_const_t<decltype(x)>;
    dual const product = reduced<dual>(dual(5.0), {x}, {.reduction = reduction::mul});
    CHECK(product.derivative(0) == 15);
    CHECK(product.derivative(1) == 5);
    dual const sum = reduced<dual>(dual(5.0), {x, x}, {.reduction = reduction::add});
    CHECK(sum.derivative(0) == 11);
    CHECK(sum.derivative(1) == 2);
    dual const larger = reduced<dual>(dual(1.0), {x}, {.reduction = reduction::max});
    CHECK(larger.derivative(1) == 1);
}

namespace {

/// A sum and nothing else: no product, no order, no division.
struct money {
    long cents = 0;
    friend money operator+(money a, money b) { return {a.cents + b.cents}; }
};

/// A vector of a simulation, divided by numbers only.
struct vec3 {
    using value_type = float;
    float x = 0, y = 0, z = 0;
    friend vec3 operator+(vec3 a, vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
    friend vec3 operator/(vec3 a, float b) { return {a.x / b, a.y / b, a.z / b}; }
};

} // namespace

TEST_CASE("a scalar that has + alone")
{
    CHECK(reduced<money>({100}, {{20}, {3}}, {.reduction = reduction::add}).cents == 123);
    CHECK_THROWS_WITH_AS(reduced<money>({100}, {{20}, {3}}, {.reduction = reduction::mean}),
        "xloom::scatter_nd: a reduction must be defined for data's elements, but reduction is mean and data "
        "holds values that ONNX does not know. Choose another.",
        option_error);
}

TEST_CASE("vectors as scalars")
{
    vec3 const mean = reduced<vec3>({1, 2, 3}, {{3, 4, 5}}, {.reduction = reduction::mean});
    CHECK(mean.x == 2);
    CHECK(mean.z == 4);
    using Eigen::Vector3d;
    CHECK(reduced<Vector3d>({1, 2, 3}, {{3, 4, 5}, {6, 6, 6}}, {.reduction = reduction::add}) ==
          Vector3d(10, 12, 14));
    CHECK(reduced<Vector3d>({1, 2, 3}, {{3, 4, 5}}, {.reduction = reduction::mean}) == Vector3d(2, 3, 4));
    CHECK_THROWS_AS(reduced<Vector3d>({1, 2, 3}, {{3, 4, 5}}, {.reduction = reduction::mul}), option_error);
}

} // namespace scatter_nd_scalars_test
