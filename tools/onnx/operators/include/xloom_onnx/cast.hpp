#pragma once
// Conversion of numbers, and of numbers to texts and back, as by ONNX's Cast.

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include <xloom/kernels.hpp>
#include <xloom_onnx/batch.hpp>

namespace xloom_onnx {

/// Returns a number as ONNX's Cast converts it. A floating-point number out of range, undefined in C++,
/// becomes the nearest representable number; NaN becomes 0.
template <class To, class From>
To cast_item(From const& x, xloom::cast_options options = {})
{
    if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && !std::is_same_v<To, bool>) {
        using limits = std::numeric_limits<To>;
        From const end = std::ldexp(From{1}, limits::digits);
        if (!(x < end))
            return x != x ? To{0} : limits::max();
        return x <= static_cast<From>(limits::lowest()) ? limits::lowest() : static_cast<To>(x);
    } else if constexpr (xloom::kernels::is_small_float<From> && std::is_integral_v<To>) {
        return cast_item<To>(static_cast<float>(x), options);
    } else {
        return xloom::cast<To>(x, options);
    }
}

/// Returns the shortest decimal text that reads as the same number, without an exponent; NaN, INF or -INF.
/// T is float, double or an integer.
template <class T>
std::string text_of(T x)
{
    if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(x))
            return "NaN";
        if (std::isinf(x))
            return x < 0 ? "-INF" : "INF";
    }
    std::array<char, 400> digits; // the longest: 5e-324
    auto const end = [&] {
        if constexpr (std::is_floating_point_v<T>)
            return std::to_chars(digits.data(), digits.data() + digits.size(), x, std::chars_format::fixed)
                .ptr;
        else
            return std::to_chars(digits.data(), digits.data() + digits.size(), x).ptr;
    }();
    return {digits.data(), end};
}

/// Returns the number that a text reads as; an integer also of the text of a floating-point number. T is
/// float, double or an integer.
///
/// Errors    type_error: the text is no number.
template <class T>
T number_in(std::string const& text)
{
    char const* const begin = text.c_str();
    char const* const end = begin + text.size();
    if constexpr (std::is_integral_v<T>) {
        T whole{};
        bool const has_plus = text.starts_with('+') && !text.starts_with("+-");
        auto const read = std::from_chars(begin + (has_plus ? 1 : 0), end, whole);
        if (read.ec == std::errc() && read.ptr == end)
            return whole;
        return cast_item<T>(number_in<double>(text));
    } else {
        char* stop = nullptr;
        T const x = std::is_same_v<T, float> ? static_cast<T>(std::strtof(begin, &stop))
                                             : static_cast<T>(std::strtod(begin, &stop));
        if (text.empty() || stop != end)
            xloom::kernels::fail<xloom::type_error>("xloom_onnx: the string '", text, "' is no number");
        return x;
    }
}

/// A function object that converts items of any type but the complex ones; strings are read and written as
/// decimal numbers.
///
///     map_into(cast<std::int64_t>{}, x, y);
template <class To>
struct cast {
    explicit cast(xloom::cast_options o = {}) : options(o) {}
    xloom::cast_options options;

    /// A batch keeps its element type; a mask becomes zeros and ones.
    template <class From>
        requires(!(detail::is_batch<From> || detail::is_mask<From>) ||
                 std::is_same_v<detail::batch_item_t<From>, To>)
    auto operator()(From const& x) const
    {
        if constexpr (detail::is_mask<From>) {
            using V = xloom::kernels::batch_t<To>;
            return V(xloom::kernels::select(x, V(1), V(0)));
        } else if constexpr (detail::is_batch<From>) {
            return x;
        } else if constexpr (std::is_same_v<From, To>) {
            return x;
        } else if constexpr (std::is_same_v<From, std::string>) {
            if constexpr (std::is_same_v<To, bool>)
                return number_in<double>(x) != 0; // 0.5 is true
            else
                return cast_item<To>(number_in<hub<To>>(x), options);
        } else if constexpr (std::is_same_v<To, std::string>) {
            return text_of(static_cast<hub<From>>(x));
        } else {
            return cast_item<To>(x, options);
        }
    }

private:
    /// The type whose texts stand for the numbers of type T.
    template <class T>
    using hub = std::conditional_t<std::is_same_v<T, double> || std::is_same_v<T, std::uint64_t>, T,
        std::conditional_t<xloom::kernels::is_small_float<T> || std::is_same_v<T, float>, float,
            std::int64_t>>;
};

} // namespace xloom_onnx
