// Memory of what bodies return: reused within a running operator, its own affair in nested ones, freed at the
// end (run under a leak checker), and no concern of values that live on.

#include <doctest/doctest.h>

#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <xloom/control_flow/loop.hpp>
#include <xloom/control_flow/scan.hpp>
#include <xloom/detail/scan/step_memory.hpp>

namespace run_scan_step_memory_test {

using namespace xloom;
using detail::step_memory_pool;

namespace {

using vector = xt::xtensor<float, 1>;
using recycled = std::vector<float, detail::step_memory_allocator<float>>;

} // namespace

TEST_CASE("a cache gives the same block out again, by size")
{
    step_memory_pool cache;
    void* const small = step_memory_pool::take(32);
    void* const large = step_memory_pool::take(64);
    step_memory_pool::give_back(small, 32);
    step_memory_pool::give_back(large, 64);
    void* const other = step_memory_pool::take(48);
    CHECK(other != small);
    CHECK(other != large);
    CHECK(step_memory_pool::take(64) == large);
    CHECK(step_memory_pool::take(32) == small);
    void* const second = step_memory_pool::take(32);
    CHECK(second != small);
    step_memory_pool::give_back(small, 32);
    step_memory_pool::give_back(large, 64);
    step_memory_pool::give_back(other, 48);
    step_memory_pool::give_back(second, 32);
}

TEST_CASE("a cache keeps as many blocks as were in use at once")
{
    step_memory_pool cache;
    std::vector<void*> blocks;
    for (std::size_t i = 0; i < 50; ++i)
        blocks.push_back(step_memory_pool::take(16));
    std::set<void*> const all(blocks.begin(), blocks.end());
    CHECK(all.size() == 50);
    for (void* const block : blocks)
        step_memory_pool::give_back(block, 16);
    std::set<void*> again;
    for (std::size_t i = 0; i < 50; ++i)
        again.insert(step_memory_pool::take(16));
    CHECK(again == all);
    for (void* const block : again)
        step_memory_pool::give_back(block, 16);
}

TEST_CASE("without a cache memory comes from the system and goes back to it")
{
    recycled values(10, 1.0f);
    CHECK(values == recycled(10, 1.0f));
    values.resize(1000);
}

TEST_CASE("an inner cache takes blocks of the outer values and leaves the outer cache its own")
{
    step_memory_pool outer;
    void* const kept = step_memory_pool::take(32);
    step_memory_pool::give_back(kept, 32);
    recycled from_outside(4, 2.0f);
    {
        step_memory_pool inner;
        void* const fresh = step_memory_pool::take(32);
        CHECK(fresh != kept);
        step_memory_pool::give_back(fresh, 32);
        recycled const moved = std::move(from_outside);
        CHECK(moved[3] == 2.0f);
    }
    CHECK(step_memory_pool::take(32) == kept);
    step_memory_pool::give_back(kept, 32);
}

TEST_CASE("values outlive the cache that gave them their memory")
{
    std::optional<recycled> value;
    {
        step_memory_pool cache;
        recycled(16, 0.0f);
        value.emplace(16, 3.0f);
    }
    CHECK(*value == recycled(16, 3.0f));
    value->push_back(4.0f);
}

TEST_CASE("values are freed on another thread than they were made on")
{
    step_memory_pool cache;
    recycled value(16, 3.0f);
    std::thread([moved = std::move(value)]() mutable { moved.push_back(1.0f); }).join();
}

TEST_CASE("too many items are refused, not wrapped around")
{
    detail::step_memory_allocator<double> allocator;
    CHECK_THROWS_AS(
        static_cast<void>(allocator.allocate(static_cast<std::size_t>(-1) / 4)), std::bad_array_new_length);
}

TEST_CASE("what a body keeps of its step lives on after the operator")
{
    xt::xtensor<float, 2> const x{{1, 2}, {3, 4}, {5, 6}};
    vector const h{0, 0};
    auto const step = [](auto const& sum, auto const& x_t) { return scan_step{sum + x_t, 2.0f * x_t}; };
    using step_t = decltype(step(h, h));
    static_assert(!std::is_same_v<decltype(step_t::state), vector>);
    std::vector<step_t> kept;
    auto const result = scan(
        [&](auto const& sum, auto const& x_t) {
            kept.push_back(step(sum, x_t));
            return kept.back();
        },
        h, x);
    CHECK(kept[2].state == vector{9, 12});
    CHECK(kept[1].scan_outputs == vector{6, 8});
    CHECK(result.final_state == vector{9, 12});
    kept.clear();
}

TEST_CASE("results are ordinary containers, whatever lived in recycled memory")
{
    xt::xtensor<float, 2> const x{{1, 2}, {3, 4}};
    auto const result = scan(
        [](auto const& sum, auto const& x_t) {
            return scan_step{sum + x_t, std::tuple{sum + x_t, x_t}};
        },
        vector{0, 0}, x);
    static_assert(std::is_same_v<decltype(result.final_state), vector>);
    static_assert(
        std::is_same_v<std::tuple_element_t<0, decltype(result.scan_outputs)>, xt::xtensor<float, 2>>);
    CHECK(result.final_state == vector{4, 6});
}

TEST_CASE("operators in bodies of operators recycle each for itself")
{
    xt::xtensor<float, 3> const x = xt::ones<float>({3, 4, 2});
    vector const zero{0, 0};
    auto const outer = [&](auto const& sum, auto const& x_t) {
        auto const inner = scan(
            [](auto const& s, auto const& x_ts) {
                auto const twice = loop(
                    [](std::int64_t, bool, auto const& v) {
                        return loop_step{true, v + v};
                    },
                    x_ts, {.max_trip_count = 1});
                return scan_step{s + twice.final_state, s + x_ts};
            },
            sum, x_t);
        return scan_step{1.0f * inner.final_state, inner.scan_outputs};
    };
    auto const result = scan(outer, zero, x);
    CHECK(result.final_state == vector{24, 24});
    CHECK(result.scan_outputs(2, 3, 1) == 23);
}

TEST_CASE("strings in recycled containers are destroyed")
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

} // namespace run_scan_step_memory_test
