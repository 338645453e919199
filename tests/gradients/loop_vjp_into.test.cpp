// loop_forward_into and loop_vjp_into: gradients beside those of loop_vjp's tests, and errors.

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include <xloom/gradients/loop_vjp.hpp>

namespace loop_vjp_into_test {

using namespace xloom;

namespace {

using vec = xt::xtensor<double, 1>;

checkpoint const without_length[] = {checkpoint::all(), checkpoint::online(1), checkpoint::online(2),
    checkpoint::online(3), checkpoint::online(100)};

/// Newton's iteration for a square root, until it changes by less than 1e-12: y_t = v.
constexpr auto newton = [](std::int64_t, double& v, double a, double& y) {
    double const before = y = v;
    v = (v + a / v) / 2;
    return std::abs(v - before) > 1e-12;
};
constexpr auto newton_vjp = [](std::int64_t, double v, double a, double ct_next, double ct_y, double& ct_v,
                                double& ct_a) {
    ct_a += ct_next / (2 * v);
    ct_v += ct_next * (1 - a / (v * v)) / 2 + ct_y;
};

} // namespace

TEST_CASE("the derivative of a square root, with the same bits for every checkpoint and when used again")
{
    std::tuple<double, double> first{};
    for (checkpoint const& checkpoints : without_length) {
        loop_residuals<double> residuals(checkpoints);
        for (int call = 0; call < 3; ++call) {
            double v = 1, ct_v = 0, ct_a = 0;
            vec y = xt::zeros<double>({20});
            loop_status const status = loop_forward_into(newton, v, 2.0, y, residuals);
            CHECK(v == doctest::Approx(std::sqrt(2.0)).epsilon(1e-15));
            CHECK(status.trip_count > 4);
            loop_vjp_into(newton, newton_vjp, 2.0, residuals,
                cotangents().states(1.0).outputs(vec(xt::zeros<double>({20}))),
                gradients().init(ct_v).params(ct_a));
            CHECK(ct_a == doctest::Approx(1 / (2 * std::sqrt(2.0))).epsilon(1e-12));
            if (std::get<1>(first) == 0)
                first = {ct_v, ct_a};
            CHECK(std::tuple(ct_v, ct_a) == first);
        }
        // y[1] = (v + a / v) / 2 at v = 1, a = 2, added to what is there
        double ct_v = 1, ct_a = 10;
        vec ct_y = xt::zeros<double>({20});
        ct_y(1) = 1;
        loop_vjp_into(newton, newton_vjp, 2.0, residuals, cotangents().outputs(ct_y),
            gradients().init(ct_v).params(ct_a));
        CHECK(ct_v == 0.5);
        CHECK(ct_a == 10.5);
    }
}

TEST_CASE("carried values that change their shapes")
{
    auto const body = [](std::int64_t, vec& v, double w) {
        vec longer = vec::from_shape({v.size() + 1});
        std::copy(v.begin(), v.end(), longer.begin());
        longer(v.size()) = w * v(v.size() - 1);
        v = longer;
        return true;
    };
    auto const body_vjp = [](std::int64_t, vec const& v, double w, vec const& ct_next, vec& ct_v,
                              double& ct_w) {
        for (std::size_t i = 0; i < v.size(); ++i)
            ct_v(i) += ct_next(i);
        ct_v(v.size() - 1) += w * ct_next(v.size());
        ct_w += v(v.size() - 1) * ct_next(v.size());
    };
    for (checkpoint const& checkpoints :
        {checkpoint::all(), checkpoint::sqrt(), checkpoint::binomial(2), checkpoint::online(2)}) {
        loop_residuals<vec> residuals(checkpoints);
        vec v = {3}, ct_v = {0};
        double ct_w = 0;
        loop_forward_into(body, v, 2.0, std::tuple(), residuals, {.max_trip_count = 4});
        CHECK(v == vec{3, 6, 12, 24, 48});
        loop_vjp_into(body, body_vjp, 2.0, residuals, cotangents().states(vec{1, 1, 1, 1, 1}),
            gradients().init(ct_v).params(ct_w));
        CHECK(ct_v == vec{31});
        CHECK(ct_w == 3.0 * (1 + 2 * 2 + 3 * 4 + 4 * 8));
    }
}

TEST_CASE("gradients of lists and optionals are added to, and get what they do not have")
{
    using list = std::vector<vec>;
    auto const body = [](std::int64_t, list& values, std::optional<double>& last) {
        last = 2 * last.value_or(1);
        for (vec& value : values)
            value *= 3;
        return true;
    };
    auto const body_vjp = [](std::int64_t, list const& values, std::optional<double> const& last,
                              list const& ct_next_values, std::optional<double> const& ct_next_last,
                              list& ct_values, std::optional<double>& ct_last) {
        REQUIRE(ct_values.size() == values.size());
        for (std::size_t i = 0; i < values.size(); ++i)
            ct_values[i] += 3 * ct_next_values[i];
        if (last)
            *ct_last += 2 * *ct_next_last;
    };
    loop_residuals<std::tuple<list, std::optional<double>>> residuals(checkpoint::online(2));
    list values = {{1, 2}, {3}};
    std::optional<double> last = 5;
    loop_forward_into(
        body, std::tie(values, last), std::tuple(), std::tuple(), residuals, {.max_trip_count = 3});
    CHECK(last == 40);
    list ct_values = {{10, 20}};
    std::optional<double> ct_last;
    for (int call = 0; call < 2; ++call)
        loop_vjp_into(body, body_vjp, std::tuple(), residuals,
            cotangents().states(list{{1, 1}, {2}}, std::optional(1.0)), gradients().init(ct_values, ct_last));
    CHECK(ct_values == list{{10 + 54, 20 + 54}, {108}});
    CHECK(ct_last == 16);
}

TEST_CASE("a gradient in a list or an optional has the shape of its value")
{
    using list = std::vector<vec>;
    auto const body = [](std::int64_t, list&, std::optional<vec>&) { return true; };
    auto const body_vjp = [](std::int64_t, list const&, std::optional<vec> const&, list const& ct_next_values,
                              std::optional<vec> const& ct_next_last, list& ct_values,
                              std::optional<vec>& ct_last) {
        ct_values = ct_next_values;
        ct_last = ct_next_last;
    };
    list const values = {{1, 2}, {1, 2, 3}};
    std::optional<vec> const last = vec{1, 2, 3};
    loop_residuals<std::tuple<list, std::optional<vec>>> residuals;
    auto const forward = [&](std::int64_t trips) {
        auto states = std::tuple(values, last);
        loop_forward_into(body, states, std::tuple(), std::tuple(), residuals, {.max_trip_count = trips});
    };
    auto const backward = [&](list& ct_values, std::optional<vec>& ct_last, list const& ct_states) {
        loop_vjp_into(body, body_vjp, std::tuple(), residuals,
            cotangents().states(ct_states, std::optional(vec{1, 1, 1})),
            gradients().init(ct_values, ct_last));
    };
    list const ones = {{1, 1}, {1, 1, 1}};
    list const zeros = {{0, 0}, {0, 0, 0}};
    list ct_values = {{0, 0}, {0, 0}};
    std::optional<vec> ct_last = vec{0, 0};
    forward(1);
    CHECK_THROWS_WITH_AS(backward(ct_values, ct_last, ones),
        "xloom::loop_vjp_into: a cotangent must have the shape of its value, but ct_init[0] holds [2] where "
        "init[0] holds [3]. Give it that shape.",
        shape_error);
    CHECK(ct_values == list{{0, 0}, {0, 0}});
    ct_values = zeros;
    CHECK_THROWS_WITH_AS(backward(ct_values, ct_last, ones),
        "xloom::loop_vjp_into: a cotangent must have the shape of its value, but ct_init[1] holds [2] where "
        "init[1] holds [3]. Give it that shape.",
        shape_error);
    CHECK(ct_values == zeros);
    ct_last = vec{0, 0, 0};
    CHECK_THROWS_WITH_AS(backward(ct_values, ct_last, {{1, 1, 1}, {1, 1, 1}}),
        "xloom::loop_vjp_into: a cotangent must have the shape of its value, but ct_states[0] holds [3] "
        "where "
        "states[0] holds [2]. Give it that shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(backward(ct_values, ct_last, {{1, 1}}),
        "xloom::loop_vjp_into: a cotangent must have the shape of its value, but ct_states[0] holds [1] "
        "where "
        "states[0] holds [2]. Give it that shape.",
        shape_error);
    CHECK(ct_values == zeros);
    backward(ct_values, ct_last, ones);
    CHECK(ct_values == ones);
    CHECK(ct_last == vec{1, 1, 1});

    forward(0); // the cotangents of the final values are those of the initial ones
    CHECK_THROWS_WITH_AS(backward(ct_values, ct_last, {{1, 1, 1}, {1, 1, 1}}),
        "xloom::loop_vjp_into: a cotangent must have the shape of its value, but ct_states[0] holds [3] "
        "where "
        "states[0] holds [2]. Give it that shape.",
        shape_error);
    ct_last = vec{0, 0};
    CHECK_THROWS_WITH_AS(backward(ct_values, ct_last, ones),
        "xloom::loop_vjp_into: a cotangent must have the shape of its value, but ct_init[1] holds [2] where "
        "init[1] holds [3]. Give it that shape.",
        shape_error);
    CHECK(ct_values == ones);
}

TEST_CASE("an optional or a list that is empty has no cotangents")
{
    using list = std::vector<vec>;
    auto const body = [](std::int64_t, list&, std::optional<vec>&) { return true; };
    std::optional<vec> made;
    auto const body_vjp = [&](std::int64_t, list const&, std::optional<vec> const&,
                              list const& ct_next_values, std::optional<vec> const& ct_next_last,
                              list& ct_values, std::optional<vec>& ct_last) {
        CHECK(ct_next_values.empty());
        CHECK(!ct_next_last);
        CHECK(ct_values.empty());
        ct_last = made;
    };
    loop_residuals<std::tuple<list, std::optional<vec>>> residuals;
    auto states = std::tuple(list(), std::optional<vec>());
    loop_forward_into(body, states, std::tuple(), std::tuple(), residuals, {.max_trip_count = 2});
    list ct_values = {{0, 0}};
    std::optional<vec> ct_last = vec{0, 0};
    auto const backward = [&](list const& of_values, std::optional<vec> const& of_last) {
        loop_vjp_into(body, body_vjp, std::tuple(), residuals, cotangents().states(of_values, of_last),
            gradients().init(ct_values, ct_last));
    };
    CHECK_THROWS_WITH_AS(backward(list{{1, 1, 1}}, std::optional<vec>()),
        "xloom::loop_vjp_into: a cotangent must have the shape of its value, but ct_states[0] holds [1] "
        "where "
        "states[0] holds [0]. Give it that shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(backward(list(), std::optional(vec{1, 1, 1})),
        "xloom::loop_vjp_into: a cotangent must have the shape of its value, but ct_states[1] holds [1] "
        "where "
        "states[1] holds [0]. Give it that shape.",
        shape_error);
    backward(list(), std::optional<vec>());
    made = vec{1, 1, 1};
    CHECK_THROWS_WITH_AS(backward(list(), std::optional<vec>()),
        "xloom::loop_vjp_into: ct_states must keep their shapes in every iteration, but ct_states[1] was [0] "
        "and the body made it [1] at iteration 1. Return a value of the original shape.",
        body_error);
    CHECK(ct_values == list{{0, 0}});
    CHECK(ct_last == vec{0, 0});
}

TEST_CASE("carried values of type bool have cotangents of type bool")
{
    using flags = std::vector<bool>;
    auto const body = [](std::int64_t, double& v, bool& is_even, std::optional<flags>& seen) {
        v *= is_even ? 2 : 3;
        is_even = !is_even;
        seen->push_back(is_even);
        return true;
    };
    auto const body_vjp = [](std::int64_t, double, bool is_even, std::optional<flags> const&, double ct_next,
                              bool ct_next_even, std::optional<flags> const& ct_next_seen, double& ct_v,
                              bool& ct_even, std::optional<flags>& ct_seen) {
        ct_v += ct_next * (is_even ? 2 : 3);
        ct_even = ct_next_even;
        for (std::size_t i = 0; i < ct_seen->size(); ++i)
            (*ct_seen)[i] = (*ct_next_seen)[i];
    };
    for (checkpoint const& checkpoints : {checkpoint::all(), checkpoint::online(2)}) {
        loop_residuals<std::tuple<double, bool, std::optional<flags>>> residuals(checkpoints);
        double v = 1, ct_v = 0;
        bool is_even = true, ct_even = false;
        std::optional<flags> seen = flags{true, true, true}, ct_seen = flags{true, false, false};
        loop_forward_into(
            body, std::tie(v, is_even, seen), std::tuple(), std::tuple(), residuals, {.max_trip_count = 3});
        CHECK(v == 12);
        CHECK(seen == flags{true, true, true, false, true, false});
        loop_vjp_into(body, body_vjp, std::tuple(), residuals,
            cotangents().states(1.0, true, std::optional(flags{false, true, false, true, true, true})),
            gradients().init(ct_v, ct_even, ct_seen));
        CHECK(ct_v == 12);
        CHECK(ct_even);
        CHECK(ct_seen == flags{true, true, false});
    }
}

TEST_CASE("without cotangents of the final values they are zeros, and gradients of the initial ones optional")
{
    auto const body = [](std::int64_t, vec& v, double w, auto& y) {
        xt::noalias(y) = v;
        v *= w;
        return true;
    };
    auto const body_vjp = [](std::int64_t, vec const& v, double w, vec const& ct_next, auto const& ct_y,
                              vec& ct_v, double& ct_w) {
        ct_v += w * ct_next + ct_y;
        ct_w += xt::sum(v * ct_next)();
    };
    loop_residuals<vec> residuals;
    vec v = {1, 2};
    xt::xtensor<double, 2> y = xt::zeros<double>({3, 2});
    loop_forward_into(body, v, 2.0, y, residuals, {.max_trip_count = 3});
    CHECK(v == vec{8, 16});
    double ct_w = 0;
    loop_vjp_into(body, body_vjp, 2.0, residuals,
        cotangents().outputs(xt::xtensor<double, 2>{{0, 0}, {1, 0}, {0, 1}}), gradients().params(ct_w));
    CHECK(ct_w == 1 + 2 * 2 * 2); // of w * v[0] and w^2 * v[1]
}

TEST_CASE("errors, before anything is written")
{
    loop_residuals<double> residuals;
    double v = 1, ct_v = 1, ct_a = 0;
    vec y = xt::zeros<double>({20});
    auto const backward = [&](vec const& ct_y) {
        loop_vjp_into(newton, newton_vjp, 2.0, residuals, cotangents().states(1.0).outputs(ct_y),
            gradients().init(ct_v).params(ct_a));
    };
    CHECK_THROWS_WITH_AS(backward(y),
        "xloom::loop_vjp_into: the residuals must be those of a forward pass, but none has finished "
        "with them. Call xloom::loop_forward_into first.",
        option_error);
    vec short_y = xt::zeros<double>({2});
    CHECK_THROWS_WITH_AS(loop_forward_into(newton, v, 2.0, short_y, residuals),
        "xloom::loop_forward_into: a scan output must have room for every iteration, but scan_outputs[0] has "
        "room for 2 and the loop continues at iteration 2. Give it a longer leading axis.",
        shape_error);
    CHECK_THROWS_AS(backward(y), option_error);
    v = 1;
    loop_forward_into(newton, v, 2.0, y, residuals);
    CHECK_THROWS_WITH_AS(backward(short_y),
        "xloom::loop_vjp_into: a cotangent must have the shape of its value, but ct_outputs[0] is [2] "
        "and "
        "scan_outputs[0] is [20]. Give it that shape.",
        shape_error);
    CHECK(ct_v == 1);
    loop_residuals<double> sqrt(checkpoint::sqrt());
    CHECK_THROWS_WITH_AS(loop_forward_into(newton, v, 2.0, y, sqrt),
        "xloom::loop_forward_into: checkpoint::sqrt and checkpoint::binomial need the number of iterations "
        "in "
        "advance, but options.max_trip_count is empty. Give it, or choose checkpoint::online or "
        "checkpoint::all.",
        option_error);
}

TEST_CASE("residuals of another body are refused")
{
    auto const without = [](std::int64_t, double& h, double w) {
        h *= w;
        return true;
    };
    auto const with = [](std::int64_t, double& h, double w, double& y) {
        y = h *= w;
        return true;
    };
    auto const with_vjp = [](std::int64_t, double, double, double, double, double&, double&) {
        FAIL_CHECK("the VJP ran");
    };
    xt::xtensor<double, 1> const ct_y = {1, 1};
    double h = 1, ct_w = 0;
    xloom::loop_residuals<double> residuals;
    xloom::loop_forward_into(without, h, 0.5, std::tuple(), residuals, {.max_trip_count = 2});
    CHECK_THROWS_WITH_AS(xloom::loop_vjp_into(with, with_vjp, 0.5, residuals,
                             xloom::cotangents().outputs(ct_y), xloom::gradients().params(ct_w)),
        "xloom::loop_vjp_into: the residuals must be those of a forward pass of the same body, but they have "
        "0 "
        "scan_outputs and there are 1 ct_outputs. Pass the residuals of this body.",
        xloom::option_error);
}

TEST_CASE("a carried value that is a span")
{
    auto const body = [](std::int64_t, auto& h, double w) {
        h[0] *= w;
        return true;
    };
    auto const body_vjp = [](std::int64_t, auto const& h, double w, auto const& ct_next, auto& ct_h,
                              double& ct_w) {
        ct_h[0] += w * ct_next[0];
        ct_w += h[0] * ct_next[0];
    };
    std::vector<double> h = {3};
    xloom::loop_residuals<std::vector<double>> residuals;
    std::span<double> state(h);
    xloom::loop_forward_into(body, state, 2.0, std::tuple(), residuals, {.max_trip_count = 3});
    double ct_w = 0;
    std::vector<double> const ct_h = {1};
    xloom::loop_vjp_into(
        body, body_vjp, 2.0, residuals, xloom::cotangents().states(ct_h), xloom::gradients().params(ct_w));
    CHECK(h[0] == 24);
    CHECK(ct_w == 3 * 3 * 2 * 2); // of 3 w^3
}

} // namespace loop_vjp_into_test
