// What -ffast-math must leave right: ordinary numbers, if not to the last place. scripts/matrix compiles this
// with it.

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include <xloom/recurrent/activations.hpp>

#include "support/gru_calls.hpp"
#include "support/lstm_calls.hpp"
#include "support/rnn_calls.hpp"

namespace fast_math_test {

using namespace xloom;

namespace {

double exact(activation kind, double x)
{
    switch (kind) {
    case activation::tanh:
        return std::tanh(x);
    case activation::sigmoid:
        return 1 / (1 + std::exp(-x));
    case activation::elu:
        return x < 0 ? std::expm1(x) : x;
    case activation::softsign:
        return x / (1 + std::fabs(x));
    default: // softplus
        return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
    }
}

template <class T>
std::vector<T> numbers_up_to(int limit)
{
    std::vector<T> x;
    for (int i = -64 * limit; i <= 64 * limit; ++i)
        x.push_back(static_cast<T>(i) / 64);
    return x;
}

/// True of finite numbers, by their bits: for the compiler std::isfinite is true.
bool are_finite(auto const& items)
{
    return std::all_of(items.begin(), items.end(),
        [](auto x) { return (std::bit_cast<std::uint64_t>(static_cast<double>(x)) >> 52 & 0x7ff) != 0x7ff; });
}

template <class T>
void check_close(recurrent_arrays<T> const& found, recurrent_arrays<double> const& expected)
{
    CHECK(are_finite(found.Y.items));
    CHECK(are_finite(found.Y_h.items));
    CHECK(are_finite(found.Y_c.items));
    CHECK(difference(found, expected) < 1e-5);
}

} // namespace

TEST_CASE("NaN and infinities are seen")
{
    for (auto const bits : {0x7f800000U, 0xff800000U, 0x7fc00000U, 0xffc00001U})
        CHECK(!are_finite(std::vector{1.0F, std::bit_cast<float>(bits), 2.0F}));
    CHECK(are_finite(std::vector{0.0F, -3e38F}));
}

TEST_CASE_TEMPLATE("activations", T, float, double)
{
    std::vector<T> const x = numbers_up_to<T>(20);
    std::vector<T> y(x.size());
    for (activation const kind : {activation::tanh, activation::sigmoid, activation::elu,
             activation::softsign, activation::softplus}) {
        activate({kind, 1, 1}, x, y);
        double worst = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            double const expected = exact(kind, static_cast<double>(x[i]));
            worst = std::fmax(worst,
                std::fabs(static_cast<double>(y[i]) - expected) / std::fmax(std::fabs(expected), 1e-9));
        }
        CAPTURE(name_of(kind));
        CHECK(are_finite(y));
        CHECK(worst < 1e-5);
    }
}

TEST_CASE_TEMPLATE("softmax", T, float, double)
{
    std::vector<T> const x = numbers_up_to<T>(8);
    std::vector<T> y(x.size());
    activate({activation::softmax}, x, y);
    double sum = 0;
    for (T const each : x)
        sum += std::exp(static_cast<double>(each));
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        double const expected = std::exp(static_cast<double>(x[i])) / sum;
        worst = std::fmax(worst, std::fabs(static_cast<double>(y[i]) - expected) / expected);
    }
    CHECK(are_finite(y));
    CHECK(worst < 1e-5);
}

TEST_CASE_TEMPLATE("recurrent operators", Family, lstm_family, gru_family, rnn_family)
{
    std::mt19937 random(1);
    auto const in = Family::template draw<float>(random, {7, 5, 9, 17, 2}, with_all);
    typename Family::options options;
    options.direction = "bidirectional";
    check_close(Family::call(in, options), Family::textbook(in, options));
    auto const in_double = Family::template draw<double>(random, {7, 5, 9, 17, 2}, with_all);
    check_close(Family::call(in_double, options), Family::textbook(in_double, options));
}

} // namespace fast_math_test
