// AttnLSTM with scores of one's own.

#include <doctest/doctest.h>

#include <numeric>
#include <set>
#include <stdexcept>
#include <tuple>

#include <xloom/recurrent/attn_lstm_cell.hpp>

#include "support/attn_lstm_calls.hpp"

namespace attn_lstm_score_test {

using namespace xloom;

namespace {

/// Luong's: the product of key and query.
constexpr auto dot_product = [](auto const& step) {
    for (std::size_t m = 0; m < step.scores.size(); ++m) {
        auto const key = step.key(m);
        step.scores[m] = std::inner_product(step.query.begin(), step.query.end(), key.begin(), 0.0f);
    }
};

std::vector<double> textbook_dot_product(std::vector<std::vector<double>> const& keys,
    std::vector<double> const& query, std::vector<double> const&)
{
    std::vector<double> scores;
    for (std::vector<double> const& key : keys)
        scores.push_back(std::inner_product(query.begin(), query.end(), key.begin(), 0.0));
    return scores;
}

/// Bahdanau's, which also prefers what follows the step that it last weighted most.
struct onward {
    float weight;

    void operator()(attention_step<float> const& step) const
    {
        for (std::size_t m = 0; m < step.scores.size(); ++m) {
            float score = m == 0 ? 0 : weight * step.last_alignment[m - 1];
            for (std::size_t a = 0; a < step.query.size(); ++a)
                score += step.V[a] * std::tanh(step.keys[m * step.key_stride + a] + step.query[a]);
            step.scores[m] = score;
        }
    }
};

textbook::attn_lstm_options onward_options(textbook::attn_lstm_operands<float> const& in, double weight)
{
    textbook::attn_lstm_options options;
    options.score = [V = textbook::row_of(in.V, 0, in.V.shape[1]), weight](
                        auto const& keys, auto const& query, auto const& last) {
        std::vector<double> scores = textbook::bahdanau(V, keys, query);
        for (std::size_t m = 1; m < scores.size(); ++m)
            scores[m] += weight * last[m - 1];
        return scores;
    };
    return options;
}

} // namespace

TEST_CASE("attn_lstm with the dot product as its score")
{
    for (std::size_t const A : {0u, 1u, 5u, 8u, 17u})
        for (unsigned const which :
            {unsigned(with_all), with_all & ~unsigned(with_AW), unsigned(with_attention)}) {
            std::mt19937 random(static_cast<unsigned>(A));
            auto const in = random_attn_lstm<float>(random, {7, 5, 3, 9, 2}, {6, 4, A, 5}, which);
            textbook::attn_lstm_options options;
            options.direction = "bidirectional";
            options.score = textbook_dot_product;
            auto const expected = textbook_attn_lstm(in, options);
            CAPTURE(A);
            CHECK(difference(call_attn_lstm(in, options, dot_product), expected) < 4e-6);

            // The plain calls take it as well.
            attn_lstm_tensors<float> const tensors(in);
            attn_lstm_weights<float> const weights(tensors.constants(), options_of(options));
            auto const [Y, Y_h, Y_c] =
                attn_lstm(dot_product, tensors.X, tensors.inputs(), options_of(options));
            CHECK(difference(attn_lstm_arrays<float>{to_array(Y), to_array(Y_h), to_array(Y_c)}, expected) <
                  4e-6);
            auto const packed = attn_lstm(dot_product, tensors.X, weights, tensors.start());
            CHECK(packed.Y == Y);
            CHECK(packed.Y_h == Y_h);
            CHECK(packed.Y_c == Y_c);
        }
}

TEST_CASE("attn_lstm with a score that reads the last alignment")
{
    unsigned const without = with_all & ~unsigned(with_initial_alignment);
    for (unsigned const which : {unsigned(with_all), without}) {
        std::mt19937 random(3);
        auto const in = random_attn_lstm<float>(random, {7, 5, 3, 9}, {6, 4, 7, 5}, which);
        auto options = onward_options(in, 3);
        for (std::string const direction : {"forward", "reverse"}) {
            options.direction = direction;
            auto const expected = textbook_attn_lstm(in, options);
            CHECK(difference(call_attn_lstm(in, options, onward{3}), expected) < 4e-6);
            textbook::attn_lstm_options blind;
            blind.direction = direction;
            CHECK(difference(textbook_attn_lstm(in, blind), expected) > 0.01);
        }
    }
}

TEST_CASE("attn_lstm_cell with a score that reads the last alignment")
{
    std::mt19937 random(4);
    auto in =
        random_attn_lstm<float>(random, {1, 3, 3, 9}, {6, 4, 7, 5}, with_all & ~unsigned(with_sequence_lens));
    attn_lstm_tensors<float> const tensors(in);
    attn_lstm_cell<float, onward> cell(
        onward{3}, attn_lstm_weights<float>(tensors.constants()), tensors.M, tensors.memory_lengths());
    std::vector<float> y(in.initial_h.items.size());
    for (int step = 0; step < 4; ++step) {
        auto const expected = textbook_attn_lstm(in, onward_options(in, 3));
        cell(in.initial_h.items, in.initial_c.items, in.initial_attention.items, in.initial_alignment.items,
            in.X.items, y);
        CHECK(difference(in.initial_h, expected.Y_h) < 4e-6);
        CHECK(difference(in.initial_attention, expected.Y_attention) < 4e-6);
        CHECK(difference(in.initial_alignment, expected.Y_alignment) < 4e-6);
    }
}

TEST_CASE("a score is told the direction, the row, its keys, V and as many steps as the row has memory")
{
    std::mt19937 random(5);
    auto in = random_attn_lstm<float>(
        random, {2, 3, 2, 4, 2}, {6, 3, 5, 4}, with_all & ~unsigned(with_sequence_lens));
    in.memory_seq_lens = {6, 0, 4};
    std::set<std::pair<std::size_t, std::size_t>> seen;
    bool are_right = true;
    auto const watching = [&](attention_step<float> const& step) {
        seen.insert({step.d, step.n});
        std::size_t const length = step.n == 0 ? 6 : 4;
        are_right &= step.scores.size() == length && step.last_alignment.size() == length &&
                     step.query.size() == 5 && step.V.size() == 5;
        for (std::size_t a = 0; a < 5; ++a)
            are_right &= step.V[a] == in.V.items[5 * step.d + a];
        for (std::size_t m = 0; m < length; ++m)
            for (std::size_t a = 0; a < 5; ++a) {
                double key = 0;
                for (std::size_t e = 0; e < 3; ++e)
                    key += static_cast<double>(in.M.items[(step.n * 6 + m) * 3 + e]) *
                           static_cast<double>(in.MW.items[(step.d * 3 + e) * 5 + a]);
                are_right &= std::fabs(static_cast<double>(step.key(m)[a]) - key) < 1e-6;
            }
        dot_product(step);
    };
    call_attn_lstm(in, {.direction = "bidirectional"}, watching);
    CHECK(are_right);
    CHECK(seen == std::set<std::pair<std::size_t, std::size_t>>{{0, 0}, {0, 2}, {1, 0}, {1, 2}});
}

TEST_CASE("a score that leaves steps out by -infinity, or all of them but one")
{
    std::mt19937 random(6);
    auto const in = random_attn_lstm<float>(random, {3, 2, 2, 4}, {9, 3, 5, 4}, with_attention | with_AW);
    constexpr auto only_second = [](attention_step<float> const& step) {
        for (std::size_t m = 0; m < step.scores.size(); ++m)
            step.scores[m] = m == 1 ? -5.0f : -std::numeric_limits<float>::infinity();
    };
    auto const found = call_attn_lstm(in, {}, only_second);
    for (std::size_t i = 0; i < found.alignments.items.size(); ++i)
        CHECK(found.alignments.items[i] == (i % 9 == 1 ? 1.0f : 0.0f));
}

TEST_CASE("what a score throws passes through, and what was lent stays of use")
{
    std::mt19937 random(7);
    auto const in = random_attn_lstm<float>(random, {5, 3, 2, 4}, {6, 3, 5, 4}, with_attention);
    attn_lstm_tensors<float> const tensors(in);
    attn_lstm_weights<float> const weights(tensors.constants());
    auto const like = shapes_of_outputs(in);
    attn_lstm_places<float> places(like, placement::row_major, all_outputs);
    attention_workspace<float> workspace;
    int left = 7;
    auto const broken = [&left](attention_step<float> const& step) {
        if (--left == 0)
            throw std::runtime_error("no score");
        dot_product(step);
    };
    CHECK_THROWS_WITH_AS(
        attn_lstm_into(broken, tensors.X, weights, tensors.start(), places.outputs(), workspace), "no score",
        std::runtime_error);
    CHECK(left == 0);
    attn_lstm_into(dot_product, tensors.X, weights, tensors.start(), places.outputs(), workspace);
    CHECK(have_same_bits(places.arrays(), call_attn_lstm(tensors, weights, like, dot_product)));

    left = 2;
    CHECK_THROWS_WITH_AS(attn_lstm(broken, tensors.X, tensors.inputs()), "no score", std::runtime_error);

    // A cell's states are as they were.
    left = 2;
    attn_lstm_cell<float, decltype(broken)> cell(broken, weights, tensors.M);
    std::vector<float> const half(12, 0.5f);
    std::vector<float> h = half, c = half, attention(9, 0.5f), alignment(18, 0.5f), y = half;
    CHECK_THROWS_WITH_AS(
        cell(h, c, attention, alignment, std::vector<float>(6, 1.0f), y), "no score", std::runtime_error);
    CHECK((h == half && c == half && y == half));
    CHECK(attention == std::vector<float>(9, 0.5f));
    CHECK(alignment == std::vector<float>(18, 0.5f));
}

} // namespace attn_lstm_score_test
