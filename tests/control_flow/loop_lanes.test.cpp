// loop_lanes_into: the bits and trip counts of a textbook's loop over each sequence alone.

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include <doctest/doctest.h>

#include <xloom/control_flow/loop_lanes.hpp>
#include <xloom/interop/threads.hpp>

#include "support/exact_number.hpp"
#include "support/tensors.hpp"
#include "support/xtensor_extras.hpp"

namespace loop_lanes_test {

namespace {

using sizes = std::initializer_list<std::size_t>;
template <class T>
using vector = xt::xtensor<T, 1>;
using counts = xt::xtensor<std::int64_t, 1>;

/// The logistic map until it hardly changes, with its last but one value as another state.
template <class T>
constexpr auto logistic = [](auto& x, auto& before, auto const& r) {
    before = x;
    x = r * x * (T(1) - x);
    auto const change = xloom::select(x < before, before - x, x - before);
    return change > T(1e-3);
};

template <class T>
T rate(std::size_t n)
{
    return static_cast<T>(1.2 + 0.0023 * static_cast<double>(n * 37 % 1000));
}

template <class T, class... Env>
void check_logistic(std::size_t N, std::int64_t most, Env&&... env)
{
    CAPTURE(N);
    CAPTURE(most);
    using number = textbook::exact_number<T>;
    vector<T> x = xt::zeros<T>({N}), before = x, r = x;
    for (std::size_t n = 0; n < N; ++n) {
        x(n) = T(0.3);
        r(n) = rate<T>(n);
    }
    counts found = counts::from_shape({N});
    xloom::loop_lanes_into(logistic<T>, std::tie(x, before), r, found, {.max_trip_count = most}, env...);
    for (std::size_t n = 0; n < N; ++n) {
        number value = T(0.3), last = T(0);
        std::int64_t count = 0;
        while (count < most) {
            ++count;
            if (!logistic<T>(value, last, number(rate<T>(n))))
                break;
        }
        CHECK(found(n) == count);
        CHECK(x(n) == value.value);
        CHECK(before(n) == last.value);
    }
}

} // namespace

TEST_CASE_TEMPLATE("loop_lanes_into: the bits and trip counts of each sequence alone", T, float, double)
{
    for (std::size_t const N : sizes{0, 1, 15, 64, 200})
        for (std::int64_t const most : {-1, 0, 1, 16, 17, 300})
            check_logistic<T>(N, most);
}

TEST_CASE("loop_lanes_into: the same on any number of threads")
{
    for (std::size_t const threads : sizes{1, 2, 3, 7})
        check_logistic<float>(333, 100, xloom::thread_policy(threads));
}

TEST_CASE("loop_lanes_into: states of several types, without parameters and without a maximum")
{
    std::size_t const N = 90;
    vector<std::uint64_t> number = xt::zeros<std::uint64_t>({N});
    vector<std::int32_t> steps = xt::zeros<std::int32_t>({N});
    for (std::size_t n = 0; n < N; ++n)
        number(n) = n + 1;
    auto const collatz = [](auto& x, auto& count) {
        auto const is_one = x == 1U;
        x = xloom::select(is_one, x, xloom::select((x & 1U) == 1U, 3U * x + 1U, x / 2U));
        count = count + 1;
        return x != 1U;
    };
    counts found = counts::from_shape({N});
    xloom::loop_lanes_into(collatz, std::tie(number, steps), std::tuple(), found);
    for (std::size_t n = 0; n < N; ++n) {
        std::int64_t count = 0;
        std::uint64_t x = n + 1;
        do {
            x = x == 1 ? x : x % 2 == 1 ? 3 * x + 1 : x / 2;
            ++count;
        } while (x != 1);
        CHECK(found(n) == count);
        CHECK(steps(n) == count);
        CHECK(number(n) == 1);
    }
}

TEST_CASE("loop_lanes_into: strided states and parameters")
{
    xt::xtensor<float, 2> pairs = {{8, 1}, {2, 1}, {32, 1}};
    xt::xtensor<float, 2> const by = {{2, 4}, {2, 2}, {2, 8}};
    auto x = xt::view(pairs, xt::all(), 0);
    auto const divisor = xt::view(by, xt::all(), 1);
    auto const divide = [](auto& h, auto const& d) {
        h = h / d;
        return h >= 1.0f;
    };
    counts found = {0, 0, 0};
    xloom::loop_lanes_into(divide, x, divisor, found);
    CHECK(found == counts{2, 2, 2});
    CHECK(pairs == xt::xtensor<float, 2>{{0.5f, 1}, {0.5f, 1}, {0.5f, 1}});
}

TEST_CASE("loop_lanes_into refuses operands that do not agree or overlap, and writes nothing")
{
    vector<float> x = {1, 2, 3}, const_y = {1, 2};
    vector<float> const y = const_y;
    auto const never = [](auto& h, auto const&) {
        FAIL_CHECK("the body ran");
        return h != h;
    };
    CHECK_THROWS_WITH_AS(xloom::loop_lanes_into(never, x, y),
        "xloom::loop_lanes_into: all operands must have the same number of sequences, but states[0] has 3 "
        "(axis 0 of [3]) and params[0] has 2 (axis 0 of [2]). Cut them to the same sequences.",
        xloom::shape_error);
    counts found = {1, 2};
    CHECK_THROWS_WITH_AS(xloom::loop_lanes_into(never, x, x + x, found),
        "xloom::loop_lanes_into: all operands must have the same number of sequences, but states[0] has 3 "
        "(axis 0 of [3]), params[0] has 3 (axis 0 of [3]) and trip_counts[0] has 2 (axis 0 of [2]). Cut them "
        "to the same sequences.",
        xloom::shape_error);
    CHECK(found == counts{1, 2});
    CHECK_THROWS_AS(xloom::loop_lanes_into(never, x, x), xloom::overlap_error);
    CHECK(x == vector<float>{1, 2, 3});
}

TEST_CASE("loop_lanes_into: an exception of the body passes through")
{
    vector<float> x = xt::ones<float>({40});
    auto const body = [](auto& h) {
        if (xloom::detail::any_lane(h == 1.0f))
            throw std::runtime_error("body");
        return h == 1.0f;
    };
    CHECK_THROWS_WITH_AS(xloom::loop_lanes_into(body, x), "body", std::runtime_error);
    CHECK_THROWS_WITH_AS(
        xloom::loop_lanes_into(body, x, std::tuple(), std::tuple(), {}, xloom::thread_policy(3)), "body",
        std::runtime_error);
}

TEST_CASE("lanes that have ended, or have no sequence, divide by 0 and by -1 without a trap")
{
    xt::xtensor<std::int32_t, 1> n = {100, 200, 300};
    xt::xtensor<std::int32_t, 1> const m = {7, 10, 3};
    xloom::loop_lanes_into(
        [](auto& state, auto const& divisor) {
            state = state / divisor;
            return state > 0;
        },
        n, m);
    CHECK(n == xt::xtensor<std::int32_t, 1>{0, 0, 0});
    constexpr auto least = std::numeric_limits<std::int32_t>::min();
    xt::xtensor<std::int32_t, 1> q = {least, 7};
    xloom::loop_lanes_into(
        [](auto& state) {
            state = state / -1;
            return state > 100;
        },
        q);
    CHECK(q == xt::xtensor<std::int32_t, 1>{least, -7});

    xt::xtensor<std::int64_t, 1> a = {12, 35, 18, 100, std::numeric_limits<std::int64_t>::min()},
                                 b = {18, 21, 12, 75, -1}; // Euclid's algorithm
    xloom::loop_lanes_into(
        [](auto& u, auto& v) {
            auto const rest = u % v;
            u = v;
            v = rest;
            return v != 0;
        },
        std::tie(a, b));
    CHECK(a == xt::xtensor<std::int64_t, 1>{6, 7, 6, 25, -1});
}

} // namespace loop_lanes_test
