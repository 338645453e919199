// What scan_into refuses, word for word, and that it writes nothing before.

#include <doctest/doctest.h>

#include <cstddef>
#include <limits>

#include <xloom/control_flow/scan.hpp>

namespace errors_scan_into_test {

using namespace xloom;

namespace {

using vector = xt::xtensor<float, 1>;
using matrix = xt::xtensor<float, 2>;

/// A body must not run.
constexpr auto never = [](auto&...) { FAIL_CHECK("the body ran"); };

vector ones(std::size_t n) { return xt::ones<float>({n}); }
matrix ones(std::size_t n, std::size_t m) { return xt::ones<float>({n, m}); }

} // namespace

TEST_CASE("scan_into refuses what scan refuses of inputs and options")
{
    vector h = ones(4);
    matrix const x = ones(3, 4);
    matrix y = ones(3, 4);
    CHECK_THROWS_WITH_AS(scan_into(never, h, std::tie(x, h)),
        "xloom::scan_into: all scan inputs must have the same sequence length, but scan_inputs[0] has 3 "
        "(axis 0 of [3, 4]) and "
        "scan_inputs[1] has 4 (axis 0 of [4]). Cut them to one length, or name other axes.",
        shape_error);
    xt::xarray<float> const scalar = 2.0f;
    CHECK_THROWS_WITH_AS(scan_into(never, h, scalar),
        "xloom::scan_into: each of scan_inputs must have at least one axis, but scan_inputs[0] has rank 0. "
        "Give it an axis for the iterations.",
        shape_error);
    CHECK_THROWS_WITH_AS(scan_into(never, h, x, y, {.scan_input_axes = {-3}}),
        "xloom::scan_into: an axis of a tensor of rank r must be in [-r, r - 1], but scan_input_axes[0] is "
        "-3 for scan_inputs[0] of the shape [3, 4]. Name an axis that the tensor has.",
        shape_error);
    CHECK_THROWS_WITH_AS(scan_into(never, h, x, y, {.scan_output_axes = {0, 0}}),
        "xloom::scan_into: scan_output_axes must be empty or have one entry for each of the 1 scan outputs, "
        "but "
        "it has 2. Leave it empty or "
        "give it one for each.",
        option_error);
    CHECK_THROWS_WITH_AS(scan_into(never, h, x, y, {.scan_output_directions = {static_cast<direction>(4)}}),
        "xloom::scan_into: a direction must be forward (0) or reverse (1), but scan_output_directions[0] is "
        "4. "
        "Name one of the two.",
        option_error);
    CHECK_THROWS_WITH_AS(scan_into(never, h, std::tuple{}, y),
        "xloom::scan_into: without scan inputs the number of iterations must be given, but options.length is "
        "empty. Set it.",
        option_error);
    CHECK(y == ones(3, 4));
    CHECK(h == ones(4));
}

TEST_CASE("scan_into refuses an output of another length")
{
    vector h = ones(4);
    matrix const x = ones(3, 4);
    matrix shorter = ones(2, 4);
    xt::xarray<float> wide = ones(3, 4);
    CHECK_THROWS_WITH_AS(scan_into(never, h, x, std::tie(shorter, wide), {.scan_output_axes = {0, 1}}),
        "xloom::scan_into: every scan output must be as long as the scan, which has 3 iterations, but "
        "scan_outputs[0] has 2 (axis 0 of [2, "
        "4]) and scan_outputs[1] has 4 (axis 1 of [3, 4]). Give it an element for each iteration.",
        shape_error);
    std::size_t const longest = std::numeric_limits<std::ptrdiff_t>::max();
    CHECK_THROWS_WITH_AS(scan_into(never, h, std::tuple{}, shorter, {.length = longest}),
        "xloom::scan_into: every scan output must be as long as the scan, which has 9223372036854775807 "
        "iterations, but scan_outputs[0] "
        "has 2 (axis 0 of [2, 4]). Give it an element for each iteration.",
        shape_error);
    xt::xtensor_fixed<float, xt::xshape<2, 4>> fixed{};
    CHECK_THROWS_WITH_AS(scan_into(never, h, x, fixed),
        "xloom::scan_into: every scan output must be as long as the scan, which has 3 iterations, but "
        "scan_outputs[0] has 2 (axis 0 of [2, "
        "4]). Give it an element for each iteration.",
        shape_error);
}

TEST_CASE("scan_into scans an operand of a fixed shape along axis 0 only")
{
    xt::xtensor_fixed<float, xt::xshape<3, 3>> const a{};
    xt::xtensor_fixed<float, xt::xshape<3, 3>> b{};
    b.fill(7);
    xt::xtensor<float, 1> state = {0, 0, 0};
    xt::xtensor<float, 2> any = b;
    CHECK_THROWS_WITH_AS(scan_into(never, state, std::tie(any, a), b, {.scan_input_axes = {1, -1}}),
        "xloom::scan_into: a tensor whose type has a fixed shape must be scanned along axis 0, but "
        "scan_input_axes[1] is -1 for scan_inputs[1] of rank 2. Use an xt::xtensor, or a view.",
        option_error);
    CHECK_THROWS_WITH_AS(scan_into(never, state, any, std::tie(any, b), {.scan_output_axes = {1, 1}}),
        "xloom::scan_into: a tensor whose type has a fixed shape must be scanned along axis 0, but "
        "scan_output_axes[1] is 1 for scan_outputs[1] of rank 2. Use an xt::xtensor, or a view.",
        option_error);
    CHECK(b == any);
}

TEST_CASE("scan_into refuses an axis that its output lacks")
{
    vector h = ones(4);
    matrix const x = ones(3, 4);
    matrix y = ones(3, 4);
    CHECK_THROWS_WITH_AS(scan_into(never, h, x, y, {.scan_output_axes = {2}}),
        "xloom::scan_into: an axis of a tensor of rank r must be in [-r, r - 1], but scan_output_axes[0] is "
        "2 for scan_outputs[0] of the shape [3, 4]. Name an axis that the tensor has.",
        shape_error);
    xt::xarray<float> scalar = 2.0f;
    CHECK_THROWS_WITH_AS(scan_into(never, h, x, scalar),
        "xloom::scan_into: each of scan_outputs must have at least one axis, but scan_outputs[0] has rank 0. "
        "Give it an axis for the iterations.",
        shape_error);
}

TEST_CASE("scan_into refuses a body that resizes a state")
{
    matrix const x = ones(3, 4);
    auto const resize = [](auto& n, auto& h, auto const& x_t) {
        if (n++ == 1)
            xt::noalias(h) = xt::ones<float>({7});
        else
            xt::noalias(h) = h + x_t;
    };
    vector h = ones(4);
    int n = 0;
    CHECK_THROWS_WITH_AS(scan_into(resize, std::tie(n, h), x),
        "xloom::scan_into: states must keep their shapes in every iteration, but states[1] was [4] and the "
        "body made it [7] at iteration 1. Return a value of the original shape.",
        body_error);
    xt::xarray<float> dynamic = ones(4);
    n = 0;
    CHECK_THROWS_WITH_AS(scan_into(
                             [](auto& k, auto& state, auto const&) {
                                 state.resize({2, static_cast<std::size_t>(2 + k++)});
                             },
                             std::tie(n, dynamic), x),
        "xloom::scan_into: states must keep their shapes in every iteration, but states[1] was [4] and the "
        "body made it [2, 2] at iteration 0. Return a value of the original shape.",
        body_error);
}

TEST_CASE("scan_into refuses a body that assigns another shape to an output element")
{
    matrix const x = ones(3, 4);
    auto const run = [&](auto& y, auto assign, scan_options const& options = {}) {
        int n = 0;
        matrix other = ones(3, 4);
        scan_into(
            [&](int& t, auto const& x_t, auto&, auto& y_t) {
                if (t++ == 2)
                    assign(y_t);
                else
                    xt::noalias(y_t) = x_t;
            },
            n, x, std::tie(other, y), options);
    };
    auto const longer = [](auto& y_t) { xt::noalias(y_t) = xt::ones<float>({5}); };
    auto const assigned = [](auto& y_t) { y_t = ones(5); };
    auto const copy = [](auto y_t) { xt::noalias(y_t) = ones(5); };
    char const* const text =
        "xloom::scan_into: scan_outputs must keep their shapes in every iteration, but scan_outputs[1] was "
        "[4] and the body made it [5] at iteration 2. Return a value of the original shape.";
    matrix y = ones(3, 4);
    CHECK_THROWS_WITH_AS(run(y, longer), text, body_error);
    CHECK_THROWS_WITH_AS(run(y, assigned), text, body_error);
    CHECK_THROWS_WITH_AS(run(y, copy), text, body_error);
    xt::xarray<float> dynamic = ones(3, 4);
    CHECK_THROWS_WITH_AS(run(dynamic, longer), text, body_error);
    matrix transposed = ones(4, 3);
    CHECK_THROWS_WITH_AS(run(transposed, longer, {.scan_output_axes = {0, 1}}), text, body_error);
    CHECK_THROWS_WITH_AS(run(dynamic, [](auto& y_t) { xt::noalias(y_t) = ones(2, 2); }),
        "xloom::scan_into: scan_outputs must keep their shapes in every iteration, but scan_outputs[1] was "
        "[4] and the body made it [2, 2] at iteration 2. Return a value of the original shape.",
        body_error);
    xt::xtensor_fixed<float, xt::xshape<3, 4>> fixed{};
    CHECK_THROWS_WITH_AS(run(fixed, [](auto& y_t) { xt::noalias(y_t) = ones(5); }), text, body_error);
}

TEST_CASE("a wrong assignment to an outer scan's output, made in an inner body, is the outer scan's error")
{
    xt::xtensor<float, 3> const x = xt::ones<float>({3, 2, 4});
    xt::xtensor<float, 3> y = xt::zeros<float>({3, 2, 4});
    auto const run = [&](auto wrong) {
        int outer = 0;
        scan_into(
            [&](int& t, auto const& x_t, auto& y_t) {
                int inner = 0;
                // The inner output begins at the same item as the outer element.
                scan_into(
                    [&](int& s, auto const& x_ts, auto& y_ts) {
                        xt::noalias(y_ts) = x_ts;
                        if (t == 1)
                            wrong(s, y_t, y_ts);
                        ++s;
                    },
                    inner, x_t, y_t);
                ++t;
            },
            outer, x, y);
    };
    CHECK_THROWS_WITH_AS(run([](int, auto& y_t, auto&) { xt::noalias(y_t) = ones(5, 5); }),
        "xloom::scan_into: scan_outputs must keep their shapes in every iteration, but scan_outputs[0] was "
        "[2, 4] and the body made it [5, 5] at iteration 1. Return a value of the original shape.",
        body_error);
    CHECK_THROWS_WITH_AS(run([](int, auto y_t, auto&) { xt::noalias(y_t) = ones(5, 5); }),
        "xloom::scan_into: scan_outputs must keep their shapes in every iteration, but scan_outputs[0] was "
        "[2, 4] and the body made it [5, 5] at iteration 1. Return a value of the original shape.",
        body_error);
    CHECK_THROWS_WITH_AS(run([](int s, auto&, auto& y_ts) {
        if (s == 0)
            xt::noalias(y_ts) = ones(5);
    }),
        "xloom::scan_into: scan_outputs must keep their shapes in every iteration, but scan_outputs[0] was "
        "[4] and the body made it [5] at iteration 0. Return a value of the original shape.",
        body_error);
}

TEST_CASE("a wrong assignment names the right one of outputs whose elements all are empty")
{
    matrix const x = ones(3, 4);
    matrix none = xt::zeros<float>({3, 0});
    matrix nothing = xt::zeros<float>({3, 0});
    int n = 0;
    CHECK_THROWS_WITH_AS(
        scan_into([](int&, auto const&, auto&, auto& second) { xt::noalias(second) = ones(1); }, n, x,
            std::tie(none, nothing)),
        "xloom::scan_into: scan_outputs must keep their shapes in every iteration, but scan_outputs[1] was "
        "[0] and the body made it [1] at iteration 0. Return a value of the original shape.",
        body_error);
}

TEST_CASE("a pure scan inside scan_into passes on what its body does to the outer output")
{
    matrix const x = ones(3, 4);
    matrix y = ones(3, 4);
    int n = 0;
    CHECK_THROWS_WITH_AS(scan_into(
                             [](int& t, auto const& x_t, auto& y_t) {
                                 scan(
                                     [&](float sum, float item) {
                                         if (t == 2)
                                             y_t = ones(9);
                                         return scan_step{sum + item};
                                     },
                                     0.0f, x_t);
                                 ++t;
                             },
                             n, x, y),
        "xloom::scan_into: scan_outputs must keep their shapes in every iteration, but scan_outputs[0] was "
        "[4] and the body made it [9] at iteration 2. Return a value of the original shape.",
        body_error);
}

} // namespace errors_scan_into_test
