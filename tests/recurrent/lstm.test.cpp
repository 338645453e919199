// What an LSTM has of its own; family.test.cpp has the rest.

#include <doctest/doctest.h>

#include <cmath>

#include "support/lstm_calls.hpp"
#include "support/xtensor_extras.hpp"

namespace lstm_test {

using namespace xloom;

using matrices = xt::xtensor<float, 3>;

TEST_CASE("lstm: a call as a user writes it")
{
    // D = 1, I = 2, H = 1. Gates i, o, f, c; nothing is recurrent, so that each step stands for itself and
    // its memory.
    matrices const W{{{0, 0}, {0, 0}, {0, 0}, {1, 2}}}, R = xt::zeros<float>({1, 4, 1});
    xt::xtensor<float, 2> const B{{1000, 1000, 1000, 0, 0, 0, 0, 0}}; // i, o and f open
    matrices const X{{{0.5f, 0.0f}}, {{0.0f, -0.25f}}, {{0.0f, 0.0f}}};

    auto const [Y, Y_h, Y_c] = lstm(X, {.W = W, .R = R, .B = B});

    CHECK(Y.shape() == std::array<std::size_t, 4>{3, 1, 1, 1});
    CHECK(Y(0, 0, 0, 0) == doctest::Approx(std::tanh(std::tanh(0.5))));
    CHECK(Y(1, 0, 0, 0) == 0); // tanh(0.5) + tanh(-0.5)
    CHECK(Y(2, 0, 0, 0) == 0);
    CHECK(Y_h == matrices{{{0}}});
    CHECK(Y_c == matrices{{{0}}});
}

TEST_CASE("lstm: alphas and betas are taken in order, names without regard to case, surplus ones left")
{
    std::mt19937 random(7);
    auto const in = random_lstm<double>(random, {3, 2, 3, 5});
    lstm_tensors<double> const tensors(in);
    auto const [Y, Y_h, Y_c] = lstm(tensors.X, tensors.inputs(),
        {.activations = {"HARDSIGMOID", "scaledTanh", "leakyrelu"},
            .activation_alpha = {0.3, 0.7},
            .activation_beta = {0.4, 0.9, 5, 6}});
    textbook::lstm_options options;
    options.activations = {{activation::hard_sigmoid, 0.3, 0.4}, {activation::scaled_tanh, 0.7, 0.9},
        {activation::leaky_relu, 0.01}};
    CHECK(difference(recurrent_arrays<double>{to_array(Y), to_array(Y_h), to_array(Y_c)},
              arrays_of(textbook::lstm(in, options))) < 1e-12);
}

TEST_CASE("lstm: containers, adaptors and views of xtensor")
{
    std::mt19937 random(9);
    auto const in = random_lstm<float>(random, {4, 3, 2, 5, 1});
    auto const expected = arrays_of(textbook::lstm(in));

    xt::xarray<float> const X = to_tensor<xt::xarray<float>>(in.X);
    xt::xtensor<float, 3, xt::layout_type::column_major> const W =
        to_tensor<xt::xtensor<float, 3, xt::layout_type::column_major>>(in.W);
    xt::xtensor<float, 4> R_and_more =
        xt::ones<float>({std::size_t{2}, std::size_t{1}, std::size_t{20}, std::size_t{5}});
    xt::view(R_and_more, 1, xt::all(), xt::all(), xt::all()) = to_tensor<xt::xtensor<float, 3>>(in.R);
    auto const R = xt::view(R_and_more, 1, xt::all(), xt::all(), xt::all());
    auto const B = xt::adapt(in.B.items, std::array<std::size_t, 2>{1, 40});
    xt::xtensor<std::int32_t, 2> two_columns = xt::zeros<std::int32_t>({3, 2});
    for (std::size_t n = 0; n < 3; ++n)
        two_columns(n, 1) = in.sequence_lens[n];
    auto const sequence_lens = xt::view(two_columns, xt::all(), 1);
    xt::xtensor<float, 3> const every_second = to_tensor<xt::xtensor<float, 3>>(in.initial_h);
    auto const initial_h = xt::strided_view(every_second, {xt::all(), xt::all(), xt::all()});
    auto const initial_c = to_tensor<xt::xtensor<float, 3>>(in.initial_c);
    auto const P = to_tensor<xt::xarray<float, xt::layout_type::column_major>>(in.P);

    auto const [Y, Y_h, Y_c] = lstm(X,
        {.W = W,
            .R = R,
            .B = B,
            .sequence_lens = sequence_lens,
            .initial_h = initial_h,
            .initial_c = initial_c,
            .P = P},
        {.hidden_size = 5});
    CHECK(difference(recurrent_arrays<float>{to_array(Y), to_array(Y_h), to_array(Y_c)}, expected) < 4e-6);

    // The outputs, too: Y between the items of a wider tensor, Y_h in another order.
    lstm_weights<float> const weights({.W = W, .R = R, .B = B, .P = P});
    xt::xtensor<float, 4> wide = xt::ones<float>({4, 1, 3, 10});
    auto even = xt::view(wide, xt::all(), xt::all(), xt::all(), xt::range(0, 10, 2));
    xt::xtensor<float, 3, xt::layout_type::column_major> final_h = xt::zeros<float>({1, 3, 5});
    auto workspace = recurrent_workspace(weights, {4, 3});
    lstm_into(X, weights, {sequence_lens, initial_h, initial_c}, {.Y = even, .Y_h = final_h}, workspace);
    CHECK(difference(to_array(xt::xtensor<float, 4>(even)), expected.Y) < 4e-6);
    CHECK(difference(to_array(final_h), expected.Y_h) < 4e-6);
    for (std::size_t i = 1; i < wide.size(); i += 2)
        REQUIRE(wide.storage()[i] == 1);
}

TEST_CASE("lstm: saturated gates are exact")
{
    matrices const zeros = xt::zeros<float>({1, 4, 1}), X = xt::zeros<float>({1, 1, 1}),
                   half = 0.5f * xt::ones<float>({1, 1, 1});
    xt::xtensor<float, 2> const B{
        {1000, 1000, -1000, 1000, 0, 0, 0, 0}}; // i and o open, f closed, g = tanh(1000) = 1
    auto const [Y, Y_h, Y_c] =
        lstm(X, {.W = zeros, .R = zeros, .B = B, .initial_h = half, .initial_c = half});
    CHECK(Y_c(0, 0, 0) == 1.0f);
    CHECK(Y_h(0, 0, 0) == doctest::Approx(std::tanh(1.0)).epsilon(1e-7));
}

// The bound that lstm states for itself. Without optimisation 40 steps, for all 100 would take ten seconds.
TEST_CASE("lstm: the error at H = 512 and T = 100 is at most 2e-6")
{
#ifdef __OPTIMIZE__
    std::size_t const T = 100;
#else
    std::size_t const T = 40;
#endif
    std::mt19937 random(512);
    auto const in =
        random_lstm<float>(random, {T, 1, 512, 512}, with_B, {.weights = 1 / std::sqrt(512.0), .inputs = 1});
    double const error = difference(lstm_family::call(in, {}), arrays_of(textbook::lstm(in)));
    MESSAGE("T = ", T, ": ", error);
    CHECK(error <= 2e-6);
    CHECK(error > 0);
}

} // namespace lstm_test
