#pragma once
// Calls in constant expressions and at run time.

#include <doctest/doctest.h>

#include <string>
#include <type_traits>

/// Calls a function and destroys its result, as clang 14 does not do with one in a template argument.
template <auto Call>
constexpr bool completes()
{
    static_cast<void>(Call());
    return true;
}

/// A call that is a constant expression: at compile time, what does not throw.
template <auto Call>
concept is_constant = requires { typename std::bool_constant<completes<Call>()>; };

/// True if Call() is, at compile time and at run time.
template <auto Call>
bool always_holds()
{
    static_assert(Call());
    return Call();
}

/// Checks that Call() is no constant expression, and throws an Error with this text at run time.
template <auto Call, class Error>
void check_refused(std::string const& text)
{
    static_assert(!is_constant<Call>);
    CHECK_THROWS_WITH_AS(Call(), text.c_str(), Error);
}
