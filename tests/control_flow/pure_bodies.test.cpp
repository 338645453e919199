// Pure bodies: what the steps of scan and loop evaluate, against loops over single items.

#include <doctest/doctest.h>

#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <xloom/control_flow/loop.hpp>
#include <xloom/control_flow/scan.hpp>
#include <xloom/control_flow/scan_batched.hpp>
#include <xloom/interop/threads.hpp>

#include "support/xtensor_extras.hpp"

namespace pure_bodies_test {

using namespace xloom;

namespace {

using vector = xt::xtensor<float, 1>;
using matrix = xt::xtensor<float, 2>;

/// Returns a tensor of whole numbers from 1 to 7, so that no sum or product of a few is rounded.
template <class X, class... Dims>
X counting(Dims... dims)
{
    X x;
    if constexpr (!detail::is_fixed_shape<typename X::shape_type>)
        x.resize(typename X::shape_type{static_cast<std::size_t>(dims)...});
    int i = 0;
    for (auto& item : x)
        item = static_cast<typename X::value_type>(1 + i++ % 7);
    return x;
}
matrix inputs(std::size_t length, std::size_t width) { return counting<matrix>(length, width); }
vector state_of(std::size_t width) { return counting<vector>(width); }

/// Compares scan(body, h, x) with `item`, which maps an item of the state and of the element to those of the
/// next state and of the output.
template <class H, class X, class Body, class Item>
void check_items(H const& h, X const& x, Body const& body, Item const& item)
{
    auto const result = scan(body, h, x);
    std::size_t const length = x.shape(0), width = h.size();
    REQUIRE(result.scan_outputs.size() == length * width);
    REQUIRE(result.final_state.size() == width);
    for (std::size_t i = 0; i < width; ++i) {
        auto state = h.data()[i];
        for (std::size_t t = 0; t < length; ++t) {
            auto const [next, output] = item(state, x.data()[t * width + i]);
            CHECK(result.scan_outputs.data()[t * width + i] == output);
            state = static_cast<typename H::value_type>(next);
        }
        CHECK(result.final_state.data()[i] == state);
    }
}

/// check_items for widths with and without whole vectors, and items left over.
template <class Body, class Item>
void check_widths(Body const& body, Item const& item)
{
    for (std::size_t const width : {0u, 1u, 3u, 8u, 16u, 19u, 64u, 67u})
        check_items(state_of(width), inputs(5, width), body, item);
}

} // namespace

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

TEST_CASE("the step that is returned counts, not one that was made before it")
{
    auto const item = [](float s, float e) { return std::pair(s - e, 3 * s); };
    check_widths(
        [](auto const& s, auto const& e) {
            auto const dropped = scan_step{s * e, s + e};
            auto const again = scan_step{dropped.state - s, e};
            static_cast<void>(again);
            return scan_step{s - e, 3.0f * s};
        },
        item);
    check_widths(
        [](auto const& s, auto const& e) {
            auto first = scan_step{s - e, 3.0f * s};
            auto second = scan_step{s * e, s};
            if (e.size() % 2 == 0)
                return first;
            second = first;
            return second;
        },
        item);
    check_widths(
        [](auto const& s, auto const& e) {
            auto const first = scan_step{s - e, 3.0f * s};
            return scan_step{first.state, first.scan_outputs};
        },
        item);
    check_widths(
        [](auto const& s, auto const& e) {
            auto turned = scan_step{3.0f * s, s - e};
            return scan_step{std::move(turned.scan_outputs), std::move(turned.state)};
        },
        item);
    check_widths(
        [](auto const& s, auto const& e) {
            auto changed = scan_step{s + e, 3.0f * s};
            changed.state -= 2 * e;
            changed.scan_outputs = s * 3;
            return changed;
        },
        item);
    check_widths(
        [](auto const& s, auto const& e) {
            return e.size() % 2 == 0 ? scan_step{s - e, 3.0f * s} : scan_step{-e + s, s * 3.0f};
        },
        item);
}

TEST_CASE("a body reads its state after it has made a step")
{
    float seen = 0;
    auto const body = [&](auto const& s, auto const& e) {
        auto step = scan_step{s + e, s + e};
        seen += s(0);
        return step;
    };
    scan(body, vector{1}, matrix{{1}, {2}, {3}});
    CHECK(seen == 1 + 2 + 4);
}

TEST_CASE("what a body keeps of its steps lives on")
{
    matrix const x{{1, 2}, {3, 4}, {5, 6}};
    auto const step = [](auto const& sum, auto const& e) { return scan_step{sum + e, 2.0f * e}; };
    using step_t = decltype(step(vector(), vector()));
    std::vector<step_t> kept;
    std::vector<std::unique_ptr<step_t>> made_there;
    std::optional<step_t> last;
    std::optional<vector> state;
    auto const result = scan(
        [&](auto const& sum, auto const& e) {
            auto made = step(sum, e);
            kept.push_back(made);
            made_there.emplace_back(new step_t{sum + e, 2.0f * e});
            last = made;
            state = vector(made.state);
            kept.push_back(step(sum, e));
            return made;
        },
        vector{0, 0}, x);
    static_assert(std::is_same_v<decltype(result.final_state), vector>);
    static_assert(std::is_same_v<decltype(result.scan_outputs), matrix>);
    CHECK(kept[0].state == vector{1, 2});
    CHECK(kept[1].state == vector{1, 2});
    CHECK(kept[3].scan_outputs == vector{6, 8});
    CHECK(made_there[0]->state == vector{1, 2});
    CHECK(made_there[1]->scan_outputs == vector{6, 8});
    CHECK(last->state == vector{9, 12});
    CHECK(*state == vector{9, 12});
    CHECK(result.final_state == vector{9, 12});
}

TEST_CASE("steps outside of an operator are tensors")
{
    auto const step = [](auto const& s, auto const& e) { return scan_step{0.5f * s + e, std::tuple{s, 1}}; };
    auto const made = step(vector{2, 4}, vector{1, 1});
    CHECK(made.state == vector{2, 3});
    CHECK(made.state(1) == 3);
    CHECK(std::get<0>(made.scan_outputs) == vector{2, 4});
    vector const sum = made.state + 1;
    CHECK(sum == vector{3, 4});
    CHECK(xt::sum(made.state)() == 5);
    CHECK(xt::view(made.state, xt::range(0, 1)) == vector{2});
    auto copy = made;
    copy.state = xt::ones<float>({3});
    CHECK(copy.state == vector{1, 1, 1});
    CHECK(made.state == vector{2, 3});
    auto const moved = std::move(copy);
    CHECK(moved.state == vector{1, 1, 1});
    auto const goes_on = loop_step{true, xt::xarray<float>{1, 2} * 2, std::tuple{vector{3} * 2}};
    CHECK(goes_on.cond);
    CHECK(goes_on.state == xt::xarray<float>{2, 4});
    CHECK(std::get<0>(goes_on.scan_outputs) == vector{6});
    CHECK(scan(step, made.state, matrix{{1, 1}}).final_state == vector{2, 2.5f});
    CHECK_THROWS_AS(static_cast<void>(step(vector{1, 2}, vector{1, 2, 3})), xt::broadcast_error);
}

TEST_CASE("operators in a body's expression, whose steps have the same type")
{
    xt::xtensor<float, 3> const x = counting<xt::xtensor<float, 3>>(3, 4, 2);
    auto const sum = [](auto const& s, auto const& e) { return scan_step{s + e, s + e}; };
    auto const outer = [&](auto const& s, auto const& rows) {
        auto const first = scan_step{s * 100, s * 100};
        auto const inner = scan(sum, s, rows);
        return scan_step{0 * first.state + 1.0f * scan(sum, s, rows).final_state,
            xt::view(inner.scan_outputs, 1) - first.state};
    };
    auto const result = scan(outer, vector{1, 2}, x);
    for (std::size_t k = 0; k < 2; ++k) {
        auto s = static_cast<float>(k + 1);
        for (std::size_t t = 0; t < 3; ++t) {
            CHECK(result.scan_outputs(t, k) == s + x(t, 0, k) + x(t, 1, k) - 100 * s);
            for (std::size_t i = 0; i < 4; ++i)
                s += x(t, i, k);
        }
        CHECK(result.final_state(k) == s);
    }
}

TEST_CASE("the step of an outer operator, made in the body of an inner one")
{
    auto const x = inputs(5, 6);
    auto const outer = [&](auto const& s, auto const& e) {
        std::vector<decltype(scan_step{s + e, s + e})> made;
        auto const inner = [&](auto const& u, auto const& v) {
            made.push_back(scan_step{s + e, s - e});
            return scan_step{u + v, u + v};
        };
        scan(inner, s, x);
        return made[2];
    };
    check_items(state_of(6), x, outer, [](float s, float e) { return std::pair(s + e, s - e); });
}

TEST_CASE("a body's exception behind a step")
{
    struct mishap {};
    int made = 0;
    auto const body = [&](auto const& s, auto const& e) {
        auto step = scan_step{s + e, s + e};
        auto second = scan_step{s - e, s + e};
        if (++made == 3)
            throw mishap();
        return step;
    };
    CHECK_THROWS_AS(scan(body, state_of(20), inputs(5, 20)), mishap);
    CHECK(made == 3);
    auto const sum = [](auto const& s, auto const& e) { return scan_step{s + e, s + e}; };
    CHECK(scan(sum, vector{0, 0}, matrix{{1, 2}, {3, 4}}).final_state == vector{4, 6});
}

TEST_CASE("shapes that change or do not broadcast are refused in the iteration that makes them")
{
    matrix const x{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
    vector const two = {1, 2}, one = {1};
    for (float const when : {1.0f, 4.0f, 7.0f}) {
        auto const at = std::to_string(static_cast<int>((when - 1) / 3));
        auto const state = [&](auto const& s, auto const& e) {
            vector const other = e(0) == when ? vector(two) : vector(s);
            return scan_step{other * 2.0f, s + e};
        };
        CHECK_THROWS_WITH_AS(scan(state, vector{0, 0, 0}, x),
            ("xloom::scan: states must keep their shapes in every iteration, but states[0] was [3] and the "
             "body "
             "made it [2] at iteration " +
                at + ". Return a value of the original shape.")
                .c_str(),
            body_error);
        auto const output = [&](auto const& s, auto const& e) {
            vector const other = e(0) == when ? vector(two) : vector(s);
            return scan_step{s + e, other * 2.0f};
        };
        if (when > 1)
            CHECK_THROWS_WITH_AS(scan(output, vector{0, 0, 0}, x),
                ("xloom::scan: scan_outputs must keep their shapes in every iteration, but scan_outputs[0] "
                 "was "
                 "[3] and the body made it [2] at iteration " +
                    at + ". Return a value of the original shape.")
                    .c_str(),
                body_error);
        auto const neither = [&](auto const& s, auto const& e) {
            vector const other = e(0) == when ? vector(two) : vector(one);
            return scan_step{s + e, s + other};
        };
        CHECK_THROWS_AS(scan(neither, vector{0, 0, 0}, x), body_error);
        auto const both = [&](auto const& s, auto const& e) {
            vector const other = e(0) == when ? vector(two) : vector(s);
            return scan_step{other * 2.0f, e + other};
        };
        CHECK_THROWS_WITH(scan(both, vector{0, 0, 0}, x), doctest::Contains("must broadcast"));
    }
}

TEST_CASE("no iteration, and elements without items")
{
    auto const body = [](auto const& s, auto const& e) { return scan_step{s + e, s + e}; };
    auto const none = scan(body, vector{1, 2}, matrix(matrix::shape_type{0, 2}));
    CHECK(none.final_state == vector{1, 2});
    CHECK(none.scan_outputs.shape() == std::array<std::size_t, 2>{0, 0});
    auto const empty = scan(body, matrix(matrix::shape_type{3, 0}), xt::xtensor<float, 3>({4, 3, 0}));
    CHECK(empty.scan_outputs.shape() == std::array<std::size_t, 3>{4, 3, 0});
    auto const other = [](auto const& s, auto const&) { return scan_step{s, xt::zeros<float>({0, 5})}; };
    CHECK_THROWS_AS(scan(
                        [&, t = 0](auto const& s, auto const&) mutable {
                            return scan_step{s, xt::zeros<float>({std::size_t(0), std::size_t(t++)})};
                        },
                        vector{}, matrix(matrix::shape_type{4, 0})),
        body_error);
    CHECK(scan(other, vector{}, matrix(matrix::shape_type{4, 0})).scan_outputs.shape() ==
          std::array<std::size_t, 3>{4, 0, 5});
}

TEST_CASE("strings and other items that allocate")
{
    using strings = xt::xtensor<std::string, 1>;
    strings const init{"a string that is too long to be stored in place", "b"};
    auto const body = [](std::int64_t, bool, auto const& s) {
        return loop_step{true, s + s, s + strings{"!", "?"}};
    };
    auto const result = loop(body, init, {.max_trip_count = 3});
    CHECK(result.final_state(1) == "bbbbbbbb");
    CHECK(result.scan_outputs(2, 1) == "bbbb?");
}

TEST_CASE("loop: carried values that keep their shapes, outputs that grow")
{
    auto const body = [](std::int64_t t, bool, auto const& a, auto const& b) {
        return loop_step{t + 1 < 3000, std::tuple{b, a + 1.0f}, std::tuple{a + b, t}};
    };
    auto const result = loop(body, std::tuple(state_of(19), vector(3.0f * state_of(19))),
        {.max_trip_count = std::int64_t{1} << 40});
    CHECK(result.trip_count == 3000);
    for (std::size_t i = 0; i < 19; ++i) {
        float a = state_of(19)(i), b = 3 * a;
        for (std::size_t t = 0; t < 3000; ++t) {
            CHECK(std::get<0>(result.scan_outputs)(t, i) == a + b);
            std::tie(a, b) = std::tuple(b, a + 1);
        }
        CHECK(std::get<0>(result.final_state)(i) == a);
        CHECK(std::get<1>(result.final_state)(i) == b);
    }
    CHECK(std::get<1>(result.scan_outputs)(2999) == 2999);
}

TEST_CASE("loop: a carried value that changes its shape, then keeps it")
{
    auto const body = [](std::int64_t t, bool, auto const& v) {
        std::size_t const width = t < 5 ? v.size() + 1 : v.size();
        vector const ones = xt::ones<float>({width});
        return loop_step{true, (v.size() == 1 ? v(0) : v(1)) * ones + 1.0f, t};
    };
    auto const result = loop(body, vector{0}, {.max_trip_count = 20});
    CHECK(result.final_state == vector{20, 20, 20, 20, 20, 20});
    auto const arrays = loop(
        [](std::int64_t t, bool, auto const& v) {
            return loop_step{true,
                xt::ones<float>(std::vector<std::size_t>(static_cast<std::size_t>(t % 3), 2)) * xt::sum(v)()};
        },
        xt::xarray<float>{1}, {.max_trip_count = 7});
    CHECK(arrays.final_state() == 64);
}

TEST_CASE("scan_batched: rows on several threads")
{
    auto const body = [](auto const& s, auto const& e) { return scan_step{0.5f * s + e, s - e}; };
    matrix const h = counting<matrix>(5, 17);
    xt::xtensor<float, 3> const x = counting<xt::xtensor<float, 3>>(5, 6, 17);
    xt::xtensor<int, 1> const lens = {6, 0, 1, 5, 3};
    auto const check = [&](auto const& result) {
        for (std::size_t b = 0; b < 5; ++b)
            for (std::size_t i = 0; i < 17; ++i) {
                float s = h(b, i);
                for (std::size_t t = 0; t < 6; ++t)
                    if (static_cast<int>(t) < lens(b)) {
                        CHECK(result.scan_outputs(b, t, i) == s - x(b, t, i));
                        s = 0.5f * s + x(b, t, i);
                    } else {
                        CHECK(result.scan_outputs(b, t, i) == 0);
                    }
                CHECK(result.final_state(b, i) == s);
            }
    };
    check(scan_batched(body, h, x, lens));
    check(scan_batched(body, h, x, lens, thread_policy{3}));
}

} // namespace pure_bodies_test
