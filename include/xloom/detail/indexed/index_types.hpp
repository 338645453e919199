#pragma once
// The requirements on the type of indices, with their compile-time errors.

#include <concepts>
#include <type_traits>

#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/tensor/tensor.hpp>

namespace xloom::inline XLOOM_ABI::detail {

template <class X>
inline constexpr bool holds_indices = std::integral<item_t<X>> && !std::is_same_v<item_t<X>, bool>;

/// True if X can be passed as indices, whatever its item type: a tensor, or a number for one index; not a
/// std::vector.
template <class X>
inline constexpr bool can_hold_indices = tensor<X> || lazy<X> || std::is_arithmetic_v<X>;

// The message of a static_assert is a literal, so only the preprocessor can insert the operator's name. The
// macro defines function<Indices>(): true if Indices is valid, otherwise a compile-time error of one
// sentence.
#define XLOOM_INDEX_TYPES(function, op, remedy)                                                              \
    template <class Indices>                                                                                 \
    consteval bool function()                                                                                \
    {                                                                                                        \
        if constexpr (!can_hold_indices<Indices>)                                                            \
            static_assert(                                                                                   \
                never<Indices>, op ": indices must be a tensor, and a std::vector is none; pass " remedy);   \
        else if constexpr (!holds_indices<Indices>)                                                          \
            static_assert(never<Indices>, op ": indices must hold integers");                                \
        else                                                                                                 \
            return true;                                                                                     \
        return false;                                                                                        \
    }
#define XLOOM_TUPLE_TYPES(function, op)                                                                      \
    XLOOM_INDEX_TYPES(function, op, "xt::adapt(indices, {n, k}) for n tuples of k")

XLOOM_TUPLE_TYPES(are_valid_scatter_nd_indices, "xloom::scatter_nd")
XLOOM_TUPLE_TYPES(are_valid_gather_nd_indices, "xloom::gather_nd")
XLOOM_TUPLE_TYPES(are_valid_gather_nd_into_indices, "xloom::gather_nd_into")
XLOOM_TUPLE_TYPES(are_valid_scatter_nd_vjp_indices, "xloom::scatter_nd_vjp")
XLOOM_TUPLE_TYPES(are_valid_gather_nd_vjp_indices, "xloom::gather_nd_vjp")
XLOOM_INDEX_TYPES(are_valid_gather_elements_indices, "xloom::gather_elements", "xt::adapt(indices)")
XLOOM_INDEX_TYPES(are_valid_scatter_elements_indices, "xloom::scatter_elements", "xt::adapt(indices)")
XLOOM_INDEX_TYPES(are_valid_take_indices, "xloom::take", "xt::adapt(indices)")
XLOOM_INDEX_TYPES(are_valid_take_along_axis_indices, "xloom::take_along_axis", "xt::adapt(indices)")
XLOOM_INDEX_TYPES(are_valid_put_along_axis_indices, "xloom::put_along_axis", "xt::adapt(indices)")
XLOOM_INDEX_TYPES(are_valid_at_indices, "xloom::at", "xt::adapt(indices)")

#undef XLOOM_TUPLE_TYPES
#undef XLOOM_INDEX_TYPES

} // namespace xloom::inline XLOOM_ABI::detail
