// The small floating-point types: every pattern, every midpoint and many numbers between, against the
// textbook.

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <type_traits>

#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/core/small_float.hpp>

#include "support/textbook_float.hpp"

namespace core_small_float_test {

using namespace xloom;

namespace {

// Formats and special cases, from ONNX's notes on float 8 and float 4 and Cast-25's tables; float16 and
// bfloat16 as in IEEE 754.
template <class T>
constexpr textbook::float_format format_of_type{};
template <>
constexpr textbook::float_format format_of_type<float16>{
    5, 10, 15, 0x7bff, 0x7c00, 0x7c00, 0x7e00, true, true};
template <>
constexpr textbook::float_format format_of_type<bfloat16>{
    8, 7, 127, 0x7f7f, 0x7f80, 0x7f80, 0x7fc0, true, true};
template <>
constexpr textbook::float_format format_of_type<float8_e4m3fn>{4, 3, 7, 0x7e, 0x7e, 0x7f, 0x7f, true, true};
template <>
constexpr textbook::float_format format_of_type<float8_e4m3fnuz>{
    4, 3, 8, 0x7f, 0x7f, 0x80, 0x80, false, false};
template <>
constexpr textbook::float_format format_of_type<float8_e5m2>{5, 2, 15, 0x7b, 0x7b, 0x7c, 0x7e, true, true};
template <>
constexpr textbook::float_format format_of_type<float8_e5m2fnuz>{
    5, 2, 16, 0x7f, 0x7f, 0x80, 0x80, false, false};
template <>
constexpr textbook::float_format format_of_type<float4_e2m1>{2, 1, 1, 0x7, 0x7, 0x7, 0x7, true, false};

#define FORMATS_WITH_MANTISSA                                                                                \
    float16, bfloat16, float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, float4_e2m1

/// Counts what went wrong, and keeps the first case.
struct fault_count {
    int count = 0;
    std::string first;

    template <class Input>
    void expect(unsigned found, unsigned expected, Input input)
    {
        if (found == expected || count++ > 0)
            return;
        std::ostringstream text;
        text << std::hexfloat << input << " gave " << std::hex << found << ", expected " << expected;
        first = text.str();
    }
};

/// Converts x in both types that hold it, and compares with the textbook; of a NaN's payload nothing is
/// asked.
template <class T>
void expect_cast(
    fault_count& faults, double x, textbook::float_format const& format, std::vector<double> const& numbers)
{
    unsigned const asked = std::isnan(x) ? format.cast_nan | format.sign() : format.patterns() - 1;
    auto const narrow = static_cast<float>(x);
    bool const is_float = static_cast<double>(narrow) == x;
    unsigned const saturated = textbook::cast(x, format, numbers, true);
    bool const is_largest = (saturated & (format.sign() - 1)) == format.saturated;
    unsigned const not_saturated = is_largest ? textbook::cast(x, format, numbers, false) : saturated;
    faults.expect(T(x).bits() & asked, saturated, x);
    faults.expect(cast<T>(x, {.saturate = false}).bits() & asked, not_saturated, x);
    if (is_float) {
        faults.expect(T(narrow).bits(), saturated, narrow);
        faults.expect(cast<T>(narrow, {.saturate = false}).bits(), not_saturated, narrow);
    }
}

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr float plus_nan = std::numeric_limits<float>::quiet_NaN();
constexpr float minus_nan = std::bit_cast<float>(0xffc00000u);

/// Returns x with the sign and the payload of a NaN, of which RISC-V's conversions keep neither.
constexpr double widened(float x)
{
    auto const bits = std::bit_cast<std::uint32_t>(x);
    if ((bits & 0x7fffffffu) <= 0x7f800000u)
        return static_cast<double>(x);
    std::uint64_t const sign = bits >> 31, payload = bits & 0x7fffffu;
    return std::bit_cast<double>(sign << 63 | std::uint64_t{0x7ff} << 52 | payload << 29);
}

} // namespace

TEST_CASE_TEMPLATE("every pattern is the textbook's number", T, FORMATS_WITH_MANTISSA)
{
    auto const& format = format_of_type<T>;
    fault_count faults;
    int nans = 0;
    for (unsigned pattern = 0; pattern < format.patterns(); ++pattern) {
        T const x = T::from_bits(pattern);
        float const value = x;
        unsigned const magnitude = pattern & (format.sign() - 1);
        bool const is_uz_nan = !format.has_negative_zero && pattern == format.sign();
        bool const is_infinity = format.not_saturated > format.largest &&
                                 format.not_saturated != format.cast_nan && magnitude == format.not_saturated;
        bool const is_nan = is_uz_nan || (magnitude > format.largest && !is_infinity);
        double const expected = is_infinity ? infinity : textbook::number(format, magnitude);
        bool const is_right =
            is_nan ? std::isnan(value)
                   : std::fabs(value) == expected && std::signbit(value) == (pattern != magnitude);
        faults.expect(is_right, true, pattern);
        faults.expect(isnan(x), is_nan, pattern);
        faults.expect(isinf(x), is_infinity, pattern);
        faults.expect(isfinite(x), !is_nan && !is_infinity, pattern);
        faults.expect(x.bits(), pattern, pattern);
        nans += is_nan;
    }
    CHECK_MESSAGE(faults.count == 0, faults.first);
    int const expected_nans = std::is_same_v<T, float16>         ? 2046
                              : std::is_same_v<T, bfloat16>      ? 254
                              : std::is_same_v<T, float8_e5m2>   ? 6
                              : std::is_same_v<T, float8_e4m3fn> ? 2
                              : std::is_same_v<T, float4_e2m1>   ? 0
                                                                 : 1;
    CHECK(nans == expected_nans);
}

TEST_CASE_TEMPLATE(
    "every pattern comes back from float and double; NaNs come back quiet", T, FORMATS_WITH_MANTISSA)
{
    auto const& format = format_of_type<T>;
    fault_count faults;
    for (unsigned pattern = 0; pattern < format.patterns(); ++pattern) {
        T const x = T::from_bits(pattern);
        // A quiet NaN's bits are the format's own NaN and a payload.
        unsigned const expected = isnan(x) ? pattern | format.cast_nan : pattern;
        bool const saturates_infinity = isinf(x) && format.bias == 15 && format.mantissa_bits == 2;
        float const value = x;
        faults.expect(cast<T>(value, {.saturate = false}).bits(), expected, pattern);
        faults.expect(cast<T>(widened(value), {.saturate = false}).bits(), expected, pattern);
        faults.expect(T(value).bits(), saturates_infinity ? expected - 1 : expected, pattern);
    }
    CHECK_MESSAGE(faults.count == 0, faults.first);
}

TEST_CASE_TEMPLATE("rounding at and around every number and every midpoint", T, FORMATS_WITH_MANTISSA)
{
    auto const& format = format_of_type<T>;
    auto const numbers = textbook::numbers(format);
    fault_count faults;
    for (std::size_t i = 0; i + 1 < numbers.size(); ++i)
        for (double const place : {numbers[i], (numbers[i] + numbers[i + 1]) / 2})
            for (double const sign : {1.0, -1.0}) {
                double const x = sign * place;
                expect_cast<T>(faults, x, format, numbers);
                expect_cast<T>(faults, std::nextafter(x, infinity), format, numbers);
                expect_cast<T>(faults, std::nextafter(x, -infinity), format, numbers);
                expect_cast<T>(faults, std::nextafter(static_cast<float>(x), static_cast<float>(infinity)),
                    format, numbers);
                expect_cast<T>(faults, std::nextafter(static_cast<float>(x), -static_cast<float>(infinity)),
                    format, numbers);
            }
    CHECK_MESSAGE(faults.count == 0, faults.first);
}

TEST_CASE_TEMPLATE("rounding of random floats and doubles", T, FORMATS_WITH_MANTISSA)
{
    auto const& format = format_of_type<T>;
    auto const numbers = textbook::numbers(format);
    std::mt19937_64 random(20240607);
    fault_count faults;
    for (int i = 0; i < 30'000; ++i) {
        std::uint64_t const bits = random();
        expect_cast<T>(faults, std::bit_cast<double>(bits), format, numbers);
        expect_cast<T>(faults, std::bit_cast<float>(static_cast<std::uint32_t>(bits)), format, numbers);
        // Within the format's range, and a little beyond.
        double const inside = std::ldexp(1 + static_cast<double>(bits >> 12) * 0x1p-52,
            static_cast<int>(bits % (1u << format.exponent_bits)) - format.bias - 4 +
                static_cast<int>(bits >> 8 & 7));
        expect_cast<T>(faults, bits & 0x800 ? -inside : inside, format, numbers);
    }
    CHECK_MESSAGE(faults.count == 0, faults.first);
}

TEST_CASE_TEMPLATE("special numbers", T, FORMATS_WITH_MANTISSA)
{
    auto const& format = format_of_type<T>;
    auto const numbers = textbook::numbers(format);
    fault_count faults;
    for (double const x :
        {0.0, infinity, std::numeric_limits<double>::max(), std::numeric_limits<double>::min(),
            std::numeric_limits<double>::denorm_min(), static_cast<double>(std::numeric_limits<float>::max()),
            static_cast<double>(std::numeric_limits<float>::min()),
            static_cast<double>(std::numeric_limits<float>::denorm_min())}) {
        expect_cast<T>(faults, x, format, numbers);
        expect_cast<T>(faults, -x, format, numbers);
    }
    CHECK_MESSAGE(faults.count == 0, faults.first);
    for (bool const saturate : {true, false})
        for (float const x : {plus_nan, minus_nan}) {
            unsigned const expected = textbook::cast(widened(x), format, numbers, saturate);
            CHECK(cast<T>(x, {.saturate = saturate}).bits() == expected);
            CHECK(cast<T>(widened(x), {.saturate = saturate}).bits() == expected);
        }
}

// clang 14 names the type's macro but has the type on few machines.
#if defined(__FLT16_MANT_DIG__) && (!defined(__clang__) || __clang_major__ >= 16)
TEST_CASE("float16 agrees with the compiler's own")
{
#if defined(__aarch64__) && !defined(__clang__) && __GNUC__ < 13 // whose C++ has the type by Arm's name
    using native = __fp16;
#else
    __extension__ using native = _Float16;
#endif
    auto const bits_of = [](native x) -> unsigned { return std::bit_cast<std::uint16_t>(x); };
    fault_count faults;
    for (unsigned pattern = 0; pattern < 0x10000; ++pattern) {
        auto const expected = static_cast<float>(std::bit_cast<native>(static_cast<std::uint16_t>(pattern)));
        float const found = float16::from_bits(pattern);
        bool const is_same = std::bit_cast<std::uint32_t>(found) == std::bit_cast<std::uint32_t>(expected);
        faults.expect(is_same || (std::isnan(found) && std::isnan(expected)), true, pattern);
    }
    std::mt19937_64 random(7);
    for (int i = 0; i < 1'000'000; ++i) {
        std::uint64_t const bits = random();
        // Exponents from half the smallest number to beyond the largest.
        auto const x = std::bit_cast<float>(
            static_cast<std::uint32_t>((bits & 0x807fffff) + ((100 + (bits >> 32) % 46) << 23)));
        faults.expect(float16(x).bits(), bits_of(static_cast<native>(x)), x);
        double const y = x + std::ldexp(static_cast<double>(x), -24 - static_cast<int>(bits >> 40 & 15));
        faults.expect(float16(y).bits(), bits_of(static_cast<native>(y)), y);
    }
    CHECK_MESSAGE(faults.count == 0, faults.first);
}
#endif

// What follows holds at compile time and at run time.
namespace {

// A double just above the midpoint of 1 and 1 + 2^-10; its float is the midpoint.
constexpr bool rounds_once()
{
    constexpr double half = 1 + 0x1p-11 + 0x1p-40, brain = 1 + 0x1p-8 + 0x1p-40, eight = 1 + 0x1p-4 + 0x1p-40;
    return float16(half) == 1 + 0x1p-10f && float16(static_cast<float>(half)) == 1 &&
           bfloat16(brain) == 1 + 0x1p-7f && bfloat16(static_cast<float>(brain)) == 1 &&
           float8_e4m3fn(eight) == 1.125f && float8_e4m3fn(static_cast<float>(eight)) == 1 &&
           float16(0x1p-25 + 0x1p-60) == 0x1p-24f && float16(0x1p-25) == 0;
}

constexpr bool integers()
{
    constexpr std::int64_t between =
        (std::int64_t{1} << 62) + (std::int64_t{1} << 54); // the midpoint of two bfloat16
    return float16(2048) == 2048 && float16(2049) == 2048 && float16(2051) == 2052 &&
           float16(65519) == 65504 && isinf(float16(65520)) &&
           float16(std::numeric_limits<std::int64_t>::min()) == -std::numeric_limits<float>::infinity() &&
           float16(std::numeric_limits<std::uint64_t>::max()) == std::numeric_limits<float>::infinity() &&
           bfloat16(between) == 0x1p62f && bfloat16(between + 1) == 0x1p62f + 0x1p55f &&
           bfloat16(-between - 1) == -0x1p62f - 0x1p55f &&
           bfloat16(std::numeric_limits<std::int64_t>::min()) == -0x1p63f &&
           bfloat16(std::numeric_limits<std::uint64_t>::max()) == 0x1p64f && float8_e4m3fn(1000) == 448 &&
           float8_e5m2fnuz(-1000000) == -57344 && float4_e2m1(std::int8_t{-3}) == -3 && float16(true) == 1 &&
           float16('A') == 65;
}

// Cast-25: saturate, then not.
template <class T>
constexpr bool cast_row(float x, unsigned saturated, unsigned not_saturated)
{
    return cast<T>(x).bits() == saturated && cast<T>(widened(x), {.saturate = true}).bits() == saturated &&
           T(x).bits() == saturated && cast<T>(x, {.saturate = false}).bits() == not_saturated &&
           cast<T>(widened(x), {.saturate = false}).bits() == not_saturated;
}

constexpr float float_infinity = std::numeric_limits<float>::infinity();

constexpr bool cast_table_e4m3fn()
{
    using T = float8_e4m3fn;
    return cast_row<T>(0, 0, 0) && cast_row<T>(-0.0f, 0x80, 0x80) && cast_row<T>(plus_nan, 0x7f, 0x7f) &&
           cast_row<T>(minus_nan, 0xff, 0xff) && cast_row<T>(float_infinity, 0x7e, 0x7f) &&
           cast_row<T>(-float_infinity, 0xfe, 0xff) && cast_row<T>(1e6f, 0x7e, 0x7f) &&
           cast_row<T>(-1e6f, 0xfe, 0xff) && cast_row<T>(464, 0x7e, 0x7e) &&
           cast_row<T>(464.1f, 0x7e, 0x7f) && cast_row<T>(-1e-7f, 0x80, 0x80) && cast_row<T>(0x1p-9f, 1, 1) &&
           cast_row<T>(448, 0x7e, 0x7e);
}

constexpr bool cast_table_e4m3fnuz()
{
    using T = float8_e4m3fnuz;
    return cast_row<T>(0, 0, 0) && cast_row<T>(-0.0f, 0, 0) && cast_row<T>(plus_nan, 0x80, 0x80) &&
           cast_row<T>(minus_nan, 0x80, 0x80) && cast_row<T>(float_infinity, 0x7f, 0x80) &&
           cast_row<T>(-float_infinity, 0xff, 0x80) && cast_row<T>(1e6f, 0x7f, 0x80) &&
           cast_row<T>(-1e6f, 0xff, 0x80) && cast_row<T>(247.9f, 0x7f, 0x7f) &&
           cast_row<T>(248, 0x7f, 0x80) && cast_row<T>(-1e-7f, 0, 0) && cast_row<T>(-0x1p-10f, 0x81, 0x81) &&
           cast_row<T>(240, 0x7f, 0x7f);
}

constexpr bool cast_table_e5m2()
{
    using T = float8_e5m2;
    return cast_row<T>(0, 0, 0) && cast_row<T>(-0.0f, 0x80, 0x80) && cast_row<T>(plus_nan, 0x7e, 0x7e) &&
           cast_row<T>(minus_nan, 0xfe, 0xfe) && cast_row<T>(float_infinity, 0x7b, 0x7c) &&
           cast_row<T>(-float_infinity, 0xfb, 0xfc) && cast_row<T>(1e6f, 0x7b, 0x7c) &&
           cast_row<T>(-1e6f, 0xfb, 0xfc) && cast_row<T>(61439, 0x7b, 0x7b) &&
           cast_row<T>(61440, 0x7b, 0x7c) && cast_row<T>(0x1p-16f, 1, 1) && cast_row<T>(57344, 0x7b, 0x7b);
}

constexpr bool cast_table_e5m2fnuz()
{
    using T = float8_e5m2fnuz;
    return cast_row<T>(0, 0, 0) && cast_row<T>(-0.0f, 0, 0) && cast_row<T>(plus_nan, 0x80, 0x80) &&
           cast_row<T>(minus_nan, 0x80, 0x80) && cast_row<T>(float_infinity, 0x7f, 0x80) &&
           cast_row<T>(-float_infinity, 0xff, 0x80) && cast_row<T>(1e6f, 0x7f, 0x80) &&
           cast_row<T>(-1e6f, 0xff, 0x80) && cast_row<T>(61439, 0x7f, 0x7f) &&
           cast_row<T>(61440, 0x7f, 0x80) && cast_row<T>(0x1p-17f, 1, 1) && cast_row<T>(57344, 0x7f, 0x7f);
}

// `saturate` is for float 8: float4 always saturates, float16 and bfloat16 become infinite.
constexpr bool cast_table_others()
{
    return cast_row<float4_e2m1>(0, 0, 0) && cast_row<float4_e2m1>(-0.0f, 8, 8) &&
           cast_row<float4_e2m1>(6.5f, 7, 7) && cast_row<float4_e2m1>(-7, 15, 15) &&
           cast_row<float4_e2m1>(float_infinity, 7, 7) && cast_row<float4_e2m1>(-float_infinity, 15, 15) &&
           cast_row<float4_e2m1>(plus_nan, 7, 7) && cast_row<float4_e2m1>(minus_nan, 7, 7) &&
           cast_row<float4_e2m1>(5, 6, 6) && cast_row<float4_e2m1>(0.25f, 0, 0) &&
           cast_row<float4_e2m1>(-3.5f, 14, 14) && cast_row<float16>(65519.96f, 0x7bff, 0x7bff) &&
           cast_row<float16>(-65520, 0xfc00, 0xfc00) &&
           cast_row<bfloat16>(std::numeric_limits<float>::max(), 0x7f80, 0x7f80) &&
           cast_row<bfloat16>(minus_nan, 0xffc0, 0xffc0);
}

template <unsigned... Patterns>
constexpr bool e2m1_is(std::array<float, 8> const& numbers)
{
    for (unsigned pattern = 0; pattern < 8; ++pattern)
        if (float4_e2m1::from_bits(pattern) != numbers[pattern] ||
            float4_e2m1::from_bits(pattern | 8) != -numbers[pattern])
            return false;
    return true;
}

// From one small type to another the value is rounded as that of the float.
constexpr bool between_types()
{
    return float8_e4m3fn(float16(464)) == 448 && float8_e5m2(float8_e4m3fn(-0.4375f)) == -0.4375f &&
           bfloat16(float16(1.001f)) == 1 && float16(float8_e8m0(0x1p-24)) == 0x1p-24f &&
           float16(float8_e8m0(0x1p16)) == float_infinity &&
           cast<float8_e5m2>(float16::from_bits(0x7c00), {.saturate = false}).bits() == 0x7c &&
           cast<float16>(float16(3)) == 3 && cast<double>(float16(0.5f)) == 0.5 &&
           cast<int>(bfloat16(-2.75f)) == -2 && cast<bool>(float16::from_bits(0x8000)) == false &&
           cast<bool>(float16(0x1p-24)) == true;
}

constexpr bool arithmetic()
{
    float16 x = 1;
    x += float16(0x1p-11f); // a tie: to even
    bool ok = x == 1;
    x += 0x1p-11 + 0x1p-40; // computed in double, rounded once
    ok = ok && x == 1 + 0x1p-10f;
    x -= 1;
    ok = ok && x == 0x1p-10f;
    x *= 3;
    ok = ok && x == 3 * 0x1p-10f;
    x /= float16(3);
    ok = ok && x == 0x1p-10f;
    float8_e4m3fn y = 400;
    y += y;
    ok = ok && y == 448;
    bfloat16 z = 3;
    z = z / 2 + 0.25f;
    return ok && z == 1.75f && std::is_same_v<decltype(x + x), float> &&
           std::is_same_v<decltype(x * 2.0), double> && std::is_same_v<decltype(-y), float>;
}

constexpr bool comparisons()
{
    float16 const quiet = std::numeric_limits<float16>::quiet_NaN();
    return float16(0.0f) == float16(-0.0f) && quiet != quiet && !(quiet < 1) && float16(1) < bfloat16(2) &&
           float16(3) >= 3 && isnan(quiet) && !isnan(float16(1)) && isinf(float16(1e9)) &&
           !isinf(float8_e4m3fn(1e9)) && !isinf(quiet) && isfinite(float4_e2m1(plus_nan)) && !isfinite(quiet);
}

// All 2^3 choices of attributes on numbers in and out of range.
constexpr unsigned e8m0(double x, bool saturate, round_mode mode)
{
    return cast<float8_e8m0>(x, {.saturate = saturate, .round_mode = mode}).bits();
}
constexpr bool e8m0_row(
    double x, std::array<unsigned, 3> const& saturated, std::array<unsigned, 3> const& not_saturated)
{
    constexpr round_mode modes[] = {round_mode::up, round_mode::down, round_mode::nearest};
    for (std::size_t i = 0; i < 3; ++i)
        if (e8m0(x, true, modes[i]) != saturated[i] || e8m0(x, false, modes[i]) != not_saturated[i])
            return false;
    return float8_e8m0(x).bits() == saturated[0];
}
constexpr bool e8m0_table()
{
    constexpr std::array<unsigned, 3> nans{255, 255, 255}, smallest{0, 0, 0}, largest{254, 254, 254};
    return e8m0_row(1, {127, 127, 127}, {127, 127, 127}) &&
           e8m0_row(1.25, {128, 127, 127}, {128, 127, 127}) &&
           e8m0_row(1.5, {128, 127, 128}, {128, 127, 128}) &&
           e8m0_row(1.5 - 0x1p-52, {128, 127, 127}, {128, 127, 127}) &&
           e8m0_row(1 + 0x1p-52, {128, 127, 127}, {128, 127, 127}) &&
           e8m0_row(3, {129, 128, 129}, {129, 128, 129}) && e8m0_row(0, smallest, nans) &&
           e8m0_row(-0.0, smallest, nans) && e8m0_row(0x1p-127, smallest, smallest) &&
           e8m0_row(0x1.8p-127, {1, 0, 1}, {1, 0, 1}) && e8m0_row(0x1.8p-128, smallest, nans) &&
           e8m0_row(1e-300, smallest, nans) && e8m0_row(0x1p127, largest, largest) &&
           e8m0_row(0x1.2p127, largest, nans) && e8m0_row(0x1.cp127, largest, nans) &&
           e8m0_row(1e300, largest, nans) && e8m0_row(infinity, largest, nans) &&
           e8m0_row(plus_nan, nans, nans) && e8m0_row(minus_nan, nans, nans) && e8m0_row(-1, nans, nans) &&
           e8m0_row(-infinity, nans, nans) && float8_e8m0(0.124f) == 0.125f && float8_e8m0(1.1f) == 2 &&
           float8_e8m0(0x1p-127f).bits() == 0 && float8_e8m0(96).bits() == 134 && isnan(float8_e8m0(-3)) &&
           isfinite(float8_e8m0(3));
}

} // namespace

TEST_CASE("conversions, arithmetic and comparisons, at compile time and at run time")
{
    static_assert(rounds_once());
    CHECK(rounds_once());
    static_assert(integers());
    CHECK(integers());
    static_assert(cast_table_e4m3fn());
    CHECK(cast_table_e4m3fn());
    static_assert(cast_table_e4m3fnuz());
    CHECK(cast_table_e4m3fnuz());
    static_assert(cast_table_e5m2());
    CHECK(cast_table_e5m2());
    static_assert(cast_table_e5m2fnuz());
    CHECK(cast_table_e5m2fnuz());
    static_assert(cast_table_others());
    CHECK(cast_table_others());
    static_assert(e2m1_is({0, 0.5f, 1, 1.5f, 2, 3, 4, 6}));
    CHECK(e2m1_is({0, 0.5f, 1, 1.5f, 2, 3, 4, 6}));
    static_assert(between_types());
    CHECK(between_types());
    static_assert(arithmetic());
    CHECK(arithmetic());
    static_assert(comparisons());
    CHECK(comparisons());
    static_assert(e8m0_table());
    CHECK(e8m0_table());
}

TEST_CASE("float8_e8m0: every pattern, and rounding between all of them")
{
    fault_count faults;
    std::mt19937_64 random(8);
    for (unsigned pattern = 0; pattern < 255; ++pattern) {
        double const number = std::ldexp(1.0, static_cast<int>(pattern) - 127);
        float8_e8m0 const x = float8_e8m0::from_bits(pattern);
        faults.expect(x == number && isfinite(x), true, number);
        faults.expect(float8_e8m0(static_cast<float>(x)).bits(), pattern, number);
        for (int i = 0; i < 50 && pattern < 254; ++i) {
            double const somewhere = number * (1 + static_cast<double>(1 + (random() >> 12)) * 0x1p-52);
            double const between = i == 0   ? 1.5 * number
                                   : i == 1 ? std::nextafter(number, infinity)
                                            : somewhere;
            for (bool const saturate : {true, false}) {
                faults.expect(e8m0(between, saturate, round_mode::up), pattern + 1, between);
                faults.expect(e8m0(between, saturate, round_mode::down),
                    between == 2 * number ? pattern + 1 : pattern, between);
                faults.expect(e8m0(between, saturate, round_mode::nearest),
                    pattern + (between >= 1.5 * number), between);
            }
        }
    }
    CHECK_MESSAGE(faults.count == 0, faults.first);
    CHECK(std::isnan(static_cast<float>(float8_e8m0::from_bits(255))));
    CHECK(isnan(float8_e8m0::from_bits(255)));
}

// The limits are the numbers they claim to be.
TEST_CASE_TEMPLATE("numeric_limits", T, FORMATS_WITH_MANTISSA)
{
    using limits = std::numeric_limits<T>;
    auto const& format = format_of_type<T>;
    static_assert(limits::is_specialized && limits::is_signed && limits::is_bounded && limits::radix == 2 &&
                  !limits::is_integer);
    CHECK(limits::max() == textbook::number(format, format.largest));
    CHECK(limits::lowest() == -textbook::number(format, format.largest));
    CHECK(limits::denorm_min() == textbook::number(format, 1));
    CHECK(limits::min() == std::ldexp(1.0, limits::min_exponent - 1));
    CHECK(limits::min() == std::ldexp(1.0, 1 - format.bias));
    CHECK(limits::epsilon() == std::ldexp(1.0, 1 - limits::digits));
    CHECK(limits::epsilon() == textbook::number(format, T(1).bits() + 1u) - 1);
    CHECK(limits::digits == format.mantissa_bits + 1);
    CHECK(std::ilogb(limits::max()) == limits::max_exponent - 1);
    CHECK(static_cast<int>(std::floor(std::log10(limits::max()))) == limits::max_exponent10);
    CHECK(static_cast<int>(std::ceil(std::log10(limits::min()))) == limits::min_exponent10);
    CHECK(limits::digits10 == static_cast<int>(std::floor((limits::digits - 1) * std::log10(2.0))));
    CHECK(limits::max_digits10 == static_cast<int>(std::ceil(1 + limits::digits * std::log10(2.0))));
    CHECK(limits::has_quiet_NaN == isnan(limits::quiet_NaN()));
    CHECK(limits::has_signaling_NaN == isnan(limits::signaling_NaN()));
    CHECK(limits::has_infinity == isinf(limits::infinity()));
    CHECK(limits::round_error() == 0.5f);
    CHECK(limits::has_infinity ==
          (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16> || std::is_same_v<T, float8_e5m2>));
    CHECK(limits::has_quiet_NaN == !std::is_same_v<T, float4_e2m1>);
    CHECK(limits::is_iec559 == (sizeof(T) == 2));
}

TEST_CASE("numeric_limits of float8_e8m0")
{
    using limits = std::numeric_limits<float8_e8m0>;
    static_assert(limits::is_specialized && !limits::is_signed && limits::is_bounded && limits::radix == 2 &&
                  !limits::is_integer && limits::has_quiet_NaN && !limits::has_infinity &&
                  limits::digits == 1);
    CHECK(limits::max() == 0x1p127f);
    CHECK(limits::min() == 0x1p-127f);
    CHECK(limits::lowest() == 0x1p-127f);
    CHECK(limits::denorm_min() == 0x1p-127f);
    CHECK(limits::min_exponent == -126);
    CHECK(limits::max_exponent == 128);
    CHECK(limits::epsilon() == 1);
    CHECK(isnan(limits::quiet_NaN()));
}

namespace {

template <class T, std::size_t Size>
constexpr bool is_plain_data =
    std::is_trivial_v<T> && std::is_standard_layout_v<T> && std::is_trivially_default_constructible_v<T> &&
    std::is_trivially_copyable_v<T> && sizeof(T) == Size && alignof(T) == Size && T{}.bits() == 0;

static_assert(is_plain_data<float16, 2> && is_plain_data<bfloat16, 2> && is_plain_data<float8_e4m3fn, 1> &&
              is_plain_data<float8_e4m3fnuz, 1> && is_plain_data<float8_e5m2, 1> &&
              is_plain_data<float8_e5m2fnuz, 1> && is_plain_data<float8_e8m0, 1> &&
              is_plain_data<float4_e2m1, 1>);

// long double would be rounded twice: refused. So is what is no number.
static_assert(!std::is_constructible_v<float16, long double> &&
              !std::is_constructible_v<float16, char const*> && !std::is_constructible_v<float16, void*>);
static_assert(std::is_convertible_v<float, float16> && std::is_convertible_v<int, bfloat16> &&
              std::is_convertible_v<float16, bfloat16>);

static_assert(std::is_same_v<std::common_type_t<float16, float16>, float16> &&
              std::is_same_v<std::common_type_t<float16, int>, float> &&
              std::is_same_v<std::common_type_t<double, bfloat16>, double> &&
              std::is_same_v<std::common_type_t<float16, bfloat16>, float> &&
              std::is_same_v<std::common_type_t<int4, float16>, float> &&
              std::is_same_v<std::common_type_t<float16, int4>, float>);

// Bits beyond the format's are none of its business.
static_assert(float4_e2m1::from_bits(0xf7) == 6 && float4_e2m1::from_bits(0xff) == -6 &&
              float8_e5m2::from_bits(0x13c) == 1 && float4_e2m1::from_bits(0xf7).bits() == 7 &&
              float8_e8m0::from_bits(0x17f).bits() == 0x7f);

} // namespace

} // namespace core_small_float_test
