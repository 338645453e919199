// Second derivatives: the backward passes of the recurrent operators on scalars that carry derivatives.

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "support/attn_lstm_vjp_calls.hpp"
#include "support/lstm_vjp_calls.hpp"
#include "support/single_state_vjp_calls.hpp"

namespace second_derivatives_test {

using xloom::activation;

namespace {

/// Operands a + s * b, where s is the variable that derivatives are taken by.
template <class Family, class T>
typename Family::template operands<T> line(typename Family::template operands<double> const& a,
    typename Family::template operands<double> const& b, T const& s)
{
    auto at = converted_operands<Family, T, double>(a);
    for (std::size_t i = 0; i < Family::parts(at).size(); ++i)
        for (std::size_t k = 0; k < Family::parts(at)[i]->items.size(); ++k)
            Family::parts(at)[i]->items[k] += s * Family::parts(b)[i]->items[k];
    return at;
}

/// All operands move at once, each item in its own direction. The gradients must have the values of those of
/// double, which tests of their own compare with derivatives of the textbook, and as slopes their
/// differences.
template <class Family, class Cotangents, class DualCotangents>
void check_slopes(typename Family::template operands<double> const& at,
    typename Family::template operands<double> const& towards, typename Family::options const& options,
    Cotangents const& ct, DualCotangents const& dual_ct)
{
    auto const s = boost::math::differentiation::make_fvar<double, 1>(0.0);
    auto const found = Family::template vjp<dual>(line<Family, dual>(at, towards, s), options, dual_ct);
    auto const value = Family::template vjp<double>(at, options, ct);
    double const step = 1e-5;
    auto const after = Family::template vjp<double>(line<Family>(at, towards, step), options, ct);
    auto const before = Family::template vjp<double>(line<Family>(at, towards, -step), options, ct);
    double largest = 0;
    for (std::size_t i = 0; i < Family::parts(value).size(); ++i) {
        CAPTURE(i);
        REQUIRE(Family::parts(found)[i]->items.size() == Family::parts(value)[i]->items.size());
        for (std::size_t k = 0; k < Family::parts(value)[i]->items.size(); ++k) {
            CAPTURE(k);
            dual const& item = Family::parts(found)[i]->items[k];
            double const exact = Family::parts(value)[i]->items[k];
            CHECK(std::fabs(item.derivative(0) - exact) <= 1e-12 * (1 + std::fabs(exact)));
            double const slope =
                (Family::parts(after)[i]->items[k] - Family::parts(before)[i]->items[k]) / (2 * step);
            CHECK(std::fabs(item.derivative(1) - slope) <= 1e-7 * (1 + std::fabs(slope)));
            largest = std::fmax(largest, std::fabs(slope));
        }
    }
    CHECK(largest > 0.1);
}

template <class Family>
void check_second_derivatives(typename Family::options options)
{
    std::mt19937 random(3);
    options.direction = "bidirectional";
    recurrent_sizes const sizes{5, 2, 3, 4, 2};
    auto const at = Family::template draw<double>(random, sizes, with_all),
               towards = Family::template draw<double>(random, sizes, with_all);
    auto const ct = random_cotangents<double>(random, Family::template textbook<double>(at, options));
    check_slopes<Family>(at, towards, options, ct,
        recurrent_arrays<dual>{
            converted_array<dual>(ct.Y), converted_array<dual>(ct.Y_h), converted_array<dual>(ct.Y_c)});
}

} // namespace

TEST_CASE("second derivatives: lstm_vjp_into, gru_vjp_into and rnn_vjp_into of a user's scalars")
{
    textbook::lstm_options of_lstm;
    of_lstm.clip = 0.7;
    of_lstm.activations = {{activation::hard_sigmoid, 0.2, 0.5}, {activation::softsign},
        {activation::softmax}, {activation::sigmoid}, {activation::elu, 1},
        {activation::scaled_tanh, 1.2, 0.8}};
    check_second_derivatives<lstm_vjp_family>({});
    check_second_derivatives<lstm_vjp_family>(of_lstm);
    check_second_derivatives<gru_vjp_family>({});
    check_second_derivatives<gru_vjp_family>({.linear_before_reset = true});
    check_second_derivatives<rnn_vjp_family>({});
}

TEST_CASE("second derivatives: attn_lstm_vjp_into of a user's scalars")
{
    std::mt19937 random(5);
    textbook::attn_lstm_options options;
    options.direction = "bidirectional";
    attention_sizes const attention{5, 4, 3, 6};
    recurrent_sizes const sizes{4, 2, 3, 4, 2};
    auto const at = random_attn_lstm<double>(random, sizes, attention),
               towards = random_attn_lstm<double>(random, sizes, attention);
    auto const ct = random_attn_lstm_cotangents(random, at);
    attn_lstm_arrays<dual> dual_ct;
    for (std::size_t i = 0; i < ct.each().size(); ++i)
        *dual_ct.each()[i] = converted_array<dual>(*ct.each()[i]);
    check_slopes<attn_lstm_vjp_family>(at, towards, options, ct, dual_ct);
}

} // namespace second_derivatives_test
