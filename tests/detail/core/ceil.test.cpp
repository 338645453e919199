// Quotients and square roots that are rounded up, beside the integers around them.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>

#include <xloom/detail/core/ceil.hpp>

namespace core_ceil_test {

using namespace xloom::detail;

TEST_CASE("ceil_div: the smallest factor that reaches the value, up to the largest integers")
{
    for (std::size_t divisor = 1; divisor < 40; ++divisor)
        for (std::size_t value = 0, least = 0; value < 200; ++value) {
            while (least * divisor < value)
                ++least;
            CHECK(ceil_div(value, divisor) == least);
        }
    constexpr auto most = std::numeric_limits<std::uintmax_t>::max();
    static_assert(ceil_div(most, 1) == most);
    static_assert(ceil_div(most, 2) == most / 2 + 1);
    static_assert(ceil_div(most, most) == 1);
    static_assert(ceil_div(most - 1, most) == 1);
}

TEST_CASE("ceil_sqrt: the smallest root, at every square and beside it")
{
    CHECK(ceil_sqrt(0) == 0);
    for (std::size_t root = 1; root < 3000; ++root) {
        CHECK(ceil_sqrt(root * root) == root);
        CHECK(ceil_sqrt(root * root - root + 1) == root);
        CHECK(ceil_sqrt(root * root + 1) == root + 1);
    }
    constexpr int bits = std::numeric_limits<std::size_t>::digits;
    constexpr std::size_t large = std::size_t{1} << (bits - 2);
    CHECK(ceil_sqrt(large) == std::size_t{1} << (bits / 2 - 1));
    CHECK(ceil_sqrt(std::numeric_limits<std::size_t>::max()) == std::size_t{1} << (bits / 2));
}

} // namespace core_ceil_test
