// How much memory a loop's scan outputs take on the way.

#include <doctest/doctest.h>

#include <algorithm>

#include <xloom/control_flow/loop.hpp>
#include <xloom/control_flow/scan.hpp>
#include <xloom/control_flow/scan_batched.hpp>

#include "../support/grid.hpp"
#include "../support/xtensor_extras.hpp"
#include "counting_new.hpp"

namespace allocation_loop_memory_test {

namespace {

std::size_t live_bytes = 0;
std::size_t peak_bytes = 0;

template <class T>
struct metered_allocator {
    using value_type = T;
    metered_allocator() = default;
    template <class U>
    metered_allocator(metered_allocator<U> const&)
    {}
    T* allocate(std::size_t count)
    {
        live_bytes += count * sizeof(T);
        peak_bytes = std::max(peak_bytes, live_bytes);
        return std::allocator<T>().allocate(count);
    }
    void deallocate(T* items, std::size_t count)
    {
        live_bytes -= count * sizeof(T);
        std::allocator<T>().deallocate(items, count);
    }
    friend bool operator==(metered_allocator, metered_allocator) { return true; }
};

using element = user::grid<double, 1, metered_allocator<double>>;

/// The largest number of bytes held during a loop, in units of its final outputs.
double peak_of(std::int64_t trips, xloom::loop_options const& options)
{
    peak_bytes = live_bytes;
    auto const result = xloom::loop(
        [&](std::int64_t i, bool) {
            return xloom::loop_step{i + 1 < trips, std::tuple{}, element({64})};
        },
        std::tuple{}, options);
    CHECK(result.trip_count == trips);
    return static_cast<double>(peak_bytes) /
           static_cast<double>(64 * sizeof(double) * static_cast<std::size_t>(trips));
}

} // namespace

TEST_CASE("at most 3 times the final size while the number of iterations is open")
{
    double worst = 0;
    for (std::int64_t const trips : {100, 128, 129, 255, 256, 257, 1000, 1024, 1025, 3000})
        for (auto const limit : {std::optional<std::int64_t>{}, std::optional<std::int64_t>{4000},
                 std::optional<std::int64_t>{std::int64_t{1} << 62}})
            worst = std::max(worst, peak_of(trips, {.max_trip_count = limit}));
    CHECK(worst <= 3.0);
    CHECK(worst > 1.5);
}

TEST_CASE("the final size alone, and one element, where the number of iterations is certain")
{
    CHECK(peak_of(1000, {.max_trip_count = 1000, .cond = std::nullopt}) <= 1.002);
}

TEST_CASE(
    "a loop that reaches its trip count takes its memory once, also where a condition could have ended it")
{
    std::size_t const before = allocations();
    auto const result = xloom::loop(
        [](std::int64_t i, bool, double v) {
            return xloom::loop_step{i >= 0, v + 1, v};
        },
        0.0, {.max_trip_count = 100'000});
    CHECK(result.scan_outputs(99'999) == 99'999);
    CHECK(allocations() - before == (counts_containers ? 1 : 0));
}

TEST_CASE("a loop that ends long before its trip count takes little memory")
{
    std::size_t const before = allocated_bytes();
    auto const result = xloom::loop(
        [](std::int64_t i, bool, double v) {
            return xloom::loop_step{i < 2, v + 1, v};
        },
        0.0, {.max_trip_count = 100'000'000});
    CHECK(result.trip_count == 3);
    CHECK(allocated_bytes() - before <= 1024);
}

TEST_CASE("a scan of many states allocates nothing in its later iterations")
{
    using vector = xt::xtensor<double, 1>;
    auto const run = [](std::size_t length) {
        std::size_t const before = allocations();
        auto const body = [](auto const&... states) {
            return xloom::scan_step{std::tuple{(states + 1.0)...}};
        };
        vector const one{1, 2, 3, 4};
        auto const init = std::tie(one, one, one, one, one, one, one, one, one, one, one, one);
        auto const result = xloom::scan(body, init, std::tuple{}, {.length = length});
        CHECK(std::get<11>(result.final_state)(0) == static_cast<double>(length) + 1);
        return allocations() - before;
    };
    CHECK(run(1000) == run(1));
}

TEST_CASE("a scan of rows allocates nothing in its later rows")
{
    auto const run = [](std::size_t rows) {
        xt::xtensor<double, 2> const init = xt::ones<double>({rows, std::size_t{4}});
        xt::xtensor<double, 3> const x = xt::ones<double>({rows, std::size_t{2}, std::size_t{4}});
        std::size_t const before = allocations();
        auto const body = [](auto const& s, auto const& x_t) { return xloom::scan_step{s + x_t}; };
        auto const result = xloom::scan_batched(body, init, x);
        CHECK(result.final_state(rows - 1, 3) == 3);
        return allocations() - before;
    };
    CHECK(run(100) == run(2));
}

TEST_CASE("a body that hands a state or another variable out allocates nothing in its later iterations")
{
    using vector = xt::xtensor<double, 1>;
    vector const one{1, 2, 3, 4};
    auto const run = [&](std::size_t length) {
        std::size_t const before = allocations();
        auto const step = [&](vector const& s) { return xloom::scan_step{s * 0.5, std::tie(s, one)}; };
        auto const scanned = xloom::scan(step, one, std::tuple{}, {.length = length});
        CHECK(std::get<1>(scanned.scan_outputs)(length - 1, 3) == 4);
        auto const trip = [&](std::int64_t, bool, vector const& v) { return xloom::loop_step{true, one, v}; };
        auto const looped = xloom::loop(
            trip, one, {.max_trip_count = static_cast<std::int64_t>(length), .cond = std::nullopt});
        CHECK(looped.scan_outputs(length - 1, 3) == 4);
        return allocations() - before;
    };
    CHECK(run(1000) == run(1));
}

TEST_CASE("memory of a carried value that has shrunk is given back")
{
    using vector = xt::xtensor<double, 1>;
    vector const init = xt::ones<double>({100'000});
    std::size_t const before = held_bytes();
    std::size_t held = 0;
    auto const body = [&](std::int64_t i, bool, vector const& v) {
        held = held_bytes() - before;
        return xloom::loop_step{true, xt::ones<double>({i < 10 ? v.size() - 1000 : std::size_t{10}})};
    };
    xloom::loop(body, init, {.max_trip_count = 20});
    CHECK(held < 10'000);
}

} // namespace allocation_loop_memory_test
