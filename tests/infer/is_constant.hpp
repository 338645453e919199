#pragma once
// Whether a call is a constant expression: the twin, at compile time, of "does not throw".

#include <type_traits>

template <auto Call>
concept is_constant = requires { typename std::bool_constant<(static_cast<void>(Call()), true)>; };
