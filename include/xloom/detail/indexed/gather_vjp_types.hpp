#pragma once
// The requirements on the types of a call of gather_nd_vjp or gather_nd_vjp_into, with their compile-time
// errors.

#include <cstddef>

#include <xloom/detail/core/differentiable.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/indexed/gather_types.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// A shape: xloom::shape, or a range of dimensions such as data.shape().
template <class Dims>
concept dimensions = requires(Dims const& dims) {
    requires std::integral<std::remove_cvref_t<decltype(*dims.begin())>>;
    dims.end();
    dims.size();
};

/// True if ct and indices are valid, otherwise a compile-time error of one sentence.
template <class Ct, class Indices>
consteval bool are_valid_gather_nd_vjp_operands()
{
    if constexpr (!tensor<Ct> && !lazy<Ct>)
        static_assert(never<Ct>, "xloom::gather_nd_vjp: ct must be a tensor");
    else if constexpr (!differentiable<item_t<Ct>>)
        static_assert(never<Ct>, "xloom::gather_nd_vjp: ct must hold numbers that have a gradient, which "
                                 "integers, bool, strings and float8_e8m0 have not");
    else
        return are_valid_gather_nd_vjp_indices<Indices>();
    return false;
}

/// True if the types of a call of gather_nd_vjp<Rank> are valid, otherwise a compile-time error of one
/// sentence.
template <std::size_t Rank, class Ct, class Dims, class Indices, class Policy>
consteval bool is_valid_gather_nd_vjp()
{
    if constexpr (!execution_policy<Policy> || !dimensions<Dims>)
        static_assert(never<Policy>,
            "xloom::gather_nd_vjp: the arguments are gather_nd_vjp(ct, data's shape, "
            "indices[, options][, policy])");
    else if constexpr (!are_valid_gather_nd_vjp_operands<Ct, Indices>())
        return false;
    else if constexpr (Rank == dynamic_rank && !has_every_rank<Ct>)
        static_assert(never<Ct>, "xloom::gather_nd_vjp: ct is a container of your own with a static rank, so "
                                 "name the result's: gather_nd_vjp<Rank>(...)");
    else
        return true;
    return false;
}

/// True if the types of a call of gather_nd_vjp_into are valid, otherwise a compile-time error of one
/// sentence.
template <class Ct, class Indices, class Output, class Policy>
consteval bool is_valid_gather_nd_vjp_into()
{
    if constexpr (!execution_policy<Policy>)
        static_assert(never<Policy>, "xloom::gather_nd_vjp_into: the arguments are gather_nd_vjp_into(ct, "
                                     "indices, d_data[, options][, policy])");
    else if constexpr (!are_valid_gather_nd_vjp_operands<Ct, Indices>())
        return false;
    else if constexpr (!tensor<Output>)
        static_assert(never<Output>, "xloom::gather_nd_vjp_into: d_data must be a tensor in memory");
    else if constexpr (!std::is_same_v<item_t<Output>, item_t<Ct>>)
        static_assert(never<Output>, "xloom::gather_nd_vjp_into: d_data must have ct's element type");
    else if constexpr (!is_writable<std::remove_reference_t<Output>>::value)
        static_assert(never<Output>, "xloom::gather_nd_vjp_into: d_data is written, so it must not be const");
    else if constexpr (!outlives_call<Output>)
        static_assert(never<Output>, "xloom::gather_nd_vjp_into: d_data is written in place, so it must be a "
                                     "variable or a view of one");
    else
        return true;
    return false;
}

} // namespace xloom::inline XLOOM_ABI::detail
