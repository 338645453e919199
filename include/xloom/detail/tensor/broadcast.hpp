#pragma once
// The mark of an operand that is broadcast to the shape which the operator requires.

#include <type_traits>
#include <utility>

#include <xloom/detail/tensor/tensor.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// An operand that is to be broadcast; made by broadcast().
template <class X>
struct broadcast_operand {
    X operand; ///< a scalar or a temporary by value, otherwise a reference
};

/// The type of broadcast. Why a function object: xt and xsimd have functions of this name, which
/// argument-dependent lookup would find beside a function.
struct broadcast_t {
    template <class X>
    constexpr auto operator()(X&& operand) const
    {
        using bare = std::remove_cvref_t<X>;
        if constexpr (tensor<bare> || lazy<bare>)
            return broadcast_operand<std::conditional_t<std::is_lvalue_reference_v<X>, bare const&, bare>>{
                std::forward<X>(operand)};
        else
            return broadcast_operand<bare>{std::forward<X>(operand)};
    }
};

} // namespace detail

/// Marks updates of scatter_nd to be broadcast to the required shape by NumPy's rule: shapes are aligned at
/// their last axes, where a length of 1 and a missing axis repeat the items. The items are not written out.
///
/// Shapes    a scalar, or a tensor of any layout.
/// Types     data's element type. Where that is a number, a scalar may be a built-in number of another type
///           with a value that both types have: broadcast(1) counts in float, too.
/// Errors    of scatter_nd: shape_error: a shape that cannot be broadcast. type_error: data's element type
///           does not have the value of a scalar.
/// Cost      constant: variables are referred to, temporaries are moved in, scalars are copied.
/// Source    NumPy, "Broadcasting".
/// Example
/// ```cpp
/// xt::xtensor<std::int64_t, 1> counts = {0, 0, 0};
/// xt::xtensor<int, 2> const bins = {{2}, {0}, {2}, {2}};
/// xloom::scatter_nd_into(xloom::reduce_add, counts, bins, xloom::broadcast(1));
/// counts; // = [1, 0, 3]
/// ```
inline constexpr detail::broadcast_t broadcast{};

namespace detail {

template <class X>
inline constexpr bool is_broadcast = false;
template <class X>
inline constexpr bool is_broadcast<broadcast_operand<X>> = true;

/// Returns the operand without the mark.
template <class X>
X const& unmarked(X const& operand)
{
    return operand;
}
template <class X>
std::remove_reference_t<X> const& unmarked(broadcast_operand<X> const& marked)
{
    return marked.operand;
}

/// The type of an operand without the mark.
template <class X>
using unmarked_t = bare<decltype(detail::unmarked(std::declval<X const&>()))>;

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
