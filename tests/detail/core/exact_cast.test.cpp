// Conversions of numbers that keep the value, at the limits of the types.

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

#include <xloom/detail/core/cast.hpp>

namespace exact_cast_test {

using xloom::detail::exact_cast;

TEST_CASE("integers convert to integers within the other's range")
{
    CHECK(exact_cast<std::int64_t>(1) == 1);
    CHECK(exact_cast<std::int8_t>(127) == std::int8_t{127});
    CHECK(!exact_cast<std::int8_t>(128));
    CHECK(!exact_cast<unsigned>(-1));
    CHECK(!exact_cast<int>(~std::uint64_t{0}));
    CHECK(exact_cast<std::uint64_t>(~std::uint64_t{0}) == ~std::uint64_t{0});
    CHECK(exact_cast<int>(true) == 1);
    CHECK(exact_cast<int>('a') == 'a');
    CHECK(exact_cast<bool>(1) == true);
    CHECK(!exact_cast<bool>(2));
}

TEST_CASE("floats convert to integers if they are whole and within range")
{
    CHECK(exact_cast<int>(3.0) == 3);
    CHECK(exact_cast<int>(-0.0) == 0);
    CHECK(!exact_cast<int>(3.5));
    CHECK(exact_cast<int>(-2147483648.0) == std::numeric_limits<int>::min());
    CHECK(!exact_cast<int>(2147483648.0));
    CHECK(!exact_cast<int>(-2147483649.0));
    CHECK(!exact_cast<unsigned>(-1.0));
    CHECK(!exact_cast<std::int64_t>(9223372036854775808.0f));
    CHECK(exact_cast<std::uint64_t>(9223372036854775808.0f) == std::uint64_t{1} << 63);
    CHECK(!exact_cast<std::int64_t>(std::numeric_limits<double>::infinity()));
    CHECK(!exact_cast<std::int64_t>(std::numeric_limits<double>::quiet_NaN()));
}

TEST_CASE("integers convert to floats that have as many digits")
{
    CHECK(exact_cast<float>(16'777'216) == 16'777'216.0f);
    CHECK(!exact_cast<float>(16'777'217));
    CHECK(!exact_cast<float>(std::numeric_limits<std::int32_t>::max()));
    CHECK(exact_cast<float>(std::numeric_limits<std::int32_t>::min()) == -2147483648.0f);
    CHECK(exact_cast<double>(std::numeric_limits<std::int32_t>::max()) == 2147483647.0);
    CHECK(!exact_cast<double>(~std::uint64_t{0}));
    CHECK(exact_cast<xloom::bfloat16>(256) == xloom::bfloat16(256));
    CHECK(!exact_cast<xloom::bfloat16>(257));
}

TEST_CASE("floats convert to floats, NaN and infinity too")
{
    CHECK(exact_cast<float>(0.5) == 0.5f);
    CHECK(!exact_cast<float>(0.1));
    CHECK(exact_cast<double>(0.1f) == static_cast<double>(0.1f));
    CHECK(
        exact_cast<float>(std::numeric_limits<double>::infinity()) == std::numeric_limits<float>::infinity());
    CHECK(!exact_cast<float>(1e300));
    float const nan = exact_cast<float>(std::numeric_limits<double>::quiet_NaN()).value();
    CHECK(nan != nan);
    CHECK(std::signbit(exact_cast<float>(-0.0).value()));
    CHECK(exact_cast<xloom::float16>(0.5) == xloom::float16(0.5f));
    CHECK(!exact_cast<xloom::float16>(70000.0));
}

TEST_CASE("small types, which saturate or wrap around otherwise")
{
    CHECK(+exact_cast<xloom::int4>(7).value() == 7);
    CHECK(!exact_cast<xloom::int4>(8));
    CHECK(!exact_cast<xloom::uint4>(-1));
    CHECK(+exact_cast<xloom::uint4>(15.0).value() == 15);
    CHECK(+exact_cast<xloom::float4_e2m1>(6).value() == 6.0f);
    CHECK(!exact_cast<xloom::float4_e2m1>(5));
    CHECK(!exact_cast<xloom::float4_e2m1>(std::numeric_limits<double>::quiet_NaN()));
    CHECK(!exact_cast<xloom::float4_e2m1>(std::numeric_limits<double>::infinity()));
}

} // namespace exact_cast_test
