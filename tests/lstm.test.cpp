#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <random>
#include <span>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>
#include <xloom/adapt/xtensor.hpp>

#include <xloom/lstm.hpp>
#include <xloom/scan.hpp>

#include "support/textbook_lstm.hpp"

namespace {

template <class T>
std::vector<T> random_values(std::mt19937& random, std::size_t count, double bound)
{
    std::uniform_real_distribution<double> draw(-bound, bound);
    std::vector<T> values(count);
    for (T& value : values)
        value = static_cast<T>(draw(random));
    return values;
}

template <class T>
struct weights {
    std::vector<T> W, R, B;

    weights(std::mt19937& random, xloom::lstm_sizes sizes)
        : W(random_values<T>(random, 4 * sizes.H * sizes.I, 1.0)),
          R(random_values<T>(random, 4 * sizes.H * sizes.H, 1.0)),
          B(random_values<T>(random, 8 * sizes.H, 1.0))
    {}
};

/// The largest difference from the textbook's float64 over 20 steps that feed their state on.
template <class T>
double largest_difference(xloom::lstm_sizes sizes)
{
    std::mt19937 random(static_cast<unsigned>(100 * sizes.I + sizes.H));
    weights<T> const w(random, sizes);
    xloom::lstm_cell<T> cell(sizes, w.W, w.R, w.B);

    std::vector<T> h = random_values<T>(random, sizes.H, 1.0);
    std::vector<T> c = random_values<T>(random, sizes.H, 2.0);
    std::vector<T> y(sizes.H);
    textbook::lstm_state expected{{h.begin(), h.end()}, {c.begin(), c.end()}};
    double largest = 0;
    for (int step = 0; step < 20; ++step) {
        std::vector<T> const x = random_values<T>(random, sizes.I, 3.0);
        expected = textbook::lstm_step(w.W, w.R, w.B, expected, x);
        cell(h, c, x, y);
        CHECK(y == h);
        for (std::size_t j = 0; j < sizes.H; ++j) {
            largest = std::max(largest, std::abs(static_cast<double>(h[j]) - expected.h[j]));
            largest = std::max(largest, std::abs(static_cast<double>(c[j]) - expected.c[j]));
        }
    }
    return largest;
}

} // namespace

TEST_CASE("lstm_cell equals the textbook in float64")
{
    for (std::size_t const I : std::initializer_list<std::size_t>{0, 1, 3, 4, 5, 16, 33})
        for (std::size_t const H : std::initializer_list<std::size_t>{1, 2, 4, 7, 16, 33}) {
            CAPTURE(I);
            CAPTURE(H);
            CHECK(largest_difference<float>({I, H}) < 1e-5);
            CHECK(largest_difference<double>({I, H}) < 1e-13);
        }
}

TEST_CASE("lstm_cell takes any contiguous range, and without y_t the states alone")
{
    std::mt19937 random(1);
    weights<float> const w(random, {3, 2});
    xloom::lstm_cell<float> cell({.I = 3, .H = 2}, w.W, w.R, w.B);
    CHECK(cell.input_size() == 3);
    CHECK(cell.hidden_size() == 2);

    std::vector<float> const x{0.5f, -1.0f, 2.0f};
    std::vector<float> h(2), c(2), y(2);
    cell(h, c, x, y);

    std::array<float, 2> h2{}, c2{};
    cell(std::span<float>(h2), c2, std::span<float const>(x));
    CHECK(std::vector<float>(h2.begin(), h2.end()) == h);
    CHECK(std::vector<float>(c2.begin(), c2.end()) == c);
}

TEST_CASE("lstm_cell is the body of a scan")
{
    std::mt19937 random(4);
    weights<float> const w(random, {3, 2});
    xloom::lstm_cell<float> cell({.I = 3, .H = 2}, w.W, w.R, w.B);

    xt::xtensor<float, 2> const X{{0.5f, -1.0f, 2.0f}, {1.0f, 0.0f, -0.5f}};
    xt::xtensor<float, 2> Y({2, 2});
    xt::xtensor<float, 1> h{0.0f, 0.0f}, c{0.0f, 0.0f};
    xloom::scan_into(cell, std::tie(h, c), X, Y);

    std::vector<float> hidden(2), memory(2);
    for (std::size_t t = 0; t < 2; ++t) {
        cell(hidden, memory, std::vector<float>{X(t, 0), X(t, 1), X(t, 2)});
        CHECK(Y(t, 0) == hidden[0]);
        CHECK(Y(t, 1) == hidden[1]);
    }
    CHECK(h(1) == hidden[1]);
    CHECK(c(1) == memory[1]);
}

TEST_CASE("lstm_cell without B has zeros for it")
{
    std::mt19937 random(2);
    weights<double> const w(random, {2, 3});
    xloom::lstm_cell<double> without({2, 3}, w.W, w.R);
    xloom::lstm_cell<double> with_zeros({2, 3}, w.W, w.R, std::vector<double>(24));

    std::vector<double> const x{1.0, -2.0};
    std::vector<double> h1(3, 0.25), c1(3, 0.5), h2 = h1, c2 = c1;
    without(h1, c1, x);
    with_zeros(h2, c2, x);
    CHECK(h1 == h2);
    CHECK(c1 == c2);
}

TEST_CASE("lstm_cell reads x_t before it writes: x_t may be h, and y_t too")
{
    std::mt19937 random(3);
    weights<float> const w(random, {5, 5});
    xloom::lstm_cell<float> cell({5, 5}, w.W, w.R, w.B);
    std::vector<float> h = random_values<float>(random, 5, 1.0), c = random_values<float>(random, 5, 1.0);

    std::vector<float> const x = h;
    std::vector<float> expected_h = h, expected_c = c;
    cell(expected_h, expected_c, x);
    cell(h, c, h, h);
    CHECK(h == expected_h);
    CHECK(c == expected_c);
}

TEST_CASE("lstm_cell at the edges: saturated gates are exact, NaN goes through")
{
    std::vector<float> const zeros(4);
    // I = H = 1: only the biases speak. i and o open, f closed, g = tanh(1000) = 1.
    xloom::lstm_cell<float> open({1, 1}, zeros, zeros, std::vector<float>{1000, 1000, -1000, 1000, 0, 0, 0, 0});
    std::vector<float> h{0.5f}, c{0.5f}, x{0.0f};
    open(h, c, x);
    CHECK(c[0] == 1.0f);
    CHECK(h[0] == std::tanh(1.0f));

    xloom::lstm_cell<float> plain({1, 1}, std::vector<float>(4, 1.0f), zeros);
    x[0] = std::numeric_limits<float>::quiet_NaN();
    plain(h, c, x);
    CHECK(std::isnan(h[0]));
    CHECK(std::isnan(c[0]));
}

TEST_CASE("lstm_cell says every wrong size")
{
    std::vector<float> const W(24), R(16), B(16), short_W(23), short_B(15), none;
    xloom::lstm_sizes const sizes{.I = 3, .H = 2};
    CHECK_THROWS_WITH_AS(xloom::lstm_cell<float>(sizes, short_W, R, short_B),
        "xloom::lstm_cell: with I = 3 and H = 2, W must have 4 * H * I = 24 elements, R 4 * H * H = 16 and B 8 * H = 16 or none, "
        "but W has 23 and B has 15. Give W [4H, I], R [4H, H] and B [8H].",
        xloom::shape_error);
    CHECK_THROWS_WITH_AS(xloom::lstm_cell<float>(sizes, W, none, B),
        "xloom::lstm_cell: with I = 3 and H = 2, W must have 4 * H * I = 24 elements, R 4 * H * H = 16 and B 8 * H = 16 or none, "
        "but R has 0. Give W [4H, I], R [4H, H] and B [8H].",
        xloom::shape_error);
    CHECK_THROWS_WITH_AS(
        xloom::lstm_cell<float>({3, 0}, none, none), "xloom::lstm_cell: H must be at least 1, but H is 0.", xloom::shape_error);
}

TEST_CASE("lstm_cell checks a step before it writes")
{
    std::vector<float> const W(24), R(16);
    xloom::lstm_cell<float> cell({.I = 3, .H = 2}, W, R);
    std::vector<float> h{1, 2}, c{3}, x(4), y(2);
    CHECK_THROWS_WITH_AS(cell(h, c, x, y),
        "xloom::lstm_cell: h, c and y_t must have H = 2 elements and x_t I = 3, but c has 1 and x_t has 4. "
        "Pass operands of the sizes the cell was made with.",
        xloom::shape_error);
    CHECK(h == std::vector<float>{1, 2});

    c = {3, 4};
    x.resize(3);
    y.resize(1);
    CHECK_THROWS_WITH_AS(cell(h, c, x, y),
        "xloom::lstm_cell: h, c and y_t must have H = 2 elements and x_t I = 3, but y_t has 1. "
        "Pass operands of the sizes the cell was made with.",
        xloom::shape_error);
    CHECK(c == std::vector<float>{3, 4});
}
