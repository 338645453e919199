// RNN against the textbook in float64.

#include <doctest/doctest.h>

#include <cmath>

#include "support/recurrent_cases.hpp"
#include "support/rnn_calls.hpp"

namespace rnn_test {

using namespace xloom;

using matrices = xt::xtensor<float, 3>;

TEST_CASE("rnn: a call as a user writes it")
{
    // D = 1, I = 1, H = 2: the second unit is what the first was a step before.
    matrices const W{{{1}, {0}}}, R{{{0, 0}, {1, 0}}};
    matrices const X{{{0.5f}}, {{-0.25f}}, {{0.0f}}};

    auto const [Y, Y_h] = rnn(X, {.W = W, .R = R}, {.activations = {"Affine"}});

    CHECK(Y == xt::xtensor<float, 4>{{{{0.5f, 0.0f}}}, {{{-0.25f, 0.5f}}}, {{{0.0f, -0.25f}}}});
    CHECK(Y_h == matrices{{{0.0f, -0.25f}}});
}

TEST_CASE("rnn equals the textbook: any sizes, operands, layout, memory and direction")
{
    for (unsigned seed = 0; seed < 150; ++seed)
        check_any_call<rnn_family, float>(seed, keep_activations<textbook::rnn_options>);
}

TEST_CASE("rnn equals the textbook with any activations")
{
    for (unsigned seed = 0; seed < 150; ++seed)
        check_any_call<rnn_family, double>(seed, draw_activations<rnn_family, textbook::rnn_options>);
}

TEST_CASE("rnn: each activation in each place")
{
    check_every_activation<rnn_family, double>({activation::tanh});
}

TEST_CASE("rnn: any operand omitted") { check_optional_operands<rnn_family, float>(); }

TEST_CASE("rnn: many steps together, or one step of many rows") { check_chunks<rnn_family, float>(); }

TEST_CASE("rnn: one row of few units")
{
    check_one_row<rnn_family, float>();
    check_one_row<rnn_family, double>();
}

TEST_CASE("rnn: two times Tanh, the default of ONNX's schema, means one where there is one direction")
{
    std::mt19937 random(3);
    auto const in = random_rnn<float>(random, {4, 2, 3, 5});
    rnn_tensors<float> const tensors(in);
    auto const expected = arrays_of(textbook::rnn(in));
    auto const [Y, Y_h] = rnn(tensors.X, tensors.inputs(), {.activations = {"Tanh", "tanh"}});
    CHECK(difference(recurrent_arrays<float>{to_array(Y), to_array(Y_h)}, expected) < 4e-6);
}

TEST_CASE("rnn: clip limits the sums")
{
    std::mt19937 random(4);
    auto const in = random_rnn<float>(random, {6, 2, 3, 5}, with_all, {.weights = 3, .inputs = 5});
    for (double const clip : {0.25, 1.0, 1e30}) {
        textbook::rnn_options options;
        options.clip = clip;
        CHECK(difference(rnn_family::call(in, options), arrays_of(textbook::rnn(in, options))) < 1e-5);
    }
}

} // namespace rnn_test
