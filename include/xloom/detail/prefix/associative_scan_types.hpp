#pragma once
// The requirements on the types of a call of associative_scan or cumulative_sum, with their compile-time
// errors.

#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/prefix/scan_operator.hpp>
#include <xloom/detail/tensor/operands.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True for a tensor, or a lazy expression, that may have an axis.
template <class X>
inline constexpr bool is_scannable = lazy<X>;
template <tensor X>
inline constexpr bool is_scannable<X> = enable_tensor<bare<X>>::rank != 0;

template <class Tuple>
inline constexpr bool are_scannable = false;
template <class... Xs>
inline constexpr bool are_scannable<std::tuple<Xs...>> =
    (is_scannable<bare<Xs>> && ...) && sizeof...(Xs) != 0;

template <class Tuple>
inline constexpr bool are_written = false;
template <class... Ys>
inline constexpr bool are_written<std::tuple<Ys...>> =
    ((tensor<Ys> && is_writable<std::remove_reference_t<Ys>>::value) && ...);

/// True if results hold the items of the operands.
template <class Xs, class Ys>
inline constexpr bool have_items_of = std::same_as<scanned_t<Xs>, scanned_t<Ys>>;

/// True if the types of a call of associative_scan are valid, otherwise a compile-time error of one sentence.
template <class Op, class Xs, class Policy>
consteval bool is_valid_associative_scan()
{
    if constexpr (!execution_policy<Policy> || is_operand<Op>)
        static_assert(never<Policy>,
            "xloom::associative_scan: the arguments are associative_scan(op, xs[, options][, policy])");
    else if constexpr (!is_flat<bare<Xs>> || !are_scannable<leaves_t<Xs>>)
        static_assert(never<Xs>,
            "xloom::associative_scan: an operand must be a tensor with at least one axis, "
            "several of them a flat std::tuple; wrap a std::vector by xt::adapt");
    else if constexpr (!combines<scanned_t<Xs>, Op>)
        static_assert(never<Op>,
            "xloom::associative_scan: the operator must be a reduction that is defined for the elements, or "
            "callable as op(element, element) -> element, with a std::tuple of items for several operands");
    else
        return true;
    return false;
}

/// True if the types of a call of associative_scan_into are valid, otherwise a compile-time error of one
/// sentence.
template <class Op, class Xs, class Ys, class Policy>
consteval bool is_valid_associative_scan_into()
{
    if constexpr (!is_valid_associative_scan<Op, Xs, Policy>())
        return false;
    else if constexpr (!is_flat<bare<Ys>> || !are_written<leaves_t<Ys>>)
        static_assert(never<Ys>,
            "xloom::associative_scan_into: a result is written, so it must be a tensor in memory, not const");
    else if constexpr (!outlives_call<Ys>)
        static_assert(never<Ys>,
            "xloom::associative_scan_into: a result is written in place, so it must be a "
            "variable or a view of one; pass several as std::tie(y, z)");
    else if constexpr (!have_items_of<Xs, Ys>)
        static_assert(never<Ys>,
            "xloom::associative_scan_into: there must be one result for each operand, with "
            "its element type");
    else
        return true;
    return false;
}

} // namespace xloom::inline XLOOM_ABI::detail
