#pragma once
// The If operator: runs one of two branches.

#include <string_view>

#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/scan/step.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// True if ONNX's condition holds: a bool, or a tensor of any rank with exactly one element.
template <class Cond>
bool is_true(std::string_view op, Cond const& cond)
{
    if constexpr (lazy<Cond>) {
        return is_true(op, detail::to_owned(cond));
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

/// Requires a condition.
template <class Cond>
struct is_condition {
    static consteval bool holds()
    {
        constexpr bool is_valid =
            std::is_same_v<item_t<Cond>, bool> || std::is_convertible_v<Cond const&, bool>;
        static_assert(is_valid, "cond must be a bool or a tensor of bool with one element");
        return is_valid;
    }
};

/// Requires branches without arguments.
template <class... Branches>
struct called_without_arguments {
    static consteval bool holds()
    {
        constexpr bool is_valid = (std::is_invocable_v<Branches&> && ...);
        static_assert(
            is_valid, "the branches must be callable without arguments; they see outer variables by capture");
        return is_valid;
    }
};

/// Requires branches that return values of the same types.
template <class Then, class Else>
struct returns_alike {
    static consteval bool holds()
    {
        using then_t = bare<std::invoke_result_t<Then&>>;
        using else_t = bare<std::invoke_result_t<Else&>>;
        if constexpr (std::is_void_v<then_t> || std::is_void_v<else_t>)
            static_assert(
                never<Then>, "both branches must return a value; for side effects use an if statement");
        else if constexpr (!is_self_contained<then_t> || !is_self_contained<else_t>)
            static_assert(never<Then>,
                "a branch returned a lazy xtensor expression or a view, which would refer to its dead local "
                "variables; wrap it in xt::eval(...), or return a container");
        else if constexpr (!std::is_same_v<owned_t<then_t>, owned_t<else_t>>)
            static_assert(never<Then>, "both branches must return the same types; shapes may differ");
        else
            return true;
        return false;
    }
};

/// The requirements of if_ on the types of a call.
template <class Cond, class Then, class Else>
using fits_if =
    requirements<is_condition<Cond>, called_without_arguments<Then, Else>, returns_alike<Then, Else>>;

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
    if constexpr (fits_if<Cond, Then, Else>::holds()) {
        using result = owned_t<std::invoke_result_t<Then&>>;
        if (is_true("xloom::if_", cond))
            return result(then_branch());
        return result(else_branch());
    } else {
        return 0; // a value, so that one mistake gives one error
    }
}

} // namespace xloom::inline XLOOM_ABI
