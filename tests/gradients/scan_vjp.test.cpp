// scan_vjp: gradients beside forward mode through plain loops, the operands that its pullback keeps, and its
// errors.

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <span>
#include <vector>

#include <xloom/gradients/scan_vjp.hpp>

#include "support/recurrence_gradients.hpp"
#include "support/spaced.hpp"
#include "support/xtensor_extras.hpp"

namespace scan_vjp_test {

using namespace xloom;
using recurrence::shaped;

namespace {

using vec = xt::xtensor<double, 1>;
using mat = xt::xtensor<double, 2>;

constexpr auto square_sum = [](double h, double x_t, double w) { return scan_step{h + w * x_t * x_t, h}; };
constexpr auto square_sum_vjp = [](double, double x_t, double w, double ct_next, double ct_y, double& ct_h,
                                    double& ct_x, double& ct_w) {
    ct_h += ct_next + ct_y;
    ct_x += 2 * w * x_t * ct_next;
    ct_w += x_t * x_t * ct_next;
};

} // namespace

TEST_CASE("gradients of a recurrence with every kind of operand, for every checkpoint")
{
    for (std::size_t const T : {0u, 1u, 2u, 9u})
        for (checkpoint const& checkpoints :
            {checkpoint::all(), checkpoint::sqrt(), checkpoint::binomial(2), checkpoint::online(3)}) {
            recurrence::sizes const n{T, 3, 2};
            std::mt19937 random(5);
            auto const in = recurrence::random_operands(n, random);
            auto const ct = recurrence::random_cotangents(n, random);
            auto const expected = recurrence::gradient(n, in, ct);
            vec const h = shaped<vec>(in.h, {3}), u = shaped<vec>(in.u, {T});
            mat const x = shaped<mat>(in.x, {T, 2}), W = shaped<mat>(in.W, {3, 3}),
                      V = shaped<mat>(in.V, {3, 2});
            auto result = scan_vjp(recurrence::body, recurrence::body_vjp, std::tuple(h, in.c[0]),
                std::tie(x, u), std::tie(W, V, in.s[0]), checkpoints);
            auto const plain =
                scan([&](auto const&... args) { return recurrence::body(args..., W, V, in.s[0]); },
                    std::tuple(h, in.c[0]), std::tie(x, u));
            CHECK(result.final_state == plain.final_state);
            CHECK(result.scan_outputs == plain.scan_outputs);
            for (int call = 0; call < 2; ++call)
                recurrence::check_pullback(result, n, ct, expected);
        }
}

TEST_CASE("the pullback keeps temporaries, copies of scalars, views and lazy expressions")
{
    auto make = [] {
        mat const table = {{1, 2, 3}, {4, 5, 6}};
        double const w = 0.5;
        return scan_vjp(square_sum, square_sum_vjp, 0.0, vec(xt::view(table, 1)), w).pullback;
    };
    auto pullback = make();
    auto const [ct_h, ct_x, ct_w] = pullback(2.0, vec{1, 0, 0});
    CHECK(ct_h == 3);
    CHECK(ct_x == vec{8, 10, 12});
    CHECK(ct_w == 2 * (16 + 25 + 36));

    mat const table = {{1, 2, 3}, {4, 5, 6}};
    auto of_view = scan_vjp(square_sum, square_sum_vjp, 0.0, xt::view(table, 0), 0.5).pullback;
    CHECK(of_view(1.0, vec{0, 0, 0}).scan_inputs == vec{1, 2, 3});
    vec const x = {1, 2};
    auto of_sum = scan_vjp(square_sum, square_sum_vjp, 0.0, x + x, 0.5).pullback;
    CHECK(of_sum(1.0, vec{0, 0}).scan_inputs == vec{2, 4});
    auto of_tuple = scan_vjp(square_sum, square_sum_vjp, 0.0, std::tuple(vec{3, 4}), 0.5).pullback;
    CHECK(std::get<0>(of_tuple(1.0, vec{0, 0}).scan_inputs) == vec{3, 4});
}

TEST_CASE("axes and directions")
{
    mat const x = {{1, 2, 3}, {4, 5, 6}}; // time is axis 1, backwards
    auto const body = [](vec const& h, auto const& x_t) { return scan_step{vec(2 * h + x_t), h}; };
    auto const body_vjp = [](vec const&, auto const&, vec const& ct_next, auto const& ct_y, vec& ct_h,
                              auto& ct_x) {
        ct_x += ct_next;
        ct_h += 2 * ct_next + ct_y;
    };
    auto result = scan_vjp(body, body_vjp, vec{0, 0}, x, std::tuple(),
        {.scan_input_axes = {1}, .scan_output_axes = {1}, .scan_input_directions = {direction::reverse}},
        checkpoint::sqrt());
    CHECK(result.final_state == vec{4 * 3 + 2 * 2 + 1, 4 * 6 + 2 * 5 + 4});
    auto const [ct_h, ct_x, ct_params] = result.pullback(vec{1, 10}, mat{{0, 0, 0}, {0, 0, 0}});
    CHECK(ct_x == mat{{1, 2, 4}, {10, 20, 40}});
    CHECK(ct_h == vec{8, 80});
}

TEST_CASE("no iteration, with an output of a dynamic rank along another axis than the first")
{
    auto const body = [](double h, double) { return scan_step{h, xt::xarray<double>{1, 2}}; };
    auto const body_vjp = [](double, double, double, auto const&, double&, double&) {
        FAIL_CHECK("the VJP ran");
    };
    auto result = scan_vjp(
        body, body_vjp, 1.0, vec::from_shape({0}), std::tuple(), scan_options{.scan_output_axes = {1}});
    auto const ct = result.pullback(3.0, xt::xarray<double>::from_shape({0}));
    CHECK(ct.init == 3);
    CHECK(ct.scan_inputs.size() == 0);
    CHECK_THROWS_AS(
        static_cast<void>(result.pullback(3.0, xt::xarray<double>::from_shape({2, 0}))), shape_error);
}

TEST_CASE("errors of the forward pass are those of scan")
{
    vec const x = {1, 2}, y = {1, 2, 3};
    auto const two = [](double h, double, double) { return scan_step{h}; };
    auto const two_vjp = [](double, double, double, double, double&, double&, double&) {};
    CHECK_THROWS_WITH_AS(static_cast<void>(scan_vjp(two, two_vjp, 0.0, std::tie(x, y))),
        "xloom::scan_vjp: all scan inputs must have the same sequence length, but scan_inputs[0] has 2 (axis "
        "0 "
        "of [2]) and scan_inputs[1] has 3 (axis 0 of [3]). Cut them to one length, or name other axes.",
        shape_error);
}

TEST_CASE("errors of the pullback: cotangents of other shapes")
{
    vec const x = {1, 2, 3};
    auto const body = [](vec const& h, double x_t, vec const& w) { return scan_step{vec(h + x_t * w), h}; };
    vec const w = {1, 2};
    auto result = scan_vjp(
        body, [](vec const&, double, vec const&, vec const&, auto const&, vec&, double&, vec&) {}, vec{0, 0},
        x, w);
    CHECK_THROWS_WITH_AS(static_cast<void>(result.pullback(vec{0, 0, 0}, mat::from_shape({3, 2}))),
        "xloom::scan_vjp: a cotangent must have the shape of its value, but ct_states[0] is [3] and "
        "states[0] is "
        "[2]. Give it that shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(static_cast<void>(result.pullback(vec{0, 0}, mat::from_shape({2, 3}))),
        "xloom::scan_vjp: a cotangent must have the shape of its value, but ct_outputs[0] is [2, 3] and "
        "scan_outputs[0] is [3, 2]. Give it that shape.",
        shape_error);
}

TEST_CASE("a state's cotangent of another type has its shape checked before it is converted")
{
    using pair = xt::xtensor_fixed<double, xt::xshape<2>>;
    vec const x = {1, 2};
    auto const body = [](auto const& h, double x_t) { return scan_step{2 * h + x_t}; };
    auto const body_vjp = [](auto const&, double, auto const& ct_next, auto& ct_h, double&) {
        ct_h += 2 * ct_next;
    };
    auto fixed = scan_vjp(body, body_vjp, pair{1, 2}, x);
    CHECK_THROWS_WITH_AS(static_cast<void>(fixed.pullback(vec{1, 2, 3}, std::tuple())),
        "xloom::scan_vjp: a cotangent must have the shape of its value, but ct_states[0] is [3] and "
        "states[0] is [2]. Give it that shape.",
        shape_error);
    CHECK_THROWS_AS(static_cast<void>(fixed.pullback(vec{1}, std::tuple())), shape_error);
    CHECK_THROWS_AS(static_cast<void>(fixed.pullback(2 * vec{1}, std::tuple())), shape_error);
    CHECK(fixed.pullback(vec{1, 2}, std::tuple()).init == pair{4, 8});
    CHECK(fixed.pullback(2 * vec{1, 2}, std::tuple()).init == pair{8, 16});

    auto of_rank_1 = scan_vjp(body, body_vjp, vec{1, 2}, x);
    CHECK_THROWS_WITH_AS(static_cast<void>(of_rank_1.pullback(xt::xarray<double>{{1, 2}}, std::tuple())),
        "xloom::scan_vjp: a cotangent must have the shape of its value, but ct_states[0] is [1, 2] and "
        "states[0] is [2]. Give it that shape.",
        shape_error);
    CHECK(of_rank_1.pullback(xt::xarray<double>{1, 2}, std::tuple()).init == vec{4, 8});
}

TEST_CASE("a body that is not deterministic cannot change the shape of a state")
{
    vec const x = {1, 2, 3, 4};
    int runs = 0;
    auto const body = [&](vec const& h, double) { return scan_step{++runs > 4 ? vec{1, 2, 3} : h}; };
    auto const body_vjp = [](vec const&, double, vec const&, vec&, double&) {};
    auto result = scan_vjp(body, body_vjp, vec{0, 0}, x, std::tuple(), checkpoint::binomial(1));
    CHECK_THROWS_WITH_AS(static_cast<void>(result.pullback(vec{0, 0}, std::tuple())),
        "xloom::scan_vjp: a body that runs an iteration again must do the same, but states[0] was [2] and "
        "the "
        "body made it [3]. Return a value of the original shape.",
        body_error);
}

TEST_CASE("a repeated iteration cannot change the shape of a state of a fixed shape")
{
    using pair = xt::xtensor_fixed<double, xt::xshape<2>>;
    vec const x = {1, 2, 3, 4};
    int runs = 0;
    auto const body = [&](pair const& h, double) {
        return scan_step{++runs > 4 ? xt::xarray<double>{1, 2, 3} : xt::xarray<double>(h)};
    };
    auto const body_vjp = [](pair const&, double, pair const&, pair&, double&) {};
    auto result = scan_vjp(body, body_vjp, pair{0, 0}, x, std::tuple(), checkpoint::binomial(1));
    CHECK_THROWS_WITH_AS(static_cast<void>(result.pullback(vec{0, 0}, std::tuple())),
        "xloom::scan_vjp: a body that runs an iteration again must do the same, but states[0] was [2] and "
        "the body made it [3]. Return a value of the original shape.",
        body_error);
}

TEST_CASE("after a body failed in an iteration that is run again, the residuals can be used again")
{
    vec const x = {1, 2, 3, 4};
    bool fails = false;
    auto const body = [&](vec const& h, double x_t) { return scan_step{fails ? vec{1} : vec(2 * h + x_t)}; };
    auto const body_vjp = [](vec const&, double, vec const& ct_next, vec& ct_h, double& ct_x) {
        ct_h += 2 * ct_next;
        ct_x += ct_next(0) + ct_next(1);
    };
    auto result = scan_vjp(body, body_vjp, vec{0, 0}, x, std::tuple(), checkpoint::binomial(1));
    fails = true;
    CHECK_THROWS_AS(static_cast<void>(result.pullback(vec{1, 1}, std::tuple())), body_error);
    fails = false;
    auto const ct = result.pullback(vec{1, 1}, std::tuple());
    CHECK(ct.init == vec{16, 16});
    CHECK(ct.scan_inputs == vec{16, 8, 4, 2});

    // In place, a body may have moved its state away.
    auto const in_place = [&](vec& h, double x_t) {
        vec taken = std::move(h);
        if (fails)
            throw std::runtime_error("body");
        h = 2 * taken + x_t;
    };
    scan_residuals<vec> residuals(checkpoint::binomial(1));
    vec h = {0, 0}, ct_h = {0, 0}, ct_x = {0, 0, 0, 0};
    scan_forward_into(in_place, h, x, std::tuple(), std::tuple(), residuals);
    auto const backward = [&] {
        scan_vjp_into(in_place, body_vjp, x, std::tuple(), residuals, cotangents().states(vec{1, 1}),
            gradients().init(ct_h).scan_inputs(ct_x));
    };
    fails = true;
    CHECK_THROWS_WITH_AS(backward(), "body", std::runtime_error);
    fails = false;
    ct_h.fill(0);
    ct_x.fill(0);
    backward();
    CHECK(ct_h == vec{16, 16});
    CHECK(ct_x == vec{16, 8, 4, 2});
}

TEST_CASE("a scan input and a parameter that are spans")
{
    std::vector<double> const x = {1, 2}, w = {0.5};
    auto const body = [](double h, double x_t, auto const& by) { return xloom::scan_step{by[0] * h + x_t}; };
    auto const body_vjp = [](double h, double, auto const& by, double ct_next, double& ct_h, double& ct_x,
                              auto& ct_by) {
        ct_h += by[0] * ct_next;
        ct_x += ct_next;
        ct_by[0] += h * ct_next;
    };
    auto scanned = xloom::scan_vjp(
        body, body_vjp, 3.0, std::span<double const>(x), std::tuple(std::span<double const>(w)));
    CHECK(scanned.final_state == 3.25);
    auto const [ct_h, ct_x, ct_w] = scanned.pullback(1.0, std::tuple());
    CHECK(ct_h == 0.25);
    CHECK(ct_x == std::vector<double>{0.5, 1});
    CHECK(std::get<0>(ct_w) == std::vector<double>{3 * 0.5 + 2.5});
}

TEST_CASE("tensors whose items are no numbers")
{
    struct pair {
        double a = 0, b = 0;
        pair operator+(pair const& other) const { return {a + other.a, b + other.b}; }
        bool operator==(pair const&) const = default;
    };
    using pairs = xt::xtensor<pair, 1>;
    auto const body = [](pairs const& h, double x_t) {
        return xloom::scan_step{pairs{{h(0).a * x_t, h(0).b + x_t}}};
    };
    auto const body_vjp = [](pairs const& h, double x_t, pairs const& ct_next, pairs& ct_h, double& ct_x) {
        ct_h(0) = ct_h(0) + pair{x_t * ct_next(0).a, ct_next(0).b};
        ct_x += h(0).a * ct_next(0).a + ct_next(0).b;
    };
    pairs const init = {{3, 4}}, ct = {{1, 10}};
    xt::xtensor<double, 1> const x = {2, 5};
    auto scanned = xloom::scan_vjp(body, body_vjp, init, x);
    CHECK(scanned.final_state(0) == pair{30, 11});
    auto const by = scanned.pullback(ct, std::tuple());
    CHECK(by.init(0) == pair{10, 10});
    CHECK(by.scan_inputs == xt::xtensor<double, 1>{3 * 5 + 10, 6 + 10});
}

TEST_CASE("a state in a container whose items are not contiguous")
{
    using items = user::spaced<double, 1>;
    items init({2}), ct({2});
    init[0] = init[1] = ct[0] = ct[1] = 1;
    auto const body = [](items const& h, double x_t) {
        items next({2});
        for (std::size_t i = 0; i < 2; ++i)
            next[i] = 3 * h[i] + x_t;
        return xloom::scan_step{next};
    };
    auto const body_vjp = [](items const&, double, items const& ct_next, items& ct_h, double& ct_x) {
        for (std::size_t i = 0; i < 2; ++i) {
            ct_h[i] += 3 * ct_next[i];
            ct_x += ct_next[i];
        }
    };
    auto scanned = xloom::scan_vjp(body, body_vjp, init, xt::xtensor<double, 1>{1, 1});
    auto const by = scanned.pullback(ct, std::tuple());
    CHECK(by.init.items() == std::vector<double>{9, 9});
    CHECK(by.scan_inputs == xt::xtensor<double, 1>{6, 2});
}

} // namespace scan_vjp_test
