#pragma once
// The cases that the cells with one state pass. A Family is the operator, gru_family or rnn_family; Cell<T>
// is its cell.

#include <doctest/doctest.h>

#include <array>
#include <span>
#include <vector>

#include <xloom/control_flow/scan.hpp>

#include "recurrent_cases.hpp"
#include "xtensor_extras.hpp"

/// Steps from random states, of N rows with the weights of direction d: each equals a whole call of one step
/// bit for bit, and the textbook's step in float64 within `tolerance`.
template <class Family, class T, template <class> class Cell>
void check_cell_steps(
    recurrent_sizes sizes, std::size_t d, typename Family::options options, double tolerance)
{
    std::mt19937 random(static_cast<unsigned>(100 * sizes.I + sizes.H));
    sizes.T = 1;
    sizes.D = d + 1;
    options.direction = d == 1 ? "bidirectional" : "forward";
    std::size_t const rows = sizes.N * sizes.H;
    auto in = Family::template draw<T>(random, sizes, with_B | with_initial_h);
    typename Family::template tensors<T> const tensors(in);
    Cell<T> cell(
        typename Family::template weights<T>(tensors.constants(), Family::options_of(options)), sizes.N, d);
    auto const first = static_cast<std::ptrdiff_t>(d * rows),
               last = static_cast<std::ptrdiff_t>((d + 1) * rows);
    std::vector<T> h(in.initial_h.items.begin() + first, in.initial_h.items.begin() + last), y(rows);
    for (int step = 0; step < 4; ++step) {
        in.X = random_array<T>(random, in.X.shape, 1);
        auto const expected = Family::template call<T>(in, options);
        auto const exact = Family::template textbook<T>(in, options);
        cell(h, in.X.items, y);
        CHECK(y == h);
        bool has_same_bits = true;
        double largest = 0;
        for (std::size_t i = 0; i < rows; ++i) {
            has_same_bits &= h[i] == expected.Y_h.items[d * rows + i];
            largest =
                std::fmax(largest, std::fabs(static_cast<double>(h[i]) - exact.Y_h.items[d * rows + i]));
            in.initial_h.items[d * rows + i] = h[i];
        }
        CAPTURE(sizes.I);
        CAPTURE(sizes.H);
        CAPTURE(sizes.N);
        CAPTURE(d);
        CHECK(has_same_bits);
        CHECK(largest < tolerance);
    }
}

/// The sizes of small and of large cells, around whole vectors.
template <class Family, class T, template <class> class Cell>
void check_every_size(typename Family::options const& options, double tolerance)
{
    for (std::size_t const I : std::initializer_list<std::size_t>{0, 1, 5, 40, 130})
        for (std::size_t const H :
            std::initializer_list<std::size_t>{1, 4, 7, 8, 9, 16, 17, 20, 32, 33, 40, 64, 65})
            check_cell_steps<Family, T, Cell>({1, 1, I, H}, 0, options, tolerance);
    for (std::size_t const N : std::initializer_list<std::size_t>{2, 7})
        check_cell_steps<Family, T, Cell>({1, N, 3, 9}, 1, options, tolerance);
}

/// Weights of a small cell, and what it reads.
template <class Family, template <class> class Cell>
struct small_hidden_cell {
    std::mt19937 random{4};
    typename Family::template operands<float> in = Family::template draw<float>(random, {2, 1, 3, 2}, with_B);
    typename Family::template tensors<float> tensors{in};
    typename Family::template weights<float> weights{tensors.constants()};
    Cell<float> cell{weights};
    std::vector<float> x{0.5f, -1.0f, 2.0f};
};

/// Operands of every kind, copies, a scan, and operands that share memory.
template <class Family, template <class> class Cell>
void check_cell_operands()
{
    small_hidden_cell<Family, Cell> small;
    std::vector<float> h(2), y(2);
    small.cell(h, small.x, y);

    std::array<float, 2> h2{};
    small.cell(std::span<float>(h2), std::span<float const>(small.x));
    CHECK(std::vector<float>(h2.begin(), h2.end()) == h);

    xt::xtensor<float, 2> rows{{7.0f, 7.0f}, {0.0f, 0.0f}};
    Cell<float> copy = small.cell;
    copy(xt::view(rows, 1, xt::all()), xt::xtensor<float, 1>{0.5f, -1.0f, 2.0f});
    CHECK(rows == xt::xtensor<float, 2>{{7.0f, 7.0f}, {h[0], h[1]}});

    xt::xtensor<float, 2> const X{{0.5f, -1.0f, 2.0f}, {1.0f, 0.0f, -0.5f}};
    xt::xtensor<float, 2> Y = xt::zeros<float>({2, 2});
    xt::xtensor<float, 1> state{0.0f, 0.0f};
    xloom::scan_into(small.cell, std::tie(state), X, Y);
    CHECK(Y(0, 0) == h[0]);
    small.cell(h, std::vector<float>{1.0f, 0.0f, -0.5f});
    CHECK(Y(1, 1) == h[1]);
    CHECK(state(0) == h[0]);

    auto const square = Family::template draw<float>(small.random, {1, 2, 5, 5}, with_all);
    Cell<float> cell(typename Family::template weights<float>(
                         typename Family::template tensors<float>(square).constants()),
        2);
    std::vector<float> const before = square.initial_h.items;
    std::vector<float> expected = before, shared = before;
    cell(expected, before);
    cell(shared, shared, shared);
    CHECK(shared == expected);
}

/// Errors, before anything is written; NaN stays in its row.
template <class Family, template <class> class Cell>
void check_cell_errors(std::string const& name)
{
    small_hidden_cell<Family, Cell> small;
    std::vector<float> h(2), long_h(3);
    CHECK_THROWS_WITH_AS(small.cell(long_h, h),
        (name + ": the operands of a step must have the sizes that the cell was made for, but h has 3 items "
                "instead of N H = 2 and x_t has 2 items instead of N I = 3. Resize it.")
            .c_str(),
        xloom::shape_error);
    xt::xtensor<float, 2> columns = xt::zeros<float>({2, 2});
    CHECK_THROWS_WITH_AS(small.cell(xt::view(columns, xt::all(), 1), small.x),
        (name + ": the operands of a step must be contiguous and row-major, but h is not. Copy it first.")
            .c_str(),
        xloom::shape_error);
    CHECK_THROWS_WITH_AS(Cell<float>(small.weights, 1, 1),
        (name + ": d must be less than D = 1, but d is 1. Choose one of the weights' directions.").c_str(),
        xloom::option_error);
    CHECK_THROWS_AS(Cell<float>(small.weights, ~std::size_t{0} / 2), xloom::shape_error);

    Cell<float> two(small.weights, 2);
    std::vector<float> states(4), x(6);
    x[1] = std::numeric_limits<float>::quiet_NaN();
    two(states, x);
    CHECK((std::isnan(states[0]) && std::isnan(states[1])));
    CHECK((std::isfinite(states[2]) && std::isfinite(states[3])));

    Cell<float> moved = std::move(two);
    CHECK_THROWS_AS(two(states, x), xloom::shape_error);
    moved(states, x);
}
