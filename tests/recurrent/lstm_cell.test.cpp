// lstm_cell against the textbook in float64, step by step.

#include <doctest/doctest.h>

#include <array>
#include <initializer_list>
#include <span>
#include <tuple>
#include <vector>

#include <xloom/control_flow/scan.hpp>
#include <xloom/recurrent/lstm_cell.hpp>

#include "support/lstm_calls.hpp"
#include "support/xtensor_extras.hpp"

namespace lstm_cell_test {

using namespace xloom;

namespace {

/// The largest difference of N rows over steps that feed their states on, from direction d of a bidirectional
/// LSTM.
template <class T>
double largest_difference(std::size_t I, std::size_t H, std::size_t N, std::size_t d, unsigned which,
    textbook::lstm_options options = {})
{
    std::mt19937 random(static_cast<unsigned>(100 * I + H));
    options.direction = "bidirectional";
    auto const in = random_lstm<T>(random, {6, N, I, H, 2}, which);
    lstm_tensors<T> const tensors(in);
    lstm_cell<T> cell(lstm_weights<T>(tensors.constants(), lstm_family::options_of(options)), N, d);

    textbook::lstm_weights const w = textbook::lstm_weights_of(in, options, d);
    std::vector<textbook::lstm_state> expected(N, {std::vector<double>(H), std::vector<double>(H)});
    std::vector<T> h(N * H), c(N * H), y(N * H);
    double largest = 0;
    for (std::size_t t = 0; t < 6; ++t) {
        std::vector<T> const x(in.X.items.begin() + static_cast<std::ptrdiff_t>(t * N * I),
            in.X.items.begin() + static_cast<std::ptrdiff_t>((t + 1) * N * I));
        cell(h, c, x, y);
        CHECK(y == h);
        for (std::size_t n = 0; n < N; ++n) {
            expected[n] = textbook::lstm_step(w, expected[n], textbook::row_of(in.X, t * N + n, I));
            for (std::size_t j = 0; j < H; ++j) {
                largest = std::fmax(largest, std::fabs(static_cast<double>(h[n * H + j]) - expected[n].h[j]));
                largest = std::fmax(largest, std::fabs(static_cast<double>(c[n * H + j]) - expected[n].c[j]));
            }
        }
    }
    return largest;
}

/// Weights of a small cell, and what it reads.
struct small_cell {
    std::mt19937 random{4};
    textbook::lstm_operands<float> in = random_lstm<float>(random, {2, 1, 3, 2}, with_B);
    lstm_tensors<float> tensors{in};
    lstm_weights<float> weights{tensors.constants()};
    lstm_cell<float> cell{weights};
};

} // namespace

TEST_CASE("lstm_cell equals the textbook in float64")
{
    for (std::size_t const I : std::initializer_list<std::size_t>{0, 1, 5, 33})
        for (std::size_t const H : std::initializer_list<std::size_t>{1, 4, 7, 9, 16, 33})
            for (std::size_t const N : std::initializer_list<std::size_t>{1, 2, 7}) {
                CAPTURE(I);
                CAPTURE(H);
                CAPTURE(N);
                CHECK(largest_difference<float>(I, H, N, 0, with_B) < 4e-6);
                CHECK(largest_difference<float>(I, H, N, 1, with_B | with_P) < 4e-6);
            }
    textbook::lstm_options options;
    options.clip = 0.5;
    options.input_forget = true;
    options.activations = {{activation::hard_sigmoid, 0.2, 0.5}, {activation::softsign},
        {activation::softmax}, {activation::sigmoid}, {activation::relu}, {activation::tanh}};
    for (std::size_t const d : std::initializer_list<std::size_t>{0, 1})
        CHECK(largest_difference<double>(5, 7, 3, d, with_P, options) < 1e-14);
}

TEST_CASE("lstm_cell takes any contiguous items, and without y_t the states alone")
{
    small_cell small;
    std::vector<float> const x{0.5f, -1.0f, 2.0f};
    std::vector<float> h(2), c(2), y(2);
    small.cell(h, c, x, y);

    std::array<float, 2> h2{}, c2{};
    small.cell(std::span<float>(h2), c2, std::span<float const>(x));
    CHECK(std::vector<float>(h2.begin(), h2.end()) == h);
    CHECK(std::vector<float>(c2.begin(), c2.end()) == c);

    xt::xtensor<float, 2> h3 = xt::zeros<float>({1, 2}), c3 = h3, y3 = h3;
    small.cell(h3, c3, xt::xtensor<float, 1>{0.5f, -1.0f, 2.0f}, y3);
    CHECK(h3(0, 1) == h[1]);
    CHECK(c3(0, 1) == c[1]);
    CHECK(y3 == h3);
}

TEST_CASE("lstm_cell takes views whose items are contiguous, and writes where they lie")
{
    small_cell small;
    xt::xtensor<float, 2> const X{{9.0f, 9.0f, 9.0f}, {0.5f, -1.0f, 2.0f}};
    std::vector<float> h(2), c(2), y(2);
    small.cell(h, c, std::vector<float>{0.5f, -1.0f, 2.0f}, y);

    xt::xtensor<float, 2> H{{7.0f, 7.0f}, {0.0f, 0.0f}}, C = H, Y = H;
    auto const row = [](auto& rows) { return xt::view(rows, 1, xt::all()); };
    small.cell(row(H), row(C), row(X), row(Y));
    CHECK(H == xt::xtensor<float, 2>{{7.0f, 7.0f}, {h[0], h[1]}});
    CHECK(C == xt::xtensor<float, 2>{{7.0f, 7.0f}, {c[0], c[1]}});
    CHECK(Y == H);
}

TEST_CASE("lstm_cell refuses operands whose items are apart, before it writes")
{
    small_cell small;
    std::vector<float> const x{0.5f, -1.0f, 2.0f};
    xt::xtensor<float, 2> H{{7.0f, 0.0f}, {7.0f, 0.0f}};
    std::vector<float> h(2), c(2);
    auto const column = [](auto& columns) { return xt::view(columns, xt::all(), 1); };
    CHECK_THROWS_WITH_AS(small.cell(column(H), c, x),
        "xloom::lstm_cell: the operands of a step must be contiguous and row-major, but h is not. Copy it "
        "first.",
        xloom::shape_error);
    CHECK_THROWS_WITH_AS(small.cell(h, column(H), x, column(H)),
        "xloom::lstm_cell: the operands of a step must be contiguous and row-major, but c is not and y_t is "
        "not. Copy it first.",
        xloom::shape_error);
    CHECK(H == xt::xtensor<float, 2>{{7.0f, 0.0f}, {7.0f, 0.0f}});
    CHECK(h == std::vector<float>(2));
    lstm_cell<float> two(small.weights, 2);
    xt::xtensor<float, 2, xt::layout_type::column_major> by_columns = xt::zeros<float>({2, 2});
    std::vector<float> c2(4);
    CHECK_THROWS_AS(two(by_columns, c2, std::vector<float>(6)), xloom::shape_error);
}

TEST_CASE("lstm_cell is the body of a scan")
{
    small_cell small;
    xt::xtensor<float, 2> const X{{0.5f, -1.0f, 2.0f}, {1.0f, 0.0f, -0.5f}};
    xt::xtensor<float, 2> Y = xt::zeros<float>({2, 2});
    xt::xtensor<float, 1> h{0.0f, 0.0f}, c{0.0f, 0.0f};
    scan_into(small.cell, std::tie(h, c), X, Y);

    std::vector<float> hidden(2), memory(2);
    for (std::size_t t = 0; t < 2; ++t) {
        small.cell(hidden, memory, std::vector<float>{X(t, 0), X(t, 1), X(t, 2)});
        CHECK(Y(t, 0) == hidden[0]);
        CHECK(Y(t, 1) == hidden[1]);
    }
    CHECK(h(1) == hidden[1]);
    CHECK(c(1) == memory[1]);
}

TEST_CASE("lstm_cell outlives the weights it was made from, and a copy goes its own way")
{
    std::vector<float> const x{0.5f, -1.0f, 2.0f};
    std::vector<float> expected_h(2), expected_c(2);
    small_cell().cell(expected_h, expected_c, x);

    auto const make = [] { return lstm_cell<float>(small_cell().weights); };
    lstm_cell<float> first = make(), second = first;
    std::vector<float> h(2), c(2), other_h(2, 0.5f), other_c(2, 0.5f);
    second(other_h, other_c, x);
    first(h, c, x);
    CHECK(h == expected_h);
    CHECK(c == expected_c);
}

TEST_CASE("lstm_cell reads x_t before it writes: x_t may be h or c, and y_t h")
{
    std::mt19937 random(3);
    auto const in = random_lstm<float>(random, {1, 2, 5, 5}, with_all);
    lstm_cell<float> cell(lstm_weights<float>(lstm_tensors<float>(in).constants()), 2);
    std::vector<float> const first_h = in.initial_h.items, first_c = in.initial_c.items;

    for (bool const is_hidden : {true, false}) {
        std::vector<float> expected_h = first_h, expected_c = first_c, h = first_h, c = first_c;
        cell(expected_h, expected_c, is_hidden ? first_h : first_c);
        cell(h, c, is_hidden ? h : c, h);
        CHECK(h == expected_h);
        CHECK(c == expected_c);
    }
}

TEST_CASE("lstm_cell lets NaN through, in the row that it comes to")
{
    std::mt19937 random(5);
    auto const in = random_lstm<float>(random, {1, 2, 3, 2}, with_none);
    lstm_cell<float> cell(lstm_weights<float>(lstm_tensors<float>(in).constants()), 2);
    std::vector<float> h(4), c(4), x(6);
    x[1] = std::numeric_limits<float>::quiet_NaN();
    cell(h, c, x);
    CHECK((std::isnan(h[0]) && std::isnan(h[1]) && std::isnan(c[0]) && std::isnan(c[1])));
    CHECK((h[2] == 0 && h[3] == 0 && c[2] == 0 && c[3] == 0));
}

} // namespace lstm_cell_test
