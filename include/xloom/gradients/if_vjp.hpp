#pragma once
// The vector-Jacobian product of if_: its result, and a function from its cotangent to those of the operands.

#include <string_view>
#include <utility>
#include <vector>

#include <xloom/control_flow/if.hpp>
#include <xloom/detail/check/cotangents.hpp>
#include <xloom/detail/core/movable_value.hpp>
#include <xloom/detail/scan/cotangents.hpp>
#include <xloom/detail/scan/recorded_vjp.hpp>
#include <xloom/detail/scan/vjp_requirements.hpp>

namespace xloom::inline XLOOM_ABI {

/// The result of if_vjp: that of the branch, and the pullback.
template <class Result, class Pullback>
struct if_vjp_result {
    Result result;
    Pullback pullback;
};

namespace detail {

/// The call of a branch with operands.
template <class Branch, class Operands>
struct branch_call : call_of<Branch, const_leaves_t<Operands>> {};

/// The call of a branch's VJP: branch_vjp(operand const&..., result cotangent const&..., operand
/// cotangent&...).
template <class BranchVjp, class Operands, class CtResult>
struct branch_vjp_call
    : call_of<BranchVjp,
          joined_t<const_leaves_t<Operands>, const_leaves_t<CtResult>, leaves_t<owned_t<Operands>>>> {};

/// Requires branches that take the operands.
template <class... Calls>
struct are_branches {
    static consteval bool holds()
    {
        constexpr bool is_valid = (Calls::is_valid && ...);
        static_assert(is_valid,
            "the branches must be callable as branch(operand const&...); the arguments stand in the order "
            "cond, then_branch, then_vjp, else_branch, else_vjp, operands");
        return is_valid;
    }
};

/// Requires the VJPs of branches.
template <class... Calls>
struct are_branch_vjps {
    static consteval bool holds()
    {
        constexpr bool is_valid = (Calls::is_valid && ...);
        static_assert(is_valid,
            "the VJPs must be callable as branch_vjp(operand const&..., result cotangent const&..., operand "
            "cotangent&...)");
        return is_valid;
    }
};

/// Requires a cotangent for each value of a branch's result.
template <class Result, class CtResult>
struct one_of_each_result {
    static consteval bool holds()
    {
        constexpr bool is_valid = have_same_items<leaves_t<Result>, leaves_t<CtResult const>>;
        static_assert(is_valid, "the pullback's argument is a cotangent for each value of the result, with "
                                "items of the value's type");
        return is_valid;
    }
};

/// The function from the cotangent of a branch's result to those of its operands.
template <class Result, class Then, class ThenVjp, class Else, class ElseVjp, class Operands>
class if_pullback {
    static constexpr std::string_view op = "xloom::if_vjp";

public:
    if_pullback(bool cond, Then then_branch, ThenVjp then_vjp, Else else_branch, ElseVjp else_vjp,
        held_operands_t<Operands> operands)
        : cond_(cond),
          then_branch_(std::move(then_branch)),
          then_vjp_(std::move(then_vjp)),
          else_branch_(std::move(else_branch)),
          else_vjp_(std::move(else_vjp)),
          operands_(std::move(operands))
    {}

    /// Runs the branch that `cond` chooses.
    Result run_forward()
    {
        auto const operands = detail::const_leaves(detail::leaves(operands_));
        detail::check_extents(op, "operands", operands);
        Result result = cond_ ? Result(detail::call_body(then_branch_, operands))
                              : Result(detail::call_body(else_branch_, operands));
        detail::check_extents(op, "result", detail::leaves(result));
        auto const shapes = detail::shapes_of(detail::leaves(result));
        result_shapes_.assign(shapes.begin(), shapes.end());
        has_run_ = true;
        return result;
    }

    /// Returns the cotangents of the operands.
    template <class CtResult>
    owned_t<Operands> operator()(CtResult const& ct_result)
    {
        check_pullback(op, has_run_);
        auto const operands = detail::const_leaves(detail::leaves(operands_));
        owned_t<Operands> ct_operands = detail::zero_cotangents<Operands>(operands);
        constexpr std::size_t count = std::tuple_size_v<bare<decltype(operands)>>;
        decltype(auto) then_vjp = detail::vjp_of<recorded_branch_vjp, count>(then_branch_, then_vjp_);
        decltype(auto) else_vjp = detail::vjp_of<recorded_branch_vjp, count>(else_branch_, else_vjp_);
        auto const cts = detail::evaluated_inputs(ct_result);
        using ct_values = bare<decltype(cts)>;
        using then_call = branch_vjp_call<bare<decltype(then_vjp)>, Operands, ct_values>;
        using else_call = branch_vjp_call<bare<decltype(else_vjp)>, Operands, ct_values>;
        if constexpr (satisfied<one_of_each_result<Result, ct_values>, are_branch_vjps<then_call, else_call>,
                          writes_by_reference<then_call, else_call>>()) {
            detail::check_extents(op, "ct_result", cts);
            detail::check_cotangents(op, "ct_result", detail::shapes_of(cts), "result", result_shapes_);
            if (cond_)
                detail::call_body(then_vjp, operands, cts, detail::leaves(ct_operands));
            else
                detail::call_body(else_vjp, operands, cts, detail::leaves(ct_operands));
            detail::for_each_leaf(detail::leaves(ct_operands), [&](auto i, auto const& ct) {
                detail::check_cotangent_kept(op, "operands", i, std::get<i>(operands), ct);
            });
        }
        return ct_operands;
    }

private:
    bool cond_;
    Then then_branch_;
    ThenVjp then_vjp_;
    Else else_branch_;
    ElseVjp else_vjp_;
    held_operands_t<Operands> operands_;
    std::vector<shape> result_shapes_{};
    movable_value<bool> has_run_{};
};

} // namespace detail

/// Runs a branch of if_ that has operands, and returns its result with a pullback, the function from the
/// result's cotangent to those of the operands.
///
///     result = then_branch(*operands) if cond else else_branch(*operands)
///     pullback(ct_result) = the cotangents of the operands, by the VJP of that branch
///
/// operands is one value or a flat std::tuple of values. branch(operand const&...) -> one value or a flat
/// std::tuple of values, of the same types from both branches. branch_vjp(operand const&..., result cotangent
/// const&..., operand cotangent&...) -> void adds to the cotangents of the operands, which are zeros at
/// first. The condition has no derivative.
///
/// Shapes    as if_; each cotangent as its value.
/// Types     an operand is a tensor, or a scalar that 0 can be converted to.
/// Errors    as if_; the pullback: shape_error: a cotangent's shape; option_error: it has been moved from;
///           body_error: the VJP changed the shape of a cotangent. Exceptions of the callables propagate.
/// Cost      that of the branch and of its VJP; the pullback allocates the cotangents.
/// Aliasing  operands that are variables of tensor types are not copied: they must live, unchanged, until the
///           last call of the pullback. Other operands and the callables are kept in the pullback.
/// Source    JAX's jax.vjp of jax.lax.cond.
/// Example
/// ```cpp
/// auto const twice = [](double x) { return 2 * x; };
/// auto const twice_vjp = [](double, double ct, double& ct_x) { ct_x += 2 * ct; };
/// auto const square = [](double x) { return x * x; };
/// auto const square_vjp = [](double x, double ct, double& ct_x) { ct_x += 2 * x * ct; };
/// auto [result, pullback] = xloom::if_vjp(false, twice, twice_vjp, square, square_vjp, 3.0);
/// result; // = 9
/// pullback(1.0); // = 6
/// ```
template <class Cond, class Then, class ThenVjp, class Else, class ElseVjp, class Operands>
auto if_vjp(Cond const& cond, Then&& then_branch, ThenVjp&& then_vjp, Else&& else_branch, ElseVjp&& else_vjp,
    Operands&& operands)
{
    using namespace detail;
    using then_call = branch_call<std::remove_reference_t<Then>, Operands>;
    using else_call = branch_call<std::remove_reference_t<Else>, Operands>;
    if constexpr (satisfied<follows_body<ThenVjp>, follows_body<ElseVjp>, flat_arguments<Operands>,
                      has_zero_cotangents<Operands>, are_branches<then_call, else_call>,
                      fits_if<Cond, callable_like<then_call>, callable_like<else_call>>,
                      recordable<bare<ThenVjp>, std::remove_reference_t<Then>, then_call>,
                      recordable<bare<ElseVjp>, std::remove_reference_t<Else>, else_call>>()) {
        using result = owned_t<typename then_call::result>;
        if_pullback<result, std::decay_t<Then>, std::decay_t<ThenVjp>, std::decay_t<Else>,
            std::decay_t<ElseVjp>, Operands>
            pullback(detail::is_true("xloom::if_vjp", cond), std::forward<Then>(then_branch),
                std::forward<ThenVjp>(then_vjp), std::forward<Else>(else_branch),
                std::forward<ElseVjp>(else_vjp), detail::hold(std::forward<Operands>(operands)));
        auto value = pullback.run_forward();
        return if_vjp_result<result, decltype(pullback)>{std::move(value), std::move(pullback)};
    } else {
        return if_vjp_result<int, no_pullback>{}; // a value, so that one mistake gives one error
    }
}

} // namespace xloom::inline XLOOM_ABI
