// The element types: numbers of TensorProto, names of ONNX's type strings.

#include <doctest/doctest.h>

#include <cstddef>
#include <string_view>

#include <xloom/detail/core/element_types.hpp>

namespace core_element_types_test {

using namespace xloom;

namespace {

struct known_type {
    element_type element;
    int number;
    std::string_view name;
};

constexpr known_type table[] = {{element_type::undefined, 0, "undefined"}, {element_type::float_, 1, "float"},
    {element_type::uint8, 2, "uint8"}, {element_type::int8, 3, "int8"}, {element_type::uint16, 4, "uint16"},
    {element_type::int16, 5, "int16"}, {element_type::int32, 6, "int32"}, {element_type::int64, 7, "int64"},
    {element_type::string, 8, "string"}, {element_type::bool_, 9, "bool"},
    {element_type::float16, 10, "float16"}, {element_type::double_, 11, "double"},
    {element_type::uint32, 12, "uint32"}, {element_type::uint64, 13, "uint64"},
    {element_type::complex64, 14, "complex64"}, {element_type::complex128, 15, "complex128"},
    {element_type::bfloat16, 16, "bfloat16"}, {element_type::float8_e4m3fn, 17, "float8e4m3fn"},
    {element_type::float8_e4m3fnuz, 18, "float8e4m3fnuz"}, {element_type::float8_e5m2, 19, "float8e5m2"},
    {element_type::float8_e5m2fnuz, 20, "float8e5m2fnuz"}, {element_type::uint4, 21, "uint4"},
    {element_type::int4, 22, "int4"}, {element_type::float4_e2m1, 23, "float4e2m1"},
    {element_type::float8_e8m0, 24, "float8e8m0"}, {element_type::uint2, 25, "uint2"},
    {element_type::int2, 26, "int2"}};

constexpr bool numbers_and_names()
{
    int next = 0;
    for (known_type const& known : table)
        if (known.number != next++ || static_cast<int>(known.element) != known.number ||
            name_of(known.element) != known.name)
            return false;
    return next == static_cast<int>(element_type_count);
}

constexpr bool other_numbers()
{
    return name_of(static_cast<element_type>(27)) == "undefined" &&
           name_of(static_cast<element_type>(-1)) == "undefined";
}

} // namespace

TEST_CASE("element types: numbers and names")
{
    static_assert(numbers_and_names());
    CHECK(numbers_and_names());
    static_assert(other_numbers());
    CHECK(other_numbers());
}

} // namespace core_element_types_test
