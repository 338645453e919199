#pragma once
// The requirements on the types of a call of gather_elements, scatter_elements and their variants in place,
// with their compile-time errors.

#include <cstddef>

#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/indexed/index_types.hpp>
#include <xloom/detail/indexed/result_types.hpp>
#include <xloom/detail/indexed/updates_operand.hpp>
#include <xloom/detail/tensor/operands.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True if the types of a call of gather_elements are valid, otherwise a compile-time error of one sentence.
template <class Data, class Indices, class Policy>
consteval bool is_valid_gather_elements()
{
    if constexpr (!execution_policy<Policy>)
        static_assert(never<Policy>,
            "xloom::gather_elements: the arguments are gather_elements(data, indices[, options][, policy])");
    else if constexpr (!tensor<Data> && !lazy<Data>)
        static_assert(never<Data>, "xloom::gather_elements: data must be a tensor");
    else if constexpr (!are_valid_gather_elements_indices<Indices>())
        return false;
    else
        return true;
    return false;
}

/// True if the types of a call of gather_elements_into are valid, otherwise a compile-time error of one
/// sentence.
template <class Data, class Indices, class Output, class Policy>
consteval bool is_valid_gather_elements_into()
{
    if constexpr (!execution_policy<Policy>)
        static_assert(never<Policy>, "xloom::gather_elements_into: the arguments are gather_elements_into("
                                     "data, indices, output[, options][, policy])");
    else if constexpr (!is_valid_gather_elements<Data, Indices, Policy>())
        return false;
    else if constexpr (!tensor<Output>)
        static_assert(never<Output>, "xloom::gather_elements_into: output must be a tensor in memory");
    else if constexpr (!std::is_same_v<item_t<Output>, item_t<Data>>)
        static_assert(never<Output>, "xloom::gather_elements_into: output must have data's element type");
    else if constexpr (!is_writable<std::remove_reference_t<Output>>::value)
        static_assert(
            never<Output>, "xloom::gather_elements_into: output is written, so it must not be const");
    else if constexpr (!outlives_call<Output>)
        static_assert(never<Output>,
            "xloom::gather_elements_into: output is written in place, so it must be a "
            "variable or a view of one");
    else
        return true;
    return false;
}

/// True if the types of a call of scatter_elements (InPlace: scatter_elements_into) are valid, otherwise a
/// compile-time error of one sentence.
template <bool InPlace, class Data, class Indices, class Updates, class Reduce, class Policy>
consteval bool is_valid_scatter_elements()
{
    if constexpr (execution_policy<Reduce> || !execution_policy<Policy>)
        static_assert(never<Policy>, "xloom::scatter_elements: the arguments are scatter_elements(data, "
                                     "indices, updates[, reduce][, options][, policy])");
    else if constexpr (!tensor<Data> && (InPlace || !lazy<bare<Data>>))
        static_assert(never<Data>, "xloom::scatter_elements: data must be a tensor, and for "
                                   "scatter_elements_into a tensor in memory");
    else if constexpr (InPlace && !is_writable<std::remove_reference_t<Data>>::value)
        static_assert(
            never<Data>, "xloom::scatter_elements_into: data is updated in place, so it must not be const");
    else if constexpr (InPlace && !outlives_call<Data>)
        static_assert(never<Data>, "xloom::scatter_elements_into: data is updated in place, so it must be a "
                                   "variable or a view of one");
    else if constexpr (!are_valid_scatter_elements_indices<Indices>())
        return false;
    else if constexpr (!std::is_same_v<item_t<unmarked_t<Updates>>, item_t<Data>> &&
                       !is_converted<Updates, item_t<Data>>)
        static_assert(never<Updates>,
            "xloom::scatter_elements: updates must have data's element type; convert them first");
    else if constexpr (!is_named<Reduce> && !reduces_items<Reduce, item_t<Data>>)
        static_assert(never<Reduce>,
            "xloom::scatter_elements: the reduction must be callable as reduce(old item, update item) -> new "
            "item for data's elements; strings can be joined only (reduce_add), complex numbers have no "
            "order");
    else
        return true;
    return false;
}

} // namespace xloom::inline XLOOM_ABI::detail
