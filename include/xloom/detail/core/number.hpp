#pragma once
// The concept of a type whose values convert to a number.

#include <concepts>
#include <cstdint>

#include <xloom/detail/core/abi.hpp>

namespace xloom::inline XLOOM_ABI::detail {

template <class T>
concept builtin_number = std::same_as<T, float> || std::same_as<T, double> ||
                         (std::integral<T> && sizeof(T) <= sizeof(std::uint64_t));

/// A type whose unary + gives an integer, a float or a double: the built-in numbers, the storage types, and
/// user-defined types with such an operator.
template <class T>
concept number = requires(T const& value) { requires builtin_number<decltype(+value)>; };

} // namespace xloom::inline XLOOM_ABI::detail
