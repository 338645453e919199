// Loops of a team: each part is run once, by as many threads as have come.

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <thread>
#include <vector>

#include <xloom/detail/core/team.hpp>
#include <xloom/interop/threads.hpp>

namespace team_test {

using namespace xloom;
using namespace xloom::detail;

namespace {

/// Runs all parts on the calling thread, and says that there are more.
struct one_by_one {
    static std::size_t concurrency() { return 3; } // not constexpr: it may differ from call to call

    template <class F>
    void for_each(std::size_t parts, F const& f) const
    {
        for (std::size_t part = parts; part-- > 0;)
            f(part);
    }
};

/// Two threads, of which the second one begins when it is told.
struct late_second {
    std::atomic<bool>& may_begin;

    static std::size_t concurrency() { return 2; }

    template <class F>
    void for_each(std::size_t, F const& f) const
    {
        std::thread second([&] {
            while (!may_begin)
                std::this_thread::yield();
            f(1);
        });
        f(0);
        may_begin = true; // if nobody has said so
        second.join();
    }
};

/// Runs loops of all numbers of parts, and returns the number of wrong ones.
std::size_t wrong_loops(policy_ref const& policy)
{
    std::size_t wrong = 0;
    for (std::size_t loop = 0; loop < 2000; ++loop) {
        std::size_t const parts = loop % 7;
        std::vector<std::size_t> runs(parts); // each is written by one thread
        policy.for_each(parts, [&](std::size_t part) { runs[part] += part + loop; });
        for (std::size_t part = 0; part < parts; ++part)
            wrong += runs[part] != part + loop;
    }
    return wrong;
}

} // namespace

TEST_CASE("team: each part of each loop runs once, and the leader sees what it wrote")
{
    for (std::size_t const threads : {1u, 2u, 3u, 5u}) {
        std::atomic<std::size_t> leaders = 0, wrong = 1;
        run_in_team(policy_ref(thread_policy(threads)), threads, [&](policy_ref const& team) {
            ++leaders;
            CHECK(team.concurrency() == threads);
            wrong = wrong_loops(team);
        });
        CHECK(leaders == 1);
        CHECK(wrong == 0);
    }
}

TEST_CASE("team: a policy that runs its parts one after another has a leader alone")
{
    std::size_t leaders = 0, wrong = 1;
    one_by_one const policy;
    run_in_team(policy_ref(policy), 3, [&](policy_ref const& team) {
        ++leaders;
        wrong = wrong_loops(team);
    });
    CHECK(leaders == 1);
    CHECK(wrong == 0);
}

TEST_CASE("team: a thread that comes late takes part from then on")
{
    std::atomic<bool> may_begin = false;
    late_second const policy{may_begin};
    std::size_t loops = 0, shared_before = 0;
    bool is_shared = false;
    run_in_team(policy_ref(policy), 2, [&](policy_ref const& team) {
        for (; !is_shared; ++loops) { // the second one comes sooner or later
            std::thread::id ran[2];
            team.for_each(2, [&](std::size_t part) { ran[part] = std::this_thread::get_id(); });
            is_shared = ran[0] != ran[1];
            shared_before += is_shared && !may_begin;
            may_begin = may_begin || loops == 10;
        }
    });
    CHECK(loops > 11);
    CHECK(shared_before == 0);
}

TEST_CASE("team: a part that a member has not begun is the leader's, who waits for no other one")
{
    std::atomic<bool> may_go_on = false;
    std::size_t wrong = 1;
    run_in_team(policy_ref(thread_policy(2)), 2, [&](policy_ref const& team) {
        std::thread::id const leader = std::this_thread::get_id();
        std::atomic<bool> is_held = false;
        std::thread::id ran[3];
        // Part 0 is the leader's. Once the other thread is in part 1 or 2, it stays there, and the leader
        // runs the third one.
        team.for_each(3, [&](std::size_t part) {
            ran[part] = std::this_thread::get_id();
            if (ran[part] != leader) {
                is_held = true;
                while (!may_go_on)
                    std::this_thread::yield();
            } else if (part == 0) {
                while (!is_held)
                    std::this_thread::yield();
            } else {
                may_go_on = true;
            }
        });
        wrong = std::size_t(ran[0] != leader) + std::size_t((ran[1] == leader) == (ran[2] == leader));
    });
    CHECK(wrong == 0);
}

TEST_CASE("team: what the leader throws ends it, and comes out of the policy")
{
    for (std::size_t const loops : {0u, 1u, 100u})
        CHECK_THROWS_WITH_AS(run_in_team(policy_ref(thread_policy(3)), 3,
                                 [&](policy_ref const& team) {
                                     for (std::size_t loop = 0; loop < loops; ++loop)
                                         team.for_each(3, [](std::size_t) {});
                                     throw std::runtime_error("enough");
                                 }),
            "enough", std::runtime_error);
}

} // namespace team_test
