#pragma once
// The requirements on the types of a call of scatter_nd or scatter_nd_into, with their compile-time errors.

#include <utility>

#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/indexed/index_types.hpp>
#include <xloom/detail/indexed/reduction_argument.hpp>
#include <xloom/detail/indexed/result_types.hpp>
#include <xloom/detail/indexed/updates_operand.hpp>
#include <xloom/detail/tensor/operands.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True if the types of a call of scatter_nd (InPlace: scatter_nd_into) are valid, otherwise a compile-time
/// error of one sentence.
template <bool InPlace, class Data, class Indices, class Updates, class Reduce, class Policy>
consteval bool is_valid_scatter_nd()
{
    if constexpr (execution_policy<Reduce> || !execution_policy<Policy>)
        static_assert(never<Policy>, "xloom::scatter_nd: the arguments are scatter_nd(data, indices, "
                                     "updates[, reduce][, options][, policy])");
    else if constexpr (!tensor<Data> && (InPlace || !lazy<bare<Data>>))
        static_assert(never<Data>,
            "xloom::scatter_nd: data must be a tensor, and for scatter_nd_into a tensor in memory");
    else if constexpr (InPlace && !is_writable<std::remove_reference_t<Data>>::value)
        static_assert(
            never<Data>, "xloom::scatter_nd_into: data is updated in place, so it must not be const");
    else if constexpr (InPlace && !outlives_call<Data>)
        static_assert(never<Data>,
            "xloom::scatter_nd_into: data is updated in place, so it must be a variable or a view of one");
    else if constexpr (!are_valid_scatter_nd_indices<Indices>())
        return false;
    else if constexpr (!std::is_same_v<item_t<unmarked_t<Updates>>, item_t<Data>> &&
                       !is_converted<Updates, item_t<Data>>)
        static_assert(
            never<Updates>, "xloom::scatter_nd: updates must have data's element type; convert them first");
    else if constexpr (!is_named<Reduce> && !reduces_items<Reduce, item_t<Data>>)
        static_assert(never<Reduce>,
            "xloom::scatter_nd: the reduction must be callable as reduce(old item, update item) -> new item "
            "for data's elements; strings can be joined only (reduce_add), complex numbers have no order");
    else
        return true;
    return false;
}

} // namespace xloom::inline XLOOM_ABI::detail
