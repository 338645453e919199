// Activations: how exact they are, what they do at the edges, and that neighbours do not matter.

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#define BOOST_CSTDFLOAT_NO_LIBQUADMATH_SUPPORT // else its output of __float128 requires another library
#include <boost/math/differentiation/autodiff.hpp>

#include <xloom/recurrent/activations.hpp>

#include "support/larger_error.hpp"
#include "support/special_numbers.hpp"
#include "support/ulp.hpp"
#include "support/wide_float.hpp"

namespace activations_test {

using namespace xloom;

namespace {

/// The textbook's definitions, in more digits than the functions have.
template <class Wide>
Wide exact(activation_function const& function, Wide const& x)
{
    using std::exp, std::expm1, std::fabs, std::fmax, std::fmin, std::log1p, std::tanh;
    auto const alpha = static_cast<Wide>(function.alpha), beta = static_cast<Wide>(function.beta);
    switch (function.kind) {
    case activation::relu:
        return x < 0 ? Wide(0) : x;
    case activation::tanh:
        return tanh(x);
    case activation::sigmoid:
        return 1 / (1 + exp(-x));
    case activation::affine:
        return alpha * x + beta;
    case activation::leaky_relu:
        return x < 0 ? alpha * x : x;
    case activation::thresholded_relu:
        return x >= alpha ? x : Wide(0);
    case activation::scaled_tanh:
        return alpha * tanh(beta * x);
    case activation::hard_sigmoid:
        return fmax(Wide(0), fmin(Wide(1), alpha * x + beta));
    case activation::elu:
        return x < 0 ? alpha * expm1(x) : x;
    case activation::softsign:
        return x / (1 + fabs(x));
    default:
        return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)); // softplus
    }
}

template <class T>
std::vector<T> activated(activation_function const& function, std::vector<T> const& x)
{
    std::vector<T> y(x.size());
    activate(function, x, y);
    return y;
}

constexpr activation_function every_function[] = {{activation::relu}, {activation::tanh},
    {activation::sigmoid}, {activation::affine, 2, 1}, {activation::leaky_relu, 0.25},
    {activation::thresholded_relu, 1}, {activation::scaled_tanh, 2, 0.5},
    {activation::hard_sigmoid, 0.25, 0.5}, {activation::elu, 2}, {activation::softsign},
    {activation::softplus}};

} // namespace

TEST_CASE_TEMPLATE("no further from the true value than the table says", T, float, double)
{
    for (activation_accuracy const& accuracy : activation_accuracies) {
        activation_function const function{accuracy.kind, 1, 1};
        auto const x = arguments<T>(std::is_same_v<T, float> ? static_cast<T>(accuracy.lowest_float)
                                                             : static_cast<T>(accuracy.lowest_double));
        auto const y = activated(function, x);
        long double worst = 0;
        T where = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
            if (long double const ulp = ulps_between(y[i], exact(function, static_cast<wide_float<T>>(x[i])));
                is_larger_error(ulp, worst)) {
                worst = ulp;
                where = x[i];
            }
        CAPTURE(name_of(accuracy.kind));
        CAPTURE(where);
        CHECK(worst <= accuracy.max_ulp);
        CHECK(worst > 0);
    }
}

TEST_CASE_TEMPLATE("ScaledTanh is as exact with other alphas and betas", T, float, double)
{
    using std::fabs;
    constexpr T smallest = std::numeric_limits<T>::min();
    activation_accuracy const& accuracy = activation_accuracies[2];
    REQUIRE(accuracy.kind == activation::scaled_tanh);
    std::vector<T> x = arguments<T>(T(-20), T(20));
    for (double const each : {0x1.5724fcp-2, 0x1.9dda12p-2}) // where a search found the largest errors
        x.push_back(static_cast<T>(each));
    for (double const alpha : {1.0, 1.97, 1.7159, -0.81, 1e-3, 1e6})
        for (double const beta : {1.0, 1.37, 2.0 / 3, 1.64, -1.999, 1e-6, 1e3}) {
            auto const y = activated<T>({activation::scaled_tanh, alpha, beta}, x);
            activation_function const rounded{
                activation::scaled_tanh, static_cast<double>(T(alpha)), static_cast<double>(T(beta))};
            long double worst = 0;
            for (std::size_t i = 0; i < x.size(); ++i) {
                auto const expected = exact(rounded, static_cast<wide_float<T>>(x[i]));
                if (fabs(T(beta) * x[i]) >= smallest && fabs(expected) >= smallest)
                    worst = larger_error(worst, ulps_between(y[i], expected));
            }
            CAPTURE(alpha);
            CAPTURE(beta);
            CHECK(worst <= accuracy.max_ulp);
        }
}

TEST_CASE_TEMPLATE(
    "below the arguments of the table: between 0 and hardly more than the true value", T, float, double)
{
    for (activation_accuracy const& accuracy : activation_accuracies) {
        T const lowest = std::is_same_v<T, float> ? static_cast<T>(accuracy.lowest_float)
                                                  : static_cast<T>(accuracy.lowest_double);
        if (std::isinf(lowest))
            continue;
        std::vector<T> x;
        for (int i = 0; i < 100'000; ++i)
            x.push_back(lowest - static_cast<T>(i) / 1024);
        x.push_back(-infinity<T>);
        auto const y = activated<T>({accuracy.kind}, x);
        bool is_between = true;
        for (std::size_t i = 0; i < x.size(); ++i) {
            using wide = wide_float<T>;
            wide const most = exact({accuracy.kind}, static_cast<wide>(x[i])) +
                              accuracy.max_ulp * static_cast<wide>(std::numeric_limits<T>::denorm_min());
            is_between = is_between && y[i] >= 0 && static_cast<wide>(y[i]) <= most;
        }
        CAPTURE(name_of(accuracy.kind));
        CHECK(is_between);
    }
}

TEST_CASE_TEMPLATE("a parameter of 0 times infinity is NaN", T, float, double)
{
    constexpr T inf = infinity<T>;
    auto const is_nan = [](activation_function const& function, T x) {
        return std::isnan(activated<T>(function, {x})[0]);
    };
    for (T const x : {inf, -inf}) {
        CHECK(is_nan({activation::affine, 0, 1}, x));
        CHECK(is_nan({activation::hard_sigmoid, 0, 1}, x));
        CHECK(is_nan({activation::scaled_tanh, 1, 0}, x));
        CHECK(activated<T>({activation::scaled_tanh, 0, 1}, {x})[0] == 0);
        CHECK(activated<T>({activation::elu, 0}, {x})[0] == (x > 0 ? inf : 0));
    }
    CHECK(is_nan({activation::leaky_relu, 0}, -inf));
    CHECK(activated<T>({activation::leaky_relu, 0}, {inf})[0] == inf);
}

TEST_CASE_TEMPLATE("the others are exact where the arithmetic is", T, float, double)
{
    for (activation_function const& function : every_function)
        for (T const x : {T(-3), T(-1), T(-0.5), T(0), T(0.5), T(1), T(1.5), T(2), T(4), T(100)})
            if (function.kind != activation::sigmoid && function.kind != activation::softplus &&
                function.kind != activation::softsign && function.kind != activation::elu &&
                function.kind != activation::tanh && function.kind != activation::scaled_tanh)
                CHECK(activated<T>(function, {x})[0] ==
                      static_cast<T>(exact(function, static_cast<long double>(x))));
}

TEST_CASE_TEMPLATE("edges: limits at infinity, nothing overflows, NaN stays NaN, -0 stays", T, float, double)
{
    constexpr T infinity = std::numeric_limits<T>::infinity(), huge = std::numeric_limits<T>::max(),
                tiny = std::numeric_limits<T>::denorm_min();
    struct row {
        activation_function function;
        std::vector<T> expected;
    };
    std::vector<T> const x = {infinity, -infinity, huge, -huge, 0, tiny, 1000, -1000};
    row const table[] = {
        {{activation::relu}, {infinity, 0, huge, 0, 0, tiny, 1000, 0}},
        {{activation::tanh}, {1, -1, 1, -1, 0, tiny, 1, -1}},
        {{activation::sigmoid}, {1, 0, 1, 0, T(0.5), T(0.5), 1, 0}},
        {{activation::leaky_relu, 0.5}, {infinity, -infinity, huge, -huge / 2, 0, tiny, 1000, -500}},
        {{activation::thresholded_relu, 1000}, {infinity, 0, huge, 0, 0, 0, 1000, 0}},
        {{activation::hard_sigmoid, 0.25, 0.5}, {1, 0, 1, 0, T(0.5), T(0.5), 1, 0}},
        {{activation::elu, 2}, {infinity, -2, huge, -2, 0, tiny, 1000, -2}},
        {{activation::softsign}, {1, -1, 1, -1, 0, tiny, T(1000) / 1001, T(-1000) / 1001}},
        {{activation::softplus}, {infinity, 0, huge, 0, std::log(T(2)), std::log(T(2)), 1000, 0}},
    };
    for (row const& each : table) {
        activation_function const& function = each.function;
        std::vector<T> const& expected = each.expected;
        CAPTURE(name_of(function.kind));
        auto const y = activated(function, x);
        for (std::size_t i = 0; i < x.size(); ++i) {
            CAPTURE(x[i]);
            bool const is_right =
                y[i] == expected[i] || ulps_between(y[i], static_cast<long double>(expected[i])) <= 1;
            CHECK(is_right);
        }
    }
    for (activation_function const& function : every_function) {
        CAPTURE(name_of(function.kind));
        CHECK(std::isnan(activated<T>(function, {std::numeric_limits<T>::quiet_NaN()})[0]));
    }
    for (activation const kind :
        {activation::relu, activation::leaky_relu, activation::tanh, activation::elu, activation::softsign})
        CHECK(std::signbit(activated<T>({kind, 1, 1}, {T(-0.0)})[0]));
}

TEST_CASE_TEMPLATE("an item's result does not depend on its neighbours or on the length", T, float, double)
{
    std::vector<T> x;
    for (int i = 0; i < 53; ++i)
        x.push_back(static_cast<T>(i - 26) / 3);
    for (activation_function const& function : every_function) {
        CAPTURE(name_of(function.kind));
        for (std::size_t const count : {0u, 1u, 3u, 4u, 5u, 7u, 8u, 9u, 15u, 16u, 17u, 50u, 53u}) {
            auto const y = activated(
                function, std::vector<T>(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(count)));
            bool is_alike = true;
            for (std::size_t i = 0; i < count; ++i)
                is_alike = is_alike && y[i] == activated<T>(function, {x[i]})[0];
            CHECK(is_alike);
        }
    }
}

TEST_CASE_TEMPLATE("softmax", T, float, double)
{
    constexpr T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    auto const softmax = [](std::vector<T> const& x) { return activated<T>({activation::softmax}, x); };
    std::vector<T> const x = {1, 2, 3, -1, 0, T(0.5), 7, -8, 2};
    long double sum = 0;
    for (T const each : x)
        sum += std::exp(static_cast<long double>(each));
    for (std::size_t i = 0; i < x.size(); ++i)
        CHECK(ulps_between(softmax(x)[i], std::exp(static_cast<long double>(x[i])) / sum) <= 6);
    CHECK(softmax({1000, 1000}) == std::vector<T>{T(0.5), T(0.5)});
    CHECK(softmax({-1000, -1000, -1000, -1000}) == std::vector<T>(4, T(0.25)));
    CHECK(softmax({5}) == std::vector<T>{1});
    CHECK(softmax({}).empty());
    CHECK(softmax({0, -infinity}) == std::vector<T>{1, 0});
    for (std::vector<T> const& bad : {std::vector<T>{1, nan, 2}, std::vector<T>{nan, 1},
             std::vector<T>{1, infinity}, std::vector<T>{-infinity, -infinity}})
        CHECK(std::isnan(softmax(bad).back()));
}

TEST_CASE("in place")
{
    std::vector<float> x = {-1, 0, 2};
    activate(activation::relu, x, x);
    CHECK(x == std::vector<float>{0, 0, 2});
}

TEST_CASE("x and y are contiguous ranges of any kind, and their element type is deduced")
{
    std::vector<float> const x = {-1, 0, 2};
    std::vector<float> const expected = {0, 0, 2};
    std::vector<float> y(3);
    activate(activation::relu, x, y);
    CHECK(y == expected);

    std::vector<float> from_span(3);
    std::span<float> const span(from_span);
    activate(activation::relu, std::span<float const>(x), span);
    CHECK(from_span == expected);
    activate(activation::relu, span.first(2), span.first(2));
    activate(activation::relu, std::vector<float>{-3}, std::span(from_span).last(1));
    CHECK(from_span == std::vector<float>{0, 0, 0});

    double const numbers[] = {-1, 0, 2};
    double results[3];
    activate(activation::relu, numbers, results);
    CHECK(std::vector<double>(results, results + 3) == std::vector<double>{0, 0, 2});
    std::array<double, 3> of_array{};
    activate(activation::relu, numbers, of_array);
    CHECK(of_array == std::array<double, 3>{0, 0, 2});
}

TEST_CASE("an activation alone, or its name, has ONNX's defaults of alpha and beta")
{
    std::vector<double> const x = {-4, -1, 0.5, 3};
    for (std::size_t kind = 0; kind < activation_count; ++kind) {
        std::string_view const name = name_of(static_cast<activation>(kind));
        activation_function const function =
            parse_activations("activations", std::span<std::string_view const>(&name, 1))[0];
        std::vector<double> of_name(x.size()), of_kind(x.size());
        activate(name, x, of_name);
        activate(static_cast<activation>(kind), x, of_kind);
        CHECK(of_name == activated<double>(function, x));
        CHECK(of_kind == of_name);
    }
    std::vector<double> y(x.size());
    activate("leakyrelu", x, y);
    CHECK(y == std::vector<double>{-0.04, -0.01, 0.5, 3});
    activate({activation::leaky_relu, 0.5}, x, y);
    CHECK(y == std::vector<double>{-2, -0.5, 0.5, 3});
    CHECK_THROWS_WITH_AS(activate("Gelu", x, y),
        "xloom::activate: an activation must be one that ONNX names, but activations[0] is \"Gelu\". Choose "
        "one of Relu, Tanh, Sigmoid, Affine, LeakyRelu, ThresholdedRelu, ScaledTanh, HardSigmoid, Elu, "
        "Softsign, Softplus and Softmax.",
        option_error);
    CHECK(y == std::vector<double>{-2, -0.5, 0.5, 3});
}

TEST_CASE("storage floats compute as floats and are rounded once")
{
    for (activation_function const& function : every_function)
        for (float const x : {-2.0f, -0.5f, 0.0f, 0.25f, 3.0f}) {
            std::vector<float> const y = activated<float>(function, {x});
            CHECK(activated<float16>(function, {float16(x)})[0] == float16(y[0]));
            CHECK(activated<bfloat16>(function, {bfloat16(x)})[0] == bfloat16(y[0]));
        }
}

TEST_CASE("a scalar that carries derivatives: sigmoid' = s (1 - s), tanh' = 1 - t^2, softplus' = sigmoid")
{
    auto const x = boost::math::differentiation::make_fvar<double, 1>(0.7);
    using dual = std::remove_const_t<decltype(x)>;
    double const s = 1 / (1 + std::exp(-0.7)), t = std::tanh(0.7);
    CHECK(activated<dual>({activation::sigmoid}, {x})[0].derivative(1) ==
          doctest::Approx(s * (1 - s)).epsilon(1e-14));
    CHECK(activated<dual>({activation::tanh}, {x})[0].derivative(1) ==
          doctest::Approx(1 - t * t).epsilon(1e-14));
    dual const elu = activated<dual>({activation::elu, 2}, {-x})[0],
               softplus = activated<dual>({activation::softplus}, {x})[0];
    CHECK(elu.derivative(0) == doctest::Approx(2 * std::expm1(-0.7)).epsilon(1e-14));
    CHECK(elu.derivative(1) == doctest::Approx(-2 * std::exp(-0.7)).epsilon(1e-14));
    CHECK(softplus.derivative(0) == doctest::Approx(std::log1p(std::exp(0.7))).epsilon(1e-14));
    CHECK(softplus.derivative(1) == doctest::Approx(s).epsilon(1e-14));
}

TEST_CASE("lengths that differ")
{
    std::vector<float> const x(3);
    std::vector<float> y(2);
    CHECK_THROWS_WITH_AS(activate(activation::tanh, x, y),
        "xloom::activate: x and y must be equally long, but x has 3 items and y has 2. Give them one length.",
        shape_error);
}

TEST_CASE("a number that is no activation is refused before anything is written")
{
    std::vector<float> const x{1, 2};
    std::vector<float> y{5, 6};
    CHECK_THROWS_WITH_AS(activate(static_cast<activation>(42), x, y),
        "xloom::activate: an activation must be one that ONNX names, but function.kind is 42. Choose one of "
        "Relu, Tanh, Sigmoid, Affine, "
        "LeakyRelu, ThresholdedRelu, ScaledTanh, HardSigmoid, Elu, Softsign, Softplus and Softmax.",
        option_error);
    CHECK(y == std::vector<float>{5, 6});
    CHECK_THROWS_AS(activate(static_cast<activation>(activation_count), x, y), option_error);
}

} // namespace activations_test
