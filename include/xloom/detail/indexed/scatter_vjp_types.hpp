#pragma once
// The requirements on the types of a call of scatter_nd_vjp or scatter_nd_vjp_into, with their compile-time
// errors.

#include <xloom/detail/core/differentiable.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/indexed/index_types.hpp>
#include <xloom/detail/tensor/operands.hpp>
#include <xloom/gradients/scatter_nd_vjp_options.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True if the types of a call of scatter_nd_vjp are valid, otherwise a compile-time error of one sentence.
/// The outputs of scatter_nd_vjp_into have errors of their own (tensor/operand_names.hpp).
template <class Ct, class Data, class Indices, class Updates, class Policy>
consteval bool is_valid_scatter_nd_vjp()
{
    if constexpr (!execution_policy<Policy>)
        static_assert(never<Policy>,
            "xloom::scatter_nd_vjp: the arguments are scatter_nd_vjp(ct, data, indices, updates[, options][, "
            "policy]) and scatter_nd_vjp_into(ct, data, indices, updates, outputs[, options][, policy])");
    else if constexpr ((!tensor<Ct> && !lazy<Ct>) || (!tensor<Data> && !lazy<Data>))
        static_assert(never<Data>, "xloom::scatter_nd_vjp: ct and data must be tensors");
    else if constexpr (!are_valid_scatter_nd_vjp_indices<Indices>())
        return false;
    else if constexpr (!differentiable<item_t<Data>>)
        static_assert(never<Data>,
            "xloom::scatter_nd_vjp: data must hold numbers that have a gradient, which "
            "integers, bool, strings and float8_e8m0 have not");
    else if constexpr (!std::is_same_v<item_t<Updates>, item_t<Data>> ||
                       !std::is_same_v<item_t<Ct>, item_t<Data>>)
        static_assert(never<Updates>,
            "xloom::scatter_nd_vjp: ct and updates must have data's element type; convert them first");
    else
        return true;
    return false;
}

/// An argument in the place of the options that is neither options nor a policy, but may be a reduction.
template <class F>
concept reduction_argument = !std::is_same_v<bare<F>, scatter_nd_vjp_options> && !execution_policy<F>;

/// Reports a reduction that is passed as an argument: a callable has no gradient that could be known.
template <class Reduce>
consteval bool has_reduction_argument()
{
    static_assert(never<Reduce>,
        "xloom::scatter_nd_vjp: the reduction is one of xloom's, named as options.reduction; of a callable "
        "only you know the gradient");
    return true;
}

} // namespace xloom::inline XLOOM_ABI::detail
