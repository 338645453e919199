// What is moved from can be used: weights and matrices as before, a cell as one without rows.

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include <xloom/recurrent/attn_lstm_cell.hpp>
#include <xloom/recurrent/gru.hpp>
#include <xloom/recurrent/lstm.hpp>
#include <xloom/recurrent/lstm_cell.hpp>
#include <xloom/recurrent/packed_matrix.hpp>
#include <xloom/recurrent/rnn.hpp>

#include "support/threads.hpp"

namespace moved_from_test {

using namespace xloom;

namespace {

using matrices = xt::xtensor<float, 3>;

matrices const X = 0.5f * xt::ones<float>({3, 2, 3});

/// W and R for this number of gates of two units, and what attention needs.
struct constants {
    matrices W, R, QW = 0.5f * xt::ones<float>({1, 2, 2}), MW = 0.5f * xt::ones<float>({1, 2, 2}),
                   M = xt::ones<float>({2, 3, 2});
    xt::xtensor<float, 2> V = xt::ones<float>({1, 2});

    explicit constants(std::size_t gates, std::size_t width = 3)
        : W(0.25f * xt::ones<float>({std::size_t{1}, 2 * gates, width})),
          R(0.5f * xt::ones<float>({std::size_t{1}, 2 * gates, std::size_t{2}}))
    {}
};

/// Moves `object` away, and lets go of what it was moved to.
template <class Object>
void move_away(Object& object)
{
    static_assert(std::is_nothrow_move_constructible_v<Object>);
    auto const other = std::make_unique<Object>(std::move(object));
}

/// call(weights) gives the same after they are moved from.
template <class Weights, class Call>
void check_weights_stay(Weights weights, Call const& call)
{
    auto const expected = call(weights);
    move_away(weights);
    CHECK(call(weights) == expected);
    auto other = weights;
    other = std::move(weights);
    CHECK(call(weights) == expected);
    CHECK(call(other) == expected);
}

} // namespace

TEST_CASE("packed weights and matrices that are moved from are what they were")
{
    constants const of_lstm(4), of_gru(3), of_rnn(1), of_attn(4, 5);
    check_weights_stay(
        lstm_weights<float>({of_lstm.W, of_lstm.R}), [](auto const& weights) { return lstm(X, weights).Y; });
    check_weights_stay(
        gru_weights<float>({of_gru.W, of_gru.R}), [](auto const& weights) { return gru(X, weights).Y; });
    check_weights_stay(
        rnn_weights<float>({of_rnn.W, of_rnn.R}), [](auto const& weights) { return rnn(X, weights).Y; });
    check_weights_stay(
        attn_lstm_weights<float>(
            {.W = of_attn.W, .R = of_attn.R, .QW = of_attn.QW, .MW = of_attn.MW, .V = of_attn.V}),
        [&](auto const& weights) { return attn_lstm(X, weights, {.M = of_attn.M}).Y; });
    xt::xtensor<float, 2> const B{{1, 2, 3}, {4, 5, 6}};
    check_weights_stay(packed_matrix<float>(B), [](auto const& matrix) {
        std::vector<float> const A{1, 1};
        std::vector<float> C(3);
        matrix(1, A.data(), 2, C.data(), 3);
        return C;
    });
}

TEST_CASE("a policy that is moved from has its threads still")
{
    threads_policy policy(2);
    move_away(policy);
    std::atomic<std::size_t> sum = 0;
    policy.for_each(10, [&](std::size_t part) { sum += part; });
    CHECK(sum == 45);
}

TEST_CASE("a cell that is moved from has no rows, until it is assigned to")
{
    constants const all(4);
    lstm_cell<float> cell(lstm_weights<float>({all.W, all.R}), 2);
    std::vector<float> h(4), c(4), x(6, 0.5f), none;
    lstm_cell<float> other = cell;
    other(h, c, x);
    std::vector<float> const expected = h;

    move_away(cell);
    CHECK_THROWS_WITH_AS(cell(h, c, x),
        "xloom::lstm_cell: the operands of a step must have the sizes that the cell was made for, but h has "
        "4 items instead of N H = 0, c "
        "has 4 items instead of N H = 0 and x_t has 6 items instead of N I = 0. Resize it.",
        shape_error);
    cell(none, none, none, none);
    CHECK(h == expected);

    cell = std::move(other);
    CHECK_THROWS_AS(other(h, c, x), shape_error);
    lstm_cell<float>& same = cell;
    cell = same;
    h = {0, 0, 0, 0}, c = h;
    cell(h, c, x);
    CHECK(h == expected);
    cell = std::move(same);
    CHECK_THROWS_AS(cell(h, c, x), shape_error);
}

TEST_CASE("an attn_lstm_cell that is moved from has no rows, until it is assigned to or given a memory")
{
    constants const all(4, 5);
    attn_lstm_weights<float> const weights({.W = all.W, .R = all.R, .QW = all.QW, .MW = all.MW, .V = all.V});
    attn_lstm_cell<float> cell(weights, all.M);
    std::vector<float> h(4), c(4), attention(4), alignment(6), x(6, 0.5f), y(4), none;
    cell(h, c, attention, alignment, x, y);
    std::vector<float> const expected = h, zeros(4);

    move_away(cell);
    CHECK(cell.batch_size() == 0);
    CHECK_THROWS_WITH_AS(cell(h, c, attention, x),
        "xloom::attn_lstm_cell: the operands of a step must have the sizes that the cell was made for, but h "
        "has 4 items instead of N H = "
        "0, c has 4 items instead of N H = 0, attention has 4 items instead of N C = 0 and x_t has 6 items "
        "instead of N I = 0. Resize it.",
        shape_error);
    cell(none, none, none, none, none, none);
    CHECK(h == expected);

    cell.set_memory(all.M);
    h = c = attention = zeros;
    cell(h, c, attention, x);
    CHECK(h == expected);
    attn_lstm_cell<float> other(weights, all.M);
    other = std::move(cell);
    h = c = attention = zeros;
    other(h, c, attention, x);
    CHECK(h == expected);
    CHECK_THROWS_AS(cell(h, c, attention, x), shape_error);

    auto const score = [k = 1.0f](attention_step<float> const& step) {
        std::fill(step.scores.begin(), step.scores.end(), k);
    };
    using scored = attn_lstm_cell<float, decltype(score)>;
    static_assert(std::is_copy_constructible_v<scored> && !std::is_copy_assignable_v<scored> &&
                  !std::is_move_assignable_v<scored>);
}

} // namespace moved_from_test
