// Pure bodies: which step counts, how long its values live, exceptions and shapes, loops and rows.

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <xloom/control_flow/loop.hpp>
#include <xloom/control_flow/scan_batched.hpp>
#include <xloom/interop/threads.hpp>

#include "support/pure_bodies.hpp"
#include "support/xtensor_extras.hpp"

namespace pure_steps_test {

using namespace xloom;
using namespace pure_bodies;

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

TEST_CASE("a body's exception after a step")
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

} // namespace pure_steps_test
