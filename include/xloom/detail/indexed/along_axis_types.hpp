#pragma once
// The requirements on the types of a call of take_along_axis or put_along_axis, with their compile-time
// errors.

#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/indexed/index_types.hpp>
#include <xloom/detail/indexed/updates_operand.hpp>
#include <xloom/detail/tensor/operands.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True if the types of a call of take_along_axis are valid, otherwise a compile-time error of one sentence.
template <class X, class Indices, class Policy>
consteval bool is_valid_take_along_axis()
{
    if constexpr (!execution_policy<Policy>)
        static_assert(never<Policy>,
            "xloom::take_along_axis: the arguments are take_along_axis(x, indices[, options][, policy])");
    else if constexpr (!tensor<X> && !lazy<X>)
        static_assert(never<X>, "xloom::take_along_axis: x must be a tensor");
    else if constexpr (!are_valid_take_along_axis_indices<Indices>())
        return false;
    else
        return true;
    return false;
}

/// True if the types of a call of put_along_axis are valid, otherwise a compile-time error of one sentence.
template <class X, class Indices, class Values, class Policy>
consteval bool is_valid_put_along_axis()
{
    if constexpr (!execution_policy<Policy>)
        static_assert(never<Policy>, "xloom::put_along_axis: the arguments are put_along_axis(x, indices, "
                                     "values[, options][, policy])");
    else if constexpr (!tensor<X>)
        static_assert(never<X>, "xloom::put_along_axis: x must be a tensor in memory");
    else if constexpr (!is_writable<std::remove_reference_t<X>>::value)
        static_assert(never<X>, "xloom::put_along_axis: x is written, so it must not be const");
    else if constexpr (!outlives_call<X>)
        static_assert(never<X>,
            "xloom::put_along_axis: x is written in place, so it must be a variable or a view of one");
    else if constexpr (!are_valid_put_along_axis_indices<Indices>())
        return false;
    else if constexpr (!std::is_same_v<item_t<Values>, item_t<X>> &&
                       !is_converted<broadcast_operand<Values>, item_t<X>>)
        static_assert(
            never<Values>, "xloom::put_along_axis: values must have x's element type; convert them first");
    else
        return true;
    return false;
}

} // namespace xloom::inline XLOOM_ABI::detail
