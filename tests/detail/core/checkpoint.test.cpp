// How far the backward pass advances between the states that it keeps: compared with the fewest repeated
// iterations, by dynamic programming over all choices.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include <xloom/detail/core/checkpoint.hpp>

namespace core_checkpoint_test {

using namespace xloom;
using namespace xloom::detail;

namespace {

/// The repeated iterations that reversing `length` of them takes with `states` states, the first included.
std::size_t repeated(std::size_t length, std::size_t states)
{
    if (length < 2)
        return 0;
    if (states == 1)
        return length * (length - 1) / 2;
    std::size_t const first = binomial_advance(length, states);
    return first + repeated(length - first, states - 1) + repeated(first, states);
}

} // namespace

TEST_CASE("binomial_advance: no other choice repeats fewer iterations")
{
    constexpr std::size_t longest = 70, most_states = 10;
    std::vector<std::vector<std::size_t>> fewest(most_states + 1, std::vector<std::size_t>(longest + 1, 0));
    for (std::size_t states = 1; states <= most_states; ++states)
        for (std::size_t length = 2; length <= longest; ++length) {
            std::size_t& least = fewest[states][length];
            least = length * (length - 1) / 2;
            for (std::size_t first = 1; states > 1 && first < length; ++first)
                least = (std::min)(least, first + fewest[states - 1][length - first] + fewest[states][first]);
            CAPTURE(states);
            CAPTURE(length);
            CHECK(repeated(length, states) == least);
        }
}

TEST_CASE("binomial_advance: a constant expression for any length, so there is no pass over the iterations")
{
    // r = 63245 is the smallest with (r + 1) (r + 2) / 2 >= 2e9; 63245 iterations are left for one state.
    static_assert(binomial_advance(2'000'000'000, 2) == 2'000'000'000 - 63'245);
    static_assert(binomial_advance(std::size_t{1} << 62, 2) < std::size_t{1} << 62);
    static_assert(binomial_advance(std::size_t{1} << 62, 1000) > 1);
}

TEST_CASE("binomial_advance: lengths and numbers of states that overflow the binomial coefficients")
{
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    CHECK(binomial_advance(most, most) == 1);
    CHECK(binomial_advance(most / 2, most) == 1);
    for (std::size_t const states : {2u, 50u, 1'000'000u}) {
        std::size_t const first = binomial_advance(1'000'000'000, states);
        CHECK(first >= 1);
        CHECK(first < 1'000'000'000);
    }
    static_assert(reversible_iterations(3, 2) == 10);
    static_assert(reversible_iterations(100, 100) == most);
}

TEST_CASE("checkpoint: what it is, and no states at all")
{
    CHECK(checkpoint::all().policy() == checkpoint::kind::all);
    CHECK(checkpoint::sqrt().policy() == checkpoint::kind::sqrt);
    CHECK(checkpoint::binomial(3).policy() == checkpoint::kind::binomial);
    CHECK(checkpoint::binomial(3).count() == 3);
    CHECK(checkpoint::online(5).policy() == checkpoint::kind::online);
    CHECK(checkpoint::online(5).count() == 5);
    CHECK_THROWS_WITH_AS(static_cast<void>(checkpoint::binomial(0)),
        "xloom::checkpoint::binomial: at least one state must be kept, but count is 0. Give it 1 or more.",
        option_error);
    CHECK_THROWS_WITH_AS(static_cast<void>(checkpoint::online(0)),
        "xloom::checkpoint::online: at least one state must be kept, but count is 0. Give it 1 or more.",
        option_error);
}

} // namespace core_checkpoint_test
