#pragma once
// The requirements on the types of a call of loop_vjp, with their compile-time errors.

#include <xloom/detail/scan/recorded_vjp.hpp>
#include <xloom/detail/scan/requirements.hpp>
#include <xloom/detail/scan/vjp_types.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The call of a loop's body with parameters: body(iteration, cond, carried value const&..., param
/// const&...).
template <class Body, class State, class Params>
using loop_param_call =
    call_of<Body, joined_t<std::tuple<std::int64_t, bool>, leaves_t<State const>, const_leaves_t<Params>>>;

/// The call of the VJP of a loop's body.
template <class BodyVjp, class State, class Params, class CtOutputs>
using loop_vjp_call = call_of<BodyVjp,
    joined_t<std::tuple<std::int64_t>, leaves_t<State const>, const_leaves_t<Params>,
        typename cursor_set<CtOutputs, true>::input_arguments, leaves_t<State>, leaves_t<owned_t<Params>>>>;

/// True if the types of a call of loop_vjp are valid, otherwise a compile-time error of one sentence.
template <class Body, class BodyVjp, class State, class Params>
consteval bool is_valid_loop_vjp()
{
    if constexpr (is_operand<BodyVjp>)
        static_assert(never<BodyVjp>,
            "xloom::loop_vjp: the body's VJP must follow the body, but a value does; the arguments are "
            "loop_vjp(body, body_vjp, init[, params][, checkpoints][, options])");
    else if constexpr (!is_flat<bare<Params>>)
        static_assert(never<Params>, "xloom::loop_vjp: params is one value or a flat std::tuple of values, "
                                     "but a std::tuple is inside a std::tuple");
    else if constexpr (!every_leaf<has_zero, const_leaves_t<Params>>)
        static_assert(never<Params>,
            "xloom::loop_vjp: a parameter is a tensor or a scalar, whose cotangent can begin as 0");
    else if constexpr (!loop_param_call<Body, State, Params>::is_valid)
        static_assert(never<Body>,
            "xloom::loop_vjp: the body must be callable as body(std::int64_t iteration, bool cond, carried "
            "value const&..., param const&...); the arguments are loop_vjp(body, body_vjp, init[, params][, "
            "checkpoints][, options])");
    else {
        using step = typename loop_param_call<Body, State, Params>::result;
        if constexpr (is_valid_loop<callable_returning<step>, State>()) // the other requirements
            return is_recordable_by<BodyVjp, Body,
                joined_t<std::tuple<std::int64_t, bool>, leaves_t<State const>, const_leaves_t<Params>>>;
    }
    return false;
}

/// True if the types of a call of a loop's pullback are valid, otherwise a compile-time error of one
/// sentence.
template <class Step, class BodyVjp, class State, class Params, class CtStates, class CtOutputs>
consteval bool is_valid_loop_pullback()
{
    using ct_outputs = decltype(detail::evaluated_inputs(std::declval<CtOutputs const&>()));
    if constexpr (!std::is_constructible_v<State, CtStates const&>)
        static_assert(never<CtStates>, "xloom::loop_vjp: the pullback's arguments are pullback(ct_states, "
                                       "ct_outputs), ct_states of the types of the carried values");
    else if constexpr (!every_leaf<is_scan_input, ct_outputs> ||
                       !have_same_items<leaves_t<decltype(Step::scan_outputs)>, ct_outputs>)
        static_assert(never<CtOutputs>,
            "xloom::loop_vjp: the pullback's arguments are pullback(ct_states, ct_outputs), ct_outputs with "
            "a "
            "tensor for each scan output, with items of its type; std::tuple() where there are none");
    else if constexpr (!loop_vjp_call<BodyVjp, State, Params, ct_outputs>::is_valid)
        static_assert(never<BodyVjp>,
            "xloom::loop_vjp: the VJP must be callable as body_vjp(std::int64_t iteration, carried value "
            "const&..., param const&..., output cotangent const&..., carried value's cotangent&..., param "
            "cotangent&...)");
    else if constexpr (loop_vjp_call<BodyVjp, State, Params, ct_outputs>::has_copies)
        static_assert(never<BodyVjp>,
            "xloom::loop_vjp: the VJP takes a cotangent that it is to write by value, so that what it writes "
            "is lost; take it by reference, as in double& ct_h or auto& ct_x");
    else
        return true;
    return false;
}

/// The call of a loop's body in place: body(iteration, carried value&..., param const&..., output&...).
template <class Body, class States, class Params, class Outputs>
using loop_forward_call =
    call_of<Body, joined_t<std::tuple<std::int64_t>, leaves_t<States>, const_leaves_t<Params>,
                      typename cursor_set<leaves_t<Outputs>, true>::output_arguments>>;

/// True if the types of a call of loop_forward_into are valid, otherwise a compile-time error of one
/// sentence.
template <class Body, class States, class Params, class Outputs, class State>
consteval bool is_valid_loop_forward_into()
{
    if constexpr (!is_flat<bare<Params>>)
        static_assert(never<Params>, "xloom::loop_forward_into: params is one value or a flat std::tuple of "
                                     "values, but a std::tuple is inside a std::tuple");
    else if constexpr (!std::is_same_v<owned_t<bare<States>>, State>)
        static_assert(never<States>,
            "xloom::loop_forward_into: residuals must be loop_residuals<State> of the "
            "carried values' own type, without references and const");
    else if constexpr (!loop_forward_call<Body, States, Params, Outputs>::is_valid)
        static_assert(never<Body>,
            "xloom::loop_forward_into: the body must be callable as body(std::int64_t iteration, carried "
            "value&..., param const&..., output&...); the arguments are loop_forward_into(body, states, "
            "params, "
            "scan_outputs, residuals[, options]), with std::tuple() where there are none");
    else if constexpr (loop_forward_call<Body, States, Params, Outputs>::has_copies)
        static_assert(never<Body>,
            "xloom::loop_forward_into: the body takes a carried value or an output by value, so "
            "that what it writes is lost; take it by reference, as in double& v or auto& y_t");
    else {
        using result = typename loop_forward_call<Body, States, Params, Outputs>::result;
        return is_valid_loop_into<callable_returning<result>, States, Outputs>(); // the other requirements
    }
    return false;
}

/// The call of the VJP of a loop's body in place.
template <class BodyVjp, class State, class Params, class CtOutputs, class CtStates, class CtParams>
using loop_backward_call = call_of<BodyVjp,
    joined_t<std::tuple<std::int64_t>, leaves_t<State const>, const_leaves_t<Params>,
        typename cursor_set<CtOutputs, true>::input_arguments, leaves_t<CtStates>, leaves_t<CtParams>>>;

/// True if the types of a call of loop_backward_into are valid, otherwise a compile-time error of one
/// sentence.
template <class Body, class BodyVjp, class State, class Params, class CtOutputs, class CtStates,
    class CtParams>
consteval bool is_valid_loop_backward_into()
{
    if constexpr (std::is_void_v<State>)
        static_assert(never<CtStates>,
            "xloom::loop_backward_into: residuals must be the loop_residuals of loop_forward_into");
    else if constexpr (!every_leaf<is_scan_input, CtOutputs>)
        static_assert(never<CtOutputs>,
            "xloom::loop_backward_into: ct_outputs are tensors with at least one axis; the arguments are "
            "loop_backward_into(body, body_vjp, params, ct_outputs, ct_states, ct_params, residuals), with "
            "std::tuple() where there are none");
    else if constexpr (!every_leaf<is_writable, leaves_t<CtStates>> ||
                       !every_leaf<is_writable, leaves_t<CtParams>> || !outlives_call<CtStates> ||
                       !outlives_call<CtParams>)
        static_assert(never<CtStates>, "xloom::loop_backward_into: ct_states and ct_params are written in "
                                       "place, so each must be a variable "
                                       "that is not const, or a view of one; pass several as std::tie(a, b)");
    else if constexpr (!have_same_items<leaves_t<State>, leaves_t<CtStates>>)
        static_assert(never<CtStates>,
            "xloom::loop_backward_into: there must be a cotangent for each carried "
            "value, with items of the value's type");
    else if constexpr (std::tuple_size_v<const_leaves_t<Params>> != std::tuple_size_v<leaves_t<CtParams>>)
        static_assert(
            never<CtParams>, "xloom::loop_backward_into: there must be a cotangent for each of params");
    else if constexpr (!call_of<Body,
                           joined_t<std::tuple<std::int64_t>, leaves_t<State>, const_leaves_t<Params>,
                               discarded_arguments_t<CtOutputs, true>>>::is_valid)
        static_assert(never<Body>,
            "xloom::loop_backward_into: the body must be that of loop_forward_into, callable as "
            "body(std::int64_t iteration, carried value&..., param const&..., output&...)");
    else if constexpr (!loop_backward_call<BodyVjp, State, Params, CtOutputs, CtStates, CtParams>::is_valid)
        static_assert(never<BodyVjp>,
            "xloom::loop_backward_into: the VJP must be callable as body_vjp(std::int64_t iteration, carried "
            "value const&..., param const&..., output cotangent const&..., carried value's cotangent&..., "
            "param "
            "cotangent&...)");
    else if constexpr (loop_backward_call<BodyVjp, State, Params, CtOutputs, CtStates, CtParams>::has_copies)
        static_assert(never<BodyVjp>,
            "xloom::loop_backward_into: the VJP takes a cotangent that it is to write by value, so that what "
            "it writes is lost; take it by reference, as in double& ct_h or auto& ct_x");
    else
        return true;
    return false;
}

} // namespace xloom::inline XLOOM_ABI::detail
