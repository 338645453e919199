// Communicators: what a program that runs alone receives, and what is none.

#include <doctest/doctest.h>

#include <array>

#include <xloom/detail/core/communicator.hpp>

namespace core_communicator_test {

using namespace xloom;

namespace {

struct without_size {
    std::size_t rank() const { return 0; }
    void all_gather(std::span<std::byte const>, std::span<std::byte>) const {}
    void exchange(std::size_t, std::span<std::byte const>, std::size_t, std::span<std::byte>) const {}
};
struct without_exchange {
    std::size_t rank() const { return 0; }
    std::size_t size() const { return 1; }
    void all_gather(std::span<std::byte const>, std::span<std::byte>) const {}
};

} // namespace

static_assert(communicator<single_rank> && !communicator<without_size> && !communicator<without_exchange> &&
              !communicator<int>);

TEST_CASE("single_rank gathers its own bytes")
{
    std::array const mine{std::byte{7}, std::byte{0}, std::byte{255}};
    std::array<std::byte, 3> all{};
    single_rank::all_gather(mine, all);
    CHECK((all == mine && single_rank::rank() == 0 && single_rank::size() == 1));
    single_rank::all_gather({}, {});
}

TEST_CASE("single_rank receives what it sends")
{
    std::array const sent{std::byte{7}, std::byte{9}};
    std::array<std::byte, 2> received{};
    single_rank::exchange(0, sent, 0, received);
    CHECK(received == sent);
}

} // namespace core_communicator_test
