#pragma once
// Printing of shapes and types as in error messages, such as float[2, N].

#include <iosfwd>
#include <string>

#include <xloom/detail/core/error.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// True if T is a type of xloom that to_string and << print.
template <class T>
inline constexpr bool is_printed = false;

} // namespace detail

/// Returns the text of a shape, axes, dim, partial_shape, partial_type or type_list.
///
/// Example
/// ```cpp
/// xloom::to_string(xloom::shape{2, 3}); // = [2, 3]
/// ```
template <class T>
    requires detail::is_printed<T>
std::string to_string(T const& value)
{
    return detail::concat(value);
}

/// Writes to_string(value) to a stream. The caller includes <ostream>.
template <class Traits, class T>
    requires detail::is_printed<T>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, T const& value)
{
    return out << to_string(value);
}

} // namespace xloom::inline XLOOM_ABI
