// What loop_into refuses, word for word, and what it has written by then.

#include <doctest/doctest.h>

#include <optional>
#include <span>
#include <vector>

#include <xloom/control_flow/loop.hpp>

namespace errors_loop_into_test {

using namespace xloom;

namespace {

using vector = xt::xtensor<float, 1>;
using matrix = xt::xtensor<float, 2>;

/// A body must not run.
constexpr auto never = [](auto const&...) {
    FAIL_CHECK("the body ran");
    return true;
};

/// Writes 1, 2, ... and ends after `trips` iterations.
auto count_to(int trips)
{
    return [=](std::int64_t i, int& n, auto&... y_t) {
        ++n;
        (y_t.fill(static_cast<float>(n)), ...);
        return i + 1 < trips;
    };
}

matrix zeros(std::size_t n, std::size_t m) { return xt::zeros<float>({n, m}); }

} // namespace

TEST_CASE("loop_into refuses to run for ever")
{
    int n = 0;
    CHECK_THROWS_WITH_AS(loop_into(never, n, std::tuple{}, {.cond = std::nullopt}),
        "xloom::loop_into: a loop must be able to end, but max_trip_count and cond are both absent and "
        "options.stop can never be requested. Give one of them.",
        option_error);
}

TEST_CASE("loop_into refuses outputs without room for the iterations that are certain")
{
    int n = 0;
    matrix y = zeros(3, 4);
    matrix z = zeros(5, 4);
    CHECK_THROWS_WITH_AS(loop_into(never, n, std::tie(z, y), {.max_trip_count = 4, .cond = std::nullopt}),
        "xloom::loop_into: a scan output must have room for every iteration, but scan_outputs[1] has room "
        "for 3 and there will be 4. Give "
        "it a longer leading axis.",
        shape_error);
    xt::xarray<float> scalar = 0.0f;
    CHECK_THROWS_WITH_AS(loop_into(never, n, scalar, {.max_trip_count = 4}),
        "xloom::loop_into: each of scan_outputs must have at least one axis, but scan_outputs[0] has rank 0. "
        "Give it an axis for the iterations.",
        shape_error);
    CHECK(y == zeros(3, 4));
    CHECK(n == 0);
}

TEST_CASE("loop_into runs until the room is used up, where the number of iterations is not certain")
{
    char const* const text =
        "xloom::loop_into: a scan output must have room for every iteration, but scan_outputs[0] has room "
        "for 3 and the loop continues at iteration 3. Give it a longer leading axis.";
    matrix const filled{{1, 1}, {2, 2}, {3, 3}};
    matrix y = zeros(3, 2);
    matrix z = zeros(4, 2);
    int n = 0;
    CHECK_THROWS_WITH_AS(loop_into(count_to(4), n, std::tie(y, z)), text, shape_error);
    CHECK(n == 3);
    CHECK(y == filled);
    CHECK(z == matrix{{1, 1}, {2, 2}, {3, 3}, {0, 0}});
    n = 0;
    CHECK_THROWS_WITH_AS(loop_into(count_to(9), n, y, {.max_trip_count = 9}), text, shape_error);
    n = 0;
    xloom::stop_source stop;
    CHECK_THROWS_WITH_AS(
        loop_into(count_to(9), n, y, {.max_trip_count = 9, .cond = std::nullopt, .stop = stop.get_token()}),
        text, shape_error);
    CHECK(n == 3);
    // Enough room, after all.
    n = 0;
    CHECK(loop_into(count_to(3), n, y, {.max_trip_count = 9}).trip_count == 3);
}

TEST_CASE("loop_into refuses the first iteration where there is no room at all")
{
    matrix none = zeros(0, 2);
    int n = 0;
    CHECK_THROWS_WITH_AS(loop_into(never, n, none),
        "xloom::loop_into: a scan output must have room for every iteration, but scan_outputs[0] has room "
        "for 0 and the loop continues at iteration 0. Give it a longer leading axis.",
        shape_error);
    CHECK(loop_into(never, n, none, {.cond = false}).trip_count == 0);
}

TEST_CASE("loop_into refuses a body that assigns another shape to an output element")
{
    matrix y = zeros(3, 4);
    matrix z = zeros(3, 4);
    int n = 0;
    auto const body = [](std::int64_t i, int& k, auto& y_t, auto& z_t) {
        ++k;
        xt::noalias(y_t) = xt::ones<float>({4});
        if (i == 1)
            xt::noalias(z_t) = xt::ones<float>({1});
        return true;
    };
    CHECK_THROWS_WITH_AS(loop_into(body, n, std::tie(y, z)),
        "xloom::loop_into: scan_outputs must keep their shapes in every iteration, but scan_outputs[1] was "
        "[4] and the body made it [1] at iteration 1. Return a value of the original shape.",
        body_error);
    CHECK(n == 2);
}

TEST_CASE("a wrong assignment to an outer loop's output, made in an inner body, is the outer loop's error")
{
    xt::xtensor<float, 3> y = xt::zeros<float>({2, 3, 4});
    int n = 0;
    auto const outer = [](std::int64_t i, int&, auto& y_t) {
        int m = 0;
        loop_into(
            [&](std::int64_t, int&, auto& y_ts) {
                y_ts = 0;
                if (i == 1)
                    xt::noalias(y_t) = xt::ones<float>({7});
                return true;
            },
            m, y_t, {.max_trip_count = 3});
        return true;
    };
    CHECK_THROWS_WITH_AS(loop_into(outer, n, y, {.max_trip_count = 2}),
        "xloom::loop_into: scan_outputs must keep their shapes in every iteration, but scan_outputs[0] was "
        "[3, 4] and the body made it [7] at iteration 1. Return a value of the original shape.",
        body_error);
}

TEST_CASE("loop_into refuses operands that overlap")
{
    matrix y = zeros(3, 4);
    vector v = xt::zeros<float>({4});
    CHECK_THROWS_WITH_AS(loop_into(never, std::tie(v, v), std::tie(y, y), {.max_trip_count = 3}),
        "xloom::loop_into: an operand that is written must have memory of its own, but states[0] "
        "overlaps states[1] and scan_outputs[0] overlaps scan_outputs[1]. Copy one of the two.",
        overlap_error);
    CHECK_THROWS_WITH_AS(loop_into(never, y(1, 2), y, {.max_trip_count = 3}),
        "xloom::loop_into: an operand that is written must have memory of its own, but states[0] "
        "overlaps scan_outputs[0]. Copy one of the two.",
        overlap_error);
    std::vector<vector> sequence;
    CHECK_THROWS_WITH_AS(loop_into(never, std::tie(sequence, sequence), std::tuple{}, {.max_trip_count = 3}),
        "xloom::loop_into: an operand that is written must have memory of its own, but states[0] "
        "overlaps states[1]. Copy one of the two.",
        overlap_error);
}

TEST_CASE("loop_into refuses outputs and states in the memory of what a sequence or an optional holds")
{
    std::vector<vector> sequence = {vector{1, 2, 3}, vector{4, 5, 6}};
    CHECK_THROWS_WITH_AS(loop_into(never, sequence, sequence[1], {.max_trip_count = 3}),
        "xloom::loop_into: an operand that is written must have memory of its own, but states[0] "
        "overlaps scan_outputs[0]. Copy one of the two.",
        overlap_error);
    std::optional<vector> maybe = vector{1, 2, 3};
    CHECK_THROWS_WITH_AS(loop_into(never, std::tie(*maybe, maybe), std::tuple{}, {.max_trip_count = 3}),
        "xloom::loop_into: an operand that is written must have memory of its own, but states[1] "
        "overlaps states[0]. Copy one of the two.",
        overlap_error);
    CHECK(sequence[1] == vector{4, 5, 6});
    auto const no_trip = [](auto const&...) { return false; };
    CHECK(loop_into(no_trip, std::tie(maybe, sequence), std::tuple{}, {.max_trip_count = 3}).trip_count == 1);
}

TEST_CASE("loop_into refuses views of the same memory in sequences and optionals")
{
    std::vector<float> m = {1, 2, 3};
    std::optional<std::span<float>> a(m), b(std::span<float>(m).subspan(2)), c(std::span<float>(m).first(2));
    auto const trip = [](auto const&...) { return false; };
    auto const run = [&](auto&... states) {
        return loop_into(trip, std::tie(states...), std::tuple{}, {.max_trip_count = 1}).trip_count;
    };
    CHECK_THROWS_WITH_AS(loop_into(never, std::tie(a, b), std::tuple{}, {.max_trip_count = 1}),
        "xloom::loop_into: an operand that is written must have memory of its own, but states[0] "
        "overlaps states[1]. Copy one of the two.",
        overlap_error);
    CHECK(run(b, c) == 1);
    std::vector<std::span<float>> both = {*b, *c}, one_twice = {*b, *b};
    CHECK(run(both) == 1);
    CHECK_THROWS_AS(run(both, a), overlap_error);
    CHECK_THROWS_AS(run(one_twice), overlap_error);
    std::optional<std::span<float const>> read(m), read_again(m), none;
    CHECK(run(read, read_again) == 1); // nothing is written there
    CHECK(run(a, none) == 1);
    CHECK_THROWS_AS(run(a, read), overlap_error);
    std::vector<vector> owners = {vector{1, 2, 3}};
    std::optional<std::span<float>> borrowed(std::span<float>(owners[0].data(), 1));
    CHECK_THROWS_AS(run(owners, borrowed), overlap_error);
}

} // namespace errors_loop_into_test
