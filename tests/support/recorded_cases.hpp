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

#include <xloom/gradients/if_vjp.hpp>
#include <xloom/gradients/loop_vjp.hpp>
#include <xloom/gradients/scan_vjp.hpp>

#include "support/recurrence_gradients.hpp"

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
            recurrence::check_pullback(result, n, ct, expected);
        }
}

/// Bodies that return what their operations return, as the pages write them: of numbers and of tensors, and
/// with a name for what is used twice.
template <class Tape>
void check_returned_expressions()
{
    constexpr xloom::recorded_with<Tape> recorded;
    vec const x = {1, 2, 3}, ct_y = {1, 1, 1};
    auto const check = [&](auto const& recurrence) {
        auto result = xloom::scan_vjp(recurrence, recorded, 0.0, x, 0.5);
        CHECK(result.scan_outputs == vec{1, 2.5, 4.25});
        auto const [by_init, by_x, by_w] = result.pullback(0.0, ct_y);
        CHECK(by_init == 0.875);
        CHECK(by_x == vec{1.75, 1.5, 1});
        CHECK(by_w == 4);
    };
    check([](auto const& h, auto const& x_t, auto const& w) {
        return xloom::scan_step{w * h + x_t, w * h + x_t};
    });
    check([](auto h, auto x_t, auto w) {
        auto const y = w * h + x_t;
        return xloom::scan_step{y, y};
    });
    check([](auto h, auto x_t, auto w) {
        h *= w;
        return xloom::scan_step{h += x_t, +h};
    });

    auto items = xloom::scan_vjp(
        [](auto const& h, auto const& x_t, auto const& w) {
            auto const y = w * h + x_t;
            return xloom::scan_step{y, -y};
        },
        recorded, vec{0, 1}, x, vec{0.5, 2});
    CHECK(items.scan_outputs == mat{{-1, -3}, {-2.5, -8}, {-4.25, -19}});
    auto const of_items = items.pullback(vec{1, 1}, mat{{0, 0}, {0, 0}, {0, 0}});
    CHECK(of_items.init == vec{0.125, 8});
    CHECK(of_items.scan_inputs == vec{4.25, 2.5, 2});
    CHECK(of_items.params == vec{3, 18}); // 3 w^2 h + 2 w x_0 + x_1

    auto looped = xloom::loop_vjp(
        [](std::int64_t, bool, auto const& v, auto const& w) {
            return xloom::loop_step{w * v > 1, w * v, v / w};
        },
        recorded, 6.0, 0.5);
    auto const of_loop = looped.pullback(1.0, vec{0, 0, 1});
    CHECK(looped.scan_outputs == vec{12, 6, 3});
    CHECK(of_loop.init == 0.625);  // w^3 + w
    CHECK(of_loop.params == 10.5); // 3 v w^2 + v

    auto const product = [](auto const& v, auto const& w) { return v * w; };
    auto branch = xloom::if_vjp(true, product, recorded, product, recorded, std::tuple(3.0, 5.0));
    CHECK(branch.pullback(2.0) == std::tuple(10.0, 6.0));
}

/// A constant among the results has no derivative; integers are passed on.
template <class Tape>
void check_constant_results()
{
    auto const counting = [](auto const& h, int n, auto const& x_t) {
        return xloom::scan_step{std::tuple(h * x_t * n, n + 1), std::tuple(2.5, n)};
    };
    auto result = xloom::scan_vjp(counting, xloom::recorded_with<Tape>(), std::tuple(1.0, 1), vec{3, 5});
    CHECK(result.final_state == std::tuple(30.0, 3));
    auto const ct = result.pullback(std::tuple(1.0, 0), std::tuple(vec{1, 1}, xt::xtensor<int, 1>{0, 0}));
    CHECK(std::get<0>(ct.init) == 30);
    CHECK(ct.scan_inputs == vec{10, 6});
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
/// Returns the derivatives of a function of two numbers.
template <class Tape, class F>
std::vector<double> partials(F f, double a, double b)
{
    Tape tape;
    auto const x = tape.input(a), y = tape.input(b);
    tape.output(f(x, y));
    std::vector<double> const ct = {1};
    std::vector<double> by_inputs(2, -1);
    tape.reverse(ct, by_inputs);
    return by_inputs;
}

/// Checks the value and both derivatives of a generic function, the latter by central differences in the
/// widest type.
template <class Tape, class F>
void check_function(F f, double a, double b)
{
    using scalar = typename Tape::scalar;
    CAPTURE(a);
    CAPTURE(b);
    long double const d = 1e-6L, x = a, y = b;
    auto const found = partials<Tape>(f, a, b);
    long double const by_x = (f(x + d, y) - f(x - d, y)) / (2 * d),
                      by_y = (f(x, y + d) - f(x, y - d)) / (2 * d);
    CHECK(found[0] == doctest::Approx(static_cast<double>(by_x)).epsilon(1e-9));
    CHECK(found[1] == doctest::Approx(static_cast<double>(by_y)).epsilon(1e-9));
    CHECK(f(scalar(a), scalar(b)).value() == doctest::Approx(static_cast<double>(f(x, y))).epsilon(1e-14));
}

/// Operators and functions, the larger and the smaller of a number and a constant, and names for results.
template <class Tape>
void check_functions()
{
    using namespace std;
    for (double const x : {-0.75, 0.375}) {
        double const y = 0.625;
        check_function<Tape>([](auto a, auto b) { return +a - (-b); }, x, y);
        check_function<Tape>([](auto a, auto b) { return a * b - a / b; }, x, y);
        check_function<Tape>([](auto a, auto b) { return 2 * a + b / 3 - (1 - a) * (b + 5.0) / a; }, x, y);
        check_function<Tape>(
            [](auto a, auto b) {
                a += b;
                b -= a;
                a *= b;
                b /= a;
                return a + b;
            },
            x, y);
        check_function<Tape>([](auto a, auto b) { return abs(a) * fabs(b); }, x, y);
        check_function<Tape>([](auto a, auto b) { return 3 * (max)(a, b) + (min)(a, b); }, x, y);
        check_function<Tape>([](auto a, auto b) { return sqrt(b) * cbrt(a); }, x, y);
        check_function<Tape>([](auto a, auto b) { return exp(a) * log(b) * log10(b); }, x, y);
        check_function<Tape>([](auto a, auto b) { return sin(a) * cos(b) + tan(a); }, x, y);
        check_function<Tape>([](auto a, auto b) { return asin(a) * acos(b) + atan(a); }, x, y);
        check_function<Tape>([](auto a, auto b) { return atan2(a, b); }, x, y);
        check_function<Tape>([](auto a, auto b) { return sinh(a) * cosh(b) + tanh(a); }, x, y);
        check_function<Tape>([](auto a, auto b) { return asinh(a) * acosh(b + 1) + atanh(a); }, x, y);
        check_function<Tape>([](auto a, auto b) { return pow(b, a); }, x, y);
    }
    auto const limited = [](auto x, auto y) {
        return 3 * max(x, 0.5) + 5 * min(y, 2) + 7 * max(1, y) + min(1, x);
    };
    CHECK(partials<Tape>(limited, 0.75, 4) == std::vector<double>{4, 7});
    CHECK(partials<Tape>(limited, 0.25, 0.5) == std::vector<double>{1, 5});

    auto const twice_squared = [](auto const& x, auto const& y) {
        auto const twice = x + x;
        auto copy = twice;
        copy *= twice;
        return copy * y;
    };
    CHECK(partials<Tape>(twice_squared, 3, 2) == std::vector<double>{48, 36});
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

/// A body that returns more or fewer numbers when it is recorded is refused.
template <class Tape>
void check_other_results()
{
    std::size_t size = 2;
    auto const spread = [&](auto const& h, auto const& x) {
        using number = std::decay_t<decltype(h)>;
        auto products = xt::xtensor<number, 1>::from_shape({size});
        for (auto& each : products)
            each = h * x;
        return xloom::scan_step{number(h + x), products};
    };
    vec const x = {1, 2};
    auto result = xloom::scan_vjp(spread, xloom::recorded_with<Tape>(), 0.0, x);
    mat const ct_products = xt::ones<double>({2, 2});
    for (std::size_t const other : {3u, 1u, 0u}) {
        size = other;
        std::string const text =
            "xloom::recorded_with: a body that runs an iteration again must do the same, "
            "but a result was [2] and the body made it [" +
            std::to_string(other) + "]. Return a value of the original shape.";
        CHECK_THROWS_WITH_AS(static_cast<void>(result.pullback(1.0, std::tuple(ct_products))), text.c_str(),
            xloom::body_error);
    }
    size = 2;
    CHECK(result.pullback(1.0, std::tuple(ct_products)).scan_inputs == vec{5, 3});
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
