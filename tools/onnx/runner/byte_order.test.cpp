// The order of bytes: the other one than this processor's reverses each number.

#include <doctest/doctest.h>

#include <complex>
#include <cstdint>
#include <string>

#include "byte_order.hpp"

namespace {

/// The bytes of a little-endian or big-endian file, as items.
template <class T>
T item_of(std::endian order, std::string const& bytes)
{
    REQUIRE(bytes.size() == sizeof(T));
    T item{};
    runner::copy_in_order<T>(order, bytes.data(), 1, reinterpret_cast<char*>(&item));
    return item;
}

} // namespace

TEST_CASE("numbers in both orders of bytes")
{
    using namespace std::string_literals;
    constexpr auto little = std::endian::little, big = std::endian::big;
    CHECK(item_of<std::uint8_t>(little, "\x12"s) == 0x12);
    CHECK(item_of<std::uint8_t>(big, "\x12"s) == 0x12);
    CHECK(item_of<std::int16_t>(little, "\xfe\xff"s) == -2);
    CHECK(item_of<std::int16_t>(big, "\xff\xfe"s) == -2);
    CHECK(item_of<std::uint32_t>(little, "\x04\x03\x02\x01"s) == 0x01020304);
    CHECK(item_of<std::uint32_t>(big, "\x01\x02\x03\x04"s) == 0x01020304);
    CHECK(item_of<float>(little, "\0\0\x80\x3f"s) == 1);
    CHECK(item_of<float>(big, "\x3f\x80\0\0"s) == 1);
    CHECK(item_of<double>(little, "\0\0\0\0\0\0\xf8\x3f"s) == 1.5);
    CHECK(item_of<double>(big, "\x3f\xf8\0\0\0\0\0\0"s) == 1.5);
}

TEST_CASE("a complex number is two numbers, each in its order of bytes")
{
    using namespace std::string_literals;
    std::complex<float> const item(1, 2);
    CHECK(item_of<std::complex<float>>(std::endian::little, "\0\0\x80\x3f\0\0\0\x40"s) == item);
    CHECK(item_of<std::complex<float>>(std::endian::big, "\x3f\x80\0\0\x40\0\0\0"s) == item);
}

TEST_CASE("several items, and none")
{
    using namespace std::string_literals;
    std::string const bytes = "\1\0\2\0\3\0"s;
    std::uint16_t items[3] = {};
    runner::copy_in_order<std::uint16_t>(
        std::endian::little, bytes.data(), 3, reinterpret_cast<char*>(items));
    CHECK(items[0] == 1);
    CHECK(items[1] == 2);
    CHECK(items[2] == 3);
    std::string back(6, 'a');
    runner::copy_in_order<std::uint16_t>(
        std::endian::big, reinterpret_cast<char const*>(items), 3, back.data());
    CHECK(back == "\0\1\0\2\0\3"s);
    runner::copy_in_order<std::uint16_t>(std::endian::big, nullptr, 0, nullptr);
}
