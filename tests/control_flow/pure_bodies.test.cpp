// Pure bodies: what the steps of scan and loop evaluate, against loops over single items.

#include <doctest/doctest.h>

#include <complex>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <xloom/control_flow/loop.hpp>

#include "support/pure_bodies.hpp"
#include "support/xtensor_extras.hpp"

namespace pure_bodies_test {

using namespace xloom;
using namespace pure_bodies;

TEST_CASE_TEMPLATE("elementwise expressions, of items of any type", T, float, double, int, std::int64_t,
    std::uint8_t, std::complex<double>)
{
    for (std::size_t const width : {1u, 5u, 16u, 35u}) {
        auto const h = counting<xt::xtensor<T, 1>>(width);
        auto const x = counting<xt::xtensor<T, 2>>(5u, width);
        check_items(
            h, x,
            [](auto const& s, auto const& e) {
                return scan_step{xt::cast<T>(s + e), xt::cast<T>(s * e)};
            },
            [](T s, T e) { return std::pair(static_cast<T>(s + e), static_cast<T>(s * e)); });
        check_items(
            h, x,
            [](auto const& s, auto const& e) {
                return scan_step{e, s};
            },
            [](T s, T e) { return std::pair(e, s); });
        T const two = 2;
        if constexpr (sizeof(T) >= sizeof(int))
            check_items(
                h, x,
                [&](auto const& s, auto const& e) {
                    return scan_step{s - two * e, T(3) * s + e};
                },
                [&](T s, T e) { return std::pair(s - two * e, T(3) * s + e); });
    }
}

TEST_CASE("elementwise expressions of floats, with functions, conditions and common parts")
{
    check_widths(
        [](auto const& s, auto const& e) {
            return scan_step{s + e, s + e};
        },
        [](float s, float e) { return std::pair(s + e, s + e); });
    check_widths(
        [](auto const& s, auto const& e) {
            return scan_step{0.5f * s + e, s};
        },
        [](float s, float e) { return std::pair(0.5f * s + e, s); });
    check_widths(
        [](auto const& s, auto const& e) {
            return scan_step{s, 0.5f * s + e};
        },
        [](float s, float e) { return std::pair(s, 0.5f * s + e); });
    check_widths(
        [](auto const& s, auto const& e) {
            return scan_step{xt::where(s > e, s - e, -s), xt::maximum(s, e)};
        },
        [](float s, float e) { return std::pair(s > e ? s - e : -s, std::max(s, e)); });
    check_widths(
        [](auto const& s, auto const& e) {
            return scan_step{xt::abs(s - 2 * e), xt::sqrt(s * s)};
        },
        [](float s, float e) { return std::pair(std::abs(s - 2 * e), std::abs(s)); });
    check_widths(
        [](vector const& s, element_view<float const, 1> const& e) {
            return scan_step{e - s, e * (s + 1.0f)};
        },
        [](float s, float e) { return std::pair(e - s, e * (s + 1)); });
}

TEST_CASE("mixed item types: conditions, doubles and integers as outputs")
{
    check_widths(
        [](auto const& s, auto const& e) {
            return scan_step{s - e, s > e};
        },
        [](float s, float e) { return std::pair(s - e, s > e); });
    check_widths(
        [](auto const& s, auto const& e) {
            return scan_step{s - e, 0.25 * s};
        },
        [](float s, float e) { return std::pair(s - e, 0.25 * s); });
    check_widths(
        [](auto const& s, auto const& e) {
            return scan_step{s - e, xt::cast<int>(2 * e)};
        },
        [](float s, float e) { return std::pair(s - e, static_cast<int>(2 * e)); });
    for (std::size_t const width : {1u, 5u, 40u}) {
        xt::xtensor<bool, 1> h = xt::zeros<bool>({width});
        check_items(
            h, inputs(6, width),
            [](auto const& s, auto const& e) {
                return scan_step{s || e > 3.0f, !s};
            },
            [](bool s, float e) { return std::pair(s || e > 3, !s); });
    }
}

TEST_CASE("broadcasting, reducers and strided views")
{
    vector const one = {0.5f};
    check_widths(
        [&](auto const& s, auto const& e) {
            return scan_step{s - one, e + one};
        },
        [](float s, float e) { return std::pair(s - 0.5f, e + 0.5f); });
    for (std::size_t const width : {1u, 5u, 16u, 19u}) {
        auto const h = state_of(width);
        auto const x = inputs(4, width), w = inputs(width, 3);
        auto const result = scan(
            [&](auto const& s, auto const& e) {
                return scan_step{
                    s + xt::view(w, xt::all(), 1) - xt::sum(e), xt::view(w, 0, xt::all()) * s(0)};
            },
            h, x);
        std::vector<float> state(h.begin(), h.end());
        for (std::size_t t = 0; t < 4; ++t) {
            for (std::size_t k = 0; k < 3; ++k)
                CHECK(result.scan_outputs(t, k) == w(0, k) * state[0]);
            float sum = 0;
            for (std::size_t i = 0; i < width; ++i)
                sum += x(t, i);
            for (std::size_t i = 0; i < width; ++i)
                state[i] += w(i, 1) - sum;
        }
        for (std::size_t i = 0; i < width; ++i)
            CHECK(result.final_state(i) == state[i]);
    }
}

TEST_CASE("states and elements of ranks 0, 2 and 3, of dynamic rank and of fixed shape")
{
    auto const body = [](auto const& s, auto const& e) { return scan_step{0.5f * s + e, s - e}; };
    auto const item = [](float s, float e) { return std::pair(0.5f * s + e, s - e); };
    check_items(counting<matrix>(3, 7), counting<xt::xtensor<float, 3>>(4, 3, 7), body, item);
    check_items(
        counting<xt::xtensor<float, 3>>(2, 3, 5), counting<xt::xtensor<float, 4>>(4, 2, 3, 5), body, item);
    check_items(counting<xt::xarray<float>>(3, 7), counting<xt::xarray<float>>(4, 3, 7), body, item);
    check_items(counting<xt::xarray<float>>(9), inputs(4, 9), body, item);
    check_items(counting<xt::xtensor_fixed<float, xt::xshape<2, 9>>>(),
        counting<xt::xtensor_fixed<float, xt::xshape<4, 2, 9>>>(), body, item);
    check_items(state_of(9), counting<xt::xtensor_fixed<float, xt::xshape<4, 9>>>(), body, item);
    check_items(counting<xt::xtensor<float, 1, xt::layout_type::column_major>>(9), inputs(4, 9), body, item);

    xt::xtensor<float, 0> const zero = 0.0f;
    auto const scalars = scan(
        [](auto const& s, float e) {
            return scan_step{s + e, 2.0f * s};
        },
        zero, vector{1, 2, 3});
    CHECK(scalars.final_state() == 6);
    CHECK(scalars.scan_outputs == vector{0, 2, 6});
}

TEST_CASE("a state whose layout is not the element's, and outputs along any axis in any direction")
{
    xt::xtensor<float, 2, xt::layout_type::column_major> const h = {{1, 2, 3}, {4, 5, 6}};
    xt::xtensor<float, 3> const x = counting<xt::xtensor<float, 3>>(4, 2, 3);
    auto const body = [](auto const& s, auto const& e) { return scan_step{s + e, std::tuple{s + e, s}}; };
    for (std::int64_t const axis : {0, 1, 2})
        for (direction const way : {direction::forward, direction::reverse}) {
            auto const result = scan(body, h, x,
                {.scan_output_axes = {axis, 0}, .scan_output_directions = {way, direction::forward}});
            matrix state = h;
            for (std::size_t t = 0; t < 4; ++t)
                for (std::size_t i = 0; i < 2; ++i)
                    for (std::size_t k = 0; k < 3; ++k) {
                        CHECK(std::get<1>(result.scan_outputs)(t, i, k) == state(i, k));
                        state(i, k) += x(t, i, k);
                        std::size_t const at = way == direction::forward ? t : 3 - t;
                        auto const& y = std::get<0>(result.scan_outputs);
                        CHECK((axis == 0      ? y(at, i, k)
                                  : axis == 1 ? y(i, at, k)
                                              : y(i, k, at)) == state(i, k));
                    }
            CHECK(result.final_state == state);
        }
}

TEST_CASE("tuples of states and outputs, among them scalars and containers, and states that are exchanged")
{
    auto const x = inputs(6, 11);
    auto const body = [](auto const& a, auto const& b, int n, auto const& e) {
        return scan_step{std::tuple{b, a + b, n + 1}, std::tuple{n, a - e, vector(2.0f * b), b}};
    };
    auto const [states, outputs] = scan(body, std::tuple(state_of(11), vector(2.0f * state_of(11)), 7), x);
    CHECK(std::get<2>(states) == 13);
    for (std::size_t i = 0; i < 11; ++i) {
        float a = state_of(11)(i), b = 2 * a;
        for (std::size_t t = 0; t < 6; ++t) {
            CHECK(std::get<0>(outputs)(t) == static_cast<int>(7 + t));
            CHECK(std::get<1>(outputs)(t, i) == a - x(t, i));
            CHECK(std::get<2>(outputs)(t, i) == 2 * b);
            CHECK(std::get<3>(outputs)(t, i) == b);
            std::tie(a, b) = std::tuple(b, a + b);
        }
        CHECK(std::get<0>(states)(i) == a);
        CHECK(std::get<1>(states)(i) == b);
    }
    auto const exchange = [](auto const& a, auto const& b) { return scan_step{std::tie(b, a)}; };
    auto const pair = scan(exchange, std::tuple(vector{1, 2}, vector{3, 4}), std::tuple(), {.length = 5});
    CHECK(std::get<0>(pair.final_state) == vector{3, 4});
    CHECK(std::get<1>(pair.final_state) == vector{1, 2});
}

TEST_CASE("tensors as states beside scalars and containers as outputs, and the reverse")
{
    auto const x = inputs(4, 3);
    auto const sum = scan(
        [](auto const& s, auto const& e) {
            return scan_step{s + e, s(0)};
        },
        vector{0, 0, 0}, x);
    CHECK(sum.scan_outputs == vector{0, 1, 5, 12});
    CHECK(sum.final_state == vector{1 + 4 + 7 + 3, 2 + 5 + 1 + 4, 3 + 6 + 2 + 5});
    auto const copies = scan(
        [](auto const& s, auto const& e) {
            return scan_step{s + e, vector(e)};
        },
        vector{0, 0, 0}, x);
    CHECK(copies.scan_outputs == x);
    CHECK(copies.final_state == sum.final_state);
    auto const doubled = scan([](int n, auto const& e) { return scan_step{n + 1, 2 * e}; }, 0, x);
    CHECK(doubled.final_state == 4);
    CHECK(doubled.scan_outputs == 2 * x);
    auto const looped = loop(
        [](std::int64_t t, bool, auto const& v) {
            return loop_step{t < 40, v + 1.0f, v(1)};
        },
        vector{0, 1});
    CHECK(looped.scan_outputs == xt::arange<float>(1, 42));
    CHECK(looped.final_state == vector{41, 42});
}

TEST_CASE("a body that evaluates first, and one that names the type of its steps")
{
    auto const item = [](float s, float e) { return std::pair(0.5f * s + e, 0.5f * s + e); };
    check_widths(
        [](auto const& s, auto const& e) {
            vector const n = 0.5f * s + e;
            return scan_step{n, n};
        },
        item);
    check_widths(
        [](auto const& s, auto const& e) {
            auto n = xt::eval(0.5f * s + e);
            return scan_step{n, std::move(n)};
        },
        item);
    check_widths(
        [](auto const& s, auto const& e) -> scan_step<vector, vector> {
            if (e.size() > 5)
                return {0.5f * s + e, 0.5f * s + e};
            vector const n = 0.5f * s + e;
            return {n, n};
        },
        item);
}

} // namespace pure_bodies_test
