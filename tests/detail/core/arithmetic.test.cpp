// Saturating arithmetic at both ends of its range; quotients and square roots that are rounded up, beside the
// integers around them.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>

#include <xloom/detail/core/arithmetic.hpp>

namespace core_arithmetic_test {

using namespace xloom::detail;

TEST_CASE("saturating_cast, _add, _mul: the exact result, or the closest end of the range")
{
    constexpr auto highest = std::numeric_limits<std::int64_t>::max();
    constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
    static_assert(saturating_cast<std::uint16_t>(std::int64_t{0}) == 0);
    static_assert(saturating_cast<std::uint16_t>(std::int64_t{65535}) == 65535);
    static_assert(saturating_cast<std::uint16_t>(std::int64_t{65536}) == 65535);
    static_assert(saturating_cast<std::uint16_t>(highest) == 65535);
    static_assert(saturating_cast<std::uint16_t>(std::int64_t{-1}) == 0);
    static_assert(saturating_cast<std::uint16_t>(lowest) == 0);
    static_assert(saturating_cast<std::uint64_t>(highest) == (std::uint64_t{1} << 63) - 1);
    static_assert(saturating_cast<std::int64_t>(std::uint64_t{1} << 63) == highest);
    static_assert(saturating_cast<std::int8_t>(std::int64_t{-129}) == -128);
    static_assert(saturating_cast<std::int8_t>(std::int64_t{128}) == 127);

    constexpr auto most = std::numeric_limits<std::size_t>::max();
    static_assert(saturating_add(2, 3) == 5);
    static_assert(saturating_add(most - 3, 3) == most);
    static_assert(saturating_add(most - 2, 3) == most);
    static_assert(saturating_add(most, most) == most);

    constexpr std::size_t half = std::size_t{1} << (std::numeric_limits<std::size_t>::digits / 2);
    static_assert(saturating_mul(2, 3) == 6);
    static_assert(saturating_mul(most, 0) == 0);
    static_assert(saturating_mul(0, most) == 0);
    static_assert(saturating_mul(half - 1, half + 1) == most); // exactly
    static_assert(saturating_mul(half - 1, half) == most - (half - 1));
    static_assert(saturating_mul(half, half) == most);
    static_assert(saturating_mul(most, most) == most);
}

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

} // namespace core_arithmetic_test
