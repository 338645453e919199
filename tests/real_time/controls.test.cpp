// What the other files require is seen where it does not hold.

#include "steady.hpp"

#include <cstddef>
#include <cstdlib>
#include <mutex>

#include <sys/mman.h>
#include <unistd.h>

namespace real_time_controls_test {

using namespace steady;

namespace {

void* volatile kept = nullptr; // so that no compiler does without an allocation

void allocate_new()
{
    kept = ::operator new(4);
    ::operator delete(kept);
}
void allocate(std::size_t bytes)
{
    kept = std::malloc(bytes);
    std::free(kept);
}

} // namespace

TEST_CASE("arithmetic is steady")
{
    float sum = 0;
    check(1000, [&] { sum = 0.5f * sum + 1; });
    CHECK(sum == 2);
}

TEST_CASE("an allocation is counted, and one that takes memory of the system kills the child")
{
    CHECK(requests_of(10, allocate_new).allocations == 10);
    CHECK(requests_of(10, [] { allocate(4); }).allocations == 10);
    CHECK(ending_of(1, [] { allocate(std::size_t{1} << 28); }) == ending::killed);
}

TEST_CASE("a lock is counted, and one that waits kills the child")
{
    std::mutex mutex;
    CHECK(requests_of(10, [&] { std::scoped_lock const lock(mutex); }).locks == 10);
    // The first call, in this process, leaves the mutex locked; the second one, in the child, waits for it.
    CHECK(ending_of(1, [&] { mutex.lock(); }) == ending::killed);
    mutex.unlock();
}

TEST_CASE("a page that is touched for the first time is counted")
{
    constexpr std::size_t page = 4096, pages = 4096;
    auto* const memory = static_cast<char*>(
        mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(memory != MAP_FAILED);
    madvise(memory, pages * page, MADV_NOHUGEPAGE);
    std::size_t touched = 0;
    CHECK(requests_of(100, [&] { memory[touched++ * page] = 1; }).page_faults > 0);
    munmap(memory, pages * page);
}

TEST_CASE("a system call kills the child")
{
    CHECK(ending_of(1, [] { getppid(); }) == ending::killed);
}

} // namespace real_time_controls_test
