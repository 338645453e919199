// The steps of one thread for which others wait.

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include <xloom/detail/core/progress.hpp>

namespace progress_test {

using xloom::detail::progress;

TEST_CASE("progress: what is reached is reached, until it is given up")
{
    progress done;
    CHECK(done.has_reached(0));
    CHECK(done.wait_for(0));
    CHECK_FALSE(done.has_reached(1));
    done.reach(3);
    CHECK(done.wait_for(2));
    CHECK(done.wait_for(3));
    CHECK_FALSE(done.has_reached(4));
    done.give_up();
    CHECK_FALSE(done.wait_for(4));
    CHECK_FALSE(done.has_reached(3));
    done.reach(5);
    CHECK_FALSE(done.wait_for(5));
}

// The waiting thread goes to sleep, and wakes up.
TEST_CASE("progress: a thread waits for another one, however long it takes")
{
    for (bool const gives_up : {false, true}) {
        progress done;
        int written = 0;
        std::thread other([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(30));
            written = 1;
            gives_up ? done.give_up() : done.reach(1);
        });
        CHECK(done.wait_for(1) == !gives_up);
        CHECK(written == 1);
        other.join();
    }
}

} // namespace progress_test
