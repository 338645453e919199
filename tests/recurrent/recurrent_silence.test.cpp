// Recurrent operators whose input falls silent: states and cotangents that decay end at 0, not at a subnormal
// number, with the same bits step by step, in one call and on any number of threads.

#include <doctest/doctest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <thread>
#include <vector>

#include <xloom/gradients/gru_vjp.hpp>
#include <xloom/gradients/lstm_vjp.hpp>
#include <xloom/gradients/rnn_vjp.hpp>
#include <xloom/recurrent/gru_cell.hpp>
#include <xloom/recurrent/lstm_cell.hpp>
#include <xloom/recurrent/packed_matrix.hpp>
#include <xloom/recurrent/rnn_cell.hpp>

#include "support/gru_calls.hpp"
#include "support/larger_error.hpp"
#include "support/lstm_calls.hpp"
#include "support/rnn_calls.hpp"
#include "support/xtensor_extras.hpp"

namespace recurrent_silence_test {

using namespace xloom;

namespace {

constexpr float least = std::numeric_limits<float>::min();
constexpr std::size_t steps = 1500; // with sanitizers most of the time of this file

/// A policy of a program's own, whose threads have the default mode, as if they had been started before the
/// call. A new thread has the mode of the thread that starts it.
struct own_threads {
    std::size_t threads;

    std::size_t concurrency() const { return threads; }
    template <class F>
    void for_each(std::size_t parts, F const& f) const
    {
        std::vector<std::thread> running;
        for (std::size_t part = 0; part < parts; ++part)
            running.emplace_back([&f, part] {
                std::fesetenv(FE_DFL_ENV);
                f(part);
            });
        for (std::thread& each : running)
            each.join();
    }
};

/// True for what a number becomes that is below the smallest normal one.
bool is_flushed(float x) { return flush_subnormals::is_supported ? x == 0 : std::abs(x) < least; }

struct lstm_case : lstm_family {
    template <class T>
    using cell = lstm_cell<T>;
    static constexpr std::size_t keeping_gate = 2; // f
};
struct gru_case : gru_family {
    template <class T>
    using cell = gru_cell<T>;
    static constexpr std::size_t keeping_gate = 0; // z
};
struct rnn_case : rnn_family {
    template <class T>
    using cell = rnn_cell<T>;
};

/// Operands whose input is 0 after the first 20 steps, and weights with which a state decays by about 0.9 a
/// step: without flushing it stays subnormal, since 0.9 times a few of the smallest subnormal numbers rounds
/// to as many.
template <class Case>
auto fading(recurrent_sizes const& sizes)
{
    std::mt19937 random(1);
    auto in = Case::template draw<float>(random, sizes, with_B, {.weights = 0.02});
    std::fill(
        in.X.items.begin() + static_cast<std::ptrdiff_t>(20 * sizes.N * sizes.I), in.X.items.end(), 0.0f);
    std::fill(in.B.items.begin(), in.B.items.end(), 0.0f);
    if constexpr (requires { Case::keeping_gate; })
        std::fill_n(
            in.B.items.begin() + static_cast<std::ptrdiff_t>(Case::keeping_gate * sizes.H), sizes.H, 2.2f);
    else
        for (std::size_t j = 0; j < sizes.H; ++j)
            in.R.items[j * sizes.H + j] = 0.85f;
    return in;
}

template <class Case>
auto weights_of(typename Case::template operands<float> const& in)
{
    return typename Case::template weights<float>(typename Case::template tensors<float>(in).constants());
}

/// The largest magnitude among the last `count` items.
template <class Items>
double largest_of_last(Items const& items, std::size_t count)
{
    double largest = 0;
    for (std::size_t i = items.size() - count; i < items.size(); ++i)
        largest = std::fmax(largest, std::fabs(static_cast<double>(items[i])));
    return largest;
}

} // namespace

TEST_CASE_TEMPLATE("states of a silent input end at 0", Case, lstm_case, gru_case, rnn_case)
{
    for (recurrent_sizes const sizes : {recurrent_sizes{steps, 1, 2, 8}, recurrent_sizes{steps, 2, 2, 17}}) {
        std::size_t const states = sizes.N * sizes.H;
        auto const in = fading<Case>(sizes);
        auto const weights = weights_of<Case>(in);
        auto const exact = Case::template textbook<float>(in, {});
        auto const found = Case::template call<float>(in, weights);
        REQUIRE(largest_of_last(exact.Y.items, states) > 0);
        REQUIRE(largest_of_last(exact.Y.items, states) < 1e-46);
        bool are_flushed = true;
        for (std::size_t i = 0; i < states; ++i)
            are_flushed = are_flushed && is_flushed(found.Y_h.items[i]) &&
                          (found.Y_c.items.empty() || is_flushed(found.Y_c.items[i]));
        CHECK(are_flushed);
        // Until then they are those of the textbook.
        double largest = 0;
        for (std::size_t t = 0; t < sizes.T; ++t) {
            double size = 0, error = 0;
            for (std::size_t i = t * states; i < (t + 1) * states; ++i) {
                size = std::fmax(size, std::fabs(exact.Y.items[i]));
                error =
                    larger_error(error, std::fabs(static_cast<double>(found.Y.items[i]) - exact.Y.items[i]));
            }
            if (size > 1e-30)
                largest = larger_error(largest, error / size);
        }
        CHECK(largest < 1e-3);
    }
}

TEST_CASE_TEMPLATE("a silent input: the bits of a call are those of its steps and of its pieces", Case,
    lstm_case, gru_case, rnn_case)
{
    for (recurrent_sizes const sizes : {recurrent_sizes{steps, 1, 2, 8}, recurrent_sizes{steps, 2, 2, 17}}) {
        auto const in = fading<Case>(sizes);
        auto const weights = weights_of<Case>(in);
        auto const found = Case::template call<float>(in, weights);
        typename Case::template cell<float> cell(weights, sizes.N);
        std::vector<float> h(sizes.N * sizes.H), c = h;
        std::size_t different = 0;
        for (std::size_t t = 0; t < sizes.T; ++t) {
            auto const x = in.X.items.begin() + static_cast<std::ptrdiff_t>(t * sizes.N * sizes.I);
            std::vector<float> const x_t(x, x + static_cast<std::ptrdiff_t>(sizes.N * sizes.I));
            if constexpr (Case::has_c)
                cell(h, c, x_t);
            else
                cell(h, x_t);
            for (std::size_t i = 0; i < h.size(); ++i)
                different += h[i] == found.Y.items[t * h.size() + i] ? 0 : 1;
        }
        CHECK(different == 0);
    }
}

TEST_CASE_TEMPLATE("a silent input: the bits do not depend on threads", Case, lstm_case, gru_case, rnn_case)
{
    auto const in = fading<Case>({steps, 5, 2, 17});
    auto const weights = weights_of<Case>(in);
    auto const found = Case::template call<float>(in, weights);
    CHECK(have_same_bits(Case::template call<float>(in, weights, own_threads{3}), found));
    flush_subnormals const guard;
    CHECK(have_same_bits(Case::template call<float>(in, weights), found));
}

namespace {

/// The cotangent of h before `steps` steps, from one of the last h.
template <class Weights, class Residuals, class Forward, class Vjp>
xt::xtensor<float, 3> ct_of_first(std::size_t gates, Forward const& forward, Vjp const& vjp)
{
    std::size_t const T = steps, H = 16;
    xt::xtensor<float, 3> X = xt::zeros<float>({T, std::size_t{1}, std::size_t{1}});
    xt::xtensor<float, 3> const W = xt::ones<float>({std::size_t{1}, gates * H, std::size_t{1}});
    xt::xtensor<float, 3> R = xt::zeros<float>({std::size_t{1}, gates * H, H});
    xt::xtensor<float, 2> B = xt::zeros<float>({std::size_t{1}, 2 * gates * H});
    for (std::size_t j = 0; j < H; ++j) {
        if (gates == 1)
            R(0, j, j) = 0.9f;
        else
            B(0, (gates == 4 ? 2 * H : 0) + j) = 2.2f;
    }
    Weights const weights({.W = W, .R = R, .B = B}, {}, for_training);
    Residuals residuals;
    recurrent_workspace<float> workspace;
    forward(X, weights, residuals, workspace);
    xt::xtensor<float, 3> const ct_Y_h = xt::ones<float>({std::size_t{1}, std::size_t{1}, H});
    xt::xtensor<float, 3> ct_initial_h = xt::zeros<float>({std::size_t{1}, std::size_t{1}, H});
    vjp(X, weights, residuals, ct_Y_h, ct_initial_h, workspace);
    return ct_initial_h;
}

bool are_flushed(xt::xtensor<float, 3> const& x)
{
    for (float const each : x)
        if (!is_flushed(each))
            return false;
    return true;
}

} // namespace

TEST_CASE("cotangents that decay over many steps end at 0")
{
    CHECK(are_flushed(ct_of_first<gru_weights<float>, gru_residuals<float>>(
        3,
        [](auto const& X, auto const& weights, auto& residuals, auto& workspace) {
            gru_forward_into(X, weights, {}, {}, residuals, workspace);
        },
        [](auto const& X, auto const& weights, auto const& residuals, auto const& ct, auto& ct_h,
            auto& workspace) {
            gru_vjp_into(X, weights, residuals, {.Y_h = ct}, {.initial_h = ct_h}, workspace);
        })));
    CHECK(are_flushed(ct_of_first<rnn_weights<float>, rnn_residuals<float>>(
        1,
        [](auto const& X, auto const& weights, auto& residuals, auto& workspace) {
            rnn_forward_into(X, weights, {}, {}, residuals, workspace);
        },
        [](auto const& X, auto const& weights, auto const& residuals, auto const& ct, auto& ct_h,
            auto& workspace) {
            rnn_vjp_into(X, weights, residuals, {.Y_h = ct}, {.initial_h = ct_h}, workspace);
        })));
    CHECK(are_flushed(ct_of_first<lstm_weights<float>, lstm_residuals<float>>(
        4,
        [](auto const& X, auto const& weights, auto& residuals, auto& workspace) {
            lstm_forward_into(X, weights, {}, {}, residuals, workspace);
        },
        [](auto const& X, auto const& weights, auto const& residuals, auto const& ct, auto& ct_c,
            auto& workspace) {
            lstm_vjp_into(X, weights, residuals, {.Y_h = ct}, {.initial_c = ct_c}, workspace);
        })));
}

TEST_CASE("packed_matrix: subnormal weights and rows are zeros")
{
    float const tiny = least / 4;
    xt::xtensor<float, 2> const B = {{tiny, 1}, {1, tiny}};
    packed_matrix<float> const multiply(B);
    std::vector<float> const A{1e6f, 0, 0, tiny};
    std::vector<float> C(4);
    multiply(2, A.data(), 2, C.data(), 2);
    if (flush_subnormals::is_supported)
        CHECK(C == std::vector<float>{0, 1e6f, 0, 0});
    else
        CHECK(C == std::vector<float>{1e6f * tiny, 1e6f, tiny, 0});
}

} // namespace recurrent_silence_test
