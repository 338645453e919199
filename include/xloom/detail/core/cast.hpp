#pragma once
// Conversion of a number to another element type, as by ONNX's Cast.

#include <type_traits>

#include <xloom/detail/core/float_rounding.hpp>
#include <xloom/detail/core/number.hpp>
#include <xloom/detail/core/small_float.hpp>
#include <xloom/detail/core/small_int.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

template <class T>
inline constexpr bool is_small_float = false;
template <element_type Element>
inline constexpr bool is_small_float<small_float<Element>> = true;

/// The type in which recurrences and activations of Items are computed: float for storage floats, else Item.
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
