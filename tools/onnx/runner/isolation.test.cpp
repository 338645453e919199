// run_isolated: returns a result whatever a test does.

#include <csignal>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <unistd.h>

#include "isolation.hpp"

using namespace runner;

TEST_CASE("a test_result comes back as it is")
{
    for (outcome const each : {outcome::passed, outcome::failed, outcome::skipped, outcome::contradicted}) {
        test_result const found = run_isolated([&] { return test_result{each, "because"}; });
        CHECK(found.result == each);
        CHECK(found.why == "because");
    }
    std::string const text(1 << 20, 'x'); // more than a pipe holds
    CHECK(run_isolated([&] { return test_result{outcome::failed, text}; }).why == text);
}

TEST_CASE("a crash, an end and a hang are failures")
{
    auto why = [](auto test, process_limits allowed = {}) {
        test_result const found = run_isolated(
            [&] {
                test();
                return test_result{outcome::passed};
            },
            allowed);
        CHECK(found.result == outcome::failed);
        return found.why;
    };
    CHECK(why([] { raise(SIGKILL); }) == "it crashes: Killed");
    CHECK(why([] { _exit(0); }) == "it ends the process with status 0");
    CHECK(why([] { _exit(3); }) == "it ends the process with status 3");
    auto const hang = [] { std::this_thread::sleep_for(std::chrono::hours(1)); };
    CHECK(why(hang, {std::chrono::milliseconds(50)}) == "it does not end within 50 ms");
}
