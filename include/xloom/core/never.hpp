#pragma once
// A constant that is false for every type, for compile-time errors in templates.

#include <type_traits>

#include <xloom/core/exceptions.hpp>

namespace xloom::detail {

/// False for every T. A static_assert on it fails only where its statement is instantiated.
template <class T>
inline constexpr bool never = false;

/// An argument in the place of a call's options that is none.
template <class Other, class Options>
concept other_than = !std::is_convertible_v<Other const&, Options>;

} // namespace xloom::detail
