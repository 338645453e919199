#include <doctest/doctest.h>

#include <xloom/control_flow/scan_batched.hpp>

#include "support/spaced.hpp"
#include "support/tensors.hpp"
#include "support/xtensor_extras.hpp"

namespace scan_batched_test {

using xloom::direction;
using xloom::scan_batched;
using xloom::scan_step;

namespace {

constexpr auto running_sum = [](auto const& h, auto const& x_t) { return scan_step{h + x_t, h + x_t}; };

} // namespace

TEST_CASE("Scan-8's sample: a batch of one running sum gives y = [9, 12] and z = [1, 2, 4, 6, 9, 12]")
{
    xt::xtensor<float, 2> const initial = {{0, 0}};
    xt::xtensor<float, 3> const x = {{{1, 2}, {3, 4}, {5, 6}}};
    auto const [y, z] = scan_batched(running_sum, initial, x);
    static_assert(std::is_same_v<decltype(z), xt::xtensor<float, 3> const>);
    CHECK(y == xt::xtensor<float, 2>{{9, 12}});
    CHECK(z == xt::xtensor<float, 3>{{{1, 2}, {4, 6}, {9, 12}}});
}

TEST_CASE_TEMPLATE("ragged rows, forward and reverse, agree with a textbook scan of each row alone", Kind,
    xt::xtensor<double, 3>, xt::xarray<double>, xt::xtensor<double, 3, xt::layout_type::column_major>)
{
    using state = std::conditional_t<xloom::enable_tensor<Kind>::rank == xloom::dynamic_rank,
        xt::xarray<double>, xt::xtensor<double, 2>>;
    auto const x = textbook::tensor::counting({4, 3, 2});
    auto const h = textbook::tensor::counting({4, 2});
    std::vector<std::size_t> const lens = {2, 0, 3, 1};
    for (bool const reverse : {false, true}) {
        auto const expected = textbook::scan_batched(textbook::decaying_sum, h, x, lens, reverse);
        auto const result = scan_batched(
            [](auto const& s, auto const& x_t) {
                return scan_step{s / 2 + x_t, s / 2 + x_t};
            },
            to_tensor<state>(h), to_tensor<Kind>(x), xt::xtensor<std::int64_t, 1>{2, 0, 3, 1},
            {.scan_input_directions = {reverse ? direction::reverse : direction::forward}});
        CHECK(equals(result.final_state, expected.final_state));
        CHECK(equals(result.scan_outputs, expected.scan_outputs));
    }
}

TEST_CASE("rows of scalars; sequence_lens of any integer type; several states, inputs and outputs")
{
    xt::xtensor<int, 1> const count = {0, 10};
    xt::xtensor<float, 1> const sum = {0.5f, 0};
    xt::xtensor<float, 2> const x = {{1, 2, 3}, {4, 5, 6}};
    xt::xtensor<double, 3> const w = xt::ones<double>({2, 3, 2});
    auto const [states, outputs] = scan_batched(
        [](int n, float s, float x_t, auto const& w_t) {
            return scan_step{std::tuple{n + 1, s + x_t}, std::tuple{x_t, w_t * x_t}};
        },
        std::tie(count, sum), std::tie(x, w), xt::xtensor<unsigned char, 1>{2, 3},
        {.scan_input_directions = {direction::reverse, direction::forward}});
    auto const& [n, s] = states;
    auto const& [y, z] = outputs;
    CHECK(n == xt::xtensor<int, 1>{2, 13});
    CHECK(s == xt::xtensor<float, 1>{3.5f, 15});
    CHECK(y == xt::xtensor<float, 2>{{2, 1, 0}, {6, 5, 4}});
    CHECK(z(0, 1, 1) == 1);
    CHECK(z(0, 2, 1) == 0);
}

TEST_CASE("nothing to do: no rows, no steps, all lengths 0")
{
    auto const no_rows = scan_batched(
        running_sum, xt::xtensor<float, 2>::from_shape({0, 2}), xt::xtensor<float, 3>::from_shape({0, 3, 2}));
    CHECK(no_rows.final_state.shape() == std::array<std::size_t, 2>{0, 2});
    CHECK(no_rows.scan_outputs.shape(0) == 0);

    auto const none = xt::xtensor<float, 3>::from_shape({0, 2, 3});
    auto const strided = scan_batched(running_sum, xt::xtensor<float, 2>::from_shape({0, 2}),
        xt::transpose(none, {0, 2, 1}), std::nullopt, {.scan_input_directions = {direction::reverse}});
    CHECK(strided.final_state.shape() == std::array<std::size_t, 2>{0, 2});

    xt::xtensor<float, 2> const h = {{1, 2}, {3, 4}};
    auto const no_steps = scan_batched(running_sum, h, xt::xtensor<float, 3>::from_shape({2, 0, 2}));
    CHECK(no_steps.final_state == h);
    CHECK(no_steps.scan_outputs.shape() == std::array<std::size_t, 3>{2, 0, 0});

    xt::xtensor<float, 1> const g = {1, 2};
    auto const all_empty = scan_batched(
        running_sum, g, xt::xtensor<float, 2>(xt::ones<float>({2, 3})), xt::xtensor<int, 1>{0, 0});
    CHECK(all_empty.final_state == g);
    CHECK(all_empty.scan_outputs == xt::zeros<float>({2, 3}));
}

TEST_CASE("without inputs options.length tells T; without states there is only a map")
{
    xt::xtensor<int, 1> const start = {1, 10};
    auto const counted = scan_batched(
        [](int n) {
            return scan_step{n + 1, n};
        },
        start, std::tuple{}, std::nullopt, {.length = 3});
    CHECK(counted.scan_outputs == xt::xtensor<int, 2>{{1, 2, 3}, {10, 11, 12}});

    xt::xtensor<float, 2> const x = {{1, 2}, {3, 4}};
    auto const squared = scan_batched(
        [](float x_t) {
            return scan_step{std::tuple{}, x_t * x_t};
        },
        std::tuple{}, x);
    CHECK(squared.scan_outputs == x * x);
}

TEST_CASE("the caller's tensors are left alone")
{
    xt::xtensor<float, 2> const h = {{0, 0}};
    xt::xtensor<float, 3> const x = {{{1, 2}, {3, 4}}};
    scan_batched(running_sum, h, x);
    CHECK(h == xt::zeros<float>({1, 2}));
    CHECK(x(0, 1, 1) == 4);
}

TEST_CASE("scan_batched sets to zeros what no iteration writes: rows of length 0, first and last, and tails")
{
    xt::xtensor<float, 2> const x = xt::ones<float>({4, 3}), first = xt::zeros<float>({4, 2});
    xt::xtensor<int, 1> const lens = {0, 2, 3, 0};
    auto const body = [](xt::xtensor<float, 1> const& h, float x_t) {
        xt::xtensor<float, 1> const next = h + x_t;
        return xloom::scan_step{next, std::tuple(next, x_t)};
    };
    auto const [state, outputs] = xloom::scan_batched(body, first, x, lens);
    auto const& [by_element, by_item] = outputs;
    CHECK(by_item == xt::xtensor<float, 2>{{0, 0, 0}, {1, 1, 0}, {1, 1, 1}, {0, 0, 0}});
    CHECK(by_element == xt::xtensor<float, 3>{{{0, 0}, {0, 0}, {0, 0}}, {{1, 1}, {2, 2}, {0, 0}},
                            {{1, 1}, {2, 2}, {3, 3}}, {{0, 0}, {0, 0}, {0, 0}}});

    xt::xtensor<int, 1> const none = {0, 0, 0, 0};
    CHECK(std::get<1>(xloom::scan_batched(body, first, x, none).scan_outputs) ==
          xt::xtensor<float, 2>(xt::zeros<float>({4, 3})));
}

TEST_CASE("the items of a state may be tensors")
{
    using items = std::vector<double>;
    xt::xtensor<items, 1> const init = {items{1, 2}, items{3, 4}};
    xt::xtensor<double, 2> const x = {{1, 2}, {10, 20}};
    auto const body = [](items const& h, double x_t) {
        return scan_step{items{h[0] + x_t, h[1] - x_t}, h[0]};
    };
    auto const [last, all] = scan_batched(body, init, x);
    CHECK(last(0) == items{4, -1});
    CHECK(last(1) == items{33, -26});
    CHECK(all == xt::xtensor<double, 2>{{1, 2}, {3, 13}});
}

TEST_CASE("tails of outputs in a container whose items are not contiguous")
{
    using items = user::spaced<int, 1>;
    auto const body = [](int h, int x_t) {
        items y({2});
        y[0] = x_t;
        y[1] = 10 * x_t;
        return scan_step{h + x_t, y};
    };
    auto const [last, all] = scan_batched(
        body, xt::xtensor<int, 1>{0, 0}, xt::xtensor<int, 2>{{1, 2}, {3, 4}}, xt::xtensor<int, 1>{2, 1});
    CHECK(last == xt::xtensor<int, 1>{3, 3});
    CHECK(all.items() == std::vector<int>{1, 10, 2, 20, 3, 30, 0, 0});
}

} // namespace scan_batched_test
