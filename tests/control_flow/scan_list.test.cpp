#include <doctest/doctest.h>

#include <span>
#include <stdexcept>
#include <vector>

#include <xloom/control_flow/scan_list.hpp>

#include "support/tensors.hpp"

namespace scan_list_test {

using xloom::scan_direction;
using xloom::scan_list;
using xloom::scan_step;

namespace {

using array = xt::xarray<double>;
using element = xloom::element_view<double const>;

/// states[i] = states[i] / 2 + the sum of all elements; outputs: every state, and the element of the last
/// input.
auto const decaying_sums = [](std::span<array const> states, std::span<element const> elements) {
    std::vector<array> next, outputs;
    for (array const& state : states) {
        array sum = state / 2;
        for (element const& each : elements)
            sum += each;
        next.push_back(sum);
    }
    outputs = next;
    if (!elements.empty())
        outputs.push_back(elements.back());
    return scan_step{next, outputs};
};

std::vector<array> no_arrays() { return {}; }

} // namespace

TEST_CASE("scan_list: every axis and direction of several inputs and outputs agrees with the textbook")
{
    for (std::size_t const axis : {0u, 1u, 2u})
        for (bool const reverse : {false, true})
            for (std::size_t const output_axis : {0u, 2u})
                for (bool const output_reverse : {false, true}) {
                    auto const x = textbook::tensor::counting({2, 4, 3});
                    textbook::tensor const h(x.slice(axis, 0).shape, 16);
                    auto const expected = textbook::scan(
                        textbook::decaying_sum, h, x, axis, reverse, output_axis, output_reverse);
                    auto const in = static_cast<std::int64_t>(axis),
                               out = static_cast<std::int64_t>(output_axis);
                    scan_direction const in_direction =
                        reverse ? scan_direction::reverse : scan_direction::forward;
                    scan_direction const out_direction =
                        output_reverse ? scan_direction::reverse : scan_direction::forward;
                    // The second input is walked as the first; it is subtracted, so that what is left is the
                    // textbook's sum.
                    auto const body = [](std::span<array const> states, std::span<element const> elements) {
                        array const next = states[0] / 2 + 2 * elements[0] - elements[1];
                        return scan_step{std::vector<array>{next}, std::vector<array>{next, elements[1]}};
                    };
                    auto const result = scan_list(body, std::vector<array>{make_tensor<array>(h)},
                        std::vector<array>{make_tensor<array>(x), make_tensor<array>(x)}, 2,
                        {.scan_input_axes = {in, in - 3},
                            .scan_output_axes = {out, in},
                            .scan_input_directions = {in_direction, in_direction},
                            .scan_output_directions = {out_direction, in_direction}});
                    CHECK(equals(result.final_state.at(0), expected.final_state));
                    CHECK(equals(result.scan_outputs.at(0), expected.scan_outputs));
                    CHECK(
                        equals(result.scan_outputs.at(1), x)); // what goes in one way comes out the same way
                }
}

TEST_CASE("scan_list: numbers of states, inputs and outputs are told by the lists")
{
    array const x = {{1, 2}, {3, 4}, {5, 6}};
    array const zero = {0, 0};
    for (std::size_t const states : {0u, 1u, 3u}) {
        auto const [finals, outputs] = scan_list(
            decaying_sums, std::vector<array>(states, zero), std::vector<array>{x, x}, states + 1, {});
        CHECK(finals.size() == states);
        REQUIRE(outputs.size() == states + 1);
        for (array const& state : finals)
            CHECK(state == array{2 * 5 + 3 + 0.5, 2 * 6 + 4 + 1.0});
        CHECK(outputs.back() == x);
    }
}

TEST_CASE("scan_list without inputs runs for the length that is given")
{
    auto const result = scan_list(
        [](std::span<array const> states, std::span<element const> elements) {
            CHECK(elements.empty());
            return scan_step{std::vector<array>{states[0] + 1}, no_arrays()};
        },
        std::vector<array>{{0.0}}, no_arrays(), 0, {.length = 4});
    CHECK(result.final_state.at(0) == array{4.0});
}

TEST_CASE("scan_list of no iterations: the states as they were, outputs of length 0")
{
    auto const result = scan_list(
        decaying_sums, std::vector<array>{{7.0, 8.0}}, std::vector<array>{xt::zeros<double>({0, 2})}, 2, {});
    CHECK(result.final_state.at(0) == array{7.0, 8.0});
    REQUIRE(result.scan_outputs.size() == 2);
    CHECK(xloom::detail::shape_of(result.scan_outputs[0]) == xloom::shape{0});
}

TEST_CASE("scan_list takes xtensors of a static rank, and outputs of another type than the inputs'")
{
    xt::xtensor<int, 2> const x = {{1, 2}, {3, 4}};
    auto const result = scan_list(
        [](std::span<int const> states, std::span<xloom::element_view<int const, 1> const> elements) {
            xt::xtensor<double, 1> const y = elements[0] * 0.5;
            return scan_step{
                std::vector<int>{states[0] + elements[0](0)}, std::vector<xt::xtensor<double, 1>>{y}};
        },
        std::vector<int>{0}, std::vector<xt::xtensor<int, 2>>{x}, 1);
    CHECK(result.final_state.at(0) == 4);
    CHECK(result.scan_outputs.at(0) == xt::xtensor<double, 2>{{0.5, 1}, {1.5, 2}});
}

TEST_CASE("scan_list says what is wrong with the body's lists, and with the options")
{
    array const x = {{1, 2}, {3, 4}};
    auto const scan_with = [&](auto const& body, std::size_t outputs) {
        return scan_list(body, std::vector<array>{{0.0, 0.0}}, std::vector<array>{x}, outputs, {});
    };
    CHECK_THROWS_WITH_AS(scan_with(decaying_sums, 1),
        "xloom::scan_list: the body must return a list of 1 scan outputs, but it returned 2 at iteration 0. "
        "Return as many in every iteration.",
        xloom::body_error);
    CHECK_THROWS_WITH_AS(scan_with(
                             [](auto, auto) {
                                 return scan_step{no_arrays(), no_arrays()};
                             },
                             0),
        "xloom::scan_list: the body must return a list of 1 states, but it returned 0 at iteration 0. Return "
        "as many in every iteration.",
        xloom::body_error);
    CHECK_THROWS_WITH_AS(scan_with(
                             [](auto, auto) {
                                 return scan_step{std::vector<array>{{1.0, 2.0, 3.0}}, no_arrays()};
                             },
                             0),
        "xloom::scan_list: states must keep their shapes in every iteration, but states[0] was [2] and the "
        "body made it [3] at iteration 0. Return a value of the original shape.",
        xloom::body_error);
    CHECK_THROWS_WITH_AS(
        scan_with(
            [](std::span<array const> states, std::span<element const> elements) {
                array const y = xt::zeros<double>({elements[0](0) > 2 ? 1 : 2});
                return scan_step{std::vector<array>(states.begin(), states.end()), std::vector<array>{y}};
            },
            1),
        "xloom::scan_list: scan_outputs must keep their shapes in every iteration, but scan_outputs[0] was "
        "[2] and the body made it [1] at iteration 1. Return a value of the original shape.",
        xloom::body_error);
    CHECK_THROWS_WITH_AS(
        scan_list(decaying_sums, no_arrays(), std::vector<array>{x}, 1, {.scan_input_axes = {2}}),
        "xloom::scan_list: an axis of a tensor of rank r must be in [-r, r - 1], but scan_input_axes[0] is 2 "
        "for scan_inputs[0] of the shape [2, 2]. Name an axis that the tensor has.",
        xloom::shape_error);
    CHECK_THROWS_AS(scan_with([](auto, auto) -> decltype(scan_step{no_arrays(),
                                                 no_arrays()}) { throw std::runtime_error("own"); },
                        0),
        std::runtime_error);
}

TEST_CASE("scan_list: a body that fills its step finds the memory of earlier ones in it")
{
    std::vector<double const*> memory;
    auto const fill = [&](std::span<array const> states, auto elements, auto& next) {
        CHECK(next.state.size() == (memory.empty() ? 0 : 1));
        next.state.resize(1);
        next.scan_outputs.resize(2);
        next.state[0].resize({2});
        xt::noalias(next.state[0]) = states[0] + elements[0];
        next.scan_outputs[0] = next.state[0];
        next.scan_outputs[1] = states[0];
        memory.push_back(next.state[0].data());
    };
    array const x = {{1, 10}, {2, 20}, {3, 30}, {4, 40}};
    auto const result =
        xloom::scan_list(fill, std::vector<array>{{0, 0}}, std::vector{x}, 2, {.scan_output_axes = {1, 0}});
    CHECK(result.final_state.at(0) == array{10, 100});
    CHECK(result.scan_outputs.at(0) == array{{1, 3, 6, 10}, {10, 30, 60, 100}});
    CHECK(result.scan_outputs.at(1) == array{{0, 0}, {1, 10}, {3, 30}, {6, 60}});
    CHECK(memory.at(2) == memory.at(0));
    CHECK(memory.at(3) == memory.at(1));
}

TEST_CASE("scan_list says what is wrong with a step that was filled")
{
    auto const run = [](auto body) {
        xloom::scan_list(body, std::vector<array>{{0, 0}}, std::vector<array>{xt::ones<double>({3, 2})}, 1);
    };
    CHECK_THROWS_WITH_AS(run([](auto, auto, auto&) {}),
        "xloom::scan_list: the body must return a list of 1 states, but it returned 0 at iteration 0. Return "
        "as "
        "many in every iteration.",
        xloom::body_error);
    CHECK_THROWS_WITH_AS(run([t = 0](auto states, auto, auto& next) mutable {
        next.state = next.scan_outputs = {states[0]};
        if (t++ == 1)
            next.scan_outputs.clear();
    }),
        "xloom::scan_list: the body must return a list of 1 scan outputs, but it returned 0 at iteration 1. "
        "Return as many in every iteration.",
        xloom::body_error);
}

} // namespace scan_list_test
