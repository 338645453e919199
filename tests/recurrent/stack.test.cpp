// Stacks of recurrent layers: the bits of one layer after the other, on any number of threads.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <xloom/recurrent/stack.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "support/gru_calls.hpp"
#include "support/lstm_calls.hpp"
#include "support/rnn_calls.hpp"
#include "support/threads.hpp"
#include "support/threads_or_backwards.hpp"
#include "support/xtensor_extras.hpp"

namespace stack_test {

using namespace xloom;

namespace {

template <class T>
using cube = xt::xtensor<T, 3>;

struct of_lstm : lstm_names {
    static constexpr std::size_t gates = 4;
    static constexpr auto stack = [](auto const&... of) { return lstm_stack(of...); };
};
struct of_gru : gru_names {
    static constexpr std::size_t gates = 3;
    static constexpr auto stack = [](auto const&... of) { return gru_stack(of...); };
};
struct of_rnn : rnn_names {
    static constexpr std::size_t gates = 1;
    static constexpr auto stack = [](auto const&... of) { return rnn_stack(of...); };
};

/// The inputs that vary from call to call; c if the cell has it.
template <class Cell, class T>
auto start_of(lengths_ref const& lengths, cube<T> const& h, cube<T> const& c)
{
    typename Cell::template start<T> start{lengths, h};
    if constexpr (requires { start.initial_c; })
        start.initial_c = c;
    return start;
}

template <class T, std::size_t Rank>
xt::xtensor<T, Rank> draw(std::mt19937& random, std::array<std::size_t, Rank> const& shape, double most)
{
    std::uniform_real_distribution<double> number(-most, most);
    auto result = xt::xtensor<T, Rank>::from_shape(shape);
    for (T& item : result)
        item = static_cast<T>(static_cast<float>(number(random)));
    return result;
}

struct sizes {
    std::size_t L, T, N, I, H;
    xloom::direction direction = xloom::direction::forward;
    std::int64_t layout = 0;

    std::size_t D() const { return direction == xloom::direction::bidirectional ? 2 : 1; }
};

/// The operands of a stack.
template <class Cell, class T>
struct operands {
    std::vector<typename Cell::template weights<T>> layers{};
    cube<T> X, h, c;
    xt::xtensor<std::int32_t, 1> lengths;

    operands(sizes const& of, std::mt19937& random)
    {
        std::size_t const D = of.D();
        for (std::size_t l = 0; l < of.L; ++l) {
            auto const W = draw<T, 3>(random, {D, Cell::gates * of.H, l == 0 ? of.I : D * of.H}, 0.2),
                       R = draw<T, 3>(random, {D, Cell::gates * of.H, of.H}, 0.2);
            auto const B = draw<T, 2>(random, {D, 2 * Cell::gates * of.H}, 0.5);
            typename Cell::attributes options;
            options.direction = of.direction;
            options.layout = of.layout;
            layers.push_back({{.W = W, .R = R, .B = B}, options});
        }
        X = draw<T, 3>(random, in_layout(of, of.T, of.N, of.I), 1);
        h = draw<T, 3>(random, in_layout(of, of.L * D, of.N, of.H), 1);
        c = draw<T, 3>(random, in_layout(of, of.L * D, of.N, of.H), 1);
        lengths = xt::xtensor<std::int32_t, 1>::from_shape({of.N});
        for (std::size_t n = 0; n < of.N; ++n)
            lengths(n) = static_cast<std::int32_t>(n == 0 ? of.T : random() % (of.T + 1));
    }

    static std::array<std::size_t, 3> in_layout(
        sizes const& of, std::size_t first, std::size_t N, std::size_t last)
    {
        return of.layout == 0 ? std::array{first, N, last} : std::array{N, first, last};
    }

    auto start() const { return start_of<Cell, T>(lengths, h, c); }
};

template <class T, std::size_t Rank>
bool have_same_items(xt::xtensor<T, Rank> const& a, xt::xtensor<T, Rank> const& b)
{
    return a.shape() == b.shape() && std::equal(a.begin(), a.end(), b.begin());
}
template <class Result>
bool are_same(Result const& a, Result const& b)
{
    if constexpr (requires { a.Y_c; })
        if (!have_same_items(a.Y_c, b.Y_c))
            return false;
    return have_same_items(a.Y, b.Y) && have_same_items(a.Y_h, b.Y_h);
}

/// One layer after the other.
template <class Cell, class T>
auto layer_by_layer(operands<Cell, T> const& in, sizes const& of)
{
    std::size_t const D = of.D();
    cube<T> X = in.X, Y_h = in.h, Y_c = in.c;
    /// The states of layer l: from all, or into them.
    auto const copy_states = [&](cube<T>& all, std::size_t l, cube<T>& own, bool is_back) {
        for (std::size_t d = 0; d < D; ++d)
            for (std::size_t n = 0; n < of.N; ++n)
                for (std::size_t j = 0; j < of.H; ++j) {
                    T& item = of.layout == 0 ? all(l * D + d, n, j) : all(n, l * D + d, j);
                    T& copy = of.layout == 0 ? own(d, n, j) : own(n, d, j);
                    (is_back ? item : copy) = is_back ? copy : item;
                }
    };
    decltype(Cell::run(X, in.layers[0])) result;
    for (std::size_t l = 0; l < of.L; ++l) {
        auto h = cube<T>::from_shape(in.in_layout(of, D, of.N, of.H)), c = h;
        copy_states(Y_h, l, h, false);
        copy_states(Y_c, l, c, false);
        result = Cell::run(X, in.layers[l], start_of<Cell, T>(in.lengths, h, c));
        copy_states(Y_h, l, result.Y_h, true);
        if constexpr (requires { result.Y_c; })
            copy_states(Y_c, l, result.Y_c, true);
        auto const& Y = result.Y; // [T, D, N, H] or [N, T, D, H]
        X = cube<T>::from_shape(in.in_layout(of, of.T, of.N, D * of.H));
        for (std::size_t t = 0; t < of.T; ++t)
            for (std::size_t n = 0; n < of.N; ++n)
                for (std::size_t j = 0; j < D * of.H; ++j)
                    if (of.layout == 0)
                        X(t, n, j) = Y(t, j / of.H, n, j % of.H);
                    else
                        X(n, t, j) = Y(n, t, j / of.H, j % of.H);
    }
    result.Y_h = Y_h;
    if constexpr (requires { result.Y_c; })
        result.Y_c = Y_c;
    return result;
}

template <class Cell, class T>
void check_stack(sizes const& of, std::size_t layers_at_once = 1)
{
    std::mt19937 random(7);
    operands<Cell, T> const in(of, random);
    auto const expected = layer_by_layer(in, of);
    CAPTURE(of.L);
    CAPTURE(of.T);
    CAPTURE(of.N);
    CHECK(are_same(Cell::stack(in.X, in.layers, in.start()), expected));
    for (std::size_t const threads : {2u, 3u})
        for (bool const is_backwards : {false, true}) {
            std::atomic<std::size_t> parts = 1;
            threads_or_backwards const policy{threads, is_backwards, &parts};
            CHECK(are_same(Cell::stack(in.X, in.layers, in.start(), policy), expected));
            if (layers_at_once != 1)
                CHECK(parts == std::min(threads, layers_at_once));
        }
}

} // namespace

TEST_CASE_TEMPLATE(
    "stacks: any sizes, directions and layouts, with lengths and states", Cell, of_lstm, of_gru, of_rnn)
{
    for (auto const direction : {direction::forward, direction::reverse, direction::bidirectional})
        for (std::int64_t const layout : {0, 1}) {
            check_stack<Cell, float>({1, 5, 2, 3, 4, direction, layout});
            check_stack<Cell, float>({3, 5, 3, 4, 2, direction, layout});
            check_stack<Cell, double>({2, 6, 1, 1, 5, direction, layout});
            check_stack<Cell, float>({4, 0, 2, 3, 4, direction, layout});
            check_stack<Cell, float>({2, 5, 0, 3, 4, direction, layout});
        }
}

// The first layer is the slowest, for which the others wait. They are too large for small steps, and have 3
// times 2^18 multiply-adds, which are worth three threads.
TEST_CASE_TEMPLATE("stacks: layers that run at once, in groups of the threads", Cell, of_lstm, of_gru, of_rnn)
{
    std::size_t const H = Cell::gates == 1 ? 80 : 40;
    check_stack<Cell, float>({3, 20, 1, 200, H}, 3);
    check_stack<Cell, double>({2, 20, 1, 200, H, direction::forward, 1}, 2);
}

TEST_CASE("stacks: layers that run at once, with fewer rows than threads, of which some end early")
{
    check_stack<of_lstm, float>({3, 20, 2, 30, 70});
}

// Layers 0 and 2 write to the same memory: if they padded it, ThreadSanitizer would report a race.
TEST_CASE("stacks: layers that run at once, of sequences without steps")
{
    sizes const of{4, 100, 2, 100, 50};
    std::mt19937 random(5);
    operands<of_rnn, float> in(of, random);
    in.lengths.fill(0);
    auto const expected = layer_by_layer(in, of);
    CHECK(expected.Y_h == in.h);
    std::atomic<std::size_t> parts = 1;
    CHECK(are_same(
        of_rnn::stack(in.X, in.layers, in.start(), threads_or_backwards{4, false, &parts}), expected));
    CHECK(parts == 4);
}

// A step of all rows has 2^32 multiply-adds: 0, where std::size_t has 32 bits.
TEST_CASE("stacks: sequences without steps, of many rows")
{
    check_stack<of_rnn, float>({1, 0, std::size_t{1} << 13, (std::size_t{1} << 14) - 32, 32});
}

// As one call after the other, whose Y is float16, too.
TEST_CASE("stacks of a storage type round between two layers")
{
    check_stack<of_lstm, float16>({2, 20, 1, 30, 70}, 2);
    check_stack<of_gru, bfloat16>({3, 7, 3, 3, 5, direction::bidirectional});
}

TEST_CASE("stacks: into the caller's outputs, of any strides, states in place")
{
    sizes const of{3, 30, 1, 40, 64};
    std::mt19937 random(3);
    operands<of_lstm, float> in(of, random);
    auto const expected = layer_by_layer(in, of);
    xt::xtensor<float, 4> wide = xt::zeros<float>({30, 1, 1, 128});
    auto Y = xt::view(wide, xt::all(), xt::all(), xt::all(), xt::range(1, 128, 2));
    stack_workspace<float> workspace;
    for (std::size_t const threads : {1u, 2u}) {
        auto h = in.h, c = in.c;
        lstm_stack_into(in.X, in.layers, {.sequence_lens = in.lengths, .initial_h = h, .initial_c = c},
            {.Y = Y, .Y_h = h, .Y_c = c}, workspace, threads_policy(threads));
        CHECK(expected.Y == Y);
        CHECK(h == expected.Y_h);
        CHECK(c == expected.Y_c);
    }
    xt::xtensor<float, 3> Y_h = xt::zeros<float>({3, 1, 64}); // the others omitted
    lstm_stack_into(in.X, in.layers, in.start(), {.Y_h = Y_h}, threads_policy(2));
    CHECK(Y_h == expected.Y_h);
}

TEST_CASE("stacks: layers that do not fit, word for word")
{
    auto const weights = [](std::size_t D, std::size_t I, std::size_t H, std::int64_t layout = 0) {
        cube<float> const W = xt::zeros<float>({D, 3 * H, I}), R = xt::zeros<float>({D, 3 * H, H});
        return gru_weights<float>({.W = W, .R = R},
            {.direction = D == 2 ? direction::bidirectional : direction::forward, .layout = layout});
    };
    auto const check = [](std::vector<gru_weights<float>> const& layers, auto const& error, char const* text,
                           gru_start<float> const& start = {}) {
        using error_type = std::decay_t<decltype(error)>;
        cube<float> const X = xt::zeros<float>({4, 2, 3});
        CHECK_THROWS_WITH_AS((void)gru_stack(X, layers, start), text, error_type);
    };
    check({}, shape_error(""),
        "xloom::gru_stack: there must be at least one layer, but layers is empty. Give weights.");
    auto const text = [](std::string const& sizes) {
        return "xloom::gru_stack: a layer must have the D and H of the first one, D = 1 and H = 2, and I = D "
               "H, "
               "but layers[1] has " +
               sizes + ". Give weights of these sizes.";
    };
    check({weights(1, 3, 2), weights(1, 3, 2)}, shape_error(""), text("D = 1, I = 3 and H = 2").c_str());
    check({weights(1, 3, 2), weights(1, 2, 5)}, shape_error(""), text("D = 1, I = 2 and H = 5").c_str());
    check({weights(1, 3, 2), weights(2, 2, 2)}, shape_error(""), text("D = 2, I = 2 and H = 2").c_str());
    check({weights(1, 3, 2), weights(1, 2, 2), weights(1, 2, 2, 1)}, option_error(""),
        "xloom::gru_stack: all layers must have one layout, but that of layers[2] is 1, and that of "
        "layers[0] "
        "is 0. Choose one.");

    std::vector<gru_weights<float>> const two{weights(2, 3, 2), weights(2, 4, 2)};
    cube<float> const h = xt::zeros<float>({2, 2, 2});
    check(two, shape_error(""),
        "xloom::gru_stack: the operands must have the shapes that L = 2, T = 4, N = 2, D = 2 and H = 2 give "
        "them, but initial_h is [2, 2, 2] instead of [L D, N, H] = [4, 2, 2]. Give it that shape.",
        {.initial_h = h});
}

} // namespace stack_test
