// loop_vjp: gradients of loops whose trip count the data decides, of values that change their shapes, and
// errors.

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include <xloom/gradients/loop_vjp.hpp>

namespace loop_vjp_test {

using namespace xloom;

namespace {

using vec = xt::xtensor<double, 1>;

checkpoint const without_length[] = {checkpoint::all(), checkpoint::online(1), checkpoint::online(2),
    checkpoint::online(3), checkpoint::online(100)};

/// Newton's iteration for a square root, until it changes by less than 1e-12: y_t = v.
constexpr auto newton = [](std::int64_t, bool, double v, double a) {
    double const next = (v + a / v) / 2;
    return loop_step{std::abs(next - v) > 1e-12, next, v};
};
constexpr auto newton_vjp = [](std::int64_t, double v, double a, double ct_next, double ct_y, double& ct_v,
                                double& ct_a) {
    ct_a += ct_next / (2 * v);
    ct_v += ct_next * (1 - a / (v * v)) / 2 + ct_y;
};

} // namespace

TEST_CASE("a loop that ends by itself: the derivative of a square root")
{
    for (checkpoint const& checkpoints : without_length) {
        auto result = loop_vjp(newton, newton_vjp, 1.0, 2.0, checkpoints);
        CHECK(result.final_state == doctest::Approx(std::sqrt(2.0)).epsilon(1e-15));
        CHECK(result.trip_count > 4);
        CHECK(result.scan_outputs.size() == static_cast<std::size_t>(result.trip_count));
        vec const no_outputs = xt::zeros<double>(result.scan_outputs.shape());
        auto const [ct_v, ct_a] = result.pullback(1.0, no_outputs);
        CHECK(ct_a == doctest::Approx(1 / (2 * std::sqrt(2.0))).epsilon(1e-12));
        CHECK(ct_v ==
              doctest::Approx(0).epsilon(1e-12)); // the root does not depend on where the iteration began
        // y[1] = (v + a / v) / 2 at v = 1, a = 2
        vec of_second = no_outputs;
        of_second(1) = 1;
        auto const second = result.pullback(0.0, of_second);
        CHECK(second.init == -0.5);
        CHECK(second.params == 0.5);
    }
}

TEST_CASE("every checkpoint gives the same bits, also with a trip count that is only a bound")
{
    auto const gradient = [](checkpoint const& checkpoints, loop_options const& options) {
        auto result = loop_vjp(newton, newton_vjp, 0.01, 3.0, options, checkpoints);
        vec const ct = xt::ones<double>(result.scan_outputs.shape());
        auto const [ct_v, ct_a] = result.pullback(0.7, ct);
        return std::tuple(ct_v, ct_a, result.trip_count);
    };
    auto const expected = gradient(checkpoint::all(), {});
    CHECK(std::get<2>(expected) > 9);
    for (checkpoint const& checkpoints : without_length)
        CHECK(gradient(checkpoints, {}) == expected);
    for (checkpoint const& checkpoints :
        {checkpoint::all(), checkpoint::sqrt(), checkpoint::binomial(1), checkpoint::binomial(3)})
        CHECK(gradient(checkpoints, {.max_trip_count = 40}) == expected);
    // The bound ends the loop.
    auto const shorter = gradient(checkpoint::all(), {.max_trip_count = 5});
    CHECK(std::get<2>(shorter) == 5);
    CHECK(gradient(checkpoint::sqrt(), {.max_trip_count = 5}) == shorter);
}

TEST_CASE("no iteration: the cotangents are those that were given")
{
    for (checkpoint const& checkpoints : {checkpoint::all(), checkpoint::sqrt(), checkpoint::online(2)}) {
        auto result = loop_vjp(newton, newton_vjp, 1.5, 2.0, {.max_trip_count = 0}, checkpoints);
        CHECK(result.trip_count == 0);
        auto const [ct_v, ct_a] = result.pullback(4.0, vec(result.scan_outputs));
        CHECK(ct_v == 4);
        CHECK(ct_a == 0);
    }
}

TEST_CASE("carried values that change their shapes: a list of running products that grows")
{
    // v = [v, w * last of v]
    auto const body = [](std::int64_t, bool, vec const& v, double w) {
        vec longer = vec::from_shape({v.size() + 1});
        std::copy(v.begin(), v.end(), longer.begin());
        longer(v.size()) = w * v(v.size() - 1);
        return loop_step{true, longer};
    };
    auto const body_vjp = [](std::int64_t iteration, vec const& v, double w, vec const& ct_next, vec& ct_v,
                              double& ct_w) {
        REQUIRE(v.size() == static_cast<std::size_t>(iteration) + 1);
        REQUIRE(ct_next.size() == v.size() + 1);
        REQUIRE(ct_v == vec(xt::zeros<double>({v.size()})));
        for (std::size_t i = 0; i < v.size(); ++i)
            ct_v(i) += ct_next(i);
        ct_v(v.size() - 1) += w * ct_next(v.size());
        ct_w += v(v.size() - 1) * ct_next(v.size());
    };
    for (checkpoint const& checkpoints : without_length) {
        auto result = loop_vjp(body, body_vjp, vec{3}, 2.0, {.max_trip_count = 4}, checkpoints);
        CHECK(result.final_state == vec{3, 6, 12, 24, 48});
        auto const [ct_v, ct_w] = result.pullback(vec{1, 1, 1, 1, 1}, std::tuple());
        CHECK(ct_v == vec{31});
        CHECK(ct_w == 3.0 * (1 + 2 * 2 + 3 * 4 + 4 * 8));
    }
}

TEST_CASE("sequences and optionals are carried")
{
    using list = std::vector<vec>;
    auto const body = [](std::int64_t, bool, list const& values, std::optional<double> const& last) {
        list longer = values;
        longer.push_back(vec{2 * last.value_or(1)});
        return loop_step{true, std::tuple(longer, std::optional(2 * last.value_or(1)))};
    };
    auto const body_vjp = [](std::int64_t, list const& values, std::optional<double> const& last,
                              list const& ct_next_values, std::optional<double> const& ct_next_last,
                              list& ct_values, std::optional<double>& ct_last) {
        REQUIRE(ct_values.size() == values.size());
        REQUIRE(ct_last.has_value() == last.has_value());
        for (std::size_t i = 0; i < values.size(); ++i)
            ct_values[i] += ct_next_values[i];
        if (last)
            *ct_last += 2 * (ct_next_last.value_or(0) + ct_next_values.back()(0));
    };
    for (checkpoint const& checkpoints : without_length) {
        auto result = loop_vjp(body, body_vjp, std::tuple(list{}, std::optional(3.0)), std::tuple(),
            {.max_trip_count = 3}, checkpoints);
        CHECK(std::get<0>(result.final_state).size() == 3);
        auto const [ct_init, ct_params] =
            result.pullback(std::tuple(list{vec{1}, vec{1}, vec{1}}, std::optional(10.0)), std::tuple());
        CHECK(std::get<0>(ct_init).empty());
        CHECK(std::get<1>(ct_init) == 2.0 + 4 + 8 + 80);
    }
}

TEST_CASE("a carried value's cotangent of another type has its shape checked before it is converted")
{
    using pair = xt::xtensor_fixed<double, xt::xshape<2>>;
    auto const body = [](std::int64_t, bool, auto const& v) { return loop_step{true, 2 * v}; };
    auto const body_vjp = [](std::int64_t, auto const&, auto const& ct_next, auto& ct_v) {
        ct_v += 2 * ct_next;
    };
    auto fixed = loop_vjp(body, body_vjp, pair{1, 2}, std::tuple(), {.max_trip_count = 2});
    CHECK_THROWS_WITH_AS(static_cast<void>(fixed.pullback(vec{1, 2, 3}, std::tuple())),
        "xloom::loop_vjp: a cotangent must have the shape of its value, but ct_states[0] is [3] and "
        "states[0] is [2]. Give it that shape.",
        shape_error);
    CHECK_THROWS_AS(static_cast<void>(fixed.pullback(vec{1}, std::tuple())), shape_error);
    CHECK(fixed.pullback(vec{1, 2}, std::tuple()).init == pair{4, 8});
    CHECK(fixed.pullback(2 * vec{1, 2}, std::tuple()).init == pair{8, 16});

    auto of_rank_1 = loop_vjp(body, body_vjp, vec{1, 2}, std::tuple(), {.max_trip_count = 2});
    CHECK_THROWS_WITH_AS(static_cast<void>(of_rank_1.pullback(xt::xarray<double>{{1, 2}}, std::tuple())),
        "xloom::loop_vjp: a cotangent must have the shape of its value, but ct_states[0] is [1, 2] and "
        "states[0] is [2]. Give it that shape.",
        shape_error);
    CHECK(of_rank_1.pullback(xt::xarray<double>{1, 2}, std::tuple()).init == vec{4, 8});

    auto const keep = [](std::int64_t, bool, std::optional<vec> const& v) { return loop_step{true, v}; };
    auto const keep_vjp = [](std::int64_t, std::optional<vec> const&, std::optional<vec> const& ct_next,
                              std::optional<vec>& ct_v) { *ct_v += *ct_next; };
    auto maybe = loop_vjp(keep, keep_vjp, std::optional(vec{1, 2}), std::tuple(), {.max_trip_count = 2});
    CHECK(maybe.pullback(vec{1, 2}, std::tuple()).init == vec{1, 2});
}

TEST_CASE("a carried value of type bool")
{
    auto const body = [](std::int64_t, bool, double v, bool is_even) {
        return loop_step{true, std::tuple(is_even ? 2 * v : 3 * v, !is_even)};
    };
    auto const body_vjp = [](std::int64_t, double, bool is_even, double ct_next, bool, double& ct_v, bool&) {
        ct_v += ct_next * (is_even ? 2 : 3);
    };
    for (checkpoint const& checkpoints : without_length) {
        auto result =
            loop_vjp(body, body_vjp, std::tuple(1.0, true), std::tuple(), {.max_trip_count = 3}, checkpoints);
        CHECK(result.final_state == std::tuple(12.0, false));
        CHECK(result.pullback(std::tuple(1.0, false), std::tuple()).init == std::tuple(12.0, false));
    }
}

TEST_CASE("errors")
{
    CHECK_THROWS_WITH_AS(static_cast<void>(loop_vjp(newton, newton_vjp, 1.0, 2.0, checkpoint::sqrt())),
        "xloom::loop_vjp: checkpoint::sqrt and checkpoint::binomial need the number of iterations in "
        "advance, but "
        "options.max_trip_count is empty. Give it, or choose checkpoint::online or checkpoint::all.",
        option_error);
    auto result = loop_vjp(newton, newton_vjp, 1.0, 2.0, {.max_trip_count = 3});
    CHECK_THROWS_WITH_AS(static_cast<void>(result.pullback(1.0, vec{1, 2})),
        "xloom::loop_vjp: a cotangent must have the shape of its value, but ct_outputs[0] is [2] and "
        "scan_outputs[0] is [3]. Give it that shape.",
        shape_error);
    auto const body = [](std::int64_t, bool, vec const& v) { return loop_step{true, v}; };
    auto const body_vjp = [](std::int64_t, vec const&, vec const&, vec&) {};
    auto same = loop_vjp(body, body_vjp, vec{1, 2}, std::tuple(), {.max_trip_count = 3});
    CHECK_THROWS_WITH_AS(static_cast<void>(same.pullback(vec{1}, std::tuple())),
        "xloom::loop_vjp: a cotangent must have the shape of its value, but ct_states[0] is [1] and "
        "states[0] is "
        "[2]. Give it that shape.",
        shape_error);
}

} // namespace loop_vjp_test
