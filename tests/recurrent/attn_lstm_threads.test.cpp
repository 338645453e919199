// AttnLSTM on several threads: the bits of one.

#include <doctest/doctest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>

#include "support/attn_lstm_calls.hpp"
#include "support/threads.hpp"
#include "support/threads_or_backwards.hpp"

namespace attn_lstm_threads_test {

using namespace xloom;

namespace {

constexpr std::size_t thread_counts[] = {2, 5};

/// Work for more than five threads, also where rows are not filled up to vectors.
textbook::attn_lstm_operands<float> large_operands(std::size_t D, unsigned which = with_all)
{
    std::mt19937 random(static_cast<unsigned>(D));
    return random_attn_lstm<float>(random, {60, 13, 9, 17, D}, {11, 7, 9, 5}, which);
}

constexpr auto dot_product = [](attention_step<float> const& step) {
    for (std::size_t m = 0; m < step.scores.size(); ++m)
        step.scores[m] = std::inner_product(step.query.begin(), step.query.end(), step.key(m).begin(), 0.0f);
};

} // namespace

TEST_CASE("attn_lstm gives the same bits on any number of threads, in any order")
{
    for (std::string const& direction : direction_names)
        for (unsigned const which : {unsigned(with_all), unsigned(with_attention)}) {
            std::size_t const D = direction == "bidirectional" ? 2 : 1;
            auto const in = large_operands(D, which);
            textbook::attn_lstm_options options;
            options.direction = direction;
            auto const expected = call_attn_lstm(in, options);
            for (std::size_t const threads : thread_counts)
                for (bool const is_backwards : {false, true}) {
                    std::atomic<std::size_t> parts = 1; // without a call of for_each
                    CAPTURE(D);
                    CAPTURE(threads);
                    CHECK(have_same_bits(call_attn_lstm(in, options, bahdanau(),
                                             threads_or_backwards{threads, is_backwards, &parts}),
                        expected));
                    CHECK(parts == (threads + D - 1) / D * D);
                }
        }
}

TEST_CASE("attn_lstm: the columns of one row's products on any number of threads")
{
    std::mt19937 random(4);
    auto const in = random_attn_lstm<float>(random, {6, 1, 9, 200, 1}, {11, 150, 140, 180}, with_attention);
    auto const expected = call_attn_lstm(in);
    for (std::size_t const threads : thread_counts)
        for (bool const is_backwards : {false, true}) {
            std::atomic<std::size_t> parts = 1;
            CAPTURE(threads);
            CHECK(have_same_bits(
                call_attn_lstm(in, {}, bahdanau(), threads_or_backwards{threads, is_backwards, &parts}),
                expected));
            // 2^17 multiply-adds of R are worth two threads.
            CHECK(parts == std::min<std::size_t>(threads, 2));
        }
}

TEST_CASE("attn_lstm: the plain calls take a policy, too")
{
    auto const in = large_operands(2);
    attn_lstm_tensors<float> const tensors(in);
    attn_lstm_options const options{.direction = direction::bidirectional};
    attn_lstm_weights<float> const weights(tensors.constants(), options);
    auto const expected = attn_lstm(tensors.X, weights, tensors.start());
    auto const check = [&expected](attn_lstm_result<float> const& found) {
        CHECK(have_same_bits(to_array(found.Y), to_array(expected.Y)));
        CHECK(have_same_bits(to_array(found.Y_h), to_array(expected.Y_h)));
        CHECK(have_same_bits(to_array(found.Y_c), to_array(expected.Y_c)));
    };
    threads_policy const three(3);
    check(attn_lstm(tensors.X, tensors.inputs(), options, three));
    check(attn_lstm(bahdanau(), tensors.X, tensors.inputs(), options, three));
    check(attn_lstm(tensors.X, weights, tensors.start(), three));
    check(attn_lstm(bahdanau(), tensors.X, weights, tensors.start(), three));
}

TEST_CASE("a score is called by several threads at once, once for each row and step that has memory")
{
    auto const in = large_operands(2);
    textbook::attn_lstm_options options;
    options.direction = "bidirectional";
    auto const expected = call_attn_lstm(in, options, dot_product);
    std::size_t steps = 0;
    for (std::size_t n = 0; n < 13; ++n)
        if (in.memory_seq_lens[n] != 0)
            steps += 2 * static_cast<std::size_t>(in.sequence_lens[n]);
    for (std::size_t const threads : thread_counts) {
        std::atomic<std::size_t> calls = 0;
        auto const counted = [&calls](attention_step<float> const& step) {
            ++calls;
            dot_product(step);
        };
        CHECK(have_same_bits(call_attn_lstm(in, options, counted, threads_policy(threads)), expected));
        CHECK(calls == steps);
    }
}

TEST_CASE("what a score throws on a thread comes out of the call, and the next call is right")
{
    auto const in = large_operands(1);
    attn_lstm_tensors<float> const tensors(in);
    attn_lstm_weights<float> const weights(tensors.constants());
    auto const like = shapes_of_outputs(in);
    attn_lstm_places<float> places(like, placement::row_major, all_outputs);
    attention_workspace<float> workspace;
    std::atomic<int> left = 50;
    auto const broken = [&left](attention_step<float> const& step) {
        if (--left == 0)
            throw std::runtime_error("no score");
        dot_product(step);
    };
    threads_policy const three(3);
    CHECK_THROWS_WITH_AS(
        attn_lstm_into(broken, tensors.X, weights, tensors.start(), places.outputs(), workspace, three),
        "no score", std::runtime_error);
    attn_lstm_into(dot_product, tensors.X, weights, tensors.start(), places.outputs(), workspace, three);
    CHECK(have_same_bits(places.arrays(), call_attn_lstm(tensors, weights, like, dot_product)));
}

TEST_CASE("a workspace made for several threads serves them")
{
    auto const in = large_operands(2);
    attn_lstm_tensors<float> const tensors(in);
    attn_lstm_weights<float> const weights(tensors.constants(), {.direction = direction::bidirectional});
    auto const like = shapes_of_outputs(in);
    for (std::size_t const threads : thread_counts) {
        threads_policy const policy(threads);
        auto workspace = attention_workspace(bahdanau(), weights, {60, 13, 11}, policy);
        std::size_t const bytes = workspace.bytes();
        attn_lstm_places<float> places(like, placement::row_major, all_outputs);
        attn_lstm_into(bahdanau(), tensors.X, weights, tensors.start(), places.outputs(), policy, workspace);
        CHECK(workspace.bytes() == bytes);
        CHECK(have_same_bits(places.arrays(), call_attn_lstm(tensors, weights, like)));
    }
}

TEST_CASE("no attention units, on several threads")
{
    std::mt19937 random(23);
    auto const in = random_attn_lstm<float>(random, {3, 1, 2, 5}, {7, 4, 0, 3}, with_all, {.shortest = 2});
    attn_lstm_tensors<float> const tensors(in);
    attn_lstm_weights<float> const weights(tensors.constants());
    auto const like = shapes_of_outputs(in);
    attn_lstm_places<float> places(like, placement::row_major, all_outputs);
    attn_lstm_into(bahdanau(), tensors.X, weights, tensors.start(), places.outputs(), threads_policy(2));
    CHECK(have_same_bits(places.arrays(), call_attn_lstm(tensors, weights, like)));
}

} // namespace attn_lstm_threads_test
