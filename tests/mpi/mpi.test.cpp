// The communicator of MPI: messages in pieces, and between which ranks they are.

#include <doctest/doctest.h>

#include <cstddef>
#include <span>
#include <vector>

#include <xloom/ranks/mpi.hpp>

namespace mpi_test {

using namespace xloom;

namespace {

std::byte pattern_at(std::size_t rank, std::size_t i)
{
    return static_cast<std::byte>((i * 7 + rank * 31) % 256);
}

std::vector<std::byte> pattern(std::size_t rank, std::size_t bytes)
{
    std::vector<std::byte> all(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
        all[i] = pattern_at(rank, i);
    return all;
}

} // namespace

static_assert(communicator<mpi_communicator>);

TEST_CASE("bytes beyond the largest message are sent in several")
{
    for (std::size_t const most : {1U, 3U, 1U << 20}) {
        mpi_communicator const ranks(MPI_COMM_WORLD, most);
        std::size_t const after = (ranks.rank() + 1) % ranks.size(),
                          before = (ranks.rank() + ranks.size() - 1) % ranks.size();
        // Sizes that differ between ranks: each knows that of the one before it.
        auto const sent = pattern(ranks.rank(), 10 * ranks.rank());
        std::vector<std::byte> received(10 * before);
        ranks.exchange(after, sent, before, received);
        CHECK(received == pattern(before, 10 * before));

        std::vector<std::byte> all(ranks.size() * 20);
        ranks.all_gather(pattern(ranks.rank(), 20), all);
        for (std::size_t rank = 0; rank < ranks.size(); ++rank)
            CHECK(std::vector<std::byte>(all.begin() + static_cast<std::ptrdiff_t>(rank * 20),
                      all.begin() + static_cast<std::ptrdiff_t>((rank + 1) * 20)) == pattern(rank, 20));
    }
}

// Needs 4.3 GB for the two ranks, so it runs by hand, on two processes: --no-skip --test-case="*2^31*".
TEST_CASE("a message of more than 2^31 bytes" * doctest::skip())
{
    mpi_communicator const ranks;
    REQUIRE(ranks.size() == 2);
    std::size_t const bytes = (std::size_t{1} << 31) + 5;
    bool const is_sender = ranks.rank() == 0;
    std::vector<std::byte> items(bytes);
    for (std::size_t i = 0; i < bytes && is_sender; ++i)
        items[i] = pattern_at(3, i);
    std::span<std::byte> const all(items);
    ranks.exchange(1, is_sender ? all : all.first(0), 0, is_sender ? all.first(0) : all);
    bool is_right = true;
    for (std::size_t i = 0; i < bytes; ++i)
        is_right &= items[i] == pattern_at(3, i);
    CHECK(is_right);
}

TEST_CASE("a communicator is moved")
{
    mpi_communicator first;
    mpi_communicator const second = std::move(first);
    std::vector<std::byte> all(second.size());
    second.all_gather(pattern(second.rank(), 1), all);
    CHECK(all[second.rank()] == pattern(second.rank(), 1)[0]);
}

} // namespace mpi_test
