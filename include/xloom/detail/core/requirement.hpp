#pragma once
// Requirements on the types of a call, each a compile-time error of one sentence.

#include <type_traits>

#include <xloom/detail/core/abi.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// False for every T. A static_assert on it fails only where its statement is instantiated.
template <class T>
inline constexpr bool never = false;

/// True if all requirements hold. A requirement is a type whose `static consteval bool holds()` contains a
/// static_assert with its sentence. Those behind the first that fails are not instantiated, so that a mistake
/// gives one error, on every compiler. The operator then returns a value instead of running.
///
///     if constexpr (satisfied<readable<X>, single_indices<Indices>>())
template <class First, class... Rest>
consteval bool satisfied()
{
    if constexpr (!First::holds())
        return false;
    else if constexpr (sizeof...(Rest) != 0)
        return satisfied<Rest...>();
    else
        return true;
}

} // namespace xloom::inline XLOOM_ABI::detail
