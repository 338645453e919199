#pragma once
// The requirements on the types of a call of segment_reduce, segment_scan or segment_softmax, with their
// compile-time errors.

#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/prefix/associative_scan_types.hpp>
#include <xloom/detail/tensor/row_split_list.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True if the types of a call of segment_reduce are valid, otherwise a compile-time error of one sentence.
template <class Op, class Xs, class Splits, class Policy>
consteval bool is_valid_segment_reduce()
{
    if constexpr (!execution_policy<Policy> || is_operand<Op>)
        static_assert(never<Policy>,
            "xloom::segment_reduce: the arguments are segment_reduce(op, values, row_splits[, policy])");
    else if constexpr (!is_flat<bare<Xs>> || !are_scannable<leaves_t<Xs>>)
        static_assert(never<Xs>,
            "xloom::segment_reduce: the values must be a tensor with at least one axis, several of them a "
            "flat std::tuple; wrap a std::vector by xt::adapt");
    else if constexpr (!is_row_splits<Splits>)
        static_assert(never<Splits>,
            "xloom::segment_reduce: row_splits must be a tensor of integers, [S + 1]; wrap a std::vector by "
            "xt::adapt");
    else if constexpr (!combines<scanned_t<Xs>, Op>)
        static_assert(never<Op>,
            "xloom::segment_reduce: the operator must be a reduction that is defined for the elements, or "
            "callable as op(element, element) -> element, with a std::tuple of items for several operands");
    else
        return true;
    return false;
}

template <class Op, class Xs, class Splits, class Ys, class Policy>
consteval bool is_valid_segment_reduce_into()
{
    if constexpr (!is_valid_segment_reduce<Op, Xs, Splits, Policy>())
        return false;
    else if constexpr (!is_flat<bare<Ys>> || !are_written<leaves_t<Ys>> || !outlives_call<Ys>)
        static_assert(never<Ys>,
            "xloom::segment_reduce_into: a result is written in place, so it must be a tensor that is a "
            "variable, not const; pass several as std::tie(y, z)");
    else if constexpr (!have_items_of<Xs, Ys>)
        static_assert(never<Ys>,
            "xloom::segment_reduce_into: there must be one result for each operand, with its element type");
    else
        return true;
    return false;
}

/// True if the types of a call of segment_scan are valid, otherwise a compile-time error of one sentence.
template <class Op, class Xs, class Splits, class Policy>
consteval bool is_valid_segment_scan()
{
    if constexpr (!execution_policy<Policy> || is_operand<Op>)
        static_assert(never<Policy>,
            "xloom::segment_scan: the arguments are segment_scan(op, xs, row_splits[, options][, policy])");
    else if constexpr (!is_row_splits<Splits>)
        static_assert(never<Splits>,
            "xloom::segment_scan: row_splits must be a tensor of integers, [S + 1]; wrap a std::vector by "
            "xt::adapt");
    else
        return is_valid_associative_scan<Op, Xs, Policy>();
    return false;
}

template <class Op, class Xs, class Splits, class Ys, class Policy>
consteval bool is_valid_segment_scan_into()
{
    if constexpr (!is_valid_segment_scan<Op, Xs, Splits, Policy>())
        return false;
    else
        return is_valid_associative_scan_into<Op, Xs, Ys, Policy>();
}

/// True if the types of a call of segment_softmax are valid, otherwise a compile-time error of one sentence.
template <class X, class Splits, class Policy>
consteval bool is_valid_segment_softmax()
{
    if constexpr (!execution_policy<Policy>)
        static_assert(never<Policy>,
            "xloom::segment_softmax: the arguments are segment_softmax(x, row_splits[, policy])");
    else if constexpr (!is_scannable<X>)
        static_assert(never<X>, "xloom::segment_softmax: x must be a tensor with at least one axis; wrap a "
                                "std::vector by xt::adapt");
    else if constexpr (!std::floating_point<compute_t<item_t<X>>>)
        static_assert(never<X>, "xloom::segment_softmax: the elements must be floating-point numbers");
    else if constexpr (!is_row_splits<Splits>)
        static_assert(never<Splits>,
            "xloom::segment_softmax: row_splits must be a tensor of integers, [S + 1]; wrap a std::vector by "
            "xt::adapt");
    else
        return true;
    return false;
}

/// True if the types of a call of segment_softmax_vjp are valid, otherwise a compile-time error of one
/// sentence.
template <class Ct, class Y, class Splits, class Policy>
consteval bool is_valid_segment_softmax_vjp()
{
    if constexpr (!execution_policy<Policy>)
        static_assert(never<Policy>, "xloom::segment_softmax_vjp: the arguments are segment_softmax_vjp(ct, "
                                     "y, row_splits[, policy]) and "
                                     "segment_softmax_vjp_into(ct, y, row_splits, d_x[, policy])");
    else if constexpr (!is_scannable<Y> || !is_scannable<Ct>)
        static_assert(never<Y>,
            "xloom::segment_softmax_vjp: ct and y must be tensors with at least one axis; "
            "wrap a std::vector by xt::adapt");
    else if constexpr (!std::floating_point<compute_t<item_t<Y>>> || !std::same_as<item_t<Ct>, item_t<Y>>)
        static_assert(
            never<Y>, "xloom::segment_softmax_vjp: ct and y must hold floating-point numbers of one type");
    else if constexpr (!is_row_splits<Splits>)
        static_assert(never<Splits>, "xloom::segment_softmax_vjp: row_splits must be a tensor of integers, "
                                     "[S + 1]; wrap a std::vector "
                                     "by xt::adapt");
    else
        return true;
    return false;
}

template <class Ct, class Y, class Splits, class DX, class Policy>
consteval bool is_valid_segment_softmax_vjp_into()
{
    if constexpr (!is_valid_segment_softmax_vjp<Ct, Y, Splits, Policy>())
        return false;
    else if constexpr (!are_written<std::tuple<DX>> || !outlives_call<DX> ||
                       !std::same_as<item_t<DX>, item_t<Y>>)
        static_assert(never<DX>,
            "xloom::segment_softmax_vjp_into: d_x is written, so it must be a tensor of y's "
            "element type that is a variable, not const");
    else
        return true;
    return false;
}

template <class X, class Splits, class Y, class Policy>
consteval bool is_valid_segment_softmax_into()
{
    if constexpr (!is_valid_segment_softmax<X, Splits, Policy>())
        return false;
    else if constexpr (!are_written<std::tuple<Y>> || !outlives_call<Y>)
        static_assert(never<Y>, "xloom::segment_softmax_into: y is written, so it must be a tensor that is a "
                                "variable, not const");
    else if constexpr (!std::same_as<item_t<X>, item_t<Y>>)
        static_assert(never<Y>, "xloom::segment_softmax_into: y must have x's element type");
    else
        return true;
    return false;
}

} // namespace xloom::inline XLOOM_ABI::detail
