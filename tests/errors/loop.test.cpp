// What loop refuses, word for word.

#include <doctest/doctest.h>

#include <optional>

#include <xloom/control_flow/loop.hpp>

namespace errors_loop_test {

using namespace xloom;

namespace {

using vector = xt::xtensor<float, 1>;

vector ones(std::size_t n) { return xt::ones<float>({n}); }

} // namespace

TEST_CASE("loop refuses to run for ever")
{
    auto const never = [](std::int64_t, bool, int n) {
        FAIL_CHECK("the body ran");
        return loop_step{true, n};
    };
    CHECK_THROWS_WITH_AS(loop(never, 0, {.cond = std::nullopt}),
        "xloom::loop: a loop must be able to end, but max_trip_count and cond are both absent and "
        "options.stop can never be requested. Give one of them.",
        option_error);
    xloom::stop_source stop;
    stop.request_stop();
    CHECK(loop(never, 0, {.cond = std::nullopt, .stop = stop.get_token()}).stopped);
}

TEST_CASE("loop refuses a body that changes an output element's shape")
{
    auto const body = [](std::int64_t i, bool, int n) {
        return loop_step{true, n, std::tuple{n, ones(i == 2 ? 5 : 4)}};
    };
    CHECK_THROWS_WITH_AS(loop(body, 0, {.max_trip_count = 4}),
        "xloom::loop: scan_outputs must keep their shapes in every iteration, but scan_outputs[1] was [4] "
        "and the body made it [5] at iteration 2. Return a value of the original shape.",
        body_error);
    auto const late = [](std::int64_t i, bool, int n) {
        return loop_step{true, n, xt::xarray<float>(xt::ones<float>({i < 40 ? 4 : 5}))};
    };
    CHECK_THROWS_WITH_AS(loop(late, 0),
        "xloom::loop: scan_outputs must keep their shapes in every iteration, but scan_outputs[0] was [4] "
        "and the body made it [5] at iteration 40. Return a value of the original shape.",
        body_error);
}

TEST_CASE("loop refuses a shape that a carried value's type has no room for")
{
    xt::xtensor_fixed<float, xt::xshape<3>> const fixed{1, 2, 3};
    auto const body = [](std::int64_t i, bool, int n, auto const&) {
        return loop_step{true, std::tuple{n, ones(i == 1 ? 50 : 3)}};
    };
    CHECK_THROWS_WITH_AS(loop(body, std::tuple{0, fixed}, {.max_trip_count = 3}),
        "xloom::loop: a state of a fixed shape or rank must keep it in every iteration, but states[1] has "
        "the shape [3] and the body made its shape [50] at iteration 1. Carry an xt::xarray to change it.",
        body_error);
    auto const deeper = [](std::int64_t, bool, auto const&) {
        return loop_step{true, xt::xarray<float>(xt::ones<float>({2, 1, 2}))};
    };
    CHECK_THROWS_WITH_AS(loop(deeper, ones(3), {.max_trip_count = 3}),
        "xloom::loop: a state of a fixed shape or rank must keep it in every iteration, but states[0] has "
        "rank 1 and the body made its shape [2, 1, 2] at iteration 0. Carry an xt::xarray to change it.",
        body_error);
}

TEST_CASE("loop carries any shape that a value's type has room for")
{
    xt::xtensor_fixed<float, xt::xshape<3>> const fixed{1, 2, 3};
    auto const twice = [](std::int64_t, bool, auto const& v) { return loop_step{true, vector(2.0f * v)}; };
    CHECK(loop(twice, fixed, {.max_trip_count = 2}).final_state == vector{4, 8, 12});
    auto const other = [](std::int64_t i, bool, auto const&) {
        return loop_step{true, xt::xarray<float>(ones(static_cast<std::size_t>(i) + 5))};
    };
    CHECK(loop(other, ones(3), {.max_trip_count = 2}).final_state == ones(6));
}

TEST_CASE("loop refuses a shape that the value of an optional has no room for")
{
    std::optional<xt::xtensor_fixed<float, xt::xshape<2>>> const fixed =
        xt::xtensor_fixed<float, xt::xshape<2>>{1, 2};
    auto const body = [](std::int64_t i, bool, auto const&) {
        return loop_step{true, xt::xarray<float>(ones(i == 0 ? 2 : 5))};
    };
    CHECK_THROWS_WITH_AS(loop(body, fixed, {.max_trip_count = 3}),
        "xloom::loop: a state of a fixed shape or rank must keep it in every iteration, but states[0] has "
        "the shape [2] and the body made its shape [5] at iteration 1. Carry an xt::xarray to change it.",
        body_error);
    std::optional<vector> const none;
    auto const deeper = [](std::int64_t, bool, auto const&) {
        return loop_step{true, std::optional<xt::xarray<float>>(xt::ones<float>({2, 2}))};
    };
    CHECK_THROWS_WITH_AS(loop(deeper, none, {.max_trip_count = 3}),
        "xloom::loop: a state of a fixed shape or rank must keep it in every iteration, but states[0] has "
        "rank 1 and the body made its shape [2, 2] at iteration 0. Carry an xt::xarray to change it.",
        body_error);
}

} // namespace errors_loop_test
