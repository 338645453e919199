// LSTM, GRU and RNN on several threads: the bits of one.

#include <doctest/doctest.h>

#include <atomic>
#include <limits>
#include <type_traits>
#include <vector>

#include "support/gru_calls.hpp"
#include "support/lstm_calls.hpp"
#include "support/rnn_calls.hpp"
#include "support/threads.hpp"
#include "support/threads_or_backwards.hpp"

namespace recurrent_threads_test {

using namespace xloom;

namespace {

/// Same bits for any number of threads. Enough work for more than one: 2^18 multiply-adds of rows or 2^16 of
/// columns are worth a thread.
template <class Family>
void check_threads(recurrent_sizes const& sizes, std::string const& direction,
    std::vector<std::size_t> const& expected_parts)
{
    std::mt19937 random(1);
    typename Family::options options;
    options.direction = direction;
    // Small weights: with larger ones an RNN of this size multiplies each rounding, step by step.
    auto in = Family::template draw<float>(random, sizes, with_all, {.weights = 0.1});
    for (std::size_t n = 0; n < sizes.N; ++n) // NaN and infinity beyond the rows' ends, and NaN in a row
        for (auto t = static_cast<std::size_t>(in.sequence_lens[n]); t < sizes.T; ++t)
            in.X.items[(t * sizes.N + n) * sizes.I] =
                n % 2 == 0 ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
    if (sizes.N > 1) // a row with NaN says nothing about its other numbers
        in.initial_h.items[3] = std::numeric_limits<float>::quiet_NaN();

    typename Family::template weights<float> const weights(
        typename Family::template tensors<float>(in).constants(), Family::options_of(options));
    auto const expected = Family::template call<float>(in, weights);
    CHECK(difference(expected, Family::textbook(in, options)) < 1e-6);
    std::size_t i = 0;
    for (std::size_t const threads : {1u, 2u, 3u, 5u}) {
        std::atomic<std::size_t> parts = 1; // without a call of for_each
        CAPTURE(threads);
        for (bool const is_backwards : {false, true}) {
            auto const found = Family::template call<float>(
                in, weights, threads_or_backwards{threads, is_backwards, &parts});
            CHECK(have_same_bits(found, expected));
        }
        CHECK(parts == expected_parts[i++]);
    }
}

} // namespace

TEST_CASE_TEMPLATE("recurrent operators: rows and directions on any number of threads", Family, lstm_family,
    gru_family, rnn_family)
{
    // Rows are shared out evenly among the threads, each direction's on their own.
    std::size_t const gates = std::is_same_v<Family, lstm_family>  ? 4
                              : std::is_same_v<Family, gru_family> ? 3
                                                                   : 1;
    check_threads<Family>({40 / gates, 13, 33, 40, 1}, "forward", {1, 2, 3, 5});
    check_threads<Family>({40 / gates, 13, 33, 40, 1}, "reverse", {1, 2, 3, 5});
    check_threads<Family>({40 / gates, 13, 17, 33, 2}, "bidirectional", {2, 2, 4, 6});
}

TEST_CASE("recurrent operators: no more groups than rows, and one where there is little to do")
{
    check_threads<lstm_family>({100, 1, 9, 33, 1}, "forward", {1, 1, 1, 1});
    check_threads<lstm_family>({100, 2, 9, 33, 1}, "forward", {1, 2, 2, 2});
    check_threads<lstm_family>({100, 1, 9, 33, 2}, "bidirectional", {2, 2, 2, 2});
    check_threads<lstm_family>({3, 13, 2, 5, 1}, "forward", {1, 1, 1, 1});
}

TEST_CASE("recurrent operators: the columns of one row's products on any number of threads")
{
    // As many as there are shares of R.
    check_threads<lstm_family>({3, 1, 150, 200, 1}, "forward", {1, 2, 2, 2});
    check_threads<lstm_family>({3, 1, 150, 230, 1}, "forward", {1, 2, 3, 3});
    check_threads<gru_family>({4, 1, 150, 260, 1}, "reverse", {1, 2, 2, 2});
    check_threads<rnn_family>({6, 1, 150, 400, 1}, "forward", {1, 2, 2, 2});
    // Where it is small, those of W alone.
    check_threads<gru_family>({40, 1, 600, 170, 1}, "forward", {1, 2, 3, 5});
    check_threads<lstm_family>({3, 1, 150, 200, 2}, "bidirectional", {2, 2, 2, 2});
}

TEST_CASE("recurrent operators: calls that share packed weights, each on a thread of its own")
{
    std::mt19937 random(2);
    std::vector<textbook::lstm_operands<float>> in(8, random_lstm<float>(random, {10, 13, 33, 40, 1}));
    lstm_weights<float> const weights(lstm_tensors<float>(in.front()).constants());
    std::vector<recurrent_arrays<float>> expected, found(in.size());
    for (textbook::lstm_operands<float>& each : in) {
        each.X = random_array<float>(random, each.X.shape, 1);
        expected.push_back(lstm_family::call<float>(each, weights));
    }
    threads_policy(3).for_each(
        in.size(), [&](std::size_t i) { found[i] = lstm_family::call<float>(in[i], weights); });
    for (std::size_t i = 0; i < in.size(); ++i)
        CHECK(have_same_bits(found[i], expected[i]));
}

// As users write it.
TEST_CASE("lstm_into with a policy and a workspace for it")
{
    std::mt19937 random(3);
    auto const in = random_lstm<float>(random, {10, 13, 33, 40, 1});
    lstm_tensors<float> const tensors(in);
    lstm_weights<float> const weights(tensors.constants());
    threads_policy const threads(2);
    auto const [Y, Y_h, Y_c] = lstm(tensors.X, weights, tensors.start());
    auto workspace = recurrent_workspace(weights, {10, 13}, threads);
    std::size_t const bytes = workspace.bytes();
    xt::xtensor<float, 4> into = xt::zeros<float>({10, 1, 13, 40});
    lstm_into(tensors.X, weights, tensors.start(), {.Y = into}, workspace, threads);
    CHECK(into == Y);
    CHECK(workspace.bytes() == bytes);
}

TEST_CASE_TEMPLATE("recurrent operators: a policy of no threads does all the work", Family, lstm_family,
    gru_family, rnn_family)
{
    std::mt19937 random(2);
    auto const in = Family::template draw<float>(random, {3, 4, 5, 6, 1}, with_all, {.weights = 0.1});
    typename Family::template weights<float> const weights(
        typename Family::template tensors<float>(in).constants());
    CHECK(have_same_bits(Family::template call<float>(in, weights, threads_or_backwards{0, true}),
        Family::template call<float>(in, weights)));
}

} // namespace recurrent_threads_test
