// What LSTM, GRU and RNN, and in part AttnLSTM, have in common, against the textbook in float64.

#include <doctest/doctest.h>

#include <algorithm>

#include "support/attn_lstm_calls.hpp"
#include "support/gru_calls.hpp"
#include "support/lstm_calls.hpp"
#include "support/recurrent_cases.hpp"
#include "support/rnn_calls.hpp"

namespace recurrent_family_test {

using namespace xloom;

TEST_CASE_TEMPLATE(
    "recurrent operators equal the textbook: any sizes, operands, layout, memory and direction", Family,
    lstm_family, gru_family, rnn_family)
{
    auto const set = [](textbook::recurrent_options& options, recurrent_sizes& sizes, std::mt19937& random) {
        Family::set_own(options, random() % 2 == 0);
        keep_activations(options, sizes, random);
    };
    for (unsigned seed = 0; seed < 150; ++seed)
        check_any_call<Family, float>(seed, set);
}

TEST_CASE_TEMPLATE("recurrent operators equal the textbook with any activations", Family, lstm_family,
    gru_family, rnn_family)
{
    auto const set = [](textbook::recurrent_options& options, recurrent_sizes& sizes, std::mt19937& random) {
        Family::set_own(options, random() % 2 == 0);
        draw_activations<Family>(options, sizes, random);
    };
    for (unsigned seed = 0; seed < 150; ++seed)
        check_any_call<Family, double>(seed, set);
}

TEST_CASE_TEMPLATE("recurrent operators: each activation in each place, the others as they are by default",
    Family, lstm_family, gru_family, rnn_family, attn_lstm_family)
{
    std::mt19937 random(5);
    for (std::size_t place = 0; place < 2 * Family::activations; ++place)
        for (std::size_t kind = 0; kind < activation_count; ++kind) {
            typename Family::options options;
            options.direction = "bidirectional";
            for (std::size_t d = 0; d < 2; ++d)
                for (activation const each : Family::default_activations)
                    options.activations.push_back({each});
            options.activations[place] = {static_cast<activation>(kind), 0.3, 0.2};
            CAPTURE(place);
            CAPTURE(kind);
            for (unsigned const which : {unsigned(with_none), unsigned(with_all)})
                check_call<Family, double>(random, {4, 3, 2, 5, 2}, which, options);
        }
}

TEST_CASE_TEMPLATE("recurrent operators: an option alone", Family, lstm_family, gru_family, rnn_family)
{
    std::mt19937 random(8);
    typename Family::options own, clipped;
    Family::set_own(own, true);
    clipped.clip = 0.25;
    check_call<Family, double>(random, {4, 3, 2, 5}, with_none, own);
    check_call<Family, double>(random, {4, 3, 2, 5}, with_none, clipped);
}

TEST_CASE_TEMPLATE("recurrent operators: one call with all operands, and with each sum of the optional ones",
    Family, lstm_family, gru_family, rnn_family)
{
    for (unsigned which = 0; which < 32; ++which)
        for (std::string const& direction : direction_names) {
            std::mt19937 random(which);
            CAPTURE(which);
            CAPTURE(direction);
            check_call<Family, float>(random, {5, 3, 2, 5, direction == "bidirectional" ? 2u : 1u}, which,
                {.direction = direction});
        }
}

// Batches that are cut into chunks of several steps, and batches of more rows than a chunk has.
TEST_CASE_TEMPLATE("recurrent operators: many steps together, or one step of many rows", Family, lstm_family,
    gru_family, rnn_family, attn_lstm_family)
{
    using batch = xloom::batch_sizes;
    for (batch const& each :
        {batch{97, 1}, {96, 1}, {193, 1}, {40, 7}, {20, 13}, {3, 48}, {5, 49}, {2, 96}, {3, 97}, {2, 130}})
        for (unsigned const which : {unsigned(with_none), unsigned(with_all)}) {
            std::mt19937 random(static_cast<unsigned>(each.T));
            CAPTURE(each.T);
            CAPTURE(each.N);
            check_call<Family, float>(
                random, {each.T, each.N, 2, 3, 2}, which, {.direction = "bidirectional"});
        }
}

// One row of few units has an engine of its own: in any memory, layout and direction, with its length and its
// initial states given or omitted.
TEST_CASE_TEMPLATE("recurrent operators: one row of few units", Family, lstm_family, gru_family, rnn_family)
{
    check_one_row<Family, float>();
    check_one_row<Family, double>();
}

TEST_CASE_TEMPLATE(
    "recurrent operators: clip limits the gates' sums, not c", Family, lstm_family, gru_family, rnn_family)
{
    std::mt19937 random(6);
    auto const in = Family::template draw<float>(random, {6, 2, 3, 5}, with_all, {.weights = 3, .inputs = 5});
    for (bool const own : {false, true})
        for (double const clip : {0.25, 1.0, 1e30}) {
            textbook::recurrent_options options;
            options.clip = clip;
            Family::set_own(options, own);
            auto const expected = Family::textbook(in, options);
            CHECK(difference(Family::call(in, options), expected) < 1e-5);
            if (Family::has_c && clip == 0.25)
                CHECK(*std::max_element(expected.Y_c.items.begin(), expected.Y_c.items.end()) > 0.3);
        }
}

namespace {

template <class Family, class Integer>
void check_lengths_of(typename Family::template operands<float> const& in)
{
    typename Family::template tensors<float> const tensors(in);
    xt::xtensor<Integer, 1> lengths = xt::zeros<Integer>({in.sequence_lens.size()});
    for (std::size_t n = 0; n < lengths.size(); ++n)
        lengths(n) = static_cast<Integer>(in.sequence_lens[n]);
    auto inputs = tensors.inputs();
    inputs.sequence_lens = lengths;
    CHECK(difference(to_array(Family::run(tensors.X, inputs).Y), Family::textbook(in, {}).Y) < 4e-6);
}

} // namespace

TEST_CASE_TEMPLATE(
    "recurrent operators: lengths of any integer type", Family, lstm_family, gru_family, rnn_family)
{
    std::mt19937 random(8);
    auto const in = Family::template draw<float>(random, {9, 5, 3, 5});
    check_lengths_of<Family, std::int32_t>(in);
    check_lengths_of<Family, std::int64_t>(in);
    check_lengths_of<Family, std::uint8_t>(in);
    check_lengths_of<Family, std::uint64_t>(in);
}

TEST_CASE_TEMPLATE(
    "recurrent operators: a row of length 0 keeps its states, and no rows at all give empty tensors", Family,
    lstm_family, gru_family, rnn_family)
{
    std::mt19937 random(10);
    auto in = Family::template draw<float>(random, {3, 2, 2, 5, 2});
    in.sequence_lens = {0, 3};
    auto const result = Family::call(in, {.direction = "bidirectional"});
    for (std::size_t d = 0; d < 2; ++d)
        for (std::size_t j = 0; j < 5; ++j) {
            CHECK(result.Y_h.items[10 * d + j] == in.initial_h.items[10 * d + j]);
            if constexpr (Family::has_c)
                CHECK(result.Y_c.items[10 * d + j] == in.initial_c.items[10 * d + j]);
            for (std::size_t t = 0; t < 3; ++t)
                CHECK(result.Y.items[20 * t + 10 * d + j] == 0);
        }

    auto const empty = Family::call(Family::template draw<float>(random, {3, 0, 2, 5}), {});
    CHECK(empty.Y.shape == textbook::dims{3, 1, 0, 5});
    CHECK(empty.Y_h.shape == textbook::dims{1, 0, 5});
    auto const still = Family::template draw<float>(random, {0, 2, 2, 5}, with_initial_h | with_initial_c);
    auto const states = Family::call(still, {});
    CHECK(states.Y.shape == textbook::dims{0, 1, 2, 5});
    CHECK(states.Y_h.items == still.initial_h.items);
    if constexpr (Family::has_c)
        CHECK(states.Y_c.items == still.initial_c.items);
}

} // namespace recurrent_family_test
