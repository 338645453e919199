#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <xloom/control_flow/loop_list.hpp>

namespace loop_list_test {

using xloom::loop_list;
using xloom::loop_step;

namespace {

using array = xt::xarray<double>;
using value = std::variant<array, std::string, std::vector<array>>;

std::vector<array> no_arrays() { return {}; }

} // namespace

TEST_CASE("loop_list carries values of one type, in which anything may change, and stacks outputs")
{
    auto const body = [](std::int64_t iteration, bool cond, std::span<value const> states) {
        CHECK(cond);
        array const sum = std::get<array>(states[0]) + static_cast<double>(iteration);
        std::vector<array> seen = std::get<std::vector<array>>(states[2]);
        seen.push_back(sum);
        return loop_step{iteration < 3, std::vector<value>{sum, std::get<std::string>(states[1]) + "x", seen},
            std::vector<array>{sum, xt::xtensor<double, 2>{{sum(0), 1.0}}}};
    };
    auto const result = loop_list(
        body, std::vector<value>{array{0.0}, std::string(), std::vector<array>{}}, 2, {.max_trip_count = 10});
    CHECK(std::get<array>(result.final_state[0]) == array{6.0});
    CHECK(std::get<std::string>(result.final_state[1]) == "xxxx");
    CHECK(std::get<std::vector<array>>(result.final_state[2]).size() == 4);
    CHECK(result.scan_outputs.at(0) == xt::xtensor<double, 2>{{0.0}, {1.0}, {3.0}, {6.0}});
    CHECK(result.scan_outputs.at(1) ==
          xt::xtensor<double, 3>{{{0.0, 1.0}}, {{1.0, 1.0}}, {{3.0, 1.0}}, {{6.0, 1.0}}});
    CHECK(result.trip_count == 4);
    CHECK_FALSE(result.cond);
}

TEST_CASE("loop_list: the trip count ends it, and an omitted cond is ignored")
{
    auto const body = [](std::int64_t, bool, std::span<int const> states) {
        return loop_step{false, std::vector<int>{states[0] + 1}, no_arrays()};
    };
    CHECK(loop_list(body, std::vector<int>{0}, 0, {.max_trip_count = 3, .cond = std::nullopt})
              .final_state.at(0) == 3);
    CHECK(loop_list(body, std::vector<int>{0}, 0, {.max_trip_count = 3}).final_state.at(0) == 1);
}

TEST_CASE("loop_list of no iterations: values as they were, outputs of length 0")
{
    auto const body = [](std::int64_t, bool, std::span<int const> states) {
        return loop_step{
            true, std::vector<int>(states.begin(), states.end()), std::vector<xt::xtensor<float, 2>>{}};
    };
    auto const result = loop_list(body, std::vector<int>{5}, 1, {.max_trip_count = -1});
    CHECK(result.final_state.at(0) == 5);
    static_assert(std::is_same_v<decltype(result.scan_outputs), std::vector<xt::xtensor<float, 3>>>);
    CHECK(result.scan_outputs.at(0).shape() == std::array<std::size_t, 3>{0, 0, 0});
    CHECK(result.trip_count == 0);
}

TEST_CASE("loop_list says what is wrong with the body's lists")
{
    auto const run = [](auto const& body, std::size_t outputs) {
        return loop_list(body, std::vector<int>{0, 1}, outputs, {.max_trip_count = 2});
    };
    CHECK_THROWS_WITH_AS(run(
                             [](auto, auto, auto) {
                                 return loop_step{true, std::vector<int>{1}, no_arrays()};
                             },
                             0),
        "xloom::loop_list: the body must return a list of 2 carried values, but it returned 1 at iteration "
        "0. "
        "Return as many in every iteration.",
        xloom::body_error);
    CHECK_THROWS_WITH_AS(run(
                             [](auto, auto, auto) {
                                 return loop_step{true, std::vector<int>{1, 2}, no_arrays()};
                             },
                             1),
        "xloom::loop_list: the body must return a list of 1 scan outputs, but it returned 0 at iteration 0. "
        "Return as many in every iteration.",
        xloom::body_error);
    CHECK_THROWS_WITH_AS(run(
                             [](std::int64_t iteration, bool, std::span<int const>) {
                                 array const y = iteration == 0 ? array{1.0} : array{1.0, 2.0};
                                 return loop_step{true, std::vector<int>{1, 2}, std::vector<array>{y}};
                             },
                             1),
        "xloom::loop_list: scan_outputs must keep their shapes in every iteration, but scan_outputs[0] was "
        "[1] and the body made it [2] at iteration 1. Return a value of the original shape.",
        xloom::body_error);
    CHECK_THROWS_AS(loop_list(
                        [](auto, auto, std::span<int const>) {
                            return loop_step{true, std::vector<int>{}, no_arrays()};
                        },
                        std::vector<int>{}, 0, {.cond = std::nullopt}),
        xloom::option_error);
}

TEST_CASE("loop_list: a body that fills its step, for numbers of iterations around the growth of the outputs")
{
    for (std::int64_t const trips : std::initializer_list<std::int64_t>{0, 1, 2, 3, 16, 17, 100}) {
        CAPTURE(trips);
        auto const fill = [&](std::int64_t iteration, bool, std::span<array const> states, auto& next) {
            next.state.resize(1);
            next.state[0] = states[0] + 1;
            next.scan_outputs = {next.state[0], array{static_cast<double>(iteration), 5.0}};
            next.cond = iteration + 1 < trips;
        };
        auto const result = loop_list(fill, std::vector<array>{array{0.0}}, 2, {.cond = trips != 0});
        CHECK(result.trip_count == trips);
        CHECK(result.final_state.at(0) == array{static_cast<double>(trips)});
        if (trips == 0) {
            CHECK(result.scan_outputs.at(1).shape(0) == 0);
            continue;
        }
        CHECK(result.scan_outputs.at(1).dimension() == 2);
        CHECK(result.scan_outputs.at(1).shape(0) == static_cast<std::size_t>(trips));
        for (std::int64_t t = 0; t < trips; ++t) {
            CHECK(result.scan_outputs.at(0)(t, 0) == static_cast<double>(t + 1));
            CHECK(result.scan_outputs.at(1)(t, 0) == static_cast<double>(t));
            CHECK(result.scan_outputs.at(1)(t, 1) == 5);
        }
    }
}

} // namespace loop_list_test
