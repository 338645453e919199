#pragma once
// What counts as a number when values are converted.

#include <concepts>
#include <cstdint>

#include <xloom/core/exceptions.hpp>

namespace xloom::detail {

template <class T>
concept builtin_number = std::same_as<T, float> || std::same_as<T, double> ||
                         (std::integral<T> && sizeof(T) <= sizeof(std::uint64_t));

/// Whatever unary + turns into an integer, a float or a double: those, the storage types, and such types of
/// your own.
template <class T>
concept number = requires(T const& value) { requires builtin_number<decltype(+value)>; };

} // namespace xloom::detail
