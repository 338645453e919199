// The derivatives of the activations: against long double, against differences of activate, and at the kinks.

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include <xloom/detail/core/small_float.hpp>
#include <xloom/gradients/activate_vjp.hpp>

#define BOOST_CSTDFLOAT_NO_LIBQUADMATH_SUPPORT // else its output of __float128 requires another library
#include <boost/math/differentiation/autodiff.hpp>

#include "support/larger_error.hpp"

namespace activate_vjp_calls_test {

using namespace xloom;

namespace {

/// The derivative of an activation other than softmax, away from kinks.
long double slope_of(activation_function const& function, long double x)
{
    auto const alpha = static_cast<long double>(function.alpha),
               beta = static_cast<long double>(function.beta);
    auto const tanh_slope = [](long double v) { return 1 / (std::cosh(v) * std::cosh(v)); };
    switch (function.kind) {
    case activation::relu:
        return x > 0 ? 1 : 0;
    case activation::tanh:
        return tanh_slope(x);
    case activation::sigmoid: // 1 / (2 + e^x + e^-x)
        return 1 / (2 + std::exp(x) + std::exp(-x));
    case activation::affine:
        return alpha;
    case activation::leaky_relu:
        return x < 0 ? alpha : 1;
    case activation::thresholded_relu:
        return x > alpha ? 1 : 0;
    case activation::scaled_tanh:
        return alpha * beta * tanh_slope(beta * x);
    case activation::hard_sigmoid:
        return alpha * x + beta > 0 && alpha * x + beta < 1 ? alpha : 0;
    case activation::elu:
        return x < 0 ? alpha * std::exp(x) : 1;
    case activation::softsign:
        return 1 / ((1 + std::fabs(x)) * (1 + std::fabs(x)));
    default:
        return 1 / (1 + std::exp(-x)); // softplus
    }
}

constexpr activation_function every_function[] = {{activation::relu}, {activation::tanh},
    {activation::sigmoid}, {activation::affine, 2, 1}, {activation::leaky_relu, -0.25},
    {activation::thresholded_relu, 1}, {activation::scaled_tanh, 2, 0.5},
    {activation::hard_sigmoid, 0.25, 0.5}, {activation::elu, 2}, {activation::softsign},
    {activation::softplus}};

/// The derivatives at x, which are the cotangents of ones.
template <class T>
std::vector<T> slopes(activation_function const& function, std::vector<T> const& x)
{
    std::vector<T> ct(x.size(), T(1));
    activate_vjp(function, x, ct, ct);
    return ct;
}

} // namespace

TEST_CASE_TEMPLATE(
    "derivatives are exact to some units in the last place, also where tanh is 1", T, float, double)
{
    std::vector<T> x;
    for (int i = -2000; i <= 2000; ++i)
        x.push_back(static_cast<T>(i) / 50 + T(0.003));
    for (activation_function const& function : every_function) {
        CAPTURE(name_of(function.kind));
        auto const found = slopes(function, x);
        long double worst = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            long double const expected = slope_of(function, static_cast<long double>(x[i]));
            long double const error = std::fabs(static_cast<long double>(found[i]) - expected);
            worst = larger_error(worst, expected == 0 ? error : error / std::fabs(expected));
        }
        // exp(-2 x) of a rounded argument: 80 at most, of which half a unit is 8 epsilons
        CHECK(worst <= 12 * static_cast<long double>(std::numeric_limits<T>::epsilon()));
    }
}

TEST_CASE_TEMPLATE(
    "the slope of the exponentials' functions is 0 at infinity, and NaN stays NaN", T, float, double)
{
    constexpr T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    for (activation const kind : {activation::tanh, activation::sigmoid, activation::softsign})
        CHECK(slopes<T>({kind}, {infinity, -infinity}) == std::vector<T>{0, 0});
    CHECK(slopes<T>({activation::softplus}, {infinity, -infinity}) == std::vector<T>{1, 0});
    CHECK(slopes<T>({activation::elu, 2}, {infinity, -infinity}) == std::vector<T>{1, 0});
    CHECK(slopes<T>({activation::relu}, {infinity, -infinity}) == std::vector<T>{1, 0});
    for (activation_function const& function : every_function) {
        CAPTURE(name_of(function.kind));
        CHECK(std::isnan(slopes<T>(function, {nan})[0]) == (function.kind != activation::affine));
    }
    CHECK(std::isnan(slopes<T>({activation::softmax}, {1, nan})[0]));
}

TEST_CASE_TEMPLATE("at a kink, the derivative is PyTorch's", T, float, double)
{
    CHECK(slopes<T>({activation::relu}, {0, T(-0.0)}) == std::vector<T>{0, 0});
    CHECK(slopes<T>({activation::leaky_relu, 0.25}, {0}) == std::vector<T>{T(0.25)});
    CHECK(slopes<T>({activation::elu, 2}, {0}) == std::vector<T>{2});
    CHECK(slopes<T>({activation::thresholded_relu, 1.5}, {T(1.5), T(1.75)}) == std::vector<T>{0, 1});
    CHECK(slopes<T>({activation::hard_sigmoid, 0.25, 0.5}, {-2, T(-1.75), T(1.75), 2}) ==
          std::vector<T>{0, T(0.25), T(0.25), 0});
    CHECK(slopes<T>({activation::tanh}, {0}) == std::vector<T>{1});
    CHECK(slopes<T>({activation::softsign}, {0}) == std::vector<T>{1});
}

TEST_CASE("every activation, softmax included: differences of activate")
{
    std::vector<activation_function> all(std::begin(every_function), std::end(every_function));
    all.push_back({activation::softmax});
    std::vector<double> x, ct_y;
    for (int i = 0; i < 21; ++i) {
        x.push_back(0.37 * (i - 10) + 0.01);
        ct_y.push_back(std::sin(i + 1.0));
    }
    for (activation_function const& function : all) {
        CAPTURE(name_of(function.kind));
        std::vector<double> ct_x(x.size());
        activate_vjp(function, x, ct_y, ct_x);
        for (std::size_t j = 0; j < x.size(); ++j) {
            double const step = 1e-6;
            std::vector<double> before = x, after = x;
            before[j] -= step;
            after[j] += step;
            activate(function, before, before);
            activate(function, after, after);
            double expected = 0;
            for (std::size_t i = 0; i < x.size(); ++i)
                expected += ct_y[i] * (after[i] - before[i]) / (2 * step);
            CHECK(ct_x[j] == doctest::Approx(expected).epsilon(1e-8));
        }
    }
}

TEST_CASE_TEMPLATE("an item's derivative does not depend on its position; ct_x may be x", T, float, double)
{
    std::vector<T> x, ct_y;
    for (int i = 0; i < 53; ++i) {
        x.push_back(static_cast<T>(i - 26) / 3);
        ct_y.push_back(static_cast<T>(i % 7 - 3));
    }
    for (activation_function const& function : every_function) {
        CAPTURE(name_of(function.kind));
        for (std::size_t const count : {0u, 1u, 7u, 8u, 16u, 17u, 53u}) {
            std::vector<T> in_place(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(count));
            activate_vjp(function, in_place, std::span(ct_y).first(count), in_place);
            bool is_alike = true;
            for (std::size_t i = 0; i < count; ++i) {
                std::vector<T> one(1);
                activate_vjp(function, std::span(x).subspan(i, 1), std::span(ct_y).subspan(i, 1), one);
                is_alike = is_alike && one[0] == in_place[i];
            }
            CHECK(is_alike);
        }
    }
}

TEST_CASE("storage floats compute as floats and are rounded once")
{
    for (activation_function const& function : every_function)
        for (float const x : {-2.0f, -0.5f, 0.25f, 3.0f}) {
            std::vector<float16> half(1);
            activate_vjp(function, std::vector{float16(x)}, std::vector{float16(3.0f)}, half);
            std::vector<float> single(1);
            activate_vjp(function, std::vector{x}, std::vector{3.0f}, single);
            CHECK(half[0] == float16(single[0]));
        }
}

TEST_CASE("a scalar that carries derivatives: the second derivative of softplus")
{
    auto const x = boost::math::differentiation::make_fvar<double, 1>(0.7);
    using dual = std::remove_const_t<decltype(x)>;
    double const s = 1 / (1 + std::exp(-0.7));
    dual const slope = slopes<dual>({activation::softplus}, {x})[0];
    CHECK(slope.derivative(0) == doctest::Approx(s).epsilon(1e-14));
    CHECK(slope.derivative(1) == doctest::Approx(s * (1 - s)).epsilon(1e-14));
    double const t = std::tanh(0.7);
    CHECK(slopes<dual>({activation::tanh}, {x})[0].derivative(1) ==
          doctest::Approx(-2 * t * (1 - t * t)).epsilon(1e-14));
}

TEST_CASE("kinds and names, with ONNX's defaults")
{
    std::vector<double> const x = {-4, 0.5}, ones = {1, 1};
    std::vector<double> ct(2);
    activate_vjp(activation::leaky_relu, x, ones, ct);
    CHECK(ct == std::vector<double>{0.01, 1});
    activate_vjp("hardsigmoid", x, ones, ct);
    CHECK(ct == std::vector<double>{0, 0.2});
}

TEST_CASE("bad calls are refused before anything is written")
{
    std::vector<float> const x(3), two(2);
    std::vector<float> ct{5, 6, 7};
    CHECK_THROWS_WITH_AS(activate_vjp(activation::tanh, x, two, ct),
        "xloom::activate_vjp: x, ct_y and ct_x must be equally long, but x has 3 items, ct_y has 2 and ct_x "
        "has "
        "3. Give them one length.",
        shape_error);
    CHECK_THROWS_AS(activate_vjp(activation::tanh, two, two, ct), shape_error);
    CHECK_THROWS_WITH_AS(activate_vjp(static_cast<activation>(42), x, x, ct),
        "xloom::activate_vjp: an activation must be one that ONNX names, but function.kind is 42. Choose one "
        "of "
        "Relu, Tanh, Sigmoid, Affine, LeakyRelu, ThresholdedRelu, ScaledTanh, HardSigmoid, Elu, Softsign, "
        "Softplus and Softmax.",
        option_error);
    CHECK_THROWS_AS(activate_vjp("Gelu", x, x, ct), option_error);
    CHECK(ct == std::vector<float>{5, 6, 7});
}

} // namespace activate_vjp_calls_test
