// States and cotangents that a body or a VJP gives another shape: the text names the operand and the
// iteration.

#include <doctest/doctest.h>

#include <string>
#include <tuple>

#include <xloom/control_flow/scan_batched.hpp>
#include <xloom/control_flow/scan_ragged.hpp>
#include <xloom/gradients/loop_vjp.hpp>
#include <xloom/gradients/scan_vjp.hpp>

#include "support/xtensor_extras.hpp"

namespace errors_reshaped_states_test {

using namespace xloom;

namespace {

using vec = xt::xtensor<double, 1>;
using mat = xt::xtensor<double, 2>;

vec const three = {1, 2, 3}, x = {5, 6, 7, 8};

std::string text_of(std::string const& op, std::string const& name, std::size_t i, std::size_t iteration)
{
    return op + ": " + name + " must keep their shapes in every iteration, but " + name + "[" +
           std::to_string(i) + "] was [2] and the body made it [3] at iteration " +
           std::to_string(iteration) + ". Return a value of the original shape.";
}

/// A view of two numbers, as an outer operator passes its elements.
element_view<double, 1> view_of(vec& two) { return {two.data(), {2}}; }

/// Assigns three numbers to what must keep two, in the iteration in which `value` is 7.
constexpr auto reshape_at_7 = [](auto& target, double value) {
    if (value == 7)
        target = three;
};

} // namespace

TEST_CASE("scan_into and loop_into, of containers and of elements of an outer operator")
{
    auto const reshape_second = [](auto&, auto& second, double x_t) { reshape_at_7(second, x_t); };
    vec a = {1, 2}, b = {1, 2};
    auto view_a = view_of(a), view_b = view_of(b);
    CHECK_THROWS_WITH_AS(scan_into(reshape_second, std::tie(view_a, view_b), x),
        text_of("xloom::scan_into", "states", 1, 2).c_str(), body_error);
    CHECK_THROWS_WITH_AS(scan_into(reshape_second, std::tie(a, b), x),
        text_of("xloom::scan_into", "states", 1, 2).c_str(), body_error);
    auto const trip = [](std::int64_t t, auto&, auto& second) {
        reshape_at_7(second, static_cast<double>(t + 5));
        return true;
    };
    vec c = {1, 2};
    auto view_c = view_of(c);
    CHECK_THROWS_WITH_AS(loop_into(trip, std::tie(view_a, view_c), std::tuple(), {.max_trip_count = 5}),
        text_of("xloom::loop_into", "states", 1, 2).c_str(), body_error);
}

TEST_CASE("an inner operator names its own state, an outer one its own output")
{
    mat rows = {{1, 2}, {3, 4}};
    CHECK_THROWS_WITH_AS(
        scan_into([](auto const&,
                      auto& row) { scan_into([](auto& h, double x_t) { reshape_at_7(h, x_t); }, row, x); },
            std::tuple(), rows, rows),
        text_of("xloom::scan_into", "states", 0, 2).c_str(), body_error);
}

TEST_CASE("scan_forward_into and scan_vjp_into")
{
    auto const body = [](auto&, double, auto const&, auto&) {};
    vec h = {1, 2}, w = {1, 2};
    mat y = xt::zeros<double>({4, 2});
    scan_residuals<vec> residuals;
    CHECK_THROWS_WITH_AS(
        scan_forward_into([](auto& state, double x_t, auto const&, auto&) { reshape_at_7(state, x_t); }, h, x,
            w, y, residuals),
        text_of("xloom::scan_forward_into", "states", 0, 2).c_str(), body_error);
    h = {1, 2};
    scan_forward_into(body, h, x, w, y, residuals);
    vec ct_x = x;
    auto const check = [&](auto const& reshape, std::string const& name) {
        auto const body_vjp = [&](auto const&, double x_t, auto const&, auto const&, auto const&,
                                  auto& ct_state, double&,
                                  auto& ct_param) { reshape(x_t, ct_state, ct_param); };
        vec ct_h = {1, 2}, ct_w = {1, 2};
        CHECK_THROWS_WITH_AS(scan_vjp_into(body, body_vjp, x, w, residuals, cotangents().outputs(y),
                                 gradients().init(ct_h).scan_inputs(ct_x).params(ct_w)),
            text_of("xloom::scan_vjp_into", name, 0, 2).c_str(), body_error);
        vec h_items = {1, 2}, w_items = {1, 2};
        auto view_h = view_of(h_items), view_w = view_of(w_items);
        CHECK_THROWS_WITH_AS(scan_vjp_into(body, body_vjp, x, w, residuals, cotangents().outputs(y),
                                 gradients().init(view_h).scan_inputs(ct_x).params(view_w)),
            text_of("xloom::scan_vjp_into", name, 0, 2).c_str(), body_error);
    };
    check([](double x_t, auto& ct, auto&) { reshape_at_7(ct, x_t); }, "ct_states");
    check([](double x_t, auto&, auto& ct) { reshape_at_7(ct, x_t); }, "ct_params");

    auto const no_vjp = [](auto const&...) {};
    mat const inputs = xt::ones<double>({4, 2});
    mat ct_inputs = inputs;
    vec ct_h = {1, 2};
    scan_residuals<vec> of_rows(checkpoint::binomial(1));
    bool is_again = false;
    auto const of_row = [&](auto&, auto const&, auto& y_t) {
        y_t = xt::zeros<double>({2});
        if (is_again)
            y_t = three;
    };
    scan_forward_into(of_row, h, inputs, std::tuple(), y, of_rows);
    CHECK_THROWS_WITH_AS(
        scan_vjp_into(
            of_row, [](auto const&, auto const&, auto const&, auto const&, auto&, auto& ct) { ct = three; },
            inputs, std::tuple(), of_rows, cotangents().outputs(y),
            gradients().init(ct_h).scan_inputs(ct_inputs)),
        text_of("xloom::scan_vjp_into", "ct_scan_inputs", 0, 3).c_str(), body_error);
    scan_forward_into(of_row, h, inputs, std::tuple(), y, of_rows);
    is_again = true;
    CHECK_THROWS_WITH_AS(scan_vjp_into(of_row, no_vjp, inputs, std::tuple(), of_rows, cotangents().outputs(y),
                             gradients().init(ct_h).scan_inputs(ct_inputs)),
        text_of("xloom::scan_vjp_into", "scan_outputs", 0, 0).c_str(), body_error);
}

TEST_CASE("loop_vjp_into")
{
    auto const body = [](std::int64_t t, auto&, auto const&) { return t < 3; };
    vec v = {1, 2}, w = {1, 2};
    loop_residuals<vec> residuals;
    loop_forward_into(body, v, w, std::tuple(), residuals);
    auto const check = [&](auto const& reshape, std::string const& name) {
        auto const body_vjp = [&](std::int64_t t, auto const&, auto const&, auto const&, auto& ct_v,
                                  auto& ct_w) { reshape(static_cast<double>(t + 5), ct_v, ct_w); };
        vec ct_v = {1, 2}, ct_w = {1, 2};
        CHECK_THROWS_WITH_AS(loop_vjp_into(body, body_vjp, w, residuals, cotangents().states(v),
                                 gradients().init(ct_v).params(ct_w)),
            text_of("xloom::loop_vjp_into", name, 0, 2).c_str(), body_error);
        vec v_items = {1, 2}, w_items = {1, 2};
        auto view_v = view_of(v_items), view_w = view_of(w_items);
        CHECK_THROWS_WITH_AS(loop_vjp_into(body, body_vjp, w, residuals, cotangents().states(v),
                                 gradients().init(view_v).params(view_w)),
            text_of("xloom::loop_vjp_into", name, 0, 2).c_str(), body_error);
    };
    check([](double at, auto& ct, auto&) { reshape_at_7(ct, at); }, "ct_states");
    check([](double at, auto&, auto& ct) { reshape_at_7(ct, at); }, "ct_params");
}

TEST_CASE("expressions whose shapes do not broadcast, with the states' shapes before xtensor's text")
{
    auto const check = [](std::string const& op, std::string const& states, auto const& call) {
        std::string text;
        try {
            call();
        } catch (body_error const& error) {
            text = error.what();
        }
        std::string const expected =
            op + ": the shapes in a body's expressions must broadcast, but some do not, where " + states +
            ". Give them shapes that broadcast to the state's. xtensor reports: ";
        CHECK(text.substr(0, expected.size()) == expected);
        CHECK(text.find('\n') == std::string::npos);
    };
    vec const two = {1, 2}, inputs = {6, 7, 8};
    std::string const of_pair = "states[0] is [2]";
    auto const step = [](auto const& h, double x_t) {
        return scan_step{vec(x_t == 7 ? vec(h + three) : vec(h))};
    };
    auto const trip = [](std::int64_t t, bool, auto const& v) {
        return loop_step{true, vec(t == 1 ? vec(v + three) : vec(v))};
    };
    auto const no_vjp = [](auto const&...) {};
    check("xloom::scan", of_pair, [&] { static_cast<void>(scan(step, two, inputs)); });
    check("xloom::scan_vjp", of_pair, [&] { static_cast<void>(scan_vjp(step, no_vjp, two, inputs)); });
    check("xloom::loop", of_pair, [&] { static_cast<void>(loop(trip, two, {.max_trip_count = 3})); });
    check("xloom::loop_vjp", of_pair,
        [&] { static_cast<void>(loop_vjp(trip, no_vjp, two, std::tuple(), {.max_trip_count = 3})); });

    auto const add = [](auto& h, auto& n, double x_t) {
        if (x_t == 7)
            xt::noalias(h) += three;
        n += x_t;
    };
    vec h = two;
    double n = 0;
    check("xloom::scan_into", of_pair, [&] { scan_into(add, std::tie(h, n), inputs); });
    scan_residuals<std::tuple<vec, double>> residuals;
    check("xloom::scan_forward_into", of_pair,
        [&] { scan_forward_into(add, std::tie(h, n), inputs, std::tuple(), std::tuple(), residuals); });
    mat rows = {{1, 2}, {3, 4}};
    auto row = xt::view(rows, 1);
    check("xloom::scan_into", "states[1] is [2]", [&] {
        scan_into(
            [](double&, auto& state, double x_t) { reshape_at_7(state, x_t); }, std::tie(n, row), inputs);
    });
    auto const trip_into = [](std::int64_t t, auto& v) {
        reshape_at_7(v, static_cast<double>(t + 6));
        return true;
    };
    check(
        "xloom::loop_into", of_pair, [&] { loop_into(trip_into, row, std::tuple(), {.max_trip_count = 3}); });
    loop_residuals<vec> of_loop;
    check("xloom::loop_forward_into", of_pair, [&] {
        loop_forward_into(trip_into, row, std::tuple(), std::tuple(), of_loop, {.max_trip_count = 3});
    });

    mat const batch = {{6, 7, 8}, {6, 7, 8}};
    auto const add_to_row = [](auto& state, double x_t) {
        if (x_t == 7)
            xt::noalias(state) += three;
    };
    check("xloom::scan_batched", of_pair, [&] { static_cast<void>(scan_batched(step, rows, batch)); });
    check("xloom::scan_batched_into", of_pair, [&] { scan_batched_into(add_to_row, rows, batch); });
    xt::xtensor<int, 1> const splits = {0, 3, 3};
    check("xloom::scan_ragged", of_pair, [&] { static_cast<void>(scan_ragged(step, rows, inputs, splits)); });
    check("xloom::scan_ragged_into", of_pair, [&] { scan_ragged_into(add_to_row, rows, inputs, splits); });
}

TEST_CASE("without a state that is a tensor xtensor's error passes")
{
    vec const two = {1, 2};
    auto const body = [&](double& h, double x_t) { h += xt::sum(two * three)() + x_t; };
    double h = 0;
    CHECK_THROWS_AS(scan_into(body, h, x), xt::broadcast_error);
}

} // namespace errors_reshaped_states_test
