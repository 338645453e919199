// What scan refuses, word for word.

#include <doctest/doctest.h>

#include <cstddef>
#include <limits>

#include <xloom/control_flow/scan.hpp>

namespace errors_scan_test {

using namespace xloom;
using enum direction;

namespace {

constexpr auto sum = [](auto const& h, auto const&... x_t) {
    return scan_step{xt::eval((h + ... + x_t)), h};
};

xt::xtensor<float, 1> const h = xt::zeros<float>({4});
xt::xtensor<float, 2> const x = xt::ones<float>({3, 4});

/// A body must not run, or its call is a failure of the test.
struct never {
    template <class... Elements>
    auto operator()(xt::xtensor<float, 1> const& state, Elements const&...) const
    {
        FAIL_CHECK("the body ran");
        return scan_step{state, state};
    }
};

/// A state of shape [4] in the first iterations, then of another.
auto reshaped_state(int when)
{
    return [=, t = 0](xt::xtensor<float, 1> const&, auto const&) mutable {
        xt::xtensor<float, 1> next = xt::zeros<float>({t++ == when ? 5 : 4});
        return scan_step{next, next};
    };
}

} // namespace

TEST_CASE("scan refuses inputs of unequal lengths")
{
    xt::xtensor<float, 2> const longer = xt::ones<float>({5, 4});
    CHECK_THROWS_WITH_AS(scan(never{}, h, std::tie(x, longer)),
        "xloom::scan: all scan inputs must have the same sequence length, but scan_inputs[0] has 3 (axis 0 "
        "of [3, 4]) and scan_inputs[1] "
        "has 5 (axis 0 of [5, 4]). Cut them to one length, or name other axes.",
        shape_error);
    xt::xarray<float> const dynamic = longer;
    CHECK_THROWS_WITH_AS(scan(never{}, h, std::tie(x, dynamic), {.scan_input_axes = {1, 0}}),
        "xloom::scan: all scan inputs must have the same sequence length, but scan_inputs[0] has 4 (axis 1 "
        "of [3, 4]) and scan_inputs[1] "
        "has 5 (axis 0 of [5, 4]). Cut them to one length, or name other axes.",
        shape_error);
}

TEST_CASE("scan refuses fixed shapes of unequal lengths where axes are options")
{
    xt::xtensor_fixed<float, xt::xshape<3, 4>> const a{};
    xt::xtensor_fixed<float, xt::xshape<4, 5>> const b{};
    CHECK_THROWS_WITH_AS(scan(never{}, h, std::tie(a, b), scan_options{}),
        "xloom::scan: all scan inputs must have the same sequence length, but scan_inputs[0] has 3 (axis 0 "
        "of [3, 4]) and scan_inputs[1] "
        "has 4 (axis 0 of [4, 5]). Cut them to one length, or name other axes.",
        shape_error);
}

TEST_CASE("scan scans an operand or result of a fixed shape along axis 0 only")
{
    xt::xtensor_fixed<float, xt::xshape<3, 4>> const a{};
    xt::xtensor_fixed<float, xt::xshape<4, 3>> const b{};
    for (std::int64_t const axis : {1, -1}) {
        CHECK_THROWS_WITH_AS(scan(never{}, h, std::tie(a, b), {.scan_input_axes = {0, axis}}),
            ("xloom::scan: a tensor whose type has a fixed shape must be scanned along axis 0, but "
             "scan_input_axes[1] is " +
                std::to_string(axis) + " for scan_inputs[1] of rank 2. Use an xt::xtensor, or a view.")
                .c_str(),
            option_error);
    }
    xt::xtensor_fixed<float, xt::xshape<4>> const fixed_h{};
    int calls = 0;
    auto const counting = [&](auto const& state, auto const& x_t) {
        ++calls;
        return scan_step{state + x_t, std::tuple{x_t(0), state + x_t}};
    };
    CHECK_THROWS_WITH_AS(scan(counting, fixed_h, a, {.scan_output_axes = {-1, 1}}),
        "xloom::scan: a tensor whose type has a fixed shape must be scanned along axis 0, but "
        "scan_output_axes[1] is 1 for scan_outputs[1] of rank 2. Use an xt::xtensor, or a view.",
        option_error);
    CHECK(calls == 0);
}

TEST_CASE("scan refuses an input of rank 0")
{
    xt::xarray<float> const scalar = 2.0f;
    CHECK_THROWS_WITH_AS(scan(never{}, h, std::tie(x, scalar)),
        "xloom::scan: each of scan_inputs must have at least one axis, but scan_inputs[1] has rank 0. Give "
        "it an axis for the iterations.",
        shape_error);
}

TEST_CASE("scan refuses an axis that its input lacks")
{
    CHECK_THROWS_WITH_AS(scan(never{}, h, x, {.scan_input_axes = {2}}),
        "xloom::scan: an axis of a tensor of rank r must be in [-r, r - 1], but scan_input_axes[0] is 2 for "
        "scan_inputs[0] of the shape [3, 4]. Name an axis that the tensor has.",
        shape_error);
    CHECK_THROWS_WITH_AS(scan(never{}, h, x, {.scan_input_axes = {-3}}),
        "xloom::scan: an axis of a tensor of rank r must be in [-r, r - 1], but scan_input_axes[0] is -3 for "
        "scan_inputs[0] of the shape [3, 4]. Name an axis that the tensor has.",
        shape_error);
}

TEST_CASE("scan refuses an axis that its output lacks, counted on the output's rank")
{
    CHECK_THROWS_WITH_AS(scan(sum, h, x, {.scan_output_axes = {2}}),
        "xloom::scan: an axis of a tensor of rank r must be in [-r, r - 1], but scan_output_axes[0] is 2 for "
        "scan_outputs[0] of rank 2. Name an axis that the tensor has.",
        shape_error);
    xt::xtensor<float, 2> const none = xt::zeros<float>({0, 4});
    CHECK_THROWS_WITH_AS(scan(sum, h, none, {.scan_output_axes = {-3}}),
        "xloom::scan: an axis of a tensor of rank r must be in [-r, r - 1], but scan_output_axes[0] is -3 "
        "for scan_outputs[0] of rank 2. Name an axis that the tensor has.",
        shape_error);
}

TEST_CASE("scan refuses an axis that its output lacks before the body runs, where the type tells it")
{
    int calls = 0;
    auto const body = [&](int n) {
        ++calls;
        return scan_step{n, std::tuple{n, xt::xtensor<int, 1>{n}, xt::xarray<int>{n}}};
    };
    for (std::size_t const length : {std::size_t{0}, std::size_t{3}}) {
        CHECK_THROWS_WITH_AS(scan(body, 0, std::tuple{}, {.scan_output_axes = {1, -3, 16}, .length = length}),
            "xloom::scan: an axis of a tensor of rank r must be in [-r, r - 1], but scan_output_axes[0] is 1 "
            "for scan_outputs[0] of rank 1, scan_output_axes[1] is -3 for scan_outputs[1] of rank 2 and "
            "scan_output_axes[2] is 16 for scan_outputs[2] of rank at most 16. Name an axis that the tensor "
            "has.",
            shape_error);
    }
    CHECK(calls == 0);
    CHECK_THROWS_WITH_AS(scan(body, 0, std::tuple{}, {.scan_output_axes = {0, 1, 2}, .length = 3}),
        "xloom::scan: an axis of a tensor of rank r must be in [-r, r - 1], but scan_output_axes[2] is 2 for "
        "scan_outputs[2] of rank 2, with elements of the shape [1]. Name an axis that the tensor has.",
        shape_error);
    CHECK(calls == 1);
}

TEST_CASE("scan refuses a wrong number of axes or directions")
{
    CHECK_THROWS_WITH_AS(scan(never{}, h, x, {.scan_input_axes = {0, 1}}),
        "xloom::scan: scan_input_axes must be empty or have one entry for each of the 1 scan inputs, but it "
        "has "
        "2. Leave it empty or give it "
        "one for each.",
        option_error);
    CHECK_THROWS_WITH_AS(scan(never{}, h, std::tie(x, x), {.scan_input_directions = {reverse}}),
        "xloom::scan: scan_input_directions must be empty or have one entry for each of the 2 scan inputs, "
        "but it "
        "has 1. Leave it empty or give "
        "it one for each.",
        option_error);
    CHECK_THROWS_WITH_AS(scan(never{}, h, x, {.scan_output_axes = {0, 0}}),
        "xloom::scan: scan_output_axes must be empty or have one entry for each of the 1 scan outputs, but "
        "it has "
        "2. Leave it empty or give it "
        "one for each.",
        option_error);
    CHECK_THROWS_WITH_AS(scan(never{}, h, x, {.scan_output_directions = {forward, reverse, forward}}),
        "xloom::scan: scan_output_directions must be empty or have one entry for each of the 1 scan outputs, "
        "but "
        "it has 3. Leave it empty or "
        "give it one for each.",
        option_error);
}

TEST_CASE("scan refuses a direction that is none")
{
    CHECK_THROWS_WITH_AS(scan(never{}, h, x, {.scan_input_directions = {static_cast<direction>(2)}}),
        "xloom::scan: a direction must be forward (0) or reverse (1), but scan_input_directions[0] is 2. "
        "Name one "
        "of the two.",
        option_error);
    CHECK_THROWS_WITH_AS(scan(never{}, h, x, {.scan_output_directions = {static_cast<direction>(-1)}}),
        "xloom::scan: a direction must be forward (0) or reverse (1), but scan_output_directions[0] is -1. "
        "Name "
        "one of the two.",
        option_error);
}

TEST_CASE("scan without inputs needs a length, and with inputs no other than theirs")
{
    CHECK_THROWS_WITH_AS(scan(never{}, h, std::tuple{}),
        "xloom::scan: without scan inputs the number of iterations must be given, but options.length is "
        "empty. Set it.",
        option_error);
    CHECK_THROWS_WITH_AS(scan(never{}, h, x, {.length = 4}),
        "xloom::scan: options.length must be the scan inputs' sequence length, but it is 4 and "
        "scan_inputs[0] has 3 (axis 0 of [3, 4]). "
        "Leave it empty.",
        option_error);
}

TEST_CASE("scan refuses outputs that no memory can hold")
{
    constexpr auto huge = static_cast<std::size_t>(-1);
    constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());
    int calls = 0;
    auto const scalar = [&](int n) { return ++calls, scan_step{n + 1, n}; };
    CHECK_THROWS_WITH_AS(scan(scalar, 0, std::tuple{}, {.length = most}),
        "xloom::scan: the size of a result must fit in memory, but scan_outputs[0] would have the shape "
        "[9223372036854775807]. Run fewer "
        "iterations.",
        shape_error);
    CHECK(calls == 1);
    auto const vector = [](int n) {
        return scan_step{n + 1, std::tuple{n, xt::xtensor<double, 1>(xt::zeros<double>({3}))}};
    };
    CHECK_THROWS_WITH_AS(scan(vector, 0, std::tuple{}, {.scan_output_axes = {0, 1}, .length = huge / 24}),
        "xloom::scan: the size of a result must fit in memory, but scan_outputs[1] would have the shape [3, "
        "768614336404564650]. Run fewer "
        "iterations.",
        shape_error);
}

TEST_CASE("scan refuses a negative number of iterations")
{
    auto const never = [](int n) {
        FAIL_CHECK("the body ran");
        return scan_step{n};
    };
    CHECK_THROWS_WITH_AS(scan(never, 0, std::tuple{}, {.length = -1}),
        "xloom::scan: options.length must be from 0 to 9223372036854775807, but it is -1. Choose a number of "
        "iterations.",
        option_error);
}

TEST_CASE("scan refuses empty outputs whose strides nobody can count")
{
    auto const empty = [](int n) {
        return scan_step{n + 1, xt::xtensor<float, 2>(xt::zeros<float>({0, 5}))};
    };
    for (direction const direction : {forward, reverse}) {
        CHECK_THROWS_WITH_AS(scan(empty, 0, std::tuple{},
                                 {.scan_output_axes = {1},
                                     .scan_output_directions = {direction},
                                     .length = std::size_t{1} << 62}),
            "xloom::scan: the size of a result must fit in memory, but scan_outputs[0] would have the shape "
            "[0, 4611686018427387904, 5]. "
            "Run fewer iterations.",
            shape_error);
    }
}

TEST_CASE("scan walks elements without items along every axis")
{
    xt::xtensor<float, 3> const none = xt::zeros<float>({0, 3, 5});
    for (std::int64_t const axis : {1, 2}) {
        std::size_t const length = none.shape(static_cast<std::size_t>(axis));
        auto const [last, all] = scan(
            [](auto const& n, auto const& x_t) {
                return scan_step{n + 1, x_t};
            },
            std::size_t{0}, none,
            {.scan_input_axes = {axis},
                .scan_output_axes = {axis},
                .scan_input_directions = {reverse},
                .scan_output_directions = {reverse}});
        CHECK(last == length);
        CHECK(all.shape() == none.shape());
    }
}

TEST_CASE("scan refuses a body that changes a state's shape, in whatever iteration")
{
    CHECK_THROWS_WITH_AS(scan(reshaped_state(0), h, x),
        "xloom::scan: states must keep their shapes in every iteration, but states[0] was [4] and the body "
        "made it [5] at iteration 0. Return a value of the original shape.",
        body_error);
    CHECK_THROWS_WITH_AS(scan(reshaped_state(2), h, x),
        "xloom::scan: states must keep their shapes in every iteration, but states[0] was [4] and the body "
        "made it [5] at iteration 2. Return a value of the original shape.",
        body_error);
}

TEST_CASE("scan names the state that changed its shape, or its rank")
{
    xt::xarray<float> const wide = xt::ones<float>({2, 2});
    auto const flatten = [](auto const& n, auto const& state, auto const&) {
        return scan_step{
            std::tuple{n + 1, n == 1 ? xt::xarray<float>(xt::zeros<float>({4})) : xt::xarray<float>(state)}};
    };
    CHECK_THROWS_WITH_AS(scan(flatten, std::tuple{0, wide}, x),
        "xloom::scan: states must keep their shapes in every iteration, but states[1] was [2, 2] and the "
        "body made it [4] at iteration 1. Return a value of the original shape.",
        body_error);
    xt::xtensor_fixed<float, xt::xshape<4>> const fixed{};
    CHECK_THROWS_WITH_AS(scan(reshaped_state(1), fixed, x),
        "xloom::scan: states must keep their shapes in every iteration, but states[0] was [4] and the body "
        "made it [5] at iteration 1. Return a value of the original shape.",
        body_error);
}

TEST_CASE("scan refuses a body that changes an output element's shape")
{
    auto const growing = [](std::size_t n, auto const& x_t) {
        return scan_step{n + 1, std::tuple{x_t, xt::xtensor<float, 2>(xt::zeros<float>({n, n}))}};
    };
    CHECK_THROWS_WITH_AS(scan(growing, std::size_t{2}, x),
        "xloom::scan: scan_outputs must keep their shapes in every iteration, but scan_outputs[1] was [2, 2] "
        "and the body made it [3, 3] at iteration 1. Return a value of the original shape.",
        body_error);
    CHECK_THROWS_WITH_AS(scan(growing, std::size_t{2}, x,
                             {.scan_output_axes = {0, -1}, .scan_output_directions = {forward, reverse}}),
        "xloom::scan: scan_outputs must keep their shapes in every iteration, but scan_outputs[1] was [2, 2] "
        "and the body made it [3, 3] at iteration 1. Return a value of the original shape.",
        body_error);
}

} // namespace errors_scan_test
