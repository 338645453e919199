// GRU against the textbook in float64.

#include <doctest/doctest.h>

#include <cmath>

#include "support/gru_calls.hpp"
#include "support/recurrent_cases.hpp"

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

TEST_CASE("gru equals the textbook: any sizes, operands, layout, memory and direction")
{
    auto const set = [](textbook::gru_options& options, recurrent_sizes& sizes, std::mt19937& random) {
        options.linear_before_reset = random() % 2 == 0;
        keep_activations(options, sizes, random);
    };
    for (unsigned seed = 0; seed < 150; ++seed)
        check_any_call<gru_family, float>(seed, set);
}

TEST_CASE("gru equals the textbook with any activations")
{
    auto const set = [](textbook::gru_options& options, recurrent_sizes& sizes, std::mt19937& random) {
        options.linear_before_reset = random() % 2 == 0;
        draw_activations<gru_family>(options, sizes, random);
    };
    for (unsigned seed = 0; seed < 150; ++seed)
        check_any_call<gru_family, double>(seed, set);
}

TEST_CASE("gru: each activation in each place")
{
    check_every_activation<gru_family, double>({activation::sigmoid, activation::tanh});
}

TEST_CASE("gru: any operand omitted") { check_optional_operands<gru_family, float>(); }

TEST_CASE("gru: many steps together, or one step of many rows") { check_chunks<gru_family, float>(); }

TEST_CASE("gru: one row of few units")
{
    check_one_row<gru_family, float>();
    check_one_row<gru_family, double>();
}

TEST_CASE("gru: linear_before_reset puts the reset behind Rh and its bias")
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

TEST_CASE("gru: clip limits the sums of all three gates")
{
    std::mt19937 random(4);
    auto const in = random_gru<float>(random, {6, 2, 3, 5}, with_all, {.weights = 3, .inputs = 5});
    for (bool const linear_before_reset : {false, true})
        for (double const clip : {0.25, 1.0, 1e30}) {
            textbook::gru_options options;
            options.clip = clip;
            options.linear_before_reset = linear_before_reset;
            CHECK(difference(gru_family::call(in, options), arrays_of(textbook::gru(in, options))) < 1e-5);
        }
}

} // namespace gru_test
