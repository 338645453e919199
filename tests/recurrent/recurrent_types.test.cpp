// LSTM, GRU and RNN on storage floats.

#include <doctest/doctest.h>

#include <cmath>

#include <xloom/recurrent/lstm.hpp>
#include <xloom/recurrent/lstm_cell.hpp>

#include "support/gru_calls.hpp"
#include "support/lstm_calls.hpp"
#include "support/rnn_calls.hpp"

namespace recurrent_types_test {

using namespace xloom;

namespace {

template <class To, class From>
textbook::array<To> converted(textbook::array<From> const& from)
{
    textbook::array<To> to{from.shape, {}};
    for (From const& item : from.items)
        to.items.push_back(static_cast<To>(item));
    return to;
}

/// The operands as another type.
template <class To, class From>
textbook::lstm_operands<To> converted(textbook::lstm_operands<From> const& in)
{
    return {converted<To>(in.X), converted<To>(in.W), converted<To>(in.R), converted<To>(in.B),
        in.sequence_lens, converted<To>(in.initial_h), converted<To>(in.initial_c), converted<To>(in.P)};
}
template <class To, class From>
textbook::gru_operands<To> converted(textbook::gru_operands<From> const& in)
{
    return {converted<To>(in.X), converted<To>(in.W), converted<To>(in.R), converted<To>(in.B),
        in.sequence_lens, converted<To>(in.initial_h)};
}

/// 20 steps of storage floats: float's result, rounded once; so half a unit in the last place from the
/// textbook's, and a little.
template <class Family, class T>
void check_storage_float(double half_unit, unsigned which = with_all)
{
    std::mt19937 random(1);
    typename Family::options options;
    options.direction = "bidirectional";
    auto const in = Family::template draw<T>(random, {20, 3, 4, 9, 2}, which);
    auto const found = Family::call(in, options);
    auto const floats = Family::call(converted<float>(in), options);
    CHECK(
        have_same_bits(found, {converted<T>(floats.Y), converted<T>(floats.Y_h), converted<T>(floats.Y_c)}));
    double const error = difference(found, Family::textbook(in, options));
    CHECK(error <= half_unit + 4e-6);
    CHECK(error > half_unit / 10);
}

} // namespace

TEST_CASE("float16 and bfloat16 are computed as floats, and rounded in the results alone")
{
    double const half = std::ldexp(1, -11), brain = std::ldexp(1, -8);
    check_storage_float<lstm_family, float16>(half);
    check_storage_float<lstm_family, bfloat16>(brain);
    check_storage_float<lstm_family, float16>(half, with_B);
    check_storage_float<gru_family, float16>(half);
    check_storage_float<rnn_family, bfloat16>(brain);
}

TEST_CASE("lstm_cell on float16: one step, rounded at its end")
{
    std::mt19937 random(2);
    auto const in = random_lstm<float16>(random, {1, 2, 4, 9}, with_all);
    lstm_cell<float16> cell(lstm_weights<float16>(lstm_tensors<float16>(in).constants()), 2);
    auto h = in.initial_h, c = in.initial_c;
    cell(h.items, c.items, in.X.items);
    auto plain = in;
    plain.sequence_lens = {};
    auto const expected = textbook::lstm(plain);
    CHECK(difference(h, expected.Y_h) < std::ldexp(1, -11) + 4e-6);
    CHECK(difference(c, expected.Y_c) < std::ldexp(1, -11) + 4e-6);
}

} // namespace recurrent_types_test
