// Steps of the cells, and calls of the recurrent operators with a workspace.

#include "steady.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <xloom/recurrent/activations.hpp>
#include <xloom/recurrent/attn_lstm_cell.hpp>
#include <xloom/recurrent/causal_conv.hpp>
#include <xloom/recurrent/gru.hpp>
#include <xloom/recurrent/gru_cell.hpp>
#include <xloom/recurrent/linear_attention.hpp>
#include <xloom/recurrent/lstm.hpp>
#include <xloom/recurrent/lstm_cell.hpp>
#include <xloom/recurrent/packed_matrix.hpp>
#include <xloom/recurrent/rnn.hpp>
#include <xloom/recurrent/rnn_cell.hpp>
#include <xloom/recurrent/selective_scan.hpp>
#include <xloom/recurrent/stack.hpp>
#include <xloom/types.hpp>

namespace real_time_cells_test {

using namespace xloom;

namespace {

using vectors = xt::xtensor<float, 2>;
using matrices = xt::xtensor<float, 3>;

constexpr std::size_t I = 3, H = 16, steps_of_a_cell = 1'000'000, calls = 2'000;

/// Weights of one direction for a number of gates, and inputs of `width` units.
struct constants {
    matrices W, R;
    vectors B;

    explicit constants(std::size_t gates, std::size_t width = I)
        : W(0.25f * xt::ones<float>({std::size_t{1}, gates * H, width})),
          R(0.0625f * xt::ones<float>({std::size_t{1}, gates * H, H})),
          B(0.125f * xt::ones<float>({std::size_t{1}, 2 * gates * H}))
    {}
};

/// T steps of N rows, with the states of one direction.
struct operands {
    matrices X, h, c;
    xt::xtensor<float, 4> Y;
    xt::xtensor<std::int32_t, 1> lengths;

    operands(std::size_t T, std::size_t N)
        : X(xt::ones<float>({T, N, I})),
          h(xt::zeros<float>({std::size_t{1}, N, H})),
          c(h),
          Y(xt::zeros<float>({T, std::size_t{1}, N, H})),
          lengths(static_cast<std::int32_t>(T) * xt::ones<std::int32_t>({N}))
    {
        lengths(0) = 1;
    }
};

/// Requires that steps of a cell and of another one for three rows are steady: step(cell, h, c, x_t, y_t).
template <class Cell, class Weights, class Step>
void check_cell(Weights const& weights, Step const& step)
{
    for (std::size_t const N : {std::size_t{1}, std::size_t{3}}) {
        Cell cell(weights, N);
        vectors h = xt::zeros<float>({N, H}), c = h, y = h;
        vectors const x = xt::ones<float>({N, I});
        steady::check(N == 1 ? steps_of_a_cell : calls, [&] { step(cell, h, c, x, y); });
        CHECK(y(0, 0) > 0);
    }
}

/// Requires that calls of one step and of several are steady: call(operands, workspace).
template <class Workspace, class Call, class... Sizes>
void check_calls(Call const& call, Sizes const&... sizes)
{
    for (std::size_t const T : {std::size_t{1}, std::size_t{4}})
        for (std::size_t const N : {std::size_t{1}, std::size_t{3}}) {
            operands o(T, N);
            Workspace workspace(sizes...);
            steady::check(calls, [&] { call(o, workspace); });
            CHECK(o.Y(0, 0, 0, 0) > 0);
        }
}

} // namespace

TEST_CASE("steps of lstm_cell, gru_cell and rnn_cell")
{
    constants const for_lstm(4), for_gru(3), for_rnn(1);
    check_cell<lstm_cell<float>>(lstm_weights<float>({for_lstm.W, for_lstm.R, for_lstm.B}),
        [](auto& cell, auto& h, auto& c, auto const& x, auto& y) { cell(h, c, x, y); });
    auto const single = [](auto& cell, auto& h, auto&, auto const& x, auto& y) { cell(h, x, y); };
    check_cell<gru_cell<float>>(gru_weights<float>({for_gru.W, for_gru.R, for_gru.B}), single);
    check_cell<rnn_cell<float>>(rnn_weights<float>({for_rnn.W, for_rnn.R, for_rnn.B}), single);
}

TEST_CASE("steps of lstm_cell with weights of each storage")
{
    constants const made(4);
    for (weight_storage const storage : weight_storages) {
        CAPTURE(name_of(storage));
        lstm_cell<float> cell(lstm_weights<float>({made.W, made.R, made.B}, {}, storage));
        std::array<float, H> h{}, c{};
        std::array<float, I> const x{1, 1, 1};
        steady::check(calls, [&] { cell(h, c, x); });
        CHECK(h[0] > 0);
    }
}

TEST_CASE("steps of rnn_cell on storage floats, and rnn_into with a workspace")
{
    using items = xt::xtensor<float16, 3>;
    constexpr std::size_t N = 2;
    auto const filled = [](float value, std::size_t d0, std::size_t d1, std::size_t d2) {
        items made = items::from_shape({d0, d1, d2});
        made.fill(float16(value));
        return made;
    };
    items const W = filled(0.25f, 1, H, I), R = filled(0.0625f, 1, H, H), X = filled(1, 4, N, I);
    rnn_weights<float16> const weights({.W = W, .R = R});
    rnn_cell<float16> cell(weights);
    std::array<float16, H> h{};
    std::array<float16, I> x{};
    x.fill(float16(1));
    steady::check(calls, [&] { cell(h, x); });
    CHECK(float(h[0]) > 0);
    items state = filled(0, 1, N, H);
    recurrent_workspace<float16> workspace(weights, {4, N});
    steady::check(calls, [&] { rnn_into(X, weights, {.initial_h = state}, {.Y_h = state}, workspace); });
    CHECK(float(state(0, 0, 0)) > 0);
}

TEST_CASE("lstm_into, gru_into and rnn_into with a workspace, their states updated in place")
{
    constants const for_lstm(4), for_gru(3), for_rnn(1);
    lstm_weights<float> const lstm({for_lstm.W, for_lstm.R, for_lstm.B});
    gru_weights<float> const gru({for_gru.W, for_gru.R, for_gru.B});
    rnn_weights<float> const rnn({for_rnn.W, for_rnn.R, for_rnn.B});
    using workspace = recurrent_workspace<float>;
    batch_sizes const most{4, 3};
    check_calls<workspace>(
        [&](operands& o, workspace& w) {
            lstm_into(o.X, lstm, {o.lengths, o.h, o.c}, {o.Y, o.h, o.c}, w);
        },
        lstm, most);
    check_calls<workspace>(
        [&](operands& o, workspace& w) {
            gru_into(o.X, gru, {o.lengths, o.h}, {o.Y, o.h}, w);
        },
        gru, most);
    check_calls<workspace>(
        [&](operands& o, workspace& w) {
            rnn_into(o.X, rnn, {o.lengths, o.h}, {o.Y, o.h}, w);
        },
        rnn, most);
}

TEST_CASE(
    "lstm_stack_into, gru_stack_into and rnn_stack_into with a workspace, their states updated in place")
{
    auto const stacked = [](auto weights_of, std::size_t gates, auto const& call) {
        constants const first(gates), second(gates, H);
        std::vector const layers = {weights_of(first), weights_of(second)};
        for (std::size_t const T : {std::size_t{1}, std::size_t{4}})
            for (std::size_t const N : {std::size_t{1}, std::size_t{3}}) {
                operands o(T, N);
                matrices h = xt::zeros<float>({layers.size(), N, H}), c = h;
                stack_workspace<float> workspace;
                steady::check(calls, [&] { call(o, layers, h, c, workspace); });
                CHECK(o.Y(0, 0, 0, 0) > 0);
            }
    };
    stacked(
        [](constants const& k) {
            return lstm_weights<float>({k.W, k.R, k.B});
        },
        4,
        [](operands& o, auto const& layers, matrices& h, matrices& c, auto& w) {
            lstm_stack_into(o.X, layers, {o.lengths, h, c}, {o.Y, h, c}, w);
        });
    stacked(
        [](constants const& k) {
            return gru_weights<float>({k.W, k.R, k.B});
        },
        3,
        [](operands& o, auto const& layers, matrices& h, matrices&, auto& w) {
            gru_stack_into(o.X, layers, {o.lengths, h}, {o.Y, h}, w);
        });
    stacked(
        [](constants const& k) {
            return rnn_weights<float>({k.W, k.R, k.B});
        },
        1,
        [](operands& o, auto const& layers, matrices& h, matrices&, auto& w) {
            rnn_stack_into(o.X, layers, {o.lengths, h}, {o.Y, h}, w);
        });
}

TEST_CASE("steps of attn_lstm_cell, another memory of the same size, and attn_lstm_into with a workspace")
{
    constexpr std::size_t S = 5, E = 4, A = 6;
    constants const made(4, I + E);
    matrices const QW = 0.25f * xt::ones<float>({std::size_t{1}, H, A}),
                   MW = 0.25f * xt::ones<float>({std::size_t{1}, E, A});
    vectors const V = 0.5f * xt::ones<float>({std::size_t{1}, A});
    attn_lstm_weights<float> const weights(
        {.W = made.W, .R = made.R, .B = made.B, .QW = QW, .MW = MW, .V = V});
    auto const memory_of = [&](std::size_t N) { return matrices(xt::ones<float>({N, S, E})); };

    matrices const M = memory_of(1);
    attn_lstm_cell<float> cell(weights, M);
    vectors h = xt::zeros<float>({std::size_t{1}, H}), c = h, y = h,
            attention = xt::zeros<float>({std::size_t{1}, E});
    vectors const x = xt::ones<float>({std::size_t{1}, I});
    steady::check(steps_of_a_cell, [&] { cell(h, c, attention, x, y); });
    CHECK(y(0, 0) > 0);
    steady::check(calls, [&] { cell.set_memory(M); });

    for (std::size_t const N : {std::size_t{1}, std::size_t{3}}) {
        operands o(4, N);
        matrices const M_of_all = memory_of(N);
        attention_workspace<float> workspace(weights, {4, N, S});
        steady::check(calls, [&] {
            attn_lstm_into(o.X, weights, {.initial_h = o.h, .initial_c = o.c, .M = M_of_all},
                {.Y = o.Y, .Y_h = o.h, .Y_c = o.c}, workspace);
        });
        CHECK(o.Y(0, 0, 0, 0) > 0);
    }
}

TEST_CASE("selective_scan_into with a workspace, its states updated in place")
{
    constexpr std::size_t T = 4, K = 9, S = 5;
    matrices const u = xt::ones<float>({std::size_t{2}, T, K}), delta = 0.5f * u,
                   B = xt::ones<float>({std::size_t{2}, T, S}), C = B;
    vectors const A = -1.0f * xt::ones<float>({K, S});
    matrices y = u, state = xt::zeros<float>({std::size_t{2}, K, S});
    recurrent_workspace<float> workspace;
    steady::check(calls, [&] {
        selective_scan_into(u, {.delta = delta, .A = A, .B = B, .C = C, .initial_state = state},
            {.y = y, .final_state = state}, workspace);
    });
    CHECK(y(0, 0, 0) > 0);
}

TEST_CASE("linear_attention_into with a workspace, its states updated in place")
{
    using tokens = xt::xtensor<float, 4>;
    for (std::size_t const T : {std::size_t{1}, std::size_t{5}}) {
        std::array<std::size_t, 4> const shape{2, T, 2, 21};
        tokens const query = 0.1f * xt::ones<float>(shape), value = xt::ones<float>(shape);
        matrices const decay = -xt::ones<float>({std::size_t{2}, T, std::size_t{2}}), beta = -0.5f * decay;
        tokens output = value, state = xt::zeros<float>({2, 2, 21, 21});
        recurrent_workspace<float> workspace;
        steady::check(calls, [&] {
            linear_attention_into(query, query, value, {.past_state = state, .decay = decay, .beta = beta},
                {.output = output, .present_state = state}, {}, workspace);
        });
        CHECK(output(1, T - 1, 1, 20) > 0);
    }
}

TEST_CASE("causal_conv_into with a workspace, input and state updated in place, steps or channels contiguous")
{
    using cubes = xt::xtensor<float, 3>;
    for (std::size_t const L : {std::size_t{1}, std::size_t{40}}) {
        cubes x = xt::ones<float>({std::size_t{2}, std::size_t{21}, L}), state = xt::ones<float>({2, 21, 3});
        cubes const weight = 0.25f * xt::ones<float>({21, 1, 4});
        causal_conv_options const silu{.activation = conv_activation::silu};
        recurrent_workspace<float> workspace;
        steady::check(calls, [&] {
            causal_conv_into(
                x, weight, {.past_state = state}, {.output = x, .present_state = state}, silu, workspace);
        });
        CHECK(x(1, 20, L - 1) < 1);
    }
}

TEST_CASE("products with a packed_matrix, and another matrix of the same size")
{
    vectors const B = xt::ones<float>({std::size_t{7}, std::size_t{21}}),
                  X = xt::ones<float>({std::size_t{5}, std::size_t{7}});
    packed_matrix<float> matrix(B);
    vectors C = xt::zeros<float>({std::size_t{5}, std::size_t{21}});
    steady::check(calls, [&] { matrix(5, X.data(), 7, C.data(), 21); });
    CHECK(C(4, 20) == 7);
    steady::check(calls, [&] { matrix.assign(B); });
}

TEST_CASE("every activation, by its kind and by its name")
{
    std::array<float, 37> x{}, y{};
    x.fill(0.5f);
    for (std::size_t kind = 0; kind < activation_count; ++kind) {
        CAPTURE(kind);
        steady::check(calls, [&] { activate(static_cast<activation>(kind), x, y); });
    }
    steady::check(calls, [&] { activate("LeakyRelu", x, y); });
    CHECK(y[36] == 0.5f);
}

} // namespace real_time_cells_test
