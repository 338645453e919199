// The recurrent operators allocate nothing in a workspace that is large enough, nor does a cell's step.

#include <doctest/doctest.h>

#include <xloom/detail/core/aligned_vector.hpp>
#include <xloom/gradients/attn_lstm_vjp.hpp>
#include <xloom/gradients/causal_conv_vjp.hpp>
#include <xloom/gradients/linear_attention_vjp.hpp>
#include <xloom/gradients/lstm_vjp.hpp>
#include <xloom/gradients/selective_scan_vjp.hpp>
#include <xloom/recurrent/causal_conv.hpp>
#include <xloom/recurrent/gru.hpp>
#include <xloom/recurrent/lstm.hpp>
#include <xloom/recurrent/lstm_cell.hpp>
#include <xloom/recurrent/packed_matrix.hpp>
#include <xloom/recurrent/rnn.hpp>
#include <xloom/recurrent/stack.hpp>

#include "check_assignment.hpp"
#include "counting_new.hpp"

namespace allocation_recurrent_test {

using namespace xloom;

namespace {

using matrices = xt::xtensor<float, 3>;

/// Weights for I = 3, and H units; both directions.
struct constants {
    matrices W, R;
    xt::xtensor<float, 2> B;

    constants(std::size_t gates, std::size_t H)
        : W(0.25f * xt::ones<float>({std::size_t{2}, gates * H, std::size_t{3}})),
          R(0.125f * xt::ones<float>({std::size_t{2}, gates * H, H})),
          B(0.5f * xt::ones<float>({std::size_t{2}, 2 * gates * H}))
    {}
};

/// A call with T steps of N rows, of which one ends early.
struct call_memory {
    matrices X, state, Y_h, Y_c;
    xt::xtensor<float, 4> Y;
    xt::xtensor<std::int32_t, 1> lengths;

    call_memory(std::size_t T, std::size_t N, std::size_t H)
        : X(xt::ones<float>({T, N, std::size_t{3}})),
          state(xt::ones<float>({std::size_t{2}, N, H})),
          Y_h(state),
          Y_c(state),
          Y(xt::ones<float>({T, std::size_t{2}, N, H})),
          lengths(static_cast<std::int32_t>(T) * xt::ones<std::int32_t>({N}))
    {
        if (N > 1)
            lengths(N / 2) = static_cast<std::int32_t>(T / 2);
    }
};

/// Runs call(memory) for batches no larger than T and N, and counts what they allocate.
template <class Call>
void check_smaller_batches(std::size_t T, std::size_t N, std::size_t H, Call const& call)
{
    for (std::size_t n = 1; n <= N; ++n)
        for (std::size_t const t : {std::size_t{1}, T / 2, T}) {
            call_memory memory(t, n, H);
            std::size_t const before = allocations();
            call(memory);
            std::size_t const count = allocations() - before;
            CAPTURE(n);
            CAPTURE(t);
            CHECK(count == 0);
        }
}

/// Runs the parts of several threads one after the other.
struct in_parts {
    std::size_t parts;
    std::size_t concurrency() const { return parts; }
    template <class F>
    void for_each(std::size_t count, F const& f) const
    {
        for (std::size_t part = 0; part < count; ++part)
            f(part);
    }
};

/// Requires that a forward and a backward pass of a number of steps, which run(steps, forward, back) calls
/// with a workspace each, allocate once.
template <class Run>
void check_passes(Run const& run)
{
    recurrent_workspace<float> forward, back;
    CHECK(run(50, forward, back) == 2);
    CHECK(run(50, forward, back) == 0);
    CHECK(run(7, forward, back) == 0);
    // The forward pass needs no more for more steps.
    std::size_t const bytes = forward.bytes();
    run(500, forward, back);
    CHECK(forward.bytes() == bytes);
}

} // namespace

TEST_CASE("the meter sees aligned memory")
{
    std::size_t const before = allocations();
    xloom::detail::aligned_vector<float> const some(100);
    CHECK(allocations() == before + 1);
}

TEST_CASE(
    "lstm_into, gru_into and rnn_into allocate nothing in a workspace for as many steps and rows, or more")
{
    constexpr std::size_t H = 5, T = 4, N = 70;
    constants const for_lstm(4, H), for_gru(3, H), for_rnn(1, H);
    lstm_weights<float> const lstm(
        {for_lstm.W, for_lstm.R, for_lstm.B}, {.direction = direction::bidirectional});
    gru_weights<float> const gru({for_gru.W, for_gru.R, for_gru.B}, {.direction = direction::bidirectional});
    rnn_weights<float> const rnn({for_rnn.W, for_rnn.R, for_rnn.B}, {.direction = direction::bidirectional});
    for (std::size_t const most : {std::size_t{1}, std::size_t{40}, N}) {
        auto workspace = recurrent_workspace(lstm, {T, most});
        CHECK(workspace.bytes() > 0);
        check_smaller_batches(T, most, H, [&](call_memory& memory) {
            lstm_into(memory.X, lstm, {memory.lengths, memory.state, memory.state},
                {memory.Y, memory.Y_h, memory.Y_c}, workspace);
        });
        auto of_gru = recurrent_workspace(gru, {T, most});
        check_smaller_batches(T, most, H, [&](call_memory& memory) {
            gru_into(memory.X, gru, {memory.lengths, memory.state}, {memory.Y, memory.Y_h}, of_gru);
        });
        auto of_rnn = recurrent_workspace(rnn, {T, most});
        check_smaller_batches(T, most, H, [&](call_memory& memory) {
            rnn_into(memory.X, rnn, {memory.lengths, memory.state}, {memory.Y, memory.Y_h}, of_rnn);
        });
    }
}

// 399 rows in 3 groups of 133 take up less than in 2 groups, which fewer steps are cut into: by what fills up
// lines of the cache.
TEST_CASE("a workspace for several threads is large enough for batches that are cut into fewer parts")
{
    matrices const W = xt::ones<float>({1, 1, 1}), R = W, X = xt::ones<float>({300, 399, 1});
    rnn_weights<float> const rnn({W, R});
    in_parts const threads{8};
    auto workspace = recurrent_workspace(rnn, {400, 399}, threads);
    xt::xtensor<float, 4> Y = xt::ones<float>({300, 1, 399, 1});
    std::size_t const before = allocations();
    rnn_into(X, rnn, {}, {Y}, workspace, threads);
    CHECK(allocations() == before);
}

TEST_CASE("a workspace grows to what a call needs, and is used again")
{
    constants const weights(4, 5);
    lstm_weights<float> const lstm(
        {weights.W, weights.R, weights.B}, {.direction = direction::bidirectional});
    recurrent_workspace<float> workspace;
    call_memory memory(6, 7, 5);
    std::size_t const before = allocations();
    lstm_into(memory.X, lstm, {}, {memory.Y}, workspace);
    std::size_t const first = allocations();
    CHECK(first > before); // the meter works
    lstm_into(memory.X, lstm, {}, {memory.Y}, workspace);
    CHECK(allocations() == first);
}

TEST_CASE("lstm_stack_into allocates nothing in a workspace of a call that was no smaller")
{
    constants const weights(4, 5);
    matrices const W = 0.25f * xt::ones<float>({2, 20, 10});
    lstm_options const both{.direction = direction::bidirectional};
    lstm_weights<float> const first({weights.W, weights.R, weights.B}, both),
        second({W, weights.R, weights.B}, both);
    std::vector const layers{first, second, second};
    stack_workspace<float> workspace;
    auto const run = [&](std::size_t T, std::size_t N) {
        call_memory memory(T, N, 5);
        std::size_t const made = allocations();
        lstm_stack_into(memory.X, layers, {memory.lengths}, {.Y = memory.Y}, workspace);
        return allocations() - made;
    };
    CHECK(run(6, 7) > 0);
    CHECK(run(6, 7) == 0);
    CHECK(run(3, 2) == 0);
}

TEST_CASE("the stacks allocate nothing in a workspace for as many steps and rows, or more")
{
    constexpr std::size_t H = 5, T = 4, N = 40;
    auto const check = [&](auto weights_of, std::size_t gates, auto const& call) {
        constants const first(gates, H);
        matrices const W = 0.25f * xt::ones<float>({std::size_t{2}, gates * H, 2 * H});
        constants second = first;
        second.W = W;
        std::vector const layers{weights_of(first), weights_of(second), weights_of(second)};
        for (std::size_t const most : {std::size_t{1}, N}) {
            auto workspace = stack_workspace(layers, {T, most});
            std::size_t const bytes = workspace.bytes();
            CHECK(bytes > 0);
            check_smaller_batches(T, most, H, [&](call_memory& memory) { call(memory, layers, workspace); });
            CHECK(workspace.bytes() == bytes);
        }
    };
    check(
        [](constants const& k) {
            return lstm_weights<float>({k.W, k.R, k.B}, {.direction = direction::bidirectional});
        },
        4,
        [](call_memory& memory, auto const& layers, auto& workspace) {
            lstm_stack_into(memory.X, layers, {memory.lengths}, {memory.Y}, workspace);
        });
    check(
        [](constants const& k) {
            return gru_weights<float>({k.W, k.R, k.B}, {.direction = direction::bidirectional});
        },
        3,
        [](call_memory& memory, auto const& layers, auto& workspace) {
            gru_stack_into(memory.X, layers, {memory.lengths}, {memory.Y}, workspace);
        });
    check(
        [](constants const& k) {
            return rnn_weights<float>({k.W, k.R, k.B}, {.direction = direction::bidirectional});
        },
        1,
        [](call_memory& memory, auto const& layers, auto& workspace) {
            rnn_stack_into(memory.X, layers, {memory.lengths}, {memory.Y}, workspace);
        });
}

TEST_CASE("a stack_workspace for a policy's threads has room for all layers that run at once")
{
    constexpr std::size_t H = 64, T = 60, N = 5;
    matrices const narrow = 0.01f * xt::ones<float>({std::size_t{1}, 4 * H, std::size_t{3}}),
                   W = 0.01f * xt::ones<float>({std::size_t{1}, 4 * H, H});
    lstm_weights<float> const first({.W = narrow, .R = W}), second({.W = W, .R = W});
    std::vector const layers{first, second, second};
    std::size_t last = stack_workspace(layers, {T, N}).bytes();
    for (std::size_t const threads : {2u, 3u}) {
        auto workspace = stack_workspace(layers, {T, N}, in_parts{threads});
        std::size_t const bytes = workspace.bytes();
        CHECK(bytes > last);
        last = bytes;
        for (std::size_t const t : {std::size_t{1}, std::size_t{30}, T})
            for (std::size_t const n : {std::size_t{1}, N}) {
                CAPTURE(t);
                CAPTURE(n);
                matrices const X = xt::ones<float>({t, n, std::size_t{3}});
                xt::xtensor<float, 4> Y = xt::zeros<float>({t, std::size_t{1}, n, H});
                stack_workspace<float> grown;
                lstm_stack_into(X, layers, {}, {.Y = Y}, grown, in_parts{threads});
                CHECK(grown.bytes() <= bytes);
                xt::xtensor<float, 4> const expected = Y;
                Y.fill(0);
                lstm_stack_into(X, layers, {}, {.Y = Y}, workspace, in_parts{threads});
                CHECK(Y == expected);
                CHECK(workspace.bytes() == bytes);
            }
    }
}

TEST_CASE("a step of lstm_cell allocates nothing")
{
    constants const weights(4, 5);
    lstm_cell<float> cell(
        lstm_weights<float>({weights.W, weights.R, weights.B}, {.direction = direction::bidirectional}), 2,
        1);
    std::vector<float> h(10), c(10), x(6), y(10);
    std::size_t const before = allocations();
    cell(h, c, x, y);
    cell(h, c, x);
    CHECK(allocations() == before);
    CHECK(h[0] > 0);
}

TEST_CASE("lstm_cell: an assignment that runs out of memory leaves the cell as it was")
{
    constants const few(4, 2), many(4, 40);
    lstm_cell<float> cell(
        lstm_weights<float>({few.W, few.R, few.B}, {.direction = direction::bidirectional}));
    lstm_cell<float> const other(
        lstm_weights<float>({many.W, many.R, many.B}, {.direction = direction::bidirectional}), 9);
    std::vector<float> expected(2), c(2), x(3, 1.0f);
    cell(expected, c, x);
    {
        refusal const at_once(0);
        CHECK_THROWS_AS(cell = other, std::bad_alloc);
    }
    std::vector<float> h(2);
    c = {0, 0};
    cell(h, c, x);
    CHECK(h == expected);
    std::vector<float> other_h(9 * 40), other_c(9 * 40);
    cell = other;
    cell(other_h, other_c, std::vector<float>(9 * 3, 1.0f));
    CHECK(other_h.back() > 0);
}

TEST_CASE("packed weights and matrices allocate nothing when they are copied, moved or assigned")
{
    constants const of_lstm(4, 5), of_gru(3, 5), of_rnn(1, 5);
    lstm_weights<float> const lstm({of_lstm.W, of_lstm.R}, {.direction = direction::bidirectional});
    gru_weights<float> const gru({of_gru.W, of_gru.R}, {.direction = direction::bidirectional});
    rnn_weights<float> const rnn({of_rnn.W, of_rnn.R}, {.direction = direction::bidirectional});
    xt::xtensor<float, 2> const B = xt::ones<float>({70, 70});
    packed_matrix<float> const matrix(B);
    auto const use = [](auto const& original) {
        std::size_t const before = allocations();
        auto copy = original, moved = std::move(copy);
        copy = moved;
        moved = std::move(copy);
        CHECK(allocations() == before);
    };
    use(lstm);
    use(gru);
    use(rnn);
    use(matrix);
}

TEST_CASE(
    "weights that are assigned constants of the same sizes allocate nothing, unless a copy has the memory")
{
    constants const of_lstm(4, 5);
    lstm_constants<float> const given{of_lstm.W, of_lstm.R, of_lstm.B};
    lstm_options const options{.direction = direction::bidirectional};
    lstm_weights<float> weights(given, options);
    lstm_weights<float> trained(given, options, for_training);
    xt::xtensor<float, 2> const B = xt::ones<float>({70, 70});
    packed_matrix<float> matrix(B);
    std::size_t const before = allocations();
    weights.assign(given, options);
    trained.assign(given, options);
    matrix.assign(B);
    CHECK(allocations() == before);
    auto const copy = weights;
    weights.assign(given, options);
    CHECK(allocations() > before);
}

TEST_CASE("lstm_forward_into and lstm_vjp_into: nothing in memory that was large enough before")
{
    constants const of(4, 5);
    lstm_constants<float> const given{.W = of.W, .R = of.R, .B = of.B};
    lstm_options const options{.direction = direction::bidirectional};
    lstm_weights<float> const weights(given, options, for_training);
    call_memory memory(7, 4, 5);
    matrices ct_X = memory.X, ct_W = of.W, ct_R = of.R, ct_h = memory.state;
    xt::xtensor<float, 2> ct_B = of.B;
    lstm_residuals<float> residuals;
    recurrent_workspace<float> workspace;
    for (int i = 0; i < 2; ++i) {
        std::size_t const before = allocations();
        lstm_forward_into(memory.X, weights, {memory.lengths, memory.state, memory.state}, {.Y = memory.Y},
            residuals, workspace);
        lstm_vjp_into(memory.X, weights, residuals, {.Y = memory.Y},
            {.X = ct_X, .W = ct_W, .R = ct_R, .B = ct_B, .initial_h = ct_h}, workspace);
        CHECK((allocations() == before) == (i == 1));
    }
}

TEST_CASE("attn_lstm_forward_into and attn_lstm_vjp_into: nothing in memory that was large enough before")
{
    xt::xtensor<float, 3> const W = 0.1f * xt::ones<float>({2, 20, 7}),
                                R = 0.1f * xt::ones<float>({2, 20, 5}),
                                QW = 0.1f * xt::ones<float>({2, 5, 6}),
                                MW = 0.1f * xt::ones<float>({2, 3, 6}), M = xt::ones<float>({4, 5, 3}),
                                X = xt::ones<float>({7, 4, 4});
    xt::xtensor<float, 2> const V = xt::ones<float>({2, 6});
    attn_lstm_constants<float> const given{.W = W, .R = R, .QW = QW, .MW = MW, .V = V};
    attn_lstm_options const options{.direction = direction::bidirectional};
    attn_lstm_weights<float> const weights(given, options, for_training);
    xt::xtensor<float, 4> const ct_Y = xt::ones<float>({7, 2, 4, 5});
    xt::xtensor<float, 3> ct_X = X, ct_W = W, ct_MW = MW, ct_M = M;
    attn_lstm_residuals<float> residuals;
    attention_workspace<float> workspace;
    for (int i = 0; i < 2; ++i) {
        std::size_t const before = allocations();
        attn_lstm_forward_into(X, weights, {.M = M}, {}, residuals, workspace);
        attn_lstm_vjp_into(
            X, M, weights, residuals, {.Y = ct_Y}, {.X = ct_X, .W = ct_W, .MW = ct_MW, .M = ct_M}, workspace);
        CHECK((allocations() == before) == (i == 1));
    }
}

TEST_CASE("residuals: an assignment that runs out of memory leaves them as they were")
{
    constants const of(4, 5);
    lstm_weights<float> const weights(
        {.W = of.W, .R = of.R, .B = of.B}, {.direction = direction::bidirectional}, for_training);
    recurrent_workspace<float> workspace;
    call_memory few(2, 1, 5), many(50, 3, 5);
    few.X.fill(0); // a sample of X cannot tell one length from another
    many.X.fill(0);
    auto const forward = [&](call_memory& memory) {
        lstm_residuals<float> residuals;
        lstm_forward_into(memory.X, weights, {memory.lengths, memory.state, memory.state}, {.Y = memory.Y},
            residuals, workspace);
        return residuals;
    };
    auto const backward = [&](lstm_residuals<float> const& residuals) {
        matrices ct_h = xt::zeros<float>({2, 1, 5});
        lstm_vjp_into(few.X, weights, residuals, {.Y = few.Y}, {.initial_h = ct_h}, workspace);
        return ct_h;
    };
    lstm_residuals<float> target = forward(few);
    lstm_residuals<float> const other = forward(many);
    matrices const expected = backward(target);
    check_assignment(target, other, [&](auto& residuals) { return backward(residuals) == expected; });
    CHECK_THROWS_AS(static_cast<void>(backward(target)), shape_error);
}

TEST_CASE("selective_scan_into and selective_scan_vjp_into allocate nothing after a call of the same sizes")
{
    auto const run = [](std::size_t T, recurrent_workspace<float>& forward,
                         recurrent_workspace<float>& back) {
        matrices const u = xt::ones<float>({std::size_t{2}, T, std::size_t{20}});
        matrices const B = xt::ones<float>({std::size_t{2}, T, std::size_t{4}});
        xt::xtensor<float, 2> const A = -xt::ones<float>({20, 4});
        matrices y = u, d_u = u, d_B = B, state = xt::zeros<float>({2, 20, 4});
        xt::xtensor<float, 2> d_A = A;
        std::size_t const before = allocations();
        selective_scan_into(u, {.delta = u, .A = A, .B = B, .C = B, .initial_state = state},
            {.y = y, .final_state = state}, forward);
        selective_scan_vjp_into(u, {.delta = u, .A = A, .B = B, .C = B}, {.y = y},
            {.u = d_u, .A = d_A, .B = d_B, .initial_state = state}, back);
        return allocations() - before;
    };
    check_passes(run);
}

TEST_CASE("causal_conv_into and causal_conv_vjp_into allocate nothing after a call of the same sizes")
{
    auto const run = [](std::size_t L, recurrent_workspace<float>& forward,
                         recurrent_workspace<float>& back) {
        matrices const x = xt::ones<float>({std::size_t{2}, std::size_t{20}, L}),
                       weight = xt::ones<float>({20, 1, 4});
        matrices y = x, ct = x, state = xt::zeros<float>({2, 20, 3}), ct_state = state, ct_weight = weight;
        causal_conv_options const silu{.activation = conv_activation::silu};
        std::size_t const before = allocations();
        causal_conv_into(
            x, weight, {.past_state = state}, {.output = y, .present_state = state}, silu, forward);
        causal_conv_vjp_into(x, weight, {}, {.output = y},
            {.input = ct, .weight = ct_weight, .past_state = ct_state}, silu, back);
        return allocations() - before;
    };
    check_passes(run);
}

TEST_CASE(
    "linear_attention_into and linear_attention_vjp_into allocate nothing after a call of the same sizes")
{
    auto const run = [](std::size_t T, recurrent_workspace<float>& forward,
                         recurrent_workspace<float>& back) {
        using tokens = xt::xtensor<float, 4>;
        tokens const x = 0.1f * xt::ones<float>({std::size_t{2}, T, std::size_t{2}, std::size_t{20}});
        matrices const beta = xt::ones<float>({std::size_t{2}, T, std::size_t{2}});
        tokens y = x, ct = x, state = xt::zeros<float>({2, 2, 20, 20}), ct_state = state;
        matrices ct_beta = beta;
        linear_attention_options const options{.update_rule = update_rule::delta};
        std::size_t const before = allocations();
        linear_attention_into(x, x, x, {.past_state = state, .beta = beta},
            {.output = y, .present_state = state}, options, forward);
        linear_attention_vjp_into(x, x, x, {.beta = beta}, {.output = y},
            {.query = ct, .past_state = ct_state, .beta = ct_beta}, options, back);
        return allocations() - before;
    };
    check_passes(run);
}

} // namespace allocation_recurrent_test
