#pragma once
// The ONNX element type of a C++ type.

#include <complex>
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

#include <xloom/detail/core/element_types.hpp>
#include <xloom/detail/core/small_float.hpp>
#include <xloom/detail/core/small_int.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

template <class T>
inline constexpr element_type element_type_of_bare = element_type::undefined;

// Integers are mapped by size and signedness: long and long long may both be int64. Character types and
// __int128 are not element types.
template <class T>
    requires(std::signed_integral<T> || std::unsigned_integral<T>)
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
inline constexpr element_type element_type_of_bare<char> = element_type::undefined;
template <>
inline constexpr element_type element_type_of_bare<wchar_t> = element_type::undefined;
template <>
inline constexpr element_type element_type_of_bare<char8_t> = element_type::undefined;
template <>
inline constexpr element_type element_type_of_bare<char16_t> = element_type::undefined;
template <>
inline constexpr element_type element_type_of_bare<char32_t> = element_type::undefined;

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

} // namespace xloom::inline XLOOM_ABI
