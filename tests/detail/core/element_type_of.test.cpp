// From C++ types to element types.

#include <doctest/doctest.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <xloom/detail/core/cast.hpp>

namespace core_element_type_of_test {

using namespace xloom;

namespace {

// Every element type is held by exactly one of these.
template <class... Ts>
constexpr bool cover_all()
{
    element_type const held[] = {element_type_of<Ts>...};
    for (std::size_t number = 1; number < element_type_count; ++number) {
        int holders = 0;
        for (element_type const element : held)
            holders += static_cast<std::size_t>(element) == number ? 1 : 0;
        if (holders != 1)
            return false;
    }
    return sizeof...(Ts) == element_type_count - 1;
}

static_assert(cover_all<float, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::int32_t,
    std::int64_t, std::string, bool, float16, double, std::uint32_t, std::uint64_t, std::complex<float>,
    std::complex<double>, bfloat16, float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, uint4, int4,
    float4_e2m1, float8_e8m0, uint2, int2>());

template <class T>
constexpr std::string_view name = name_of(element_type_of<T>);

constexpr bool names()
{
    return name<float> == "float" && name<double> == "double" && name<bool> == "bool" &&
           name<std::string> == "string" && name<std::complex<float>> == "complex64" &&
           name<std::complex<double>> == "complex128" && name<std::int8_t> == "int8" &&
           name<std::int16_t> == "int16" && name<std::int32_t> == "int32" && name<std::int64_t> == "int64" &&
           name<std::uint8_t> == "uint8" && name<std::uint16_t> == "uint16" &&
           name<std::uint32_t> == "uint32" && name<std::uint64_t> == "uint64" && name<float16> == "float16" &&
           name<bfloat16> == "bfloat16" && name<float8_e4m3fn> == "float8e4m3fn" &&
           name<float8_e4m3fnuz> == "float8e4m3fnuz" && name<float8_e5m2> == "float8e5m2" &&
           name<float8_e5m2fnuz> == "float8e5m2fnuz" && name<float8_e8m0> == "float8e8m0" &&
           name<float4_e2m1> == "float4e2m1" && name<int4> == "int4" && name<uint4> == "uint4" &&
           name<int2> == "int2" && name<uint2> == "uint2";
}

constexpr bool by_size()
{
    return element_type_of<long> == (sizeof(long) == 8 ? element_type::int64 : element_type::int32) &&
           element_type_of<long long> == element_type::int64 &&
           element_type_of<unsigned long long> == element_type::uint64 &&
           element_type_of<std::size_t> ==
               (sizeof(std::size_t) == 8 ? element_type::uint64 : element_type::uint32) &&
           element_type_of<signed char> == element_type::int8 &&
           element_type_of<unsigned char> == element_type::uint8 &&
           element_type_of<float const> == element_type::float_ &&
           element_type_of<float16 const volatile> == element_type::float16;
}

constexpr bool no_elements()
{
    return element_type_of<char> == element_type::undefined &&
           element_type_of<wchar_t> == element_type::undefined &&
           element_type_of<char8_t> == element_type::undefined &&
           element_type_of<char16_t> == element_type::undefined &&
           element_type_of<char32_t> == element_type::undefined &&
           element_type_of<long double> == element_type::undefined &&
           element_type_of<float*> == element_type::undefined &&
           element_type_of<std::complex<int>> == element_type::undefined &&
           element_type_of<void> == element_type::undefined;
}

} // namespace

TEST_CASE("element_type_of")
{
    static_assert(names());
    CHECK(names());
    static_assert(by_size());
    CHECK(by_size());
    static_assert(no_elements());
    CHECK(no_elements());
}

} // namespace core_element_type_of_test
