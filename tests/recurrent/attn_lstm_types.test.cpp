// AttnLSTM on floats of half the size, and on numbers that carry derivatives.

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#define BOOST_CSTDFLOAT_NO_LIBQUADMATH_SUPPORT // else its output of __float128 requires another library
#include <boost/math/differentiation/autodiff.hpp>

#include <xloom/recurrent/attn_lstm_cell.hpp>

#include "support/attn_lstm_calls.hpp"
#include "support/plain_number.hpp"

namespace attn_lstm_types_test {

using namespace xloom;

namespace {

/// The operands with their numbers rounded to T.
template <class T>
textbook::attn_lstm_operands<T> rounded(textbook::attn_lstm_operands<float> const& in)
{
    auto const round = [](textbook::array<float> const& from) {
        textbook::array<T> to{from.shape, {}};
        for (float const item : from.items)
            to.items.push_back(static_cast<T>(item));
        return to;
    };
    return {round(in.X), round(in.W), round(in.R), round(in.B), in.sequence_lens, round(in.initial_h),
        round(in.initial_c), round(in.P), round(in.QW), round(in.MW), round(in.V), round(in.M),
        in.memory_seq_lens, round(in.AW), round(in.initial_attention), round(in.initial_alignment)};
}

} // namespace

TEST_CASE_TEMPLATE(
    "attn_lstm on small floats computes as float and rounds what it returns", T, float16, bfloat16)
{
    double const half_ulp = std::is_same_v<T, float16> ? 0x1p-11 : 0x1p-8;
    for (unsigned const which : {unsigned(with_all), with_all & ~unsigned(with_AW | with_memory_seq_lens),
             with_all & ~unsigned(with_attention)}) {
        std::mt19937 random(which);
        auto const in = rounded<T>(random_attn_lstm<float>(random, {9, 3, 5, 9, 2}, {6, 5, 7, 3}, which));
        textbook::attn_lstm_options options;
        options.direction = "bidirectional";
        CAPTURE(which);
        CHECK(difference(call_attn_lstm(in, options), textbook_attn_lstm(in, options)) < half_ulp + 4e-6);

        attn_lstm_tensors<T> const tensors(in, placement::column_major);
        auto const [Y, Y_h, Y_c] = attn_lstm(tensors.X, tensors.inputs(), options_of(options));
        CHECK(difference(attn_lstm_arrays<T>{to_array(Y), to_array(Y_h), to_array(Y_c)},
                  textbook_attn_lstm(in, options)) < half_ulp + 4e-6);
    }
}

TEST_CASE("attn_lstm_cell on small floats rounds its states after each step")
{
    std::mt19937 random(7);
    unsigned const which = with_all & ~unsigned(with_sequence_lens);
    auto in = rounded<float16>(random_attn_lstm<float>(random, {1, 2, 3, 5}, {6, 5, 7, 3}, which));
    attn_lstm_tensors<float16> const tensors(in);
    attn_lstm_cell<float16> cell(
        attn_lstm_weights<float16>(tensors.constants()), tensors.M, tensors.memory_lengths());
    for (int step = 0; step < 5; ++step) {
        auto const expected = textbook_attn_lstm(in);
        std::vector<float16> y(in.initial_h.items.size());
        cell(in.initial_h.items, in.initial_c.items, in.initial_attention.items, in.initial_alignment.items,
            in.X.items, y);
        CHECK(difference(in.initial_h, expected.Y_h) < 0x1p-11 + 4e-6);
        CHECK(difference(in.initial_c, expected.Y_c) < 0x1p-11 + 4e-6);
        CHECK(difference(in.initial_attention, expected.Y_attention) < 0x1p-11 + 4e-6);
        CHECK(difference(in.initial_alignment, expected.Y_alignment) < 0x1p-11 + 4e-6);
    }
}

namespace {

using dual = decltype(boost::math::differentiation::make_fvar<double, 1>(0.0));

using operands = textbook::attn_lstm_operands<double>;

/// All numbers of all outputs, each with another weight.
template <class T>
T sum_of(attn_lstm_arrays<T> const& results)
{
    T sum(0);
    double weight = 1;
    for (textbook::array<T> const* each : results.each())
        for (T const& item : each->items)
            sum += T(std::cos(weight++)) * item;
    return sum;
}

textbook::attn_lstm_operands<dual> constants(operands const& in)
{
    auto const wrap = [](textbook::array<double> const& from) {
        return textbook::array<dual>{from.shape, std::vector<dual>(from.items.begin(), from.items.end())};
    };
    return {wrap(in.X), wrap(in.W), wrap(in.R), wrap(in.B), in.sequence_lens, wrap(in.initial_h),
        wrap(in.initial_c), wrap(in.P), wrap(in.QW), wrap(in.MW), wrap(in.V), wrap(in.M), in.memory_seq_lens,
        wrap(in.AW), wrap(in.initial_attention), wrap(in.initial_alignment)};
}

template <class T>
std::array<textbook::array<T>*, 13> numbers_of(textbook::attn_lstm_operands<T>& in)
{
    return {&in.X, &in.W, &in.R, &in.B, &in.initial_h, &in.initial_c, &in.P, &in.QW, &in.MW, &in.V, &in.M,
        &in.AW, &in.initial_attention};
}

} // namespace

TEST_CASE("attn_lstm on numbers that carry derivatives: those of every operand, against differences of the "
          "textbook's results")
{
    std::mt19937 random(8);
    textbook::attn_lstm_options options;
    options.direction = "bidirectional";
    options.activations = {{activation::sigmoid}, {activation::tanh}, {activation::softsign},
        {activation::sigmoid}, {activation::softplus}, {activation::tanh}};
    operands in = random_attn_lstm<double>(random, {3, 2, 2, 3, 2}, {4, 3, 2, 3}, with_all, {.shortest = 2});
    auto const plain = constants(in);
    CHECK(difference(call_attn_lstm(plain, options), textbook_attn_lstm(in, options)) < 1e-14);
    for (std::size_t operand = 0; operand < numbers_of(in).size(); ++operand) {
        std::vector<double>& numbers = numbers_of(in)[operand]->items;
        for (int times = 0; times < 2; ++times) {
            std::size_t const i = random() % numbers.size();
            double const x = numbers[i], step = 1e-5;
            numbers[i] = x + step;
            double const above = sum_of(textbook_attn_lstm(in, options));
            numbers[i] = x - step;
            double const below = sum_of(textbook_attn_lstm(in, options));
            numbers[i] = x;

            auto with_derivatives = plain;
            numbers_of(with_derivatives)[operand]->items[i] =
                boost::math::differentiation::make_fvar<double, 1>(x);
            dual const result = sum_of(call_attn_lstm(with_derivatives, options));
            CAPTURE(operand);
            CAPTURE(i);
            CHECK(result.derivative(1) == doctest::Approx((above - below) / (2 * step)).epsilon(1e-7));
        }
    }
}

TEST_CASE("a score of one's own sees numbers that carry derivatives")
{
    std::mt19937 random(9);
    operands in = random_attn_lstm<double>(random, {2, 1, 2, 3}, {4, 3, 2, 3}, with_attention);
    textbook::attn_lstm_options options;
    options.score = [](auto const& keys, auto const& query, auto const&) {
        std::vector<double> scores;
        for (auto const& key : keys)
            scores.push_back(std::inner_product(key.begin(), key.end(), query.begin(), 0.0));
        return scores;
    };
    auto const dot_product = [](attention_step<dual> const& step) {
        for (std::size_t m = 0; m < step.scores.size(); ++m)
            step.scores[m] =
                std::inner_product(step.query.begin(), step.query.end(), step.key(m).begin(), dual(0));
    };
    double const x = in.QW.items[1], step = 1e-5;
    in.QW.items[1] = x + step;
    double const above = sum_of(textbook_attn_lstm(in, options));
    in.QW.items[1] = x - step;
    double const below = sum_of(textbook_attn_lstm(in, options));
    in.QW.items[1] = x;
    auto with_derivatives = constants(in);
    with_derivatives.QW.items[1] = boost::math::differentiation::make_fvar<double, 1>(x);
    CHECK(sum_of(call_attn_lstm(with_derivatives, {}, dot_product)).derivative(1) ==
          doctest::Approx((above - below) / (2 * step)).epsilon(1e-7));
}

TEST_CASE("attn_lstm: a scalar of one's own")
{
    using numbers = xt::xtensor<plain_number, 3>;
    numbers const W = numbers::from_shape({1, 4, 2}), R = numbers::from_shape({1, 4, 1}), one = {{{1}}};
    xt::xtensor<plain_number, 2> const V = {{1}};
    // Gates of 0: each step multiplies c by 1/2.
    auto const result =
        xloom::attn_lstm(one, {.W = W, .R = R, .initial_c = one, .QW = one, .MW = one, .V = V, .M = one});
    CHECK(result.Y_c(0, 0, 0).value == 0.5);
    CHECK(result.Y_h(0, 0, 0).value == doctest::Approx(0.5 * std::tanh(0.5)).epsilon(1e-15));
}

} // namespace attn_lstm_types_test
