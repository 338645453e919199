#pragma once
// The requirements on the types of a call of gather_nd or gather_nd_into, with their compile-time errors.

#include <cstddef>

#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/indexed/index_types.hpp>
#include <xloom/detail/indexed/result_types.hpp>
#include <xloom/detail/tensor/operands.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True if the types of a call of gather_nd<Rank> are valid, otherwise a compile-time error of one sentence.
template <std::size_t Rank, class Data, class Indices, class Policy>
consteval bool is_valid_gather_nd()
{
    if constexpr (!execution_policy<Policy>)
        static_assert(never<Policy>,
            "xloom::gather_nd: the arguments are gather_nd(data, indices[, options][, policy])");
    else if constexpr (!tensor<Data> && !lazy<Data>)
        static_assert(never<Data>, "xloom::gather_nd: data must be a tensor");
    else if constexpr (!are_valid_gather_nd_indices<Indices>())
        return false;
    else if constexpr (Rank == dynamic_rank && !has_every_rank<Data>)
        static_assert(never<Data>, "xloom::gather_nd: data is a container of your own with a static rank, so "
                                   "name the output's: gather_nd<Rank>(...)");
    else
        return true;
    return false;
}

/// True if the types of a call of gather_nd_into are valid, otherwise a compile-time error of one sentence.
template <class Data, class Indices, class Output, class Policy>
consteval bool is_valid_gather_nd_into()
{
    if constexpr (!execution_policy<Policy>)
        static_assert(never<Policy>, "xloom::gather_nd_into: the arguments are gather_nd_into(data, indices, "
                                     "output[, options][, policy])");
    else if constexpr (!tensor<Data> && !lazy<Data>)
        static_assert(never<Data>, "xloom::gather_nd_into: data must be a tensor");
    else if constexpr (!are_valid_gather_nd_into_indices<Indices>())
        return false;
    else if constexpr (!tensor<Output>)
        static_assert(never<Output>, "xloom::gather_nd_into: output must be a tensor in memory");
    else if constexpr (!std::is_same_v<item_t<Output>, item_t<Data>>)
        static_assert(never<Output>, "xloom::gather_nd_into: output must have data's element type");
    else if constexpr (!is_writable<std::remove_reference_t<Output>>::value)
        static_assert(never<Output>, "xloom::gather_nd_into: output is written, so it must not be const");
    else if constexpr (!outlives_call<Output>)
        static_assert(never<Output>,
            "xloom::gather_nd_into: output is written in place, so it must be a variable or a view of one");
    else
        return true;
    return false;
}

} // namespace xloom::inline XLOOM_ABI::detail
