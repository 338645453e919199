#pragma once
// The If operator: runs one of two branches.

#include <string_view>

#include <xloom/run/scan/step.hpp>

namespace xloom {

namespace detail {

/// True if ONNX's condition holds: a bool, or a tensor of any rank with exactly one element.
template <class Cond>
bool is_true(std::string_view op, Cond const& cond)
{
    if constexpr (lazy<Cond>) {
        return is_true(op, owned_t<Cond>(cond));
    } else if constexpr (tensor<Cond>) {
        check_rank(op, "cond", detail::rank_of(cond));
        if (element_count(detail::shape_of(cond)) != 1)
            fail<shape_error>(op, ": cond must have exactly one element, but cond has the shape ",
                detail::shape_of(cond), ". Reduce it, for example with xt::all(cond).");
        return static_cast<bool>(*enable_tensor<Cond>::data(cond));
    } else {
        return static_cast<bool>(cond);
    }
}

enum class if_fault { none, cond, arity, nothing, lazy, types };

template <class Cond, class Then, class Else>
consteval if_fault find_if_fault()
{
    if constexpr (!std::is_same_v<item_t<Cond>, bool> && !std::is_convertible_v<Cond const&, bool>)
        return if_fault::cond;
    else if constexpr (!std::is_invocable_v<Then&> || !std::is_invocable_v<Else&>)
        return if_fault::arity;
    else {
        using then_t = bare<std::invoke_result_t<Then&>>;
        using else_t = bare<std::invoke_result_t<Else&>>;
        if constexpr (std::is_void_v<then_t> || std::is_void_v<else_t>)
            return if_fault::nothing;
        else if constexpr (!is_self_contained<then_t> || !is_self_contained<else_t>)
            return if_fault::lazy;
        else
            return std::is_same_v<owned_t<then_t>, owned_t<else_t>> ? if_fault::none : if_fault::types;
    }
}

} // namespace detail

/// Runs then_branch() if `cond` holds, otherwise else_branch(), and returns its result.
///
/// A branch takes no arguments and returns one value or a flat std::tuple of values: tensors, scalars,
/// sequences, optionals.
///
/// Shapes    cond: a bool, or a tensor of any rank with one element. The branches return the same types;
///           their shapes may differ.
/// Errors    shape_error: cond does not have exactly one element. Exceptions of a branch propagate.
/// Cost      that of the branch.
/// Source    ONNX If-11 to 25; infer_if has the shape rule, If-1's stricter one included.
/// Example
/// ```cpp
/// int const x = -3;
/// xloom::if_(x < 0, [&] { return -x; }, [&] { return x; }); // = 3
/// ```
template <class Cond, class Then, class Else>
auto if_(Cond const& cond, Then&& then_branch, Else&& else_branch)
{
    using namespace detail;
    constexpr if_fault fault = find_if_fault<Cond, Then, Else>();
    static_assert(
        fault != if_fault::cond, "xloom::if_: cond must be a bool or a tensor of bool with one element");
    static_assert(fault != if_fault::arity,
        "xloom::if_: the branches must be callable without arguments; they see outer variables by capture");
    static_assert(fault != if_fault::nothing,
        "xloom::if_: both branches must return a value; for effects alone, C++'s own if will do");
    static_assert(fault != if_fault::lazy,
        "xloom::if_: a branch returned a lazy xtensor expression or a view, which would refer to its "
        "dead local variables; wrap it in xt::eval(...), "
        "or return a container");
    static_assert(
        fault != if_fault::types, "xloom::if_: both branches must return the same types; shapes may differ");
    if constexpr (fault == if_fault::none) {
        using result = owned_t<std::invoke_result_t<Then&>>;
        if (is_true("xloom::if_", cond))
            return result(then_branch());
        return result(else_branch());
    } else {
        return 0; // a value, so that one mistake gives one error
    }
}

} // namespace xloom
