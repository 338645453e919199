#pragma once
// The element types of ONNX, with the values of TensorProto::DataType, and their names; and the
// concept of a number.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <xloom/detail/core/abi.hpp>

namespace xloom::inline XLOOM_ABI {

/// The element type of a tensor; `undefined` if it is not known. Some enumerators have the names of storage
/// types: with `using namespace xloom`, write `using enum element_type` in an inner namespace or block, where
/// it hides them.
enum class element_type : std::int32_t {
    undefined = 0,
    float_ = 1,
    uint8 = 2,
    int8 = 3,
    uint16 = 4,
    int16 = 5,
    int32 = 6,
    int64 = 7,
    string = 8,
    bool_ = 9,
    float16 = 10,
    double_ = 11,
    uint32 = 12,
    uint64 = 13,
    complex64 = 14,
    complex128 = 15,
    bfloat16 = 16,
    float8_e4m3fn = 17,
    float8_e4m3fnuz = 18,
    float8_e5m2 = 19,
    float8_e5m2fnuz = 20,
    uint4 = 21,
    int4 = 22,
    float4_e2m1 = 23,
    float8_e8m0 = 24,
    uint2 = 25,
    int2 = 26
};

/// The number of element types, including `undefined`; their values are 0 .. element_type_count - 1.
inline constexpr std::size_t element_type_count = 27;

/// Returns the name in ONNX's type strings, such as "float8e4m3fn" in tensor(float8e4m3fn); "undefined" for a
/// value that is not an element type.
constexpr std::string_view name_of(element_type element) noexcept
{
    constexpr std::string_view names[element_type_count] = {"undefined", "float", "uint8", "int8", "uint16",
        "int16", "int32", "int64", "string", "bool", "float16", "double", "uint32", "uint64", "complex64",
        "complex128", "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4",
        "int4", "float4e2m1", "float8e8m0", "uint2", "int2"};
    auto const number = static_cast<std::size_t>(element);
    return number < element_type_count ? names[number] : names[0];
}

} // namespace xloom::inline XLOOM_ABI

namespace xloom::inline XLOOM_ABI::detail {

template <class T>
concept builtin_number = std::same_as<T, float> || std::same_as<T, double> ||
                         (std::integral<T> && sizeof(T) <= sizeof(std::uint64_t));

/// An integer that counts or wraps around, as bool does not.
template <class T>
concept counting_integer = std::integral<T> && !std::same_as<T, bool>;

/// A type whose unary + gives an integer, a float or a double: the built-in numbers, the storage types, and
/// user-defined types with such an operator.
template <class T>
concept number = requires(T const& value) { requires builtin_number<decltype(+value)>; };

} // namespace xloom::inline XLOOM_ABI::detail
