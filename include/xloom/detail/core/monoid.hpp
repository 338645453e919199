#pragma once
// Associative operators, with their identities.

#include <concepts>
#include <limits>
#include <type_traits>

#include <xloom/detail/core/reduction.hpp>
#include <xloom/detail/core/small_float.hpp>

namespace xloom::inline XLOOM_ABI {

/// An associative operator and the value that an exclusive scan begins with, as one value: the operator's
/// identity, or any other value.
template <class Op, class Value>
struct monoid {
    Op op;
    Value identity;
};
template <class Op, class Value>
monoid(Op, Value) -> monoid<Op, Value>;

namespace detail {

template <class T>
inline constexpr bool is_monoid = false;
template <class Op, class Value>
inline constexpr bool is_monoid<monoid<Op, Value>> = true;

/// A number type with a largest and a smallest value.
template <class T>
concept bounded = std::numeric_limits<T>::is_specialized && ordered<T>;

/// True if a reduction of Ts has an identity that is known: T{} and T(1), or the bounds of T. float8_e8m0 has
/// no zero, and T{} of a vector or matrix may have no elements or unspecified ones.
template <class Reduce, class T>
inline constexpr bool has_identity = false;
template <class T>
inline constexpr bool has_identity<reduce_add_t, T> =
    summable<T> && !std::same_as<T, float8_e8m0> && (!array_like<T> || is_string<T>);
template <class T>
inline constexpr bool has_identity<reduce_mul_t, T> = multipliable<T> && std::is_constructible_v<T, int>;
template <class T>
inline constexpr bool has_identity<reduce_max_t, T> = bounded<T>;
template <class T>
inline constexpr bool has_identity<reduce_min_t, T> = bounded<T>;

/// Returns the identity of a reduction: 0, 1, and for max and min the smallest and the largest value, an
/// infinity if there is one.
template <class T, class Reduce>
    requires has_identity<Reduce, T>
constexpr T identity_of(Reduce const&)
{
    using limits = std::numeric_limits<T>;
    if constexpr (std::same_as<Reduce, reduce_add_t>)
        return T{};
    else if constexpr (std::same_as<Reduce, reduce_mul_t>)
        return static_cast<T>(1);
    else if constexpr (std::same_as<Reduce, reduce_max_t> && limits::has_infinity)
        return static_cast<T>(-limits::infinity());
    else if constexpr (std::same_as<Reduce, reduce_max_t>)
        return limits::lowest();
    else if constexpr (limits::has_infinity)
        return limits::infinity();
    else
        return (limits::max)();
}

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
