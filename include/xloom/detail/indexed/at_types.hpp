#pragma once
// The requirements on the types of a call of at, with their compile-time errors.

#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/indexed/index_types.hpp>
#include <xloom/detail/indexed/result_types.hpp>
#include <xloom/detail/indexed/updates_operand.hpp>
#include <xloom/detail/tensor/operands.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True if the types of a call of at are valid, otherwise a compile-time error of one sentence.
template <class X, class Op, class Indices, class Updates, class Policy>
consteval bool is_valid_at()
{
    if constexpr (!execution_policy<Policy> || tensor<Op> || lazy<Op>)
        static_assert(
            never<Policy>, "xloom::at: the arguments are at(x, op, indices, updates[, options][, policy])");
    else if constexpr (!tensor<X>)
        static_assert(never<X>, "xloom::at: x must be a tensor in memory");
    else if constexpr (!is_writable<std::remove_reference_t<X>>::value)
        static_assert(never<X>, "xloom::at: x is updated in place, so it must not be const");
    else if constexpr (!outlives_call<X>)
        static_assert(
            never<X>, "xloom::at: x is updated in place, so it must be a variable or a view of one");
    else if constexpr (!are_valid_at_indices<Indices>())
        return false;
    else if constexpr (!std::is_same_v<item_t<Updates>, item_t<X>> &&
                       !is_converted<broadcast_operand<Updates>, item_t<X>>)
        static_assert(never<Updates>, "xloom::at: updates must have x's element type; convert them first");
    else if constexpr (!is_named<Op> && !reduces_items<Op, item_t<X>>)
        static_assert(never<Op>,
            "xloom::at: the operation must be callable as op(old item, update item) -> new item for x's "
            "elements; strings can be joined only (reduce_add), complex numbers have no order");
    else
        return true;
    return false;
}

} // namespace xloom::inline XLOOM_ABI::detail
