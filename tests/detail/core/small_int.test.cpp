// The integers below 8 bits: every pattern, every small integer and fraction, against arithmetic modulo a
// power of two.

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>

#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/core/small_int.hpp>

namespace core_small_int_test {

using namespace xloom;

namespace {

/// The number among lowest .. lowest + count - 1 that differs from x by a multiple of count.
constexpr int wrapped(std::int64_t x, int lowest, int count)
{
    std::int64_t const rest = (x - lowest) % count;
    return static_cast<int>(rest < 0 ? rest + count : rest) + lowest;
}

template <class T>
constexpr int lowest_of = 0;
template <>
constexpr int lowest_of<int4> = -8;
template <>
constexpr int lowest_of<int2> = -2;

template <class T>
constexpr int count_of = std::is_same_v<T, int4> || std::is_same_v<T, uint4> ? 16 : 4;

#define SMALL_INTS int4, uint4, int2, uint2

template <class T>
constexpr bool patterns()
{
    constexpr int lowest = lowest_of<T>, count = count_of<T>;
    for (int value = lowest; value < lowest + count; ++value) {
        T const x(value);
        if (x != value || int{x} != value || x.bits() != (value & (count - 1)))
            return false;
        if (T::from_bits(x.bits()) != value || T::from_bits(x.bits() | 0xf0u) != value ||
            T::from_bits(x.bits() + 0x500u) != value)
            return false;
    }
    return true;
}

template <class T>
constexpr bool from_integers()
{
    constexpr int lowest = lowest_of<T>, count = count_of<T>;
    for (int value = -300; value <= 300; ++value)
        if (T(value) != wrapped(value, lowest, count) || T(static_cast<std::int64_t>(value)) != T(value) ||
            T(static_cast<std::int8_t>(value)) != T(value) ||
            T(static_cast<std::uint64_t>(value)) != T(value) || cast<T>(value) != T(value))
            return false;
    return T(std::numeric_limits<std::int64_t>::min()) == 0 &&
           T(std::numeric_limits<std::int64_t>::max()) == wrapped(-1, lowest, count) &&
           T(std::numeric_limits<std::uint64_t>::max()) == wrapped(-1, lowest, count) && T(true) == 1 &&
           T(false) == 0;
}

// In quarters, so that every tie is met; expected from the integers around.
template <class T, class Float>
constexpr bool from_fractions()
{
    for (int quarters = -200; quarters <= 200; ++quarters) {
        int const below = (quarters - wrapped(quarters, 0, 4)) / 4, rest = wrapped(quarters, 0, 4);
        int const nearest = rest < 2 || (rest == 2 && below % 2 == 0) ? below : below + 1;
        if (T(static_cast<Float>(quarters) / 4) != wrapped(nearest, lowest_of<T>, count_of<T>))
            return false;
    }
    return true;
}

template <class T>
constexpr bool from_odd_numbers()
{
    constexpr double infinity = std::numeric_limits<double>::infinity(),
                     nan = std::numeric_limits<double>::quiet_NaN();
    return T(infinity) == 0 && T(-infinity) == 0 && T(nan) == 0 && T(-static_cast<float>(nan)) == 0 &&
           T(1e300) == 0 && T(-1e30f) == 0 && T(0x1p60) == 0 && T(0x1p52 + 1) == 1 &&
           T(-0x1p52 - 1) == wrapped(-1, lowest_of<T>, count_of<T>) && T(0x1p51 + 0.5) == 0 &&
           T(0x1p51 + 1.5) == wrapped(2, lowest_of<T>, count_of<T>) && T(0.5 + 0x1p-53) == 1 &&
           T(0.5 - 0x1p-54) == 0 && T(-0.0) == 0;
}

template <class T>
constexpr bool arithmetic()
{
    constexpr int lowest = lowest_of<T>, count = count_of<T>;
    for (int a = lowest; a < lowest + count; ++a) {
        T up(a), down(a);
        if (up++ != T(a) || up != wrapped(a + 1, lowest, count) || --up != a || down-- != T(a) || ++down != a)
            return false;
        for (int b = lowest; b < lowest + count; ++b) {
            T sum(a), difference(a), product(a), quotient(a);
            sum += T(b);
            difference -= b;
            product *= T(b);
            if (sum != wrapped(a + b, lowest, count) || difference != wrapped(a - b, lowest, count) ||
                product != wrapped(a * b, lowest, count))
                return false;
            if (b != 0 && (quotient /= T(b)) != wrapped(a / b, lowest, count))
                return false;
        }
    }
    T scaled(3);
    scaled *= 0.4f; // 1.2 to nearest, or of -1: -0.4
    return scaled == (std::is_same_v<T, int2> ? 0 : 1) && std::is_same_v<decltype(scaled + scaled), int> &&
           std::is_same_v<decltype(scaled * 0.5f), float>;
}

template <class T>
constexpr bool limits()
{
    using found = std::numeric_limits<T>;
    return found::is_specialized && found::is_integer && found::is_exact && found::is_modulo &&
           found::is_bounded && found::radix == 2 && found::min() == lowest_of<T> &&
           found::lowest() == lowest_of<T> && found::max() == lowest_of<T> + count_of<T> - 1 &&
           found::is_signed == (lowest_of<T> < 0) && (1 << found::digits) == found::max() + 1 &&
           found::digits10 == (found::max() >= 9) && !found::has_infinity && !found::has_quiet_NaN;
}

// ONNX's notes: -9 and 8 do not fit int4.
constexpr bool known_casts()
{
    return int4(8) == -8 && int4(-9) == 7 && uint4(16) == 0 && uint4(-1) == 15 && int2(2) == -2 &&
           uint2(7) == 3 && int4(200) == -8 && int4(2.5f) == 2 && int4(3.5) == 4 && uint4(14.7f) == 15 &&
           int2(uint4(15)) == -1 && uint4(int4(-1)) == 15 && cast<int>(int4(-8)) == -8 &&
           cast<float>(uint4(15)) == 15 && cast<bool>(int2(-2)) && !cast<bool>(uint2(4)) &&
           cast<int4>(float16(-7.5f)) == -8 && cast<std::uint8_t>(int2(-1)) == 255 &&
           int4::from_bits(0xf) == -1 && uint4::from_bits(0xf) == 15 && int4(-1).bits() == 0xf;
}

template <class T>
constexpr bool is_plain_data =
    std::is_trivial_v<T> && std::is_standard_layout_v<T> && std::is_trivially_default_constructible_v<T> &&
    std::is_trivially_copyable_v<T> && sizeof(T) == 1 && alignof(T) == 1 && T{} == 0;
static_assert(is_plain_data<int4> && is_plain_data<uint4> && is_plain_data<int2> && is_plain_data<uint2>);

static_assert(std::is_same_v<std::common_type_t<int4, int4>, int4> &&
              std::is_same_v<std::common_type_t<int4, bool>, int> &&
              std::is_same_v<std::common_type_t<std::int64_t, int4>, std::int64_t> &&
              std::is_same_v<std::common_type_t<int4, uint2>, int> &&
              std::is_same_v<std::common_type_t<float, int4>, float>);
static_assert(!std::is_constructible_v<int4, long double> && !std::is_constructible_v<int4, char const*>);

} // namespace

TEST_CASE_TEMPLATE("small integers, at compile time and at run time", T, SMALL_INTS)
{
    static_assert(patterns<T>());
    CHECK(patterns<T>());
    static_assert(from_integers<T>());
    CHECK(from_integers<T>());
    static_assert(from_fractions<T, float>());
    CHECK(from_fractions<T, float>());
    static_assert(from_fractions<T, double>());
    CHECK(from_fractions<T, double>());
    static_assert(from_odd_numbers<T>());
    CHECK(from_odd_numbers<T>());
    static_assert(arithmetic<T>());
    CHECK(arithmetic<T>());
    static_assert(limits<T>());
    CHECK(limits<T>());
}

TEST_CASE("small integers: casts by name")
{
    static_assert(known_casts());
    CHECK(known_casts());
}

TEST_CASE_TEMPLATE("small integers: random numbers", T, SMALL_INTS)
{
    std::mt19937_64 random(4);
    int faults = 0;
    for (int i = 0; i < 50'000; ++i) {
        auto const integer = static_cast<std::int64_t>(random());
        faults += T(integer) != wrapped(integer % 16, lowest_of<T>, count_of<T>);
        // nearbyint rounds to nearest, ties to even, too.
        double const x = std::ldexp(static_cast<double>(integer), -static_cast<int>(random() % 64));
        faults += T(x) != wrapped(static_cast<std::int64_t>(std::fmod(std::nearbyint(x), 16)), lowest_of<T>,
                              count_of<T>);
    }
    CHECK(faults == 0);
}

} // namespace core_small_int_test
