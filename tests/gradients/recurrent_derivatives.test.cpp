// LSTM, GRU and RNN on scalars that carry derivatives.

#include <doctest/doctest.h>

#include <cmath>

#define BOOST_CSTDFLOAT_NO_LIBQUADMATH_SUPPORT // else its output of __float128 requires another library
#include <boost/math/differentiation/autodiff.hpp>

#include "support/gru_calls.hpp"
#include "support/lstm_calls.hpp"
#include "support/rnn_calls.hpp"

namespace recurrent_derivatives_test {

using xloom::activation;

namespace {

using dual = boost::math::differentiation::autodiff_fvar<double, 1>;

/// a + s * b for each operand, where s is the variable that derivatives are taken by.
template <class To>
textbook::array<To> line(textbook::array<double> const& a, textbook::array<double> const& b, To const& s)
{
    textbook::array<To> to{a.shape, {}};
    for (std::size_t i = 0; i < a.items.size(); ++i)
        to.items.push_back(a.items[i] + s * b.items[i]);
    return to;
}
template <class To>
textbook::lstm_operands<To> line(
    textbook::lstm_operands<double> const& a, textbook::lstm_operands<double> const& b, To const& s)
{
    return {line(a.X, b.X, s), line(a.W, b.W, s), line(a.R, b.R, s), line(a.B, b.B, s), a.sequence_lens,
        line(a.initial_h, b.initial_h, s), line(a.initial_c, b.initial_c, s), line(a.P, b.P, s)};
}
template <class To>
textbook::gru_operands<To> line(
    textbook::gru_operands<double> const& a, textbook::gru_operands<double> const& b, To const& s)
{
    return {line(a.X, b.X, s), line(a.W, b.W, s), line(a.R, b.R, s), line(a.B, b.B, s), a.sequence_lens,
        line(a.initial_h, b.initial_h, s)};
}

textbook::array<double> derivatives_of(textbook::array<dual> const& from, std::size_t order)
{
    textbook::array<double> to{from.shape, {}};
    for (dual const& item : from.items)
        to.items.push_back(item.derivative(order));
    return to;
}

textbook::array<double> slope(
    textbook::array<double> const& after, textbook::array<double> const& before, double width)
{
    textbook::array<double> to{after.shape, {}};
    for (std::size_t i = 0; i < after.items.size(); ++i)
        to.items.push_back((after.items[i] - before.items[i]) / width);
    return to;
}

/// All operands move at once, each item in its own direction: values, and derivatives against the textbook's
/// differences.
template <class Family>
void check_derivatives(typename Family::options options, unsigned which = with_all)
{
    std::mt19937 random(3);
    options.direction = "bidirectional";
    recurrent_sizes const sizes{5, 2, 3, 4, 2};
    auto const at = Family::template draw<double>(random, sizes, which),
               towards = Family::template draw<double>(random, sizes, which);
    auto const found =
        Family::call(line(at, towards, boost::math::differentiation::make_fvar<double, 1>(0.0)), options);
    double const step = 1e-5;
    auto const before = Family::textbook(line(at, towards, -step), options),
               after = Family::textbook(line(at, towards, step), options);

    recurrent_arrays<double> const values{
        derivatives_of(found.Y, 0), derivatives_of(found.Y_h, 0), derivatives_of(found.Y_c, 0)};
    CHECK(difference(values, Family::textbook(at, options)) < 1e-13);
    recurrent_arrays<double> const slopes{slope(after.Y, before.Y, 2 * step),
        slope(after.Y_h, before.Y_h, 2 * step), slope(after.Y_c, before.Y_c, 2 * step)};
    recurrent_arrays<double> const derivatives{
        derivatives_of(found.Y, 1), derivatives_of(found.Y_h, 1), derivatives_of(found.Y_c, 1)};
    CHECK(difference(derivatives, slopes) < 1e-8);
    double largest = 0;
    for (double const each : derivatives.Y_h.items)
        largest = std::fmax(largest, std::fabs(each));
    CHECK(largest > 0.1);
}

} // namespace

TEST_CASE("derivatives go through lstm, gru and rnn")
{
    check_derivatives<lstm_family>({});
    check_derivatives<lstm_family>({}, with_B);
    check_derivatives<gru_family>({});
    check_derivatives<rnn_family>({});
}

TEST_CASE("derivatives go through clip, every other option, and other activations")
{
    textbook::lstm_options of_lstm;
    of_lstm.clip = 0.7;
    of_lstm.input_forget = true;
    of_lstm.activations = {{activation::hard_sigmoid, 0.2, 0.5}, {activation::softsign},
        {activation::softmax}, {activation::sigmoid}, {activation::elu, 1},
        {activation::scaled_tanh, 1.2, 0.8}};
    check_derivatives<lstm_family>(of_lstm);
    textbook::gru_options of_gru;
    of_gru.linear_before_reset = true;
    of_gru.activations = {{activation::softplus}, {activation::leaky_relu, 0.3}, {activation::sigmoid},
        {activation::affine, 0.5, 0.1}};
    check_derivatives<gru_family>(of_gru);
}

} // namespace recurrent_derivatives_test
