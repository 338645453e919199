#pragma once
// The concept of an element type that has gradients.

#include <cstddef>
#include <type_traits>

#include <xloom/detail/core/reduction.hpp>
#include <xloom/detail/core/small_float.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// A type with a remainder: the integers, bool and characters, the storage types of integers, and integers of
/// other libraries.
template <class T>
concept integer_like = requires(T const& a) { a % a; };

/// A type that has sums and products, and whose T{} is zero: floating-point numbers, their complex numbers
/// and storage types (float8_e8m0 has no zero), and user-defined scalars.
template <class T>
concept coefficient = !integer_like<T> && !std::same_as<T, float8_e8m0> && summable<T> && multipliable<T>;

/// A coefficient that has quotients by a count.
template <class T>
concept differentiable = coefficient<T> && std::is_invocable_v<divide_by_count const&, T const&, std::size_t>;

} // namespace xloom::inline XLOOM_ABI::detail
