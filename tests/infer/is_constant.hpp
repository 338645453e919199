#pragma once
// Whether a call is a constant expression: the twin, at compile time, of "does not throw".

#include <type_traits>

/// Calls a function and destroys its result, as clang 14 does not do with one in a template argument.
template <auto Call>
constexpr bool completes()
{
    static_cast<void>(Call());
    return true;
}

template <auto Call>
concept is_constant = requires { typename std::bool_constant<completes<Call>()>; };
