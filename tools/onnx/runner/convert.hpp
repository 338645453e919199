#pragma once
// Tensors of another element type.

#include <cmath>
#include <limits>
#include <type_traits>

#include "value.hpp"

namespace runner {

/// Returns a number as ONNX's Cast converts it. A floating-point number out of range, undefined in C++,
/// becomes the nearest representable number; NaN becomes 0.
template <class To, class From>
To to_number(From x, xloom::cast_options options = {})
{
    if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && !std::is_same_v<To, bool>) {
        using limits = std::numeric_limits<To>;
        From const end = std::ldexp(From{1}, limits::digits);
        if (!(x < end))
            return x != x ? To{0} : limits::max();
        return x <= static_cast<From>(limits::lowest()) ? limits::lowest() : static_cast<To>(x);
    } else {
        return xloom::cast<To>(x, options);
    }
}

/// Converts every item. Types: all but the complex ones; strings are read and written as decimal numbers.
tensor convert(tensor const& from, element_type to, xloom::cast_options options = {});

} // namespace runner
