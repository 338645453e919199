// What a GRU has of its own; family.test.cpp has the rest.

#include <doctest/doctest.h>

#include <cmath>

#include "support/gru_calls.hpp"

namespace gru_test {

using namespace xloom;

using matrices = xt::xtensor<float, 3>;

TEST_CASE("gru: a call as a user writes it")
{
    // D = 1, I = 1, H = 1. Gates z, r, h: z is 1/2 everywhere and r open, so that h goes half the way to
    // tanh(x + h).
    matrices const W{{{0}, {0}, {1}}}, R{{{0}, {0}, {1}}};
    xt::xtensor<float, 2> const B{{0, 1000, 0, 0, 0, 0}};
    matrices const X{{{0.5f}}, {{-0.25f}}};

    auto const [Y, Y_h] = gru(X, {.W = W, .R = R, .B = B});

    double const first = std::tanh(0.5) / 2, second = (std::tanh(-0.25 + first) + first) / 2;
    CHECK(Y.shape() == std::array<std::size_t, 4>{2, 1, 1, 1});
    CHECK(Y(0, 0, 0, 0) == doctest::Approx(first));
    CHECK(Y(1, 0, 0, 0) == doctest::Approx(second));
    CHECK(Y_h(0, 0, 0) == Y(1, 0, 0, 0));
}

TEST_CASE("gru: linear_before_reset puts the reset after Rh and its bias")
{
    std::mt19937 random(3);
    auto const in = random_gru<float>(random, {6, 7, 3, 9}, with_all, {.weights = 1});
    textbook::gru_options before, after;
    before.linear_before_reset = true;
    auto const expected_before = arrays_of(textbook::gru(in, before)),
               expected_after = arrays_of(textbook::gru(in, after));
    CHECK(difference(expected_before, expected_after) > 0.1);
    CHECK(difference(gru_family::call(in, before), expected_before) < 4e-6);
    CHECK(difference(gru_family::call(in, after), expected_after) < 4e-6);
}

} // namespace gru_test
