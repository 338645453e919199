// What an RNN has of its own; family.test.cpp has the rest.

#include <doctest/doctest.h>

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

TEST_CASE("rnn: two times Tanh, the default of ONNX's schema, means one where there is one direction")
{
    std::mt19937 random(3);
    auto const in = random_rnn<float>(random, {4, 2, 3, 5});
    rnn_tensors<float> const tensors(in);
    auto const expected = arrays_of(textbook::rnn(in));
    auto const [Y, Y_h] = rnn(tensors.X, tensors.inputs(), {.activations = {"Tanh", "tanh"}});
    CHECK(difference(recurrent_arrays<float>{to_array(Y), to_array(Y_h)}, expected) < 4e-6);
}

} // namespace rnn_test
