// LSTM against the textbook in float64.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "support/lstm_calls.hpp"
#include "support/recurrent_cases.hpp"
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

TEST_CASE("lstm equals the textbook: any sizes, operands, layout, memory and direction")
{
    auto const set = [](textbook::lstm_options& options, recurrent_sizes& sizes, std::mt19937& random) {
        options.input_forget = random() % 4 == 0;
        keep_activations(options, sizes, random);
    };
    for (unsigned seed = 0; seed < 150; ++seed)
        check_any_call<lstm_family, float>(seed, set);
}

TEST_CASE("lstm equals the textbook with any activations")
{
    auto const set = [](textbook::lstm_options& options, recurrent_sizes& sizes, std::mt19937& random) {
        options.input_forget = random() % 4 == 0;
        draw_activations<lstm_family>(options, sizes, random);
    };
    for (unsigned seed = 0; seed < 150; ++seed)
        check_any_call<lstm_family, double>(seed, set);
}

TEST_CASE("lstm: each activation in each place")
{
    check_every_activation<lstm_family, double>({activation::sigmoid, activation::tanh, activation::tanh});
}

TEST_CASE("lstm: any operand omitted") { check_optional_operands<lstm_family, float>(); }

TEST_CASE("lstm: many steps together, or one step of many rows") { check_chunks<lstm_family, float>(); }

TEST_CASE("lstm: one row of few units")
{
    check_one_row<lstm_family, float>();
    check_one_row<lstm_family, double>();
}

TEST_CASE("lstm: clip limits the gates' sums, not c")
{
    std::mt19937 random(6);
    auto in = random_lstm<float>(random, {6, 2, 3, 5}, with_all, {.weights = 3, .inputs = 5});
    for (bool const input_forget : {false, true})
        for (double const clip : {0.25, 1.0, 1e30}) {
            textbook::lstm_options options;
            options.clip = clip;
            options.input_forget = input_forget;
            auto const expected = arrays_of(textbook::lstm(in, options));
            CHECK(difference(lstm_family::call(in, options), expected) < 1e-5);
            if (clip == 0.25)
                CHECK(*std::max_element(expected.Y_c.items.begin(), expected.Y_c.items.end()) > 0.3);
        }
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

namespace {

template <class Integer>
void check_lengths_of(textbook::lstm_operands<float> const& in)
{
    lstm_tensors<float> const tensors(in);
    xt::xtensor<Integer, 1> lengths = xt::zeros<Integer>({in.sequence_lens.size()});
    for (std::size_t n = 0; n < lengths.size(); ++n)
        lengths(n) = static_cast<Integer>(in.sequence_lens[n]);
    auto inputs = tensors.inputs();
    inputs.sequence_lens = lengths;
    auto const [Y, Y_h, Y_c] = lstm(tensors.X, inputs);
    CHECK(difference(recurrent_arrays<float>{to_array(Y), to_array(Y_h), to_array(Y_c)},
              arrays_of(textbook::lstm(in))) < 4e-6);
}

} // namespace

TEST_CASE("lstm: lengths of any integer type")
{
    std::mt19937 random(8);
    auto const in = random_lstm<float>(random, {9, 5, 3, 5});
    check_lengths_of<std::int32_t>(in);
    check_lengths_of<std::int64_t>(in);
    check_lengths_of<std::uint8_t>(in);
    check_lengths_of<std::uint64_t>(in);
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

TEST_CASE("lstm: a row of length 0 keeps its states, and no rows at all give empty tensors")
{
    std::mt19937 random(10);
    auto in = random_lstm<float>(random, {3, 2, 2, 5, 2});
    in.sequence_lens = {0, 3};
    auto const result = lstm_family::call(in, {.direction = "bidirectional"});
    for (std::size_t d = 0; d < 2; ++d)
        for (std::size_t j = 0; j < 5; ++j) {
            CHECK(result.Y_h.items[10 * d + j] == in.initial_h.items[10 * d + j]);
            CHECK(result.Y_c.items[10 * d + j] == in.initial_c.items[10 * d + j]);
            for (std::size_t t = 0; t < 3; ++t)
                CHECK(result.Y.items[20 * t + 10 * d + j] == 0);
        }

    auto const empty = lstm_family::call(random_lstm<float>(random, {3, 0, 2, 5}), {});
    CHECK(empty.Y.shape == textbook::dims{3, 1, 0, 5});
    CHECK(empty.Y_h.shape == textbook::dims{1, 0, 5});
    auto const still = random_lstm<float>(random, {0, 2, 2, 5}, with_initial_h | with_initial_c);
    auto const states = lstm_family::call(still, {});
    CHECK(states.Y.shape == textbook::dims{0, 1, 2, 5});
    CHECK(states.Y_h.items == still.initial_h.items);
    CHECK(states.Y_c.items == still.initial_c.items);
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
