// lstm_cell, gru_cell and rnn_cell against the operators and the textbook in float64, step by step.

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <xloom/control_flow/scan.hpp>
#include <xloom/recurrent/gru_cell.hpp>
#include <xloom/recurrent/lstm_cell.hpp>
#include <xloom/recurrent/rnn_cell.hpp>

#include "support/gru_calls.hpp"
#include "support/larger_error.hpp"
#include "support/lstm_calls.hpp"
#include "support/rnn_calls.hpp"
#include "support/xtensor_extras.hpp"

namespace recurrent_cells_test {

using namespace xloom;

namespace {

struct lstm_case : lstm_family {
    template <class T>
    using cell = lstm_cell<T>;
};
struct gru_case : gru_family {
    template <class T>
    using cell = gru_cell<T>;
};
struct rnn_case : rnn_family {
    template <class T>
    using cell = rnn_cell<T>;
};

/// h, and c where there is one.
template <class Case, class State>
using states_of = std::array<State, Case::has_c ? 2 : 1>;

/// cell(h, c, rest...), or without c.
template <class Cell, class States, class... Rest>
void step(Cell& cell, States&& states, Rest&&... rest)
{
    std::apply([&](auto&... each) { cell(each..., rest...); }, states);
}

template <class Case>
states_of<Case, std::vector<float>> zero_states(std::size_t size)
{
    states_of<Case, std::vector<float>> states;
    states.fill(std::vector<float>(size));
    return states;
}

template <class Operands>
auto initial_states(Operands& in)
{
    if constexpr (requires { in.initial_c; })
        return std::array{&in.initial_h, &in.initial_c};
    else
        return std::array{&in.initial_h};
}

/// Steps from random states, of N rows with the weights of direction d: each equals a whole call of one step
/// bit for bit, and the textbook's step in float64 within `tolerance`.
template <class Case, class T>
void check_steps(recurrent_sizes sizes, std::size_t d, unsigned which, textbook::recurrent_options options,
    double tolerance)
{
    CAPTURE(sizes.I);
    CAPTURE(sizes.H);
    CAPTURE(sizes.N);
    CAPTURE(d);
    std::mt19937 random(static_cast<unsigned>(100 * sizes.I + sizes.H));
    sizes.T = 1;
    sizes.D = d + 1;
    options.direction = d == 1 ? "bidirectional" : "forward";
    std::size_t const rows = sizes.N * sizes.H, first = d * rows;
    auto in = Case::template draw<T>(random, sizes, which | with_initial_h | with_initial_c);
    auto const initial = initial_states(in);
    typename Case::template weights<T> const weights(
        typename Case::template tensors<T>(in).constants(), Case::options_of(options));
    typename Case::template cell<T> cell(weights, sizes.N, d);
    states_of<Case, std::vector<T>> states;
    for (std::size_t k = 0; k < states.size(); ++k)
        states[k].assign(initial[k]->items.begin() + static_cast<std::ptrdiff_t>(first),
            initial[k]->items.begin() + static_cast<std::ptrdiff_t>(first + rows));
    std::vector<T> y(rows);
    for (int t = 0; t < 2; ++t) {
        in.X = random_array<T>(random, in.X.shape, 1);
        auto const expected = Case::template call<T>(in, weights);
        auto const exact = Case::template textbook<T>(in, options);
        step(cell, states, in.X.items, y);
        CHECK(y == states[0]);
        bool has_same_bits = true;
        double largest = 0;
        for (std::size_t k = 0; k < states.size(); ++k)
            for (std::size_t i = 0; i < rows; ++i) {
                T const found = states[k][i];
                has_same_bits &= found == expected.each()[k + 1]->items[first + i];
                largest = larger_error(
                    largest, std::fabs(static_cast<double>(found) - exact.each()[k + 1]->items[first + i]));
                initial[k]->items[first + i] = found;
            }
        CHECK(has_same_bits);
        CHECK(largest < tolerance);
    }
}

/// The sizes of small and of large cells, around whole vectors.
template <class Case, class T>
void check_every_size(textbook::recurrent_options const& options, double tolerance)
{
    for (std::size_t const I : {0u, 1u, 5u, 33u, 40u, 130u})
        for (std::size_t const H : {1u, 4u, 7u, 8u, 9u, 16u, 17u, 20u, 32u, 33u, 40u, 64u, 65u})
            check_steps<Case, T>({1, 1, I, H}, 0, with_B, options, tolerance);
    for (std::size_t const I : {0u, 5u, 33u})
        for (std::size_t const H : {1u, 7u, 16u, 33u})
            for (std::size_t const N : {1u, 2u, 7u}) {
                check_steps<Case, T>({1, N, I, H}, 0, with_B, options, tolerance);
                check_steps<Case, T>({1, N, I, H}, 1, with_B | with_P, options, tolerance);
            }
}

/// Weights of a small cell, and what it reads.
template <class Case>
struct small_cell {
    std::mt19937 random{4};
    typename Case::template operands<float> in = Case::template draw<float>(random, {2, 1, 3, 2}, with_B);
    typename Case::template tensors<float> tensors{in};
    typename Case::template weights<float> weights{tensors.constants()};
    typename Case::template cell<float> cell{weights};
    std::vector<float> x{0.5f, -1.0f, 2.0f};

    /// The states after a step from zeros.
    auto expected()
    {
        auto states = zero_states<Case>(2);
        step(cell, states, x);
        return states;
    }
};

xt::xtensor<float, 2> const row_after_sevens{{7.0f, 7.0f}, {0.0f, 0.0f}};

} // namespace

TEST_CASE_TEMPLATE("cells have the bits of a whole call, and are close to the textbook in float64", Case,
    lstm_case, gru_case, rnn_case)
{
    textbook::recurrent_options options;
    check_every_size<Case, float>(options, 4e-6);
    check_every_size<Case, double>(options, 1e-14);
    Case::set_own(options, true);
    check_every_size<Case, float>(options, 4e-6);
}

TEST_CASE_TEMPLATE("cells with other options", Case, lstm_case, gru_case, rnn_case)
{
    textbook::recurrent_options options;
    options.clip = 0.5;
    check_steps<Case, float>({1, 1, 5, 7}, 0, with_B, options, 4e-6);
    check_steps<Case, float16>({1, 1, 5, 7}, 0, with_B, options, 1e-2);

    std::vector<activation_function> const functions{{activation::hard_sigmoid, 0.2, 0.5},
        {activation::softsign}, {activation::softmax}, {activation::sigmoid}, {activation::relu},
        {activation::tanh}};
    Case::set_own(options, true);
    for (std::size_t const d : {0u, 1u}) {
        options.activations = functions;
        options.activations.resize((d + 1) * Case::activations);
        check_steps<Case, double>({1, 3, 5, 7}, d, with_P, options, 1e-14);
    }
}

TEST_CASE_TEMPLATE(
    "cells take any contiguous items, and without y_t the states alone", Case, lstm_case, gru_case, rnn_case)
{
    small_cell<Case> small;
    auto const expected = small.expected();
    auto states = zero_states<Case>(2);
    std::vector<float> y(2);
    step(small.cell, states, small.x, y);
    CHECK(states == expected);
    CHECK(y == expected[0]);

    states_of<Case, std::array<float, 2>> arrays{};
    std::apply([&](auto&... each) { small.cell(std::span<float>(each)..., std::span<float const>(small.x)); },
        arrays);
    states_of<Case, xt::xtensor<float, 2>> tensors;
    tensors.fill(xt::zeros<float>({1, 2}));
    xt::xtensor<float, 2> Y = tensors[0];
    step(small.cell, tensors, xt::xtensor<float, 1>{0.5f, -1.0f, 2.0f}, Y);
    for (std::size_t k = 0; k < states.size(); ++k) {
        CHECK(std::vector<float>(arrays[k].begin(), arrays[k].end()) == expected[k]);
        CHECK(std::vector<float>(tensors[k].begin(), tensors[k].end()) == expected[k]);
    }
    CHECK(Y == tensors[0]);
}

TEST_CASE_TEMPLATE("cells take views whose items are contiguous, and write to the memory of these", Case,
    lstm_case, gru_case, rnn_case)
{
    small_cell<Case> small;
    auto const expected = small.expected();
    xt::xtensor<float, 2> const X{{9.0f, 9.0f, 9.0f}, {0.5f, -1.0f, 2.0f}};
    states_of<Case, xt::xtensor<float, 2>> states;
    states.fill(row_after_sevens);
    xt::xtensor<float, 2> Y = row_after_sevens;
    auto const row = [](auto& rows) { return xt::view(rows, 1, xt::all()); };
    std::apply([&](auto&... each) { small.cell(row(each)..., row(X), row(Y)); }, states);
    for (std::size_t k = 0; k < states.size(); ++k)
        CHECK(states[k] == xt::xtensor<float, 2>{{7.0f, 7.0f}, {expected[k][0], expected[k][1]}});
    CHECK(Y == states[0]);
}

TEST_CASE_TEMPLATE("cells are bodies of a scan", Case, lstm_case, gru_case, rnn_case)
{
    small_cell<Case> small;
    xt::xtensor<float, 2> const X{{0.5f, -1.0f, 2.0f}, {1.0f, 0.0f, -0.5f}};
    xt::xtensor<float, 2> Y = xt::zeros<float>({2, 2});
    states_of<Case, xt::xtensor<float, 1>> states;
    states.fill({0.0f, 0.0f});
    std::apply([&](auto&... each) { scan_into(small.cell, std::tie(each...), X, Y); }, states);

    auto expected = zero_states<Case>(2);
    for (std::size_t t = 0; t < 2; ++t) {
        step(small.cell, expected, std::vector<float>{X(t, 0), X(t, 1), X(t, 2)});
        CHECK(Y(t, 0) == expected[0][0]);
        CHECK(Y(t, 1) == expected[0][1]);
    }
    for (std::size_t k = 0; k < states.size(); ++k)
        CHECK(std::vector<float>(states[k].begin(), states[k].end()) == expected[k]);
}

TEST_CASE_TEMPLATE("cells outlive the weights that they were made from, and a copy has its own scratch", Case,
    lstm_case, gru_case, rnn_case)
{
    small_cell<Case> small;
    auto const expected = small.expected();
    auto const make = [] { return typename Case::template cell<float>(small_cell<Case>().weights); };
    auto first = make(), second = first;
    auto states = zero_states<Case>(2), other = states;
    for (std::vector<float>& each : other)
        each.assign(2, 0.5f);
    step(second, other, small.x);
    step(first, states, small.x);
    CHECK(states == expected);
}

TEST_CASE_TEMPLATE(
    "cells read x_t before they write: x_t may be a state, and y_t h", Case, lstm_case, gru_case, rnn_case)
{
    std::mt19937 random(3);
    auto in = Case::template draw<float>(random, {1, 2, 5, 5}, with_all);
    typename Case::template cell<float> cell(
        typename Case::template weights<float>(typename Case::template tensors<float>(in).constants()), 2);
    states_of<Case, std::vector<float>> before;
    for (std::size_t k = 0; k < before.size(); ++k)
        before[k] = initial_states(in)[k]->items;
    for (std::size_t k = 0; k < before.size(); ++k) {
        auto expected = before, shared = before;
        step(cell, expected, before[k]);
        step(cell, shared, shared[k], shared[0]);
        CHECK(shared == expected);
    }
}

TEST_CASE_TEMPLATE("cells pass NaN on in its row alone", Case, lstm_case, gru_case, rnn_case)
{
    std::mt19937 random(5);
    auto const in = Case::template draw<float>(random, {1, 2, 3, 2}, with_none);
    typename Case::template cell<float> cell(
        typename Case::template weights<float>(typename Case::template tensors<float>(in).constants()), 2);
    auto states = zero_states<Case>(4);
    std::vector<float> x(6);
    x[1] = std::numeric_limits<float>::quiet_NaN();
    step(cell, states, x);
    for (std::vector<float> const& each : states) {
        CHECK((std::isnan(each[0]) && std::isnan(each[1])));
        CHECK((each[2] == 0 && each[3] == 0));
    }
}

TEST_CASE_TEMPLATE(
    "cells refuse what they cannot compute, before they write", Case, lstm_case, gru_case, rnn_case)
{
    small_cell<Case> small;
    std::string const name = std::string("xloom::") + Case::name + "_cell";
    auto const contiguous = [&](std::string const& which) {
        return name + ": the operands of a step must be contiguous and row-major, but " + which +
               " is not. Copy it first.";
    };
    auto states = zero_states<Case>(2), long_states = states;
    long_states[0].resize(3);
    CHECK_THROWS_WITH_AS(step(small.cell, long_states, states[0]),
        (name + ": the operands of a step must have the sizes that the cell was made for, but h has 3 items "
                "instead of N H = 2 and x_t has 2 items instead of N I = 3. Resize it.")
            .c_str(),
        shape_error);
    xt::xtensor<float, 2> const columns{{7.0f, 0.0f}, {7.0f, 0.0f}};
    xt::xtensor<float, 2> H = columns;
    auto column = xt::view(H, xt::all(), 1);
    if constexpr (Case::has_c) {
        CHECK_THROWS_WITH_AS(small.cell(column, states[1], small.x), contiguous("h").c_str(), shape_error);
        CHECK_THROWS_WITH_AS(small.cell(states[0], column, small.x, column),
            contiguous("c is not and y_t").c_str(), shape_error);
    } else {
        CHECK_THROWS_WITH_AS(small.cell(column, small.x), contiguous("h").c_str(), shape_error);
    }
    CHECK(H == columns);
    CHECK(states == zero_states<Case>(2));

    using cell = typename Case::template cell<float>;
    CHECK_THROWS_WITH_AS(cell(small.weights, 1, 1),
        (name + ": d must be less than D = 1, but d is 1. Choose one of the weights' directions.").c_str(),
        option_error);
    CHECK_THROWS_AS(cell(small.weights, ~std::size_t{0} / 2), shape_error);

    cell two(small.weights, 2);
    std::vector<float> const x(6);
    states_of<Case, xt::xtensor<float, 2, xt::layout_type::column_major>> by_columns;
    by_columns.fill(xt::zeros<float>({2, 2}));
    CHECK_THROWS_AS(step(two, by_columns, x), shape_error);
    cell moved = std::move(two);
    auto rows = zero_states<Case>(4);
    CHECK_THROWS_AS(step(two, rows, x), shape_error);
    step(moved, rows, x);
    CHECK(std::isfinite(rows[0][3]));
}

TEST_CASE("a step of a moved-from cell, which has no rows")
{
    xt::xtensor<float, 3> const W = {{{1}, {2}, {3}}}, R = W;
    gru_cell<float> cell(gru_weights<float>({.W = W, .R = R}), 2);
    gru_cell<float> const other(std::move(cell));
    std::vector<float> none;
    cell(none, none); // NOLINT
    CHECK(none.empty());
}

} // namespace recurrent_cells_test
