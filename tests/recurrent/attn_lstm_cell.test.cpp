// attn_lstm_cell against the textbook in float64, step by step.

#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include <xloom/control_flow/scan.hpp>
#include <xloom/recurrent/attn_lstm_cell.hpp>

#include "support/attn_lstm_calls.hpp"
#include "support/larger_error.hpp"
#include "support/xtensor_extras.hpp"

namespace attn_lstm_cell_test {

using namespace xloom;

namespace {

/// The states of one direction: h, c, attention and alignment, each [N, ..].
template <class T>
struct cell_states {
    std::vector<T> h, c, attention, alignment;
};

/// Rows [N, width] of a state [D, N, width].
template <class T>
std::vector<T> of_direction(textbook::array<T> const& state, std::size_t d)
{
    auto const size = static_cast<std::ptrdiff_t>(state.shape[1] * state.shape[2]),
               first = static_cast<std::ptrdiff_t>(d) * size;
    return {state.items.begin() + first, state.items.begin() + first + size};
}

template <class T>
cell_states<T> initial_states(textbook::attn_lstm_operands<T> const& in, std::size_t d)
{
    return {of_direction(in.initial_h, d), of_direction(in.initial_c, d),
        of_direction(in.initial_attention, d), of_direction(in.initial_alignment, d)};
}

template <class T>
std::vector<T> element(textbook::attn_lstm_operands<T> const& in, std::size_t t)
{
    auto const size = static_cast<std::ptrdiff_t>(in.X.shape[1] * in.X.shape[2]),
               first = static_cast<std::ptrdiff_t>(t) * size;
    return {in.X.items.begin() + first, in.X.items.begin() + first + size};
}

template <class T>
double largest_difference(std::vector<T> const& found, std::vector<double> const& expected)
{
    REQUIRE(found.size() == expected.size());
    double largest = 0;
    for (std::size_t i = 0; i < found.size(); ++i)
        largest = larger_error(largest, std::fabs(static_cast<double>(found[i]) - expected[i]));
    return largest;
}

/// The largest difference of N rows over steps that feed their states on, from direction d of two.
template <class T>
double largest_difference(recurrent_sizes const& rows, attention_sizes const& attention, std::size_t d,
    unsigned which, textbook::attn_lstm_options options = {})
{
    std::mt19937 random(static_cast<unsigned>(100 * rows.H + attention.A));
    options.direction = "bidirectional";
    unsigned const states = with_initial_h | with_initial_c | with_initial_attention | with_initial_alignment;
    auto in = random_attn_lstm<T>(
        random, {rows.T, rows.N, rows.I, rows.H, 2}, attention, which | with_attention | states);
    in.sequence_lens.clear();
    attn_lstm_tensors<T> const tensors(in, every_placement[(rows.H + rows.N) % 4]);
    attn_lstm_cell<T> cell(attn_lstm_weights<T>(tensors.constants(), options_of(options)), ref_of(tensors.M),
        tensors.memory_lengths(), d);
    CHECK(cell.batch_size() == rows.N);
    CHECK(cell.memory_steps() == attention.S);

    auto [h, c, attending, alignment] = initial_states(in, d);
    auto h2 = h, c2 = c, attending2 = attending;
    std::vector<T> y(h.size());
    double largest = 0;
    for (std::size_t t = 0; t < rows.T; ++t) {
        // In its own order; the textbook's reverse direction reads the steps so far backwards.
        auto until = in;
        until.X.shape[0] = t + 1;
        until.X.items.clear();
        for (std::size_t k = 0; k <= t; ++k) {
            std::vector<T> const x = element(in, d == 0 ? k : t - k);
            until.X.items.insert(until.X.items.end(), x.begin(), x.end());
        }
        auto const expected = textbook_attn_lstm(until, options);
        cell(h, c, attending, alignment, element(in, t), y);
        cell(h2, c2, attending2, element(in, t));
        CHECK(y == h);
        CHECK((h2 == h && c2 == c && attending2 == attending));
        largest = larger_error(largest, largest_difference(h, of_direction(expected.Y_h, d)));
        largest = larger_error(largest, largest_difference(c, of_direction(expected.Y_c, d)));
        largest = larger_error(largest, largest_difference(attending, of_direction(expected.Y_attention, d)));
        largest = larger_error(largest, largest_difference(alignment, of_direction(expected.Y_alignment, d)));
    }
    return largest;
}

/// Weights of a small cell, and what it reads.
struct small_cell {
    std::mt19937 random{4};
    textbook::attn_lstm_operands<float> in = random_attn_lstm<float>(
        random, {2, 1, 3, 2}, {4, 3, 2, 5}, with_all & ~unsigned(with_sequence_lens | with_memory_seq_lens));
    attn_lstm_tensors<float> tensors{in};
    attn_lstm_weights<float> weights{tensors.constants()};
    attn_lstm_cell<float> cell{weights, tensors.M};
    std::vector<float> x{0.5f, -1.0f, 2.0f};
};

} // namespace

TEST_CASE("attn_lstm_cell equals the textbook in float64")
{
    unsigned const one = with_B, other = with_B | with_P | with_AW | with_memory_seq_lens;
    for (std::size_t const H : {1u, 7u, 8u, 17u})
        for (std::size_t const A : {1u, 5u, 8u, 33u})
            for (std::size_t const N : {1u, 2u, 7u})
                for (unsigned const which : {one, other}) {
                    CAPTURE(H);
                    CAPTURE(A);
                    CAPTURE(N);
                    CHECK(largest_difference<float>({3, N, 5, H}, {6, H, A, 9}, which == one ? 0 : 1, which) <
                          4e-6);
                }
    for (std::size_t const nothing : {0u, 1u, 2u, 3u})
        CHECK(largest_difference<float>({3, 2, nothing == 0 ? 0u : 3u, 5},
                  {nothing == 1 ? 0u : 4u, nothing == 2 ? 0u : 3u, nothing == 3 ? 0u : 5u, 4}, nothing % 2,
                  other) < 4e-6);
    textbook::attn_lstm_options options;
    options.clip = 0.5;
    options.input_forget = true;
    options.activations = {{activation::hard_sigmoid, 0.2, 0.5}, {activation::softsign},
        {activation::softmax}, {activation::sigmoid}, {activation::relu}, {activation::tanh}};
    for (std::size_t const d : {0u, 1u})
        CHECK(largest_difference<double>({4, 3, 5, 7}, {6, 3, 5, 4}, d, other, options) < 1e-14);
}

TEST_CASE("attn_lstm_cell takes any contiguous items")
{
    small_cell small;
    std::vector<float> h(2), c(2), attention(5), alignment(4), y(2);
    small.cell(h, c, attention, small.x, y);

    std::array<float, 2> h2{}, c2{};
    std::vector<float> attention2(5);
    small.cell(std::span<float>(h2), c2, attention2, std::span<float const>(small.x));
    CHECK(std::vector<float>(h2.begin(), h2.end()) == h);
    CHECK(std::vector<float>(c2.begin(), c2.end()) == c);
    CHECK(attention2 == attention);

    xt::xtensor<float, 2> h3 = xt::zeros<float>({1, 2}), c3 = h3, y3 = h3,
                          attention3 = xt::zeros<float>({1, 5});
    small.cell(h3, c3, attention3, alignment, xt::xtensor<float, 1>{0.5f, -1.0f, 2.0f}, y3);
    CHECK(h3(0, 1) == h[1]);
    CHECK(c3(0, 1) == c[1]);
    CHECK(attention3(0, 4) == attention[4]);
    CHECK(y3 == h3);
    CHECK(alignment[0] + alignment[1] + alignment[2] + alignment[3] == doctest::Approx(1));
}

TEST_CASE("attn_lstm_cell is the body of a scan")
{
    small_cell small;
    xt::xtensor<float, 2> const X{{0.5f, -1.0f, 2.0f}, {1.0f, 0.0f, -0.5f}};
    xt::xtensor<float, 2> Y = xt::zeros<float>({2, 2});
    xt::xtensor<float, 1> h{0.0f, 0.0f}, c{0.0f, 0.0f}, attention = xt::zeros<float>({5});
    scan_into(small.cell, std::tie(h, c, attention), X, Y);

    std::vector<float> hidden(2), memory(2), attending(5);
    for (std::size_t t = 0; t < 2; ++t) {
        small.cell(hidden, memory, attending, std::vector<float>{X(t, 0), X(t, 1), X(t, 2)});
        CHECK(Y(t, 0) == hidden[0]);
        CHECK(Y(t, 1) == hidden[1]);
    }
    CHECK(h(1) == hidden[1]);
    CHECK(c(1) == memory[1]);
    CHECK(attention(4) == attending[4]);
}

TEST_CASE("attn_lstm_cell outlives the weights and the memory it was made from, and a copy goes its own way")
{
    cell_states<float> const zeros{std::vector<float>(2), std::vector<float>(2), std::vector<float>(5), {}};
    auto const step = [x = small_cell().x](auto&& cell, cell_states<float> states) {
        cell(states.h, states.c, states.attention, x);
        cell(states.h, states.c, states.attention, x);
        return states;
    };
    auto const is_expected = [expected = step(small_cell().cell, zeros)](cell_states<float> const& found) {
        return found.h == expected.h && found.c == expected.c && found.attention == expected.attention;
    };
    auto const make = [] { return attn_lstm_cell<float>(small_cell().cell); };
    attn_lstm_cell<float> first = make(), second = first;
    CHECK(is_expected(step(first, zeros)));
    CHECK(is_expected(step(second, zeros)));

    // A copy keeps its memory when the first one is given another.
    placed_tensor<float> const other =
        place<float>(textbook::array<float>{{1, 4, 3}, std::vector<float>(12, 2.0f)});
    first.set_memory(other);
    CHECK_FALSE(is_expected(step(first, zeros)));
    CHECK(is_expected(step(second, zeros)));

    first = second;
    CHECK(is_expected(step(first, zeros)));
    attn_lstm_cell<float> third = std::move(second);
    CHECK(is_expected(step(third, zeros)));
    third.set_memory(other);
    CHECK(is_expected(step(first, zeros)));
    first = std::move(third);
    CHECK_FALSE(is_expected(step(first, zeros)));
}

TEST_CASE("attn_lstm_cell looks at another memory, of another size and batch")
{
    std::mt19937 random(6);
    unsigned const which = with_all & ~unsigned(with_sequence_lens);
    auto const small = random_attn_lstm<float>(random, {1, 2, 3, 5}, {3, 4, 6, 7}, which);
    attn_lstm_tensors<float> const tensors(small);
    attn_lstm_weights<float> const weights(tensors.constants());
    attn_lstm_cell<float> cell(weights, ref_of(tensors.M), tensors.memory_lengths());
    for (attention_sizes const& attention :
        {attention_sizes{9, 4, 6, 7}, {2, 4, 6, 7}, {0, 4, 6, 7}, {3, 4, 6, 7}}) {
        auto next = random_attn_lstm<float>(random, {1, attention.S + 1, 3, 5}, attention, which);
        next.W = small.W, next.R = small.R, next.B = small.B, next.P = small.P;
        next.QW = small.QW, next.MW = small.MW, next.V = small.V, next.AW = small.AW;
        attn_lstm_tensors<float> const operands(next);
        cell.set_memory(ref_of(operands.M), operands.memory_lengths());
        CHECK(cell.batch_size() == attention.S + 1);
        CHECK(cell.memory_steps() == attention.S);
        auto [h, c, attending, alignment] = initial_states(next, 0);
        std::vector<float> y(h.size());
        cell(h, c, attending, alignment, next.X.items, y);
        auto const expected = textbook_attn_lstm(next);
        CHECK(largest_difference(h, expected.Y_h.items) < 4e-6);
        CHECK(largest_difference(c, expected.Y_c.items) < 4e-6);
        CHECK(largest_difference(attending, expected.Y_attention.items) < 4e-6);
        CHECK(largest_difference(alignment, expected.Y_alignment.items) < 4e-6);
    }
}

TEST_CASE("attn_lstm_cell reads x_t before it writes: x_t may be h or c, and y_t h")
{
    std::mt19937 random(3);
    auto const in = random_attn_lstm<float>(random, {1, 2, 5, 5}, {3, 4, 6, 7});
    attn_lstm_tensors<float> const tensors(in);
    attn_lstm_cell<float> cell(
        attn_lstm_weights<float>(tensors.constants()), ref_of(tensors.M), tensors.memory_lengths());
    for (bool const is_hidden : {true, false}) {
        cell_states<float> expected = initial_states(in, 0), found = expected;
        cell(expected.h, expected.c, expected.attention, is_hidden ? in.initial_h.items : in.initial_c.items);
        cell(found.h, found.c, found.attention, is_hidden ? found.h : found.c, found.h);
        CHECK(found.h == expected.h);
        CHECK(found.c == expected.c);
        CHECK(found.attention == expected.attention);
    }
}

TEST_CASE("attn_lstm_cell lets NaN through, in the row that it comes to")
{
    std::mt19937 random(5);
    auto const in = random_attn_lstm<float>(
        random, {1, 2, 3, 2}, {3, 4, 6, 7}, with_all & ~unsigned(with_memory_seq_lens));
    attn_lstm_tensors<float> const tensors(in);
    attn_lstm_cell<float> cell(attn_lstm_weights<float>(tensors.constants()), ref_of(tensors.M));
    auto states = initial_states(in, 0), expected = states;
    std::vector<float> x = in.X.items;
    cell(expected.h, expected.c, expected.attention, x);
    x[1] = std::numeric_limits<float>::quiet_NaN();
    cell(states.h, states.c, states.attention, x);
    auto const is_nan = [](float item) { return std::isnan(item); };
    CHECK(std::all_of(states.h.begin(), states.h.begin() + 2, is_nan));
    CHECK(std::all_of(states.c.begin(), states.c.begin() + 2, is_nan));
    CHECK(std::all_of(states.attention.begin(), states.attention.begin() + 7, is_nan));
    CHECK(std::equal(states.h.begin() + 2, states.h.end(), expected.h.begin() + 2));
    CHECK(std::equal(states.attention.begin() + 7, states.attention.end(), expected.attention.begin() + 7));
}

TEST_CASE("attn_lstm_cell of a silent input: states end at 0, with the bits of a call")
{
    std::size_t const T = 3000, H = 21;
    xt::xtensor<float, 3> X = xt::zeros<float>({T, std::size_t{1}, std::size_t{1}});
    X(0, 0, 0) = 1;
    xt::xtensor<float, 3> const M = xt::zeros<float>({1, 3, 1}), MW = {{{1}}};
    xt::xtensor<float, 3> W = xt::zeros<float>({std::size_t{1}, 4 * H, std::size_t{2}}),
                          R = 0.002f * xt::ones<float>({std::size_t{1}, 4 * H, H});
    xt::view(W, 0, xt::range(3 * H, 4 * H)) = 1; // of gate c
    xt::xtensor<float, 2> B = xt::zeros<float>({std::size_t{1}, 8 * H}), V = {{1}};
    xt::view(B, 0, xt::range(2 * H, 3 * H)) = 3; // f keeps 0.95
    xt::xtensor<float, 3> const QW = xt::ones<float>({std::size_t{1}, H, std::size_t{1}});
    attn_lstm_weights<float> const weights({.W = W, .R = R, .B = B, .QW = QW, .MW = MW, .V = V});
    auto const found = attn_lstm(X, weights, {.M = M});
    attn_lstm_cell<float> cell(weights, M);
    std::vector<float> h(H), c(H), attention(1), x(1);
    std::size_t different = 0;
    bool are_flushed = true;
    for (std::size_t t = 0; t < T; ++t) {
        x[0] = X(t, 0, 0);
        cell(h, c, attention, x);
        for (std::size_t i = 0; i < H; ++i)
            different += h[i] == found.Y(t, 0, 0, i) ? 0 : 1;
    }
    for (float const each : c)
        are_flushed = are_flushed &&
                      (flush_subnormals::is_supported ? each == 0 : each < std::numeric_limits<float>::min());
    CHECK(found.Y(1000, 0, 0, 0) > 0);
    CHECK(different == 0);
    CHECK(are_flushed);
}

} // namespace attn_lstm_cell_test
