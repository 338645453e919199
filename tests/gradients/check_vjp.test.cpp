// check_vjp: right VJPs pass, and a wrong one is found in every operand, with its place and its values.

#include <doctest/doctest.h>

#include <span>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <xloom/gradients/check_vjp.hpp>
#include <xloom/gradients/scan_vjp.hpp>

#include "support/recurrence.hpp"
#include "support/xtensor_extras.hpp"

namespace check_vjp_test {

using namespace xloom;

namespace {

using vec = xt::xtensor<double, 1>;
using mat = xt::xtensor<double, 2>;

/// The recurrence's VJP with one cotangent made wrong.
template <std::size_t Operand>
constexpr auto wrong_vjp = [](auto const& h, double c, auto const& x, double u, auto const& W, auto const& V,
                               double s, auto const& ct_next_h, double ct_next_c, auto const& ct_y,
                               double ct_z, auto& ct_h, double& ct_c, auto& ct_x, double& ct_u, auto& ct_W,
                               auto& ct_V, double& ct_s) {
    recurrence::body_vjp(
        h, c, x, u, W, V, s, ct_next_h, ct_next_c, ct_y, ct_z, ct_h, ct_c, ct_x, ct_u, ct_W, ct_V, ct_s);
    if constexpr (Operand == 0)
        ct_h(2) += 0.5;
    else if constexpr (Operand == 1)
        ct_c += 0.5;
    else if constexpr (Operand == 2)
        ct_x(1) += 0.5;
    else if constexpr (Operand == 3)
        ct_u += 0.5;
    else if constexpr (Operand == 4)
        ct_W(1, 2) += 0.5;
    else if constexpr (Operand == 5)
        ct_V(2, 0) += 0.5;
    else
        ct_s += 0.5;
};

vec const h = {0.1, -0.2, 0.3}, x = {0.5, -1};
mat const W = {{0.1, 0.2, 0.3}, {-0.1, 0.4, 0.2}, {0.3, -0.3, 0.1}}, V = {{1, 0.5}, {0.2, -0.4}, {0.7, 0.1}};

} // namespace

TEST_CASE("a right VJP has no difference, for both kinds of bodies and every layout")
{
    for (std::uint32_t const seed : {1u, 2u, 3u}) {
        CHECK(check_vjp(recurrence::body, recurrence::body_vjp, std::tuple(h, 0.4), std::tuple(x, 0.7),
            std::tuple(W, V, 0.3), {.seed = seed}));
        CHECK(check_vjp_into(recurrence::body_into, recurrence::body_vjp, std::tuple(h, 0.4),
            std::tuple(x, 0.7), std::tuple(W, V, 0.3), std::tuple(h, 0.0), {.seed = seed}));
    }
    xt::xtensor<double, 2, xt::layout_type::column_major> const columns = W;
    CHECK(check_vjp(recurrence::body, recurrence::body_vjp, std::tie(h, x(0)), std::tie(x, x(1)),
        std::tuple(columns, V, 0.3)));
}

TEST_CASE("a wrong VJP is found in every operand")
{
    auto const differences = [](auto const& body_vjp) {
        return check_vjp(
            recurrence::body, body_vjp, std::tuple(h, 0.4), std::tuple(x, 0.7), std::tuple(W, V, 0.3))
            .differences();
    };
    auto const check = [&]<std::size_t Operand>(std::integral_constant<std::size_t, Operand>,
                           std::string const& name, shape const& at) {
        auto const found = differences(wrong_vjp<Operand>);
        REQUIRE(found.size() == 1);
        CHECK(found[0].operand == name);
        CHECK(found[0].index == at);
        CHECK(found[0].vjp == doctest::Approx(found[0].quotient + 0.5));
    };
    check(std::integral_constant<std::size_t, 0>{}, "states[0]", {2});
    check(std::integral_constant<std::size_t, 1>{}, "states[1]", {});
    check(std::integral_constant<std::size_t, 2>{}, "elements[0]", {1});
    check(std::integral_constant<std::size_t, 3>{}, "elements[1]", {});
    check(std::integral_constant<std::size_t, 4>{}, "params[0]", {1, 2});
    check(std::integral_constant<std::size_t, 5>{}, "params[1]", {2, 0});
    check(std::integral_constant<std::size_t, 6>{}, "params[2]", {});
}

TEST_CASE("a VJP that overwrites a cotangent, where it must add, is wrong")
{
    auto const body = [](double state, double x_t, double w) { return scan_step{w * state + x_t}; };
    auto const in_place = [](double& state, double x_t, double w) { state = w * state + x_t; };
    auto const check = [&](int overwritten, std::string const& name) {
        auto const overwriting = [&](double state, double, double w, double ct_next, double& ct, double& ct_x,
                                     double& ct_w) {
            ct = ct_next * w + (overwritten == 0 ? 0 : ct);
            ct_x = ct_next + (overwritten == 1 ? 0 : ct_x);
            ct_w = ct_next * state + (overwritten == 2 ? 0 : ct_w);
        };
        auto const found = check_vjp(body, overwriting, 0.5, 2.0, 0.25).differences();
        REQUIRE(found.size() == 1);
        CHECK(found[0].operand == name);
        CHECK(!check_vjp_into(in_place, overwriting, 0.5, 2.0, 0.25, std::tuple()));
    };
    check(0, "states[0]");
    check(1, "elements[0]");
    check(2, "params[0]");
    auto const adding = [](double state, double, double w, double ct_next, double& ct, double& ct_x,
                            double& ct_w) {
        ct += ct_next * w;
        ct_x += ct_next;
        ct_w += ct_next * state;
    };
    CHECK(check_vjp(body, adding, 0.5, 2.0, 0.25));
    CHECK(check_vjp_into(in_place, adding, 0.5, 2.0, 0.25, std::tuple()));
}

TEST_CASE("a body receives the types that a scan gives it, by their names")
{
    auto const body = [](vec const& state, element_view<double const, 1> const& x_t, double u) {
        return scan_step{state * x_t + u, std::tuple{xt::sum(state), vec(2 * state)}};
    };
    auto const body_vjp = [](vec const& state, element_view<double const, 1> const& x_t, double,
                              vec const& ct_next, double ct_sum, element_view<double const, 1> const& ct_y,
                              vec& ct, element_view<double, 1>& ct_x, double& ct_u) {
        ct += ct_next * x_t + ct_sum + 2 * ct_y;
        ct_x += ct_next * state;
        ct_u += xt::sum(ct_next)();
    };
    mat const xs = {{0.5, -1, 2}, {3, 1, 0.25}};
    vec const ct_sums = {1, 1};
    static_cast<void>(scan_vjp(body, body_vjp, h, std::tuple(xs, x)).pullback(h, std::tie(ct_sums, xs)));
    CHECK(check_vjp(body, body_vjp, h, std::tuple(xt::view(xs, 1), 0.5)));
    CHECK(check_vjp(body, body_vjp, h, std::tuple(vec(h + 1), xt::xtensor<double, 0>(0.5))));

    auto const in_place = [](vec& state, element_view<double const, 1> const& x_t, double u, double& sum,
                              element_view<double, 1>& y) {
        sum = xt::sum(state)();
        y = 2 * state;
        state = vec(state * x_t + u);
    };
    CHECK(check_vjp_into(in_place, body_vjp, h, std::tuple(h, 0.5), std::tuple(), std::tuple(0.0, h)));
}

TEST_CASE("check_vjp refuses operands of more axes than an operator takes")
{
    auto const body = [](double state, auto const& x_t) { return scan_step{state + x_t(0)}; };
    auto const never = [](auto const&...) { FAIL_CHECK("the body's VJP ran"); };
    xt::xarray<double> const many = xt::ones<double>(std::vector<std::size_t>(17, 1));
    CHECK_THROWS_WITH_AS(static_cast<void>(check_vjp(body, never, 1.0, many)),
        "xloom::check_vjp: a tensor may have at most 16 axes (max_rank), but elements[0] has 17. Merge "
        "some of them.",
        shape_error);
    auto const in_place = [](auto const&...) { FAIL_CHECK("the body ran"); };
    CHECK_THROWS_WITH_AS(static_cast<void>(check_vjp_into(in_place, never, 1.0, 1.0, std::tuple(), many)),
        "xloom::check_vjp_into: a tensor may have at most 16 axes (max_rank), but outputs[0] has 17. Merge "
        "some of them.",
        shape_error);
}

TEST_CASE("check_vjp_into: a body that changes the shape of an output is an error")
{
    auto const body = [](double&, double, element_view<double, 1> y) { y = vec{1, 2}; };
    auto const never = [](auto const&...) { FAIL_CHECK("the body's VJP ran"); };
    CHECK_THROWS_WITH_AS(static_cast<void>(check_vjp_into(body, never, 1.0, 1.0, std::tuple(), vec{1, 2, 3})),
        "xloom::check_vjp_into: outputs must keep their shapes in every iteration, but outputs[0] was [3] "
        "and the body made it [2] at iteration 0. Return a value of the original shape.",
        body_error);
}

TEST_CASE("a VJP that changes the shape of a cotangent is an error")
{
    using element = element_view<double, 1>;
    auto const body = [](vec const& state, element_view<double const, 1> const& x_t, vec const& w) {
        return scan_step{vec(w * state + x_t)};
    };
    auto const check = [&](auto const& reshape, char const* text) {
        auto const body_vjp = [&](vec const& state, auto const&, vec const& w, vec const& ct_next, vec& ct,
                                  element& ct_x, vec& ct_w) {
            ct += ct_next * w;
            ct_x += ct_next;
            ct_w += ct_next * state;
            reshape(ct, ct_x, ct_w);
        };
        vec const operand = {1, 2};
        CHECK_THROWS_WITH_AS(
            static_cast<void>(check_vjp(body, body_vjp, operand, operand, operand)), text, body_error);
    };
    check([](vec& ct, element&, vec&) { ct = vec{0.5}; },
        "xloom::check_vjp: the VJP must give every cotangent "
        "the shape of its value, but states[0] is [2] and "
        "the VJP made its cotangent [1]. Assign its items.");
    check(
        [](vec&, element& ct_x, vec&) {
            ct_x = vec{1, 2, 3};
        },
        "xloom::check_vjp: ct_elements must keep their shapes in every iteration, but ct_elements[0] was [2] "
        "and the body made it [3] at iteration 0. Return a value of the original shape.");
    check(
        [](vec&, element ct_x, vec&) {
            ct_x = vec{1, 2, 3};
        }, // a copy of the view
        "xloom::check_vjp: ct_elements must keep their shapes in every iteration, but ct_elements[0] was [2] "
        "and the body made it [3] at iteration 0. Return a value of the original shape.");
    check([](vec&, element&, vec& ct_w) { ct_w = vec::from_shape({0}); },
        "xloom::check_vjp: the VJP must give every cotangent the shape of its value, but params[0] is [2] "
        "and "
        "the VJP made its cotangent [0]. Assign its items.");
}

TEST_CASE("the index is that of the item, not of its place in memory")
{
    xt::xtensor<double, 2, xt::layout_type::column_major> const columns = W;
    auto const found = check_vjp(
        recurrence::body, wrong_vjp<4>, std::tuple(h, 0.4), std::tuple(x, 0.7), std::tuple(columns, V, 0.3))
                           .differences();
    REQUIRE(found.size() == 1);
    CHECK(found[0].index == shape{1, 2});
}

TEST_CASE("the report as text, with at most four differences")
{
    auto const body = [](vec const& state, double x_t) { return scan_step{vec(x_t * state)}; };
    auto const nothing = [](vec const&, double, vec const&, vec&, double&) {};
    vec const ones = {1, 1, 1, 1, 1};
    vjp_report const report = check_vjp(body, nothing, ones, 2.0);
    CHECK(!report);
    CHECK(report.differences().size() == 6);
    std::ostringstream text;
    text << report;
    CHECK(text.str() == to_string(report));
    CHECK(text.str().starts_with(
        "the VJP must agree with the difference quotients, but states[0][0] has 0.000000 "
        "instead of "));
    CHECK(text.str().ends_with("and 2 more"));
    auto const right = [](vec const& state, double x_t, vec const& ct_next, vec& ct_state, double& ct_x) {
        for (std::size_t i = 0; i < state.size(); ++i)
            ct_x += state(i) * ct_next(i);
        ct_state += x_t * ct_next;
    };
    CHECK(to_string(check_vjp(body, right, ones, 2.0)) == "the VJP agrees with the difference quotients");
}

TEST_CASE("float, and items that have no derivative")
{
    using floats = xt::xtensor<float, 1>;
    auto const body = [](floats const& state, int times, float w) {
        return scan_step{floats(state * w * static_cast<float>(times)), times};
    };
    auto const body_vjp = [](floats const& state, int times, float w, floats const& ct_next, int,
                              floats& ct_state, int&, float& ct_w) {
        for (std::size_t i = 0; i < state.size(); ++i)
            ct_w += state(i) * static_cast<float>(times) * ct_next(i);
        ct_state += w * static_cast<float>(times) * ct_next;
    };
    floats const state = {0.5f, -2};
    CHECK(check_vjp(body, body_vjp, state, 3, 0.25f));
    auto const wrong = [&](floats const& s, int times, float w, floats const& ct_next, int ct_y,
                           floats& ct_state, int& ct_x, float& ct_w) {
        body_vjp(s, times, w, ct_next, ct_y, ct_state, ct_x, ct_w);
        ct_w *= 1.1f;
    };
    CHECK(!check_vjp(body, wrong, state, 3, 0.25f));
    CHECK(check_vjp(body, wrong, state, 3, 0.25f, {.tolerance = 0.5}));
}

TEST_CASE("operands that are spans")
{
    auto const body = [](auto const& state, double x_t) {
        return scan_step{std::vector<double>{state[0] * x_t, state[1]}};
    };
    auto const vjp = [](auto const& state, double x_t, auto const& ct_next, auto& ct_state, double& ct_x) {
        ct_state[0] += ct_next[0] * x_t;
        ct_state[1] += ct_next[1];
        ct_x += ct_next[0] * state[0];
    };
    std::vector<double> const values = {1.5, 2};
    CHECK(check_vjp(body, vjp, std::span<double const>(values), 3.0));
}

} // namespace check_vjp_test
