#pragma once
// A constant that is false for every type, for compile-time errors in templates.

#include <xloom/core/exceptions.hpp>

namespace xloom::detail {

/// False for every T. A static_assert on it fails only where its statement is instantiated.
template <class T>
inline constexpr bool never = false;

} // namespace xloom::detail
