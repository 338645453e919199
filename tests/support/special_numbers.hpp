#pragma once
// What a floating-point type has beside numbers.

#include <limits>

template <class T>
inline constexpr T infinity = std::numeric_limits<T>::infinity();

template <class T>
inline constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();
