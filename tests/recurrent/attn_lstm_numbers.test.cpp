// AttnLSTM where numbers are large, infinite or many.

#include <array>
#include <cmath>

#include <doctest/doctest.h>

#include "support/attn_lstm_calls.hpp"
#include "support/special_numbers.hpp"

namespace attn_lstm_numbers_test {

using namespace xloom;

namespace {

/// Operands whose scores are as large as A V.
textbook::attn_lstm_operands<float> with_large_scores(float V, std::size_t A)
{
    std::mt19937 random(20);
    auto in = random_attn_lstm<float>(
        random, {6, 3, 2, 5}, {7, 4, A, 3}, with_all, {.weights = 1, .inputs = 2, .shortest = 2});
    std::fill(in.V.items.begin(), in.V.items.end(), V);
    return in;
}

} // namespace

// ONNX Runtime's softmax subtracts no maximum: such scores make NaN there, which clip makes a number of; or,
// below -103, equal weights.
TEST_CASE("attn_lstm: scores of any size")
{
    for (float const V : {20.0f, -20.0f, 200.0f, -200.0f}) {
        auto const in = with_large_scores(V, 5);
        auto const expected = textbook_attn_lstm(in);
        double const largest =
            *std::max_element(expected.alignments.items.begin(), expected.alignments.items.end());
        CHECK(largest > 0.9);
        CAPTURE(V);
        CHECK(difference(call_attn_lstm(in), expected) <
              1e-5 * std::fabs(static_cast<double>(V)) / 20); // a float's score is known so well
    }
}

TEST_CASE("attn_lstm: a V whose double is infinite")
{
    for (float const V : {0.75f * std::numeric_limits<float>::max(), -std::numeric_limits<float>::max()})
        CHECK(difference(call_attn_lstm(with_large_scores(V, 1)),
                  textbook_attn_lstm(with_large_scores(V, 1))) < 4e-6);
}

// A tanh near 0 has all its digits, 1 - 2 / (1 + exp) those of 1: of a V of 1000 three more are lost.
TEST_CASE("attn_lstm: keys and queries near 0 that a large V makes scores of")
{
    std::mt19937 random(21);
    auto in = random_attn_lstm<float>(
        random, {6, 3, 2, 5}, {7, 4, 5, 3}, with_all, {.weights = 1, .inputs = 1, .shortest = 2});
    for (std::vector<float>* small : {&in.MW.items, &in.QW.items})
        for (float& item : *small)
            item /= 1024;
    for (float& item : in.V.items)
        item *= 1000;
    CHECK(difference(call_attn_lstm(in), textbook_attn_lstm(in)) < 4e-6);
}

TEST_CASE("attn_lstm: infinities go where the textbook has them, whatever the widths")
{
    for (std::size_t const A : {1u, 5u, 8u, 16u, 17u})
        for (std::size_t const E : {1u, 3u, 8u})
            for (unsigned const which :
                {unsigned(with_all), with_all & ~unsigned(with_AW), unsigned(with_attention)}) {
                std::mt19937 random(static_cast<unsigned>(A));
                auto in = random_attn_lstm<float>(
                    random, {4, 2, 2, 5}, {3, E, A, 4}, which | with_initial_c | with_P, {.shortest = 2});
                CAPTURE(A);
                CAPTURE(E);
                CAPTURE(which);
                for (std::vector<float>* operand :
                    {&in.X.items, &in.initial_c.items, &in.M.items, &in.MW.items, &in.QW.items})
                    for (float const value : {infinity<float>, -infinity<float>})
                        for (activation const h :
                            {activation::tanh, activation::relu}) { // with Relu, h is infinite too
                            auto const how = textbook::attn_lstm_options{
                                .activations = {{activation::sigmoid}, {activation::tanh}, {h}}};
                            float const before = std::exchange(operand->at(1 % operand->size()), value);
                            CHECK(difference(call_attn_lstm(in, how), textbook_attn_lstm(in, how)) < 4e-6);
                            (*operand)[1 % operand->size()] = before;
                        }
            }
}

// The bound that attn_lstm states for itself. Without optimisation 25 steps, for all 100 would take half a
// minute.
TEST_CASE("attn_lstm: the error at H = E = A = L = 512, S = 50 and T = 100 is at most 2e-6")
{
#ifdef __OPTIMIZE__
    std::size_t const T = 100;
#else
    std::size_t const T = 25;
#endif
    std::mt19937 random(512);
    auto const in = random_attn_lstm<float>(random, {T, 1, 512, 512}, {50, 512, 512, 512},
        with_B | with_attention | with_AW, {.weights = 1 / std::sqrt(512.0), .inputs = 1});
    double const error = difference(call_attn_lstm(in), textbook_attn_lstm(in));
    MESSAGE("T = ", T, ": ", error);
    CHECK(error <= 2e-6);
    CHECK(error > 0);
}

namespace {

/// The alignment of one query of 0 to two keys that all A units share, with a V of equal items.
std::array<float, 2> alignment_of(float first_key, float second_key, float V_item, std::size_t A)
{
    xt::xtensor<float, 3> const X = {{{0}}}, W = xt::zeros<float>({1, 4, 2}), R = xt::zeros<float>({1, 4, 1}),
                                M = {{{first_key}, {second_key}}};
    xt::xtensor<float, 3> const MW(std::array<std::size_t, 3>{1, 1, A}, 1.0f), QW(MW.shape(), 0.0f);
    xt::xtensor<float, 2> const V(std::array<std::size_t, 2>{1, A}, V_item);
    xt::xtensor<float, 3> alignment = {{{0, 0}}};
    attn_lstm_weights<float> const weights({.W = W, .R = R, .QW = QW, .MW = MW, .V = V});
    attn_lstm_into(X, weights, {.M = M}, {.Y_alignment = alignment});
    return {alignment(0, 0, 0), alignment(0, 0, 1)};
}

} // namespace

// Keys of 10 and -10 make a sum of V and one of -V, whose terms all have one sign.
TEST_CASE("attn_lstm: with terms of one sign an alignment is within 2^-21 sum |V|, for any number of units")
{
    for (std::size_t const A : {16u, 64u, 512u, 4096u})
        for (double const sum : {10.0, 31.0, 42.0}) {
            auto const v = static_cast<float>(sum / static_cast<double>(A));
            double const exact_sum = static_cast<double>(v) * static_cast<double>(A);
            double const expected = 1 / (1 + std::exp(2 * exact_sum * std::tanh(10.0)));
            CAPTURE(A);
            CAPTURE(sum);
            CHECK(std::abs(alignment_of(10, -10, v, A)[1] / expected - 1) <= std::ldexp(exact_sum, -21));
        }
}

TEST_CASE("attn_lstm: a score of -infinity, the sum of many units, gives a weight of 0")
{
    for (std::size_t const A : {3u, 600u})
        CHECK(alignment_of(10, 0, -1e38f * (A == 3 ? 3 : 1), A) == std::array<float, 2>{0, 1});
}

} // namespace attn_lstm_numbers_test
