#pragma once
// The ONNX element type of a C++ type, the conversion of a number to another one as by ONNX's Cast, and that
// of a built-in number which keeps its value.

#include <cmath>
#include <complex>
#include <concepts>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <xloom/detail/core/small_float.hpp>
#include <xloom/detail/core/small_int.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

template <class T>
inline constexpr bool is_character =
    std::same_as<T, char> || std::same_as<T, wchar_t> || std::same_as<T, char8_t> ||
    std::same_as<T, char16_t> || std::same_as<T, char32_t>;

template <class T>
inline constexpr element_type element_type_of_bare = element_type::undefined;

// Integers are mapped by size and signedness: long and long long may both be int64. Character types and
// __int128 are not element types.
template <class T>
    requires((std::signed_integral<T> || std::unsigned_integral<T>) && !is_character<T>)
inline constexpr element_type element_type_of_bare<T> = [] {
    constexpr element_type by_size[2][4] = {
        {element_type::uint8, element_type::uint16, element_type::uint32, element_type::uint64},
        {element_type::int8, element_type::int16, element_type::int32, element_type::int64}};
    constexpr std::size_t row = std::is_signed_v<T> ? 1 : 0;
    return sizeof(T) == 1   ? by_size[row][0]
           : sizeof(T) == 2 ? by_size[row][1]
           : sizeof(T) == 4 ? by_size[row][2]
           : sizeof(T) == 8 ? by_size[row][3]
                            : element_type::undefined;
}();
template <>
inline constexpr element_type element_type_of_bare<bool> = element_type::bool_;
template <>
inline constexpr element_type element_type_of_bare<float> = element_type::float_;
template <>
inline constexpr element_type element_type_of_bare<double> = element_type::double_;
template <>
inline constexpr element_type element_type_of_bare<std::complex<float>> = element_type::complex64;
template <>
inline constexpr element_type element_type_of_bare<std::complex<double>> = element_type::complex128;
template <>
inline constexpr element_type element_type_of_bare<std::string> = element_type::string;
template <element_type Element>
inline constexpr element_type element_type_of_bare<small_float<Element>> = Element;
template <element_type Element>
inline constexpr element_type element_type_of_bare<small_int<Element>> = Element;

} // namespace detail

/// The ONNX element type of T, ignoring const and volatile; element_type::undefined if there is none.
template <class T>
inline constexpr element_type element_type_of = detail::element_type_of_bare<std::remove_cv_t<T>>;

namespace detail {

template <class T>
inline constexpr bool is_small_float = false;
template <element_type Element>
inline constexpr bool is_small_float<small_float<Element>> = true;

/// The type in which Items are computed and compared: float for storage floats, else Item.
template <class Item>
using compute_t = std::conditional_t<is_small_float<Item>, float, Item>;

} // namespace detail

/// Converts a number as ONNX's Cast converts an element. Only small_float uses the options.
///
/// Differs   where ONNX does not specify the result or calls it "undefined": floating-point numbers convert
///           to int8 .. uint64 as in C++ (truncated; undefined behaviour out of range), to small_int and
///           small_float as documented there. Up to Cast-23 ONNX converted infinity to NaN in the fnuz types
///           even if saturating, since Cast-24 to the largest number, as here.
/// Source    ONNX Cast-25, and its notes on float 8, float 4, int 4 and int 2.
template <detail::number To, detail::number From>
constexpr To cast(From value, [[maybe_unused]] cast_options options = {}) noexcept
{
    if constexpr (std::same_as<To, From>)
        return value;
    else if constexpr (detail::is_small_float<To>)
        return To(value, options);
    else
        return static_cast<To>(value);
}

} // namespace xloom::inline XLOOM_ABI

namespace xloom::inline XLOOM_ABI::detail {

/// The number after the largest one of an integer type.
template <std::integral Int, std::floating_point Float>
inline constexpr Float range_end =
    Float{2} * static_cast<Float>(std::uintmax_t{1} << (std::numeric_limits<Int>::digits - 1));

/// True if a floating-point number, truncated, is in the range of an integer type.
template <std::integral Int, std::floating_point Float>
bool is_in_range(Float value)
{
    constexpr Float end = range_end<Int, Float>, lowest = std::is_signed_v<Int> ? -end : Float{0};
    return value < end && (value >= lowest || value > lowest - 1); // lowest - 1 may be rounded to lowest
}

/// Returns static_cast<To>(value), or 0 where that is undefined: a floating-point number out of range.
template <builtin_number To, builtin_number From>
To defined_cast(From value)
{
    if constexpr (std::integral<To> && std::floating_point<From>)
        return static_cast<To>(is_in_range<To>(value) ? value : From{0});
    else
        return static_cast<To>(value);
}

/// True if a number of type To has the same value. To and From are int and longer integers, float, or double.
template <builtin_number To, builtin_number From>
bool is_exact(From value)
{
    if constexpr (std::integral<To> && std::integral<From>)
        return std::in_range<To>(value);
    else if constexpr (std::integral<From>)
        return is_in_range<From>(static_cast<To>(value)) &&
               defined_cast<From>(static_cast<To>(value)) == value;
    else
        return std::isnan(value) ? std::floating_point<To>
                                 : static_cast<From>(defined_cast<To>(value)) == value;
}

/// Returns the number as a To, or nothing if no To has its value.
template <number To, builtin_number From>
std::optional<To> exact_cast(From value)
{
    using computed = decltype(+std::declval<To const&>());
    auto const promoted = +value;
    if (!is_exact<computed>(promoted))
        return std::nullopt;
    auto const number = defined_cast<computed>(promoted); // clang 14 computes it before the return above
    To const result = cast<To>(number);
    bool const is_nan = number != number;
    if (is_nan ? +result == +result : +result != number)
        return std::nullopt;
    return result;
}

} // namespace xloom::inline XLOOM_ABI::detail
