#include <doctest/doctest.h>

#include <string>

#include <xloom/control_flow/loop.hpp>

#include "support/xtensor_extras.hpp"

namespace loop_test {

using xloom::loop;
using xloom::loop_step;

namespace {

using sequence = std::vector<xt::xtensor<float, 1>>;

/// Counts to `last`, then says stop.
constexpr auto count_to = [](int last) {
    return [last](std::int64_t iteration, bool, int n) { return loop_step{iteration + 1 < last, n + 1, n}; };
};

} // namespace

TEST_CASE("Loop-1's and Loop-21's sample with a = 3, b = 6, M = 10")
{
    struct sample {
        int b_in;
        int b_out;
        bool keepgoing;
    };
    auto const step = [a = 3](int b_in) {
        int const my_local = a + b_in;
        int const b_out = a - b_in;
        return sample{b_in, b_out, my_local > b_out};
    };
    SUBCASE("the graph adds b_in + b_in")
    {
        auto const [b, user_defined_vals, cond, trips, stopped] = loop(
            [&](std::int64_t, bool, int b_in) {
                auto const s = step(b_in);
                return loop_step{s.keepgoing, s.b_out, s.b_in + s.b_in};
            },
            6, {.max_trip_count = 10});
        CHECK(user_defined_vals == xt::xtensor<int, 1>{12, -6});
        CHECK(b == 6);
        CHECK(!cond);
        CHECK(trips == 2);
        CHECK(!stopped);
    }
    SUBCASE("Loop-1's C code adds b_out + b_out")
    {
        auto const result = loop(
            [&](std::int64_t, bool, int b_in) {
                auto const s = step(b_in);
                return loop_step{s.keepgoing, s.b_out, s.b_out + s.b_out};
            },
            6, {.max_trip_count = 10});
        CHECK(result.scan_outputs == xt::xtensor<int, 1>{-6, 12});
        CHECK(result.trip_count == 2);
    }
}

TEST_CASE("trip count and cond, each present or absent")
{
    struct expectation {
        std::optional<std::int64_t> max_trip_count;
        std::optional<bool> cond;
        std::int64_t trips;
        bool final_cond;
    };
    // The body goes on for 3 iterations, then says stop.
    for (auto const& [max_trip_count, cond, trips, final_cond] : {
             expectation{2, true, 2, true},             // for and cond: the trip count ends it
             expectation{3, true, 3, false},            // both at once
             expectation{5, true, 3, false},            // for and cond: cond ends it
             expectation{std::nullopt, true, 3, false}, // while
             expectation{5, std::nullopt, 5, true},     // for: the body's cond is ignored
             expectation{0, true, 0, true},             // no iterations
             expectation{-7, true, 0, true},            // a negative trip count is none
             expectation{-7, std::nullopt, 0, true},
             expectation{5, false, 0, false}, // cond is tested before the first iteration
             expectation{std::nullopt, false, 0, false},
         }) {
        auto const result = loop(count_to(3), 100, {.max_trip_count = max_trip_count, .cond = cond});
        CHECK(result.trip_count == trips);
        CHECK(result.cond == final_cond);
        CHECK(!result.stopped);
        CHECK(result.final_state == 100 + trips);
        CHECK(result.scan_outputs.size() == static_cast<std::size_t>(trips));
    }
}

TEST_CASE("the body gets the iteration number from 0 and the current cond")
{
    std::vector<std::int64_t> iterations;
    std::vector<bool> conds;
    auto const body = [&](std::int64_t iteration, bool cond, int n) {
        iterations.push_back(iteration);
        conds.push_back(cond);
        return loop_step{false, n};
    };
    loop(body, 0, {.max_trip_count = 3, .cond = std::nullopt});
    CHECK(iterations == std::vector<std::int64_t>{0, 1, 2});
    CHECK(conds == std::vector<bool>{true, true, true});
}

TEST_CASE("without trip count and cond only the stop_token ends the loop, and what was done is returned")
{
    xloom::stop_source source;
    auto const result = loop(
        [&](std::int64_t iteration, bool, int n) {
            if (iteration == 4)
                source.request_stop();
            return loop_step{false, n + 1, 10 * n};
        },
        0, {.cond = std::nullopt, .stop = source.get_token()});
    CHECK(result.stopped);
    CHECK(result.trip_count == 5);
    CHECK(result.final_state == 5);
    CHECK(result.scan_outputs == xt::xtensor<int, 1>{0, 10, 20, 30, 40});
    CHECK(result.cond);
}

TEST_CASE("a loop stopped before it began returns the initial values; one that had ended was not stopped")
{
    xloom::stop_source source;
    source.request_stop();
    auto const before = loop(count_to(3), 7, {.max_trip_count = 5, .stop = source.get_token()});
    CHECK(before.stopped);
    CHECK(before.trip_count == 0);
    CHECK(before.final_state == 7);
    auto const ended = loop(count_to(3), 7, {.max_trip_count = 0, .stop = source.get_token()});
    CHECK(!ended.stopped);
}

TEST_CASE("carried values may change their shape, and their rank if they are xarrays")
{
    auto const grown = loop(
        [](std::int64_t, bool, xt::xtensor<float, 1> const& v) {
            xt::xtensor<float, 1> longer = xt::xtensor<float, 1>::from_shape({v.size() + 2});
            longer.fill(static_cast<float>(v.size()));
            return loop_step{longer.size() < 7, longer};
        },
        xt::xtensor<float, 1>{1}, {});
    CHECK(grown.final_state.size() == 7);
    CHECK(grown.final_state(0) == 5);
    CHECK(grown.trip_count == 3);

    auto const raised = loop(
        [](std::int64_t, bool, xt::xarray<float> const& v) {
            std::vector<std::size_t> dims(v.shape().begin(), v.shape().end());
            dims.push_back(2);
            xt::xarray<float> higher = xt::ones<float>(dims);
            return loop_step{true, higher, static_cast<int>(higher.dimension())};
        },
        xt::xarray<float>(3.f), {.max_trip_count = 3});
    CHECK(raised.final_state.shape() == xt::dynamic_shape<std::size_t>{2, 2, 2});
    CHECK(raised.scan_outputs == xt::xtensor<int, 1>{1, 2, 3});
}

TEST_CASE("scan outputs stack along a new leading axis, of any item type")
{
    auto const result = loop(
        [](std::int64_t iteration, bool, std::string const& s) {
            xt::xtensor<double, 2> const y = xt::ones<double>({2, 3}) * static_cast<double>(iteration);
            return loop_step{true, s + "a", std::tuple{y, s, xt::xarray<float>(y), iteration % 2 == 0}};
        },
        std::string(), {.max_trip_count = 40});
    auto const& [y, s, z, even] = result.scan_outputs;
    static_assert(std::is_same_v<decltype(y), xt::xtensor<double, 3> const>);
    static_assert(std::is_same_v<decltype(even), xt::xtensor<bool, 1> const>);
    CHECK(y.shape() == std::array<std::size_t, 3>{40, 2, 3});
    CHECK(y(39, 1, 2) == 39);
    CHECK(s(3) == "aaa");
    CHECK(s(39).size() == 39);
    CHECK(z.dimension() == 3);
    CHECK(z(17, 0, 0) == 17);
    CHECK(even(38));
    CHECK(!even(39));
}

TEST_CASE("no iterations: outputs of length 0")
{
    auto const result = loop(
        [](std::int64_t, bool, xt::xtensor<float, 2> const& v) {
            return loop_step{true, v, std::tuple{v, xt::xarray<float>(v), 1}};
        },
        xt::xtensor<float, 2>{{1, 2}}, {.max_trip_count = 0});
    auto const& [y, z, n] = result.scan_outputs;
    CHECK(result.final_state == xt::xtensor<float, 2>{{1, 2}});
    CHECK(y.shape() == std::array<std::size_t, 3>{0, 0, 0});
    CHECK(z.shape() == xt::dynamic_shape<std::size_t>{0});
    CHECK(n.size() == 0);
}

TEST_CASE("sequences are carried")
{
    auto const result = loop(
        [](std::int64_t iteration, bool, sequence const& before) {
            sequence after = before;
            after.push_back(xt::arange<float>(static_cast<float>(iteration)));
            return loop_step{true, after};
        },
        sequence{}, {.max_trip_count = 4});
    CHECK(result.final_state.size() == 4);
    CHECK(result.final_state[3] == xt::xtensor<float, 1>{0, 1, 2});
}

TEST_CASE("an optional goes in, a sequence comes back: Loop-16")
{
    auto const body = [](std::int64_t iteration, bool, std::optional<sequence> const& before) {
        sequence after = before.value_or(sequence{});
        after.push_back(xt::ones<float>({static_cast<std::size_t>(iteration) + 1}));
        return loop_step{true, after};
    };
    auto const from_nothing = loop(body, std::optional<sequence>{}, {.max_trip_count = 3});
    CHECK(from_nothing.final_state->size() == 3);
    CHECK(from_nothing.final_state->at(2).size() == 3);
    auto const untouched = loop(body, std::optional<sequence>{}, {.max_trip_count = 0});
    CHECK(!untouched.final_state.has_value());
}

TEST_CASE("several carried values of all kinds")
{
    auto const [state, none, cond, trips, stopped] = loop(
        [](std::int64_t, bool, auto const& v, int n, sequence const& s, std::optional<int> const& o) {
            sequence longer = s;
            longer.push_back(v);
            return loop_step{n < 3, std::tuple{v * 2, n + 1, longer, std::optional<int>(o.value_or(0) + n)}};
        },
        std::tuple{xt::xtensor<float, 1>{1, 2}, 1, sequence{}, std::optional<int>{}}, {});
    static_assert(std::is_same_v<decltype(none), std::tuple<> const>);
    auto const& [v, n, s, o] = state;
    CHECK(v == xt::xtensor<float, 1>{8, 16});
    CHECK(n == 4);
    CHECK(s.size() == 3);
    CHECK(s[2] == xt::xtensor<float, 1>{4, 8});
    CHECK(o == 6);
    CHECK(trips == 3);
    CHECK(!cond);
    CHECK(!stopped);
}

TEST_CASE("no carried values: legal since Loop-11")
{
    auto const result = loop(
        [](std::int64_t iteration, bool) {
            return loop_step{iteration < 3, std::tuple{}, iteration * iteration};
        },
        std::tuple{}, {});
    CHECK(result.scan_outputs == xt::xtensor<std::int64_t, 1>{0, 1, 4, 9});
}

TEST_CASE("the value of an optional is replaced by one in another container")
{
    std::optional<std::vector<float>> const given = std::vector<float>{1, 2};
    for (auto const& init : {given, std::optional<std::vector<float>>()}) {
        auto const result = loop(
            [](std::int64_t i, bool, auto const& v) {
                auto const first = v ? v->front() : 0.0f;
                return loop_step{true, xt::xarray<float>(xt::ones<float>({i + 1}) * (first + 1))};
            },
            init, {.max_trip_count = 3});
        REQUIRE(result.final_state);
        CHECK(*result.final_state == std::vector<float>(3, init ? 4.0f : 3.0f));
    }
    auto const emptied = loop(
        [](std::int64_t i, bool, auto const&) {
            using values = xt::xtensor<float, 1>;
            return loop_step{true, i == 0 ? std::optional<values>(values{5}) : std::optional<values>()};
        },
        given, {.max_trip_count = 2});
    CHECK(!emptied.final_state);
}

TEST_CASE("the value of an optional is replaced by an expression or a variable")
{
    using values = xt::xtensor<double, 1>;
    std::optional<values> const given = values{1, 2};
    auto const doubled = loop(
        [](std::int64_t, bool, auto const& v) {
            return loop_step{true, 2 * *v};
        },
        given, {.max_trip_count = 3});
    CHECK(doubled.final_state == values{8, 16});
    auto const longer = loop(
        [](std::int64_t i, bool, auto const& v) {
            values const next = v ? values(xt::ones<double>({i + 1})) : values{5};
            return loop_step{true, next};
        },
        std::optional<values>(), {.max_trip_count = 3});
    CHECK(longer.final_state == values{1, 1, 1});
}

} // namespace loop_test
