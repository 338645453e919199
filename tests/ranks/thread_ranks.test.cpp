// Ranks as threads: messages, and the end of all when one ends.

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include <xloom/detail/core/distributed_axis.hpp>
#include <xloom/ranks/thread_ranks.hpp>

#include "support/on_ranks.hpp"

namespace thread_ranks_test {

using namespace xloom;

static_assert(communicator<thread_rank>);

TEST_CASE("messages in both directions, and to oneself")
{
    CHECK(on_ranks([](auto const& ranks) {
        bool are_right = true;
        detail::for_each_partner(ranks, [&](std::size_t destination, std::size_t source) {
            std::array const sent{static_cast<int>(ranks.rank()), static_cast<int>(destination)};
            std::array<int, 2> received{};
            detail::exchange_values<int>(ranks, destination, sent, source, received);
            are_right =
                are_right && received == std::array{static_cast<int>(source), static_cast<int>(ranks.rank())};
        });
        std::byte const mine{static_cast<unsigned char>(ranks.rank() + 1)};
        std::vector<std::byte> all(ranks.size());
        ranks.all_gather(std::span(&mine, 1), all);
        for (std::size_t rank = 0; rank < all.size(); ++rank)
            are_right = are_right && all[rank] == std::byte{static_cast<unsigned char>(rank + 1)};
        return are_right;
    }));
}

TEST_CASE("what one rank throws ends the others, and is thrown")
{
    std::atomic<int> others = 0;
    auto const run = [&] {
        run_thread_ranks(3, [&](thread_rank const& ranks) {
            if (ranks.rank() == 1)
                throw std::domain_error("enough");
            std::array<std::byte, 1> received{};
            std::string const text = text_of<rank_error>([&] { ranks.exchange(1, {}, 1, received); });
            others += text == "xloom::thread_rank: rank 1 ended while another rank waited for its message. "
                              "All ranks "
                              "must make the same calls."
                          ? 1
                          : 0;
        });
    };
    CHECK(text_of<std::domain_error>(run) == "enough");
    CHECK(others == 2);
}

TEST_CASE("messages of another size, or that nobody receives")
{
    CHECK(text_of<rank_error>([] {
        run_thread_ranks(2, [](thread_rank const& ranks) {
            std::array<std::byte, 3> bytes{};
            if (ranks.rank() == 0)
                ranks.exchange(1, bytes, 1, {});
            else
                ranks.exchange(0, {}, 0, std::span(bytes).first(2));
        });
    }) == "xloom::thread_rank: rank 1 expects 2 bytes of rank 0, which sends 3. All ranks must make the same "
          "calls.");
    CHECK_THROWS_AS(run_thread_ranks(2,
                        [](thread_rank const& ranks) {
                            std::array<std::byte, 3> const bytes{};
                            if (ranks.rank() == 0)
                                ranks.exchange(1, bytes, 1, {});
                        }),
        rank_error);
}

TEST_CASE("the first rank that fails, and the first one that makes another call than rank 0")
{
    for (std::size_t size = 1; size <= 9; ++size)
        for (std::size_t chosen = 0; chosen < size; ++chosen) {
            std::atomic<std::size_t> right = 0;
            run_thread_ranks(size, [&](thread_rank const& ranks) {
                bool const is_chosen = ranks.rank() >= chosen && (ranks.rank() - chosen) % 2 == 0;
                detail::rank_attempt attempt;
                attempt([&] {
                    if (is_chosen)
                        detail::fail<index_error>("enough");
                });
                right += text_of<index_error>([&] { attempt.agree(ranks, "op"); }) ==
                                 "rank " + std::to_string(chosen) + ": enough"
                             ? 1
                             : 0;
                std::size_t const different = chosen == 0 ? 1 : chosen; // from rank 0
                std::string const text = text_of<option_error>([&] {
                    detail::rank_attempt().agree(ranks, "op", detail::call_digest{}.add(is_chosen ? 1U : 2U));
                });
                right += text == (different == size
                                         ? ""
                                         : "op: all ranks must make the same call, but the operator, shapes, "
                                           "types or options of rank " +
                                               std::to_string(different) +
                                               " are not those of rank 0. Make them equal.")
                             ? 1
                             : 0;
            });
            CAPTURE(size);
            CAPTURE(chosen);
            CHECK(right == 2 * size);
        }
}

TEST_CASE("a divided axis")
{
    CHECK(on_ranks([](auto const& ranks) {
        std::size_t const size = ranks.size();
        distributed_axis const axis(ranks, ranks.rank());
        bool are_right = axis.length() == size * (size - 1) / 2 && axis.end() - axis.begin() == ranks.rank();
        for (std::size_t i = 0; i < axis.length(); ++i) {
            std::size_t const owner = axis.owner(i);
            are_right = are_right && axis.begin(owner) <= i && i < axis.end(owner);
        }
        return are_right;
    }));
    CHECK(on_ranks([]<class C>(C const& ranks) {
        std::size_t const size = ranks.size();
        auto const axis = distributed_axis<C>::even(ranks, 10, 100);
        bool const is_longer = ranks.rank() < 10 % size;
        return axis.length() == 10 && axis.own_length() == 10 / size + (is_longer ? 1 : 0) &&
               axis.own_length() == axis.end() - axis.begin() && axis.buffer_bytes() == 100;
    }));
    CHECK(on_ranks([](auto const& ranks) {
        std::string const text = text_of<option_error>([&] { distributed_axis(ranks, 1, ranks.rank()); });
        return text.empty() == (ranks.size() == 1);
    }));
    CHECK(on_ranks([](auto const& ranks) {
        return text_of<shape_error>([&] { distributed_axis(ranks, std::size_t(-1)); }) ==
               "xloom::distributed_axis: the length of all parts together must not overflow, but that "
               "of the first 1 does. Give them their own lengths.";
    }));
}

} // namespace thread_ranks_test
