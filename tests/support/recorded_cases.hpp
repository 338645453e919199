#pragma once
// Cases of VJPs that a tape records: those of a recurrence beside forward mode through plain loops, and of
// loops and branches beside VJPs that are written by hand.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <tuple>
#include <type_traits>
#include <vector>

#include <xloom/if_vjp.hpp>
#include <xloom/loop_vjp.hpp>
#include <xloom/scan_vjp.hpp>

#include "support/recurrence.hpp"

namespace recorded_cases {

using recurrence::shaped;

using vec = xt::xtensor<double, 1>;
using mat = xt::xtensor<double, 2>;

/// The recurrence for any type of numbers.
inline constexpr auto body = [](auto const& h, auto const& c, auto const& x, auto const& u, auto const& W,
                                 auto const& V, auto const& s) {
    using number = std::decay_t<decltype(c)>;
    using std::tanh;
    auto next = xt::xtensor<number, 1>::from_shape({h.size()});
    auto y = next;
    number after = 0.9 * c;
    for (std::size_t i = 0; i < h.size(); ++i) {
        number sum = s * u;
        for (std::size_t j = 0; j < h.size(); ++j)
            sum += W(i, j) * h(j);
        for (std::size_t j = 0; j < x.size(); ++j)
            sum += V(i, j) * x(j);
        next(i) = tanh(sum);
        after += h(i) * next(i);
    }
    for (std::size_t i = 0; i < h.size(); ++i)
        y(i) = next(i) * after;
    number const z = after * u;
    return xloom::scan_step{std::tuple(next, after), std::tuple(y, z)};
};

inline void check_close(double actual, std::vector<double> const& expected)
{
    CHECK(std::abs(actual - expected[0]) <= 1e-12 * (1 + std::abs(expected[0])));
}
template <class X>
void check_close(X const& actual, std::vector<double> const& expected)
{
    REQUIRE(actual.size() == expected.size());
    if (expected.empty())
        return;
    auto next = expected.begin();
    for (auto item = actual.template begin<xt::layout_type::row_major>();
         item != actual.template end<xt::layout_type::row_major>(); ++item, ++next)
        CHECK(std::abs(*item - *next) <= 1e-12 * (1 + std::abs(*next)));
}

/// A recurrence, for every checkpoint.
template <class Tape, class Matrix>
void check_recurrence()
{
    for (std::size_t const T : {0u, 1u, 6u})
        for (xloom::checkpoint const& checkpoints :
            {xloom::checkpoint::all(), xloom::checkpoint::sqrt(), xloom::checkpoint::binomial(2)}) {
            recurrence::sizes const n{T, 3, 2};
            std::mt19937 random(5);
            auto const in = recurrence::random_operands(n, random);
            auto const ct = recurrence::random_cotangents(n, random);
            auto const expected = recurrence::gradient(n, in, ct);
            vec const h = shaped<vec>(in.h, {3}), u = shaped<vec>(in.u, {T});
            auto const x = shaped<Matrix>(in.x, {T, 2}), W = shaped<Matrix>(in.W, {3, 3}),
                       V = shaped<Matrix>(in.V, {3, 2});
            auto result = xloom::scan_vjp(body, xloom::recorded_with<Tape>(), std::tuple(h, in.c[0]),
                std::tie(x, u), std::tie(W, V, in.s[0]), checkpoints);
            auto const ct_y = T == 0 ? mat(std::get<0>(result.scan_outputs)) : shaped<mat>(ct.y, {T, 3});
            auto const [ct_init, ct_inputs, ct_params] = result.pullback(
                std::tuple(shaped<vec>(ct.h, {3}), ct.c[0]), std::tuple(ct_y, shaped<vec>(ct.z, {T})));
            check_close(std::get<0>(ct_init), expected.h);
            check_close(std::get<1>(ct_init), expected.c);
            check_close(std::get<0>(ct_inputs), expected.x);
            check_close(std::get<1>(ct_inputs), expected.u);
            check_close(std::get<0>(ct_params), expected.W);
            check_close(std::get<1>(ct_params), expected.V);
            check_close(std::get<2>(ct_params), expected.s);
        }
}
/// A loop that ends by itself, whose carried value grows, and one that counts.
template <class Tape>
void check_loops()
{
    auto const newton = [](std::int64_t, bool, auto const& v, auto const& a) {
        auto const next = (v + a / v) / 2;
        std::decay_t<decltype(v)> const rounded = next;
        return xloom::loop_step{fabs(rounded - v) > 1e-12, rounded};
    };
    auto root = xloom::loop_vjp(newton, xloom::recorded_with<Tape>(), 1.0, 2.0, xloom::checkpoint::online(2));
    auto const [ct_v, ct_a] = root.pullback(1.0, std::tuple());
    CHECK(ct_a == doctest::Approx(1 / (2 * std::sqrt(2.0))).epsilon(1e-12));

    auto const grow = [](std::int64_t iteration, bool, auto const& v, int count, auto const& w) {
        using number = std::decay_t<decltype(w)>;
        auto longer = xt::xtensor<number, 1>::from_shape({v.size() + 1});
        std::copy(v.begin(), v.end(), longer.begin());
        longer(v.size()) = w * v(v.size() - 1);
        return xloom::loop_step{iteration < 3, std::tuple(longer, count + 1)};
    };
    auto list = xloom::loop_vjp(grow, xloom::recorded_with<Tape>(), std::tuple(vec{3}, 0), 2.0);
    CHECK(std::get<0>(list.final_state) == vec{3, 6, 12, 24, 48});
    auto const ct = list.pullback(std::tuple(vec{1, 1, 1, 1, 1}, 0), std::tuple());
    CHECK(std::get<0>(ct.init) == vec{31});
    CHECK(ct.params == 3.0 * (1 + 2 * 2 + 3 * 4 + 4 * 8));
}
template <class Tape>
void check_branch()
{
    auto const product = [](auto const& x, auto const& w) {
        std::decay_t<decltype(x)> y = x;
        for (auto& item : y)
            item *= w;
        return y;
    };
    auto const none = [](auto const& x, auto const&) { return x; };
    vec const x = {1, 2, 3};
    auto taken = xloom::if_vjp(
        true, product, xloom::recorded_with<Tape>(), none, xloom::recorded_with<Tape>(), std::tuple(x, 5.0));
    auto const [ct_x, ct_w] = taken.pullback(vec{1, 10, 100});
    CHECK(ct_x == vec{5, 50, 500});
    CHECK(ct_w == 321);
    auto other = xloom::if_vjp(
        false, product, xloom::recorded_with<Tape>(), none, xloom::recorded_with<Tape>(), std::tuple(x, 5.0));
    CHECK(other.pullback(vec{1, 10, 100}) == std::tuple(vec{1, 10, 100}, 0.0));
}
/// A body that throws ends its recording.
template <class Tape>
void check_throwing_body()
{
    bool throws = false;
    auto const square = [&](auto const& h, auto const& x) {
        if (throws)
            throw 42;
        return xloom::scan_step{std::decay_t<decltype(h)>(h + x * x)};
    };
    vec const x = {1, 2};
    auto result = xloom::scan_vjp(square, xloom::recorded_with<Tape>(), 0.0, x);
    throws = true;
    CHECK_THROWS_AS(static_cast<void>(result.pullback(1.0, std::tuple())), int);
    throws = false;
    CHECK(result.pullback(1.0, std::tuple()).scan_inputs == vec{2, 4});
}

/// A body that records within a recording is refused with this text, and leaves nothing behind.
template <class Tape>
void check_nested_recording(char const* text)
{
    constexpr xloom::recorded_with<Tape> recorded;
    vec const x = {1, 2};
    auto const add = [](auto const& h, auto const& item) {
        return xloom::scan_step{std::decay_t<decltype(h)>(h + item)};
    };
    auto const nested = [&](auto const& h, auto const& item) {
        auto inner = xloom::scan_vjp(add, recorded, 0.0, x);
        double const by_init = inner.pullback(1.0, std::tuple()).init;
        return xloom::scan_step{std::decay_t<decltype(h)>(h + by_init * item)};
    };
    auto outer = xloom::scan_vjp(nested, recorded, 0.0, x);
    CHECK_THROWS_WITH_AS(static_cast<void>(outer.pullback(1.0, std::tuple())), text, xloom::body_error);
    auto after = xloom::scan_vjp(add, recorded, 0.0, x);
    CHECK(after.pullback(1.0, std::tuple()).scan_inputs == vec{1, 1});
}

} // namespace recorded_cases
