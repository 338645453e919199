// Rules that hold for every body and every input.

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include <xloom/control_flow/loop.hpp>
#include <xloom/control_flow/scan.hpp>

#include "support/xtensor_extras.hpp"

namespace property_control_flow_test {

using xloom::direction;
using xloom::scan;
using xloom::scan_step;
using matrix = xt::xtensor<float, 2>;
using row = xt::xtensor<float, 1>;

namespace {

matrix random_matrix(std::size_t rows, std::size_t columns, unsigned seed)
{
    std::mt19937 engine(seed);
    std::uniform_real_distribution<float> uniform(-1, 1);
    matrix result = matrix::from_shape({rows, columns});
    for (float& item : result)
        item = uniform(engine);
    return result;
}

/// One nonlinear step: the next state, item by item, and an output that differs from it.
void step(float const* h, float const* x, float* next, float* y, std::size_t size)
{
    for (std::size_t i = 0; i < size; ++i) {
        float const before = h[i];
        next[i] = std::tanh(0.9f * before + x[i]);
        y[i] = next[i] * x[i] - before;
    }
}

auto pure_step(row const& h, float const* x)
{
    row next = h;
    row y = h;
    step(h.data(), x, next.data(), y.data(), h.size());
    return std::tuple{next, y};
}

constexpr auto body = [](row const& h, auto const& x_t) {
    auto [next, y] = pure_step(h, x_t.data());
    return scan_step{next, y};
};

} // namespace

TEST_CASE("scan, scan_into, loop and loop_into with the same body give the same bits")
{
    for (auto const& lengths : {std::pair<std::size_t, std::size_t>{1, 1}, {7, 3}, {40, 16}, {3, 33}}) {
        std::size_t const length = lengths.first;
        std::size_t const size = lengths.second;
        matrix const x = random_matrix(length, size, 1);
        row const h0 = xt::view(random_matrix(1, size, 2), 0);
        auto const by_scan = scan(body, h0, x);

        row h = h0;
        matrix y = matrix::from_shape({length, size});
        xloom::scan_into(
            [](row& state, auto const& x_t, auto& y_t) {
                step(state.data(), x_t.data(), state.data(), y_t.data(), state.size());
            },
            h, x, y);
        row after = h0;
        matrix by_hand = matrix::from_shape({length, size});
        for (std::size_t t = 0; t < length; ++t) {
            row next = after;
            step(after.data(), &x(t, 0), next.data(), &by_hand(t, 0), size);
            after = next;
        }
        CHECK(by_scan.final_state == after);
        CHECK(by_scan.scan_outputs == by_hand);
        CHECK(h == after);
        CHECK(y == by_hand);

        auto const by_loop = xloom::loop(
            [&](std::int64_t t, bool, row const& state) {
                auto [next, y_t] = pure_step(state, &x(static_cast<std::size_t>(t), 0));
                return xloom::loop_step{true, next, y_t};
            },
            h0, {.max_trip_count = static_cast<std::int64_t>(length)});
        CHECK(by_loop.final_state == after);
        CHECK(by_loop.scan_outputs == by_hand);

        row g = h0;
        matrix z = matrix::from_shape({length, size});
        xloom::loop_into(
            [&](std::int64_t t, row& state, auto& z_t) {
                auto const before = state;
                step(before.data(), &x(static_cast<std::size_t>(t), 0), state.data(), z_t.data(), size);
                return true;
            },
            g, z, {.max_trip_count = static_cast<std::int64_t>(length)});
        CHECK(g == after);
        CHECK(z == by_hand);
    }
}

TEST_CASE("a scan over a concatenation is two scans, chained")
{
    matrix const x = random_matrix(12, 5, 3);
    row const h0 = xt::zeros<float>({5});
    auto const whole = scan(body, h0, x);
    for (std::size_t const cut : {0u, 1u, 5u, 12u}) {
        matrix const head = xt::view(x, xt::range(std::size_t{0}, cut));
        matrix const tail = xt::view(x, xt::range(cut, std::size_t{12}));
        auto const first = scan(body, h0, head);
        auto const second = scan(body, first.final_state, tail);
        CHECK(second.final_state == whole.final_state);
        if (cut != 0)
            CHECK(first.scan_outputs == xt::view(whole.scan_outputs, xt::range(std::size_t{0}, cut)));
        if (cut != 12)
            CHECK(second.scan_outputs == xt::view(whole.scan_outputs, xt::range(cut, std::size_t{12})));
    }
}

TEST_CASE("reversing twice: a reverse scan of the reversed input, its output reversed, is the forward scan")
{
    matrix const x = random_matrix(9, 4, 4);
    matrix const backwards = xt::flip(x, 0);
    row const h0 = xt::zeros<float>({4});
    auto const forward = scan(body, h0, x);
    auto const twice = scan(body, h0, backwards, {.scan_input_directions = {direction::reverse}});
    CHECK(twice.final_state == forward.final_state);
    CHECK(twice.scan_outputs == forward.scan_outputs);

    auto const prepended = scan(body, h0, x, {.scan_output_directions = {direction::reverse}});
    CHECK(matrix(xt::flip(prepended.scan_outputs, 0)) == forward.scan_outputs);
}

TEST_CASE("a bidirectional scan: the same tensor given twice, once for each direction")
{
    matrix const x = random_matrix(6, 3, 5);
    row const h0 = xt::zeros<float>({3});
    auto const [states, outputs] = scan(
        [](row const& h, row const& g, auto const& x_t, auto const& from_the_end) {
            auto [next_h, y] = pure_step(h, x_t.data());
            auto [next_g, z] = pure_step(g, from_the_end.data());
            return scan_step{std::tuple{next_h, next_g}, std::tuple{y, z}};
        },
        std::tie(h0, h0), std::tie(x, x),
        {.scan_input_directions = {direction::forward, direction::reverse},
            .scan_output_directions = {direction::forward, direction::reverse}});
    auto const forward = scan(body, h0, x);
    auto const backward = scan(body, h0, matrix(xt::flip(x, 0)));
    CHECK(std::get<0>(states) == forward.final_state);
    CHECK(std::get<1>(states) == backward.final_state);
    CHECK(std::get<0>(outputs) == forward.scan_outputs);
    CHECK(std::get<1>(outputs) == matrix(xt::flip(backward.scan_outputs, 0)));
}

TEST_CASE("two layers in wavefront order give the bits of layer by layer")
{
    std::size_t const length = 10;
    matrix const x = random_matrix(length, 4, 6);
    row const zero = xt::zeros<float>({4});
    auto const first = scan(body, zero, x);
    auto const second = scan(body, zero, first.scan_outputs);

    // In iteration t layer 1 reads x[t] and layer 2 what layer 1 wrote in iteration t - 1, so one more
    // iteration is needed.
    matrix padded = xt::zeros<float>({length + 1, std::size_t{4}});
    xt::view(padded, xt::range(std::size_t{0}, length)) = x;
    auto const [states, wavefront] = scan(
        [](row const& h1, row const& h2, row const& between, std::size_t t, auto const& x_t) {
            auto [next_1, y_1] = pure_step(h1, x_t.data());
            auto [next_2, y_2] = pure_step(h2, between.data());
            return scan_step{std::tuple{next_1, t == 0 ? h2 : next_2, y_1, t + 1}, y_2};
        },
        std::tuple{zero, zero, zero, std::size_t{0}}, padded);
    CHECK(std::get<1>(states) == second.final_state);
    CHECK(matrix(xt::view(wavefront, xt::range(std::size_t{1}, length + 1))) == second.scan_outputs);
}

TEST_CASE("ONNX's RNN encoding, weights captured or as extra states, is the textbook RNN")
{
    // H_t = tanh(X_t W^T + H_(t-1) R^T + b), the Scan of the operator's document, in double.
    using doubles = xt::xtensor<double, 2>;
    std::size_t const T = 5, N = 3, I = 4, H = 2;
    auto const random = [](std::size_t rows, std::size_t columns, unsigned seed) {
        return doubles(xt::cast<double>(random_matrix(rows, columns, seed)));
    };
    xt::xtensor<double, 3> X = xt::xtensor<double, 3>::from_shape({T, N, I});
    for (std::size_t t = 0; t < T; ++t)
        xt::view(X, t) = random(N, I, 10 + static_cast<unsigned>(t));
    doubles const W = random(H, I, 20);
    doubles const R = random(H, H, 21);
    doubles const b = random(1, H, 22);
    doubles const H_0 = random(N, H, 23);

    auto const cell = [&](auto const& H_t, auto const& X_t, auto const& W_, auto const& R_) {
        doubles next = doubles::from_shape({N, H});
        for (std::size_t n = 0; n < N; ++n)
            for (std::size_t h = 0; h < H; ++h) {
                double sum = b(0, h);
                for (std::size_t i = 0; i < I; ++i)
                    sum += X_t(n, i) * W_(h, i);
                for (std::size_t k = 0; k < H; ++k)
                    sum += H_t(n, k) * R_(h, k);
                next(n, h) = std::tanh(sum);
            }
        return next;
    };
    doubles expected = H_0;
    xt::xtensor<double, 3> expected_all = xt::xtensor<double, 3>::from_shape({T, N, H});
    for (std::size_t t = 0; t < T; ++t) {
        expected = cell(expected, xt::view(X, t), W, R);
        xt::view(expected_all, t) = expected;
    }

    auto const captured = scan(
        [&](doubles const& H_t, auto const& X_t) {
            doubles const next = cell(H_t, X_t, W, R);
            return scan_step{next, next};
        },
        H_0, X);
    CHECK(captured.final_state == expected);
    CHECK(captured.scan_outputs == expected_all);

    auto const as_states = scan(
        [&](doubles const& W_, doubles const& R_, doubles const& H_t, auto const& X_t) {
            doubles const next = cell(H_t, X_t, W_, R_);
            return scan_step{std::tuple{W_, R_, next}, next};
        },
        std::tie(W, R, H_0), X);
    CHECK(std::get<2>(as_states.final_state) == expected);
    CHECK(as_states.scan_outputs == expected_all);
}

} // namespace property_control_flow_test
