#pragma once
// Traits of borrowed operands: types whose items outlive the object, so that a temporary may be passed.

#include <ranges>
#include <type_traits>

#include <xloom/detail/core/abi.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True if the items of an X outlive the X: a std::span, a view of a variable, an adaptor of memory that it
/// does not own. False for a container, and for a view or an adaptor that holds a container.
template <class X>
inline constexpr bool is_borrowed = std::ranges::enable_borrowed_range<X>;

/// True if the items of an operand that is passed as an X&& may be read after the call.
template <class X>
inline constexpr bool outlives_expression =
    std::is_lvalue_reference_v<X> || is_borrowed<std::remove_cvref_t<X>>;

} // namespace xloom::inline XLOOM_ABI::detail
