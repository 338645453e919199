// thread_policy: parts, threads, exceptions, and the bits of an operator.

#include <atomic>
#include <cstddef>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <xloom/interop/threads.hpp>
#include <xloom/parallel/cumulative.hpp>

#include "support/xtensor_extras.hpp"

namespace threads_test {

static_assert(xloom::execution_policy<xloom::thread_policy>);

/// A policy of a program's own without threads.
struct own_serial {
    static constexpr std::size_t concurrency() { return 1; }
    template <class F>
    void for_each(std::size_t parts, F const& f) const
    {
        xloom::serial.for_each(parts, f);
    }
};
static_assert(xloom::detail::has_threads<xloom::thread_policy>);
static_assert(!xloom::detail::has_threads<xloom::serial_policy>);
static_assert(!xloom::detail::has_threads<own_serial>);

TEST_CASE("thread_policy: each part once, on at most as many threads as there may be")
{
    for (std::size_t const concurrency : std::initializer_list<std::size_t>{0, 1, 2, 5})
        for (std::size_t const parts : std::initializer_list<std::size_t>{0, 1, 4, 100}) {
            xloom::thread_policy const policy(concurrency);
            CHECK(policy.concurrency() == (concurrency == 0 ? 1 : concurrency));
            std::vector<std::atomic<int>> calls(parts);
            std::set<std::thread::id> threads;
            std::mutex mutex;
            policy.for_each(parts, [&](std::size_t part) {
                ++calls[part];
                std::scoped_lock const lock(mutex);
                threads.insert(std::this_thread::get_id());
            });
            for (std::atomic<int> const& each : calls)
                CHECK(each == 1);
            CHECK(threads.size() <= policy.concurrency());
        }
}

TEST_CASE("thread_policy: parts of different threads run at the same time")
{
    std::atomic<int> waiting = 0;
    xloom::thread_policy(3).for_each(3, [&](std::size_t) {
        ++waiting;
        while (waiting != 3)
            std::this_thread::yield();
    });
    CHECK(waiting == 3);
}

TEST_CASE("thread_policy: an exception of a part is thrown when all threads have ended")
{
    for (std::size_t const thrower : std::initializer_list<std::size_t>{0, 3}) {
        std::atomic<int> ended = 0;
        CHECK_THROWS_WITH_AS(xloom::thread_policy(4).for_each(4,
                                 [&](std::size_t part) {
                                     if (part == thrower)
                                         throw std::domain_error("part " + std::to_string(part));
                                     ++ended;
                                 }),
            ("part " + std::to_string(thrower)).c_str(), std::domain_error);
        CHECK(ended == 3);
    }
    CHECK_THROWS_AS(xloom::thread_policy(2).for_each(9, [](std::size_t) { throw std::domain_error("each"); }),
        std::domain_error);
}

TEST_CASE("thread_policy: the bits of an operator are those of one thread")
{
    xt::xtensor<float, 1> const x = xt::ones<float>({400000}) / 3.0f;
    CHECK(xloom::cumulative_sum(x, xloom::thread_policy(3)) == xloom::cumulative_sum(x));
}

} // namespace threads_test
