#pragma once
// The requirements on the types of a call of a scan's derivative, with their compile-time errors.

#include <xloom/detail/scan/recorded_vjp.hpp>
#include <xloom/detail/scan/requirements.hpp>
#include <xloom/detail/scan/vjp_types.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The call of a forward body in place: body(state&..., element const&..., param const&..., output&...).
template <class Body, class States, class Inputs, class Params, class Outputs, bool LeadingAxis>
using scan_forward_call = call_of<Body,
    joined_t<leaves_t<States>, typename cursor_set<Inputs, LeadingAxis>::input_arguments,
        const_leaves_t<Params>, typename cursor_set<leaves_t<Outputs>, LeadingAxis>::output_arguments>>;

/// The call of a pure body with parameters: body(state const&..., element const&..., param const&...).
template <class Body, class State, class Inputs, class Params, bool LeadingAxis>
using scan_param_call =
    call_of<Body, joined_t<leaves_t<State const>, typename cursor_set<Inputs, LeadingAxis>::input_arguments,
                      const_leaves_t<Params>>>;

/// The call of a body's VJP.
template <class BodyVjp, class State, class Inputs, class Params, class CtOutputs, class CtStates,
    class CtInputs, class CtParams, bool LeadingAxis>
using scan_vjp_call = call_of<BodyVjp,
    joined_t<leaves_t<State const>, typename cursor_set<Inputs, LeadingAxis>::input_arguments,
        const_leaves_t<Params>, typename cursor_set<CtOutputs, LeadingAxis>::input_arguments,
        leaves_t<CtStates>, typename cursor_set<leaves_t<CtInputs>, LeadingAxis>::output_arguments,
        leaves_t<CtParams>>>;

/// True if the types of a call of scan_forward_into are valid, otherwise a compile-time error of one
/// sentence.
template <class Body, class States, class Inputs, class Params, class Outputs, class State, bool LeadingAxis>
consteval bool is_valid_scan_forward_into()
{
    if constexpr (!is_flat<bare<Params>>)
        static_assert(never<Params>, "xloom::scan_forward_into: params is one value or a flat std::tuple of "
                                     "values, but a std::tuple is inside a std::tuple");
    else if constexpr (!std::is_same_v<owned_t<bare<States>>, State>)
        static_assert(never<States>,
            "xloom::scan_forward_into: residuals must be scan_residuals<State> of the states' own type, "
            "without references and const; for views, of the container that owns such items");
    else if constexpr (!scan_forward_call<Body, States, Inputs, Params, Outputs, LeadingAxis>::is_valid)
        static_assert(never<Body>, "xloom::scan_forward_into: the body must be callable as body(state&..., "
                                   "element const&..., param const&..., output&...); the arguments are "
                                   "scan_forward_into(body, states, scan_inputs, params, scan_outputs, "
                                   "residuals), with std::tuple() where there are none");
    else if constexpr (scan_forward_call<Body, States, Inputs, Params, Outputs, LeadingAxis>::has_copies)
        static_assert(never<Body>,
            "xloom::scan_forward_into: the body takes a state or an output by value, so that "
            "what it writes is lost; take it by reference, as in double& h or auto& y_t");
    else {
        auto const body = [](auto&&...) {}; // the other requirements are those of scan_into
        return is_valid_scan_into<decltype(body), States, Inputs, Outputs, LeadingAxis>();
    }
    return false;
}

/// True if the types of a call of scan_vjp are valid, otherwise a compile-time error of one sentence.
template <class Body, class BodyVjp, class State, class Inputs, class Params, bool LeadingAxis>
consteval bool is_valid_scan_vjp()
{
    if constexpr (is_operand<BodyVjp>)
        static_assert(never<BodyVjp>,
            "xloom::scan_vjp: the body's VJP must follow the body, but a value does; the arguments are "
            "scan_vjp(body, body_vjp, init, scan_inputs[, params][, checkpoints][, options])");
    else if constexpr (!is_flat<bare<Params>>)
        static_assert(never<Params>,
            "xloom::scan_vjp: params is one value or a flat std::tuple of values, but "
            "a std::tuple is inside a std::tuple");
    else if constexpr (!every_leaf<has_zero, const_leaves_t<Params>>)
        static_assert(never<Params>,
            "xloom::scan_vjp: a parameter is a tensor or a scalar, whose cotangent can "
            "begin as 0; pass other types to scan_forward_into, with a cotangent of "
            "your own");
    else if constexpr (!scan_param_call<Body, State, Inputs, Params, LeadingAxis>::is_valid)
        static_assert(never<Body>,
            "xloom::scan_vjp: the body must be callable as body(state const&..., element const&..., param "
            "const&...); the arguments are scan_vjp(body, body_vjp, init, scan_inputs[, params][, "
            "checkpoints][, options])");
    else {
        using step = typename scan_param_call<Body, State, Inputs, Params, LeadingAxis>::result;
        using arguments = joined_t<leaves_t<State const>,
            typename cursor_set<Inputs, LeadingAxis>::input_arguments, const_leaves_t<Params>>;
        if constexpr (is_valid_scan<callable_returning<step>, State, Inputs,
                          LeadingAxis>()) // the other requirements
            return is_recordable_by<BodyVjp, Body, arguments>;
    }
    return false;
}

/// True if the types of a call of a pullback are valid, otherwise a compile-time error of one sentence.
template <class Step, class BodyVjp, class State, class Inputs, class Params, class CtStates, class CtOutputs,
    class CtInputs, class CtParams, bool LeadingAxis>
consteval bool is_valid_pullback()
{
    using ct_outputs = decltype(detail::evaluated_inputs(std::declval<CtOutputs const&>()));
    if constexpr (!std::is_constructible_v<State, CtStates const&>)
        static_assert(never<CtStates>, "xloom::scan_vjp: the pullback's arguments are pullback(ct_states, "
                                       "ct_outputs), ct_states of the types of the states");
    else if constexpr (!every_leaf<is_scan_input, ct_outputs> ||
                       !have_same_items<leaves_t<decltype(Step::scan_outputs)>, ct_outputs>)
        static_assert(never<CtOutputs>,
            "xloom::scan_vjp: the pullback's arguments are pullback(ct_states, ct_outputs), ct_outputs with "
            "a "
            "tensor for each scan output, with items of its type; std::tuple() where there are none");
    else if constexpr (!scan_vjp_call<BodyVjp, State, Inputs, Params, ct_outputs, State, CtInputs, CtParams,
                           LeadingAxis>::is_valid)
        static_assert(never<BodyVjp>,
            "xloom::scan_vjp: the VJP must be callable as body_vjp(state const&..., element const&..., param "
            "const&..., output cotangent const&..., state cotangent&..., element cotangent&..., param "
            "cotangent&...)");
    else if constexpr (scan_vjp_call<BodyVjp, State, Inputs, Params, ct_outputs, State, CtInputs, CtParams,
                           LeadingAxis>::has_copies)
        static_assert(never<BodyVjp>,
            "xloom::scan_vjp: the VJP takes a cotangent that it is to write by value, so that what it writes "
            "is lost; take it by reference, as in double& ct_h or auto& ct_x");
    else
        return true;
    return false;
}

/// True if the types of a call of scan_backward_into are valid, otherwise a compile-time error of one
/// sentence.
template <class Body, class BodyVjp, class State, class Inputs, class Params, class CtOutputs, class CtStates,
    class CtInputs, class CtParams, bool LeadingAxis>
consteval bool is_valid_scan_backward_into()
{
    using ct_states = leaves_t<CtStates>;
    using ct_inputs = leaves_t<CtInputs>;
    using ct_params = leaves_t<CtParams>;
    if constexpr (std::is_void_v<State>)
        static_assert(never<CtStates>,
            "xloom::scan_backward_into: residuals must be the scan_residuals of scan_forward_into");
    else if constexpr (!is_flat<bare<CtStates>> || !is_flat<bare<CtInputs>> || !is_flat<bare<CtParams>>)
        static_assert(never<CtStates>, "xloom::scan_backward_into: a pack is one value or a flat std::tuple "
                                       "of values, but a std::tuple is inside a std::tuple");
    else if constexpr (!every_leaf<is_scan_input, Inputs> || !every_leaf<is_scan_input, CtOutputs> ||
                       !every_leaf<is_scan_output, ct_inputs>)
        static_assert(never<CtInputs>,
            "xloom::scan_backward_into: scan_inputs, ct_outputs and ct_inputs are tensors with at least one "
            "axis; the arguments are scan_backward_into(body, body_vjp, scan_inputs, params, ct_outputs, "
            "ct_states, ct_inputs, ct_params, residuals), with std::tuple() where there are none");
    else if constexpr (!every_leaf<is_writable, ct_states> || !every_leaf<is_writable, ct_inputs> ||
                       !every_leaf<is_writable, ct_params> || !outlives_call<CtStates> ||
                       !outlives_call<CtInputs> || !outlives_call<CtParams>)
        static_assert(never<CtStates>,
            "xloom::scan_backward_into: ct_states, ct_inputs and ct_params are written in place, so each "
            "must be a variable that is not const, or a view of one; pass several as std::tie(a, b)");
    else if constexpr (!have_same_items<leaves_t<State>, ct_states>)
        static_assert(never<CtStates>, "xloom::scan_backward_into: there must be a cotangent for each state, "
                                       "with items of the state's type");
    else if constexpr (!have_same_items<Inputs, ct_inputs>)
        static_assert(never<CtInputs>, "xloom::scan_backward_into: there must be a cotangent for each scan "
                                       "input, with items of the input's type");
    else if constexpr (std::tuple_size_v<const_leaves_t<Params>> != std::tuple_size_v<ct_params>)
        static_assert(
            never<CtParams>, "xloom::scan_backward_into: there must be a cotangent for each of params");
    else if constexpr (!call_of<Body, joined_t<leaves_t<State>,
                                          typename cursor_set<Inputs, LeadingAxis>::input_arguments,
                                          const_leaves_t<Params>,
                                          discarded_arguments_t<CtOutputs, LeadingAxis>>>::is_valid)
        static_assert(never<Body>,
            "xloom::scan_backward_into: the body must be that of scan_forward_into, callable as "
            "body(state&..., element const&..., param const&..., output&...)");
    else if constexpr (!scan_vjp_call<BodyVjp, State, Inputs, Params, CtOutputs, CtStates, CtInputs, CtParams,
                           LeadingAxis>::is_valid)
        static_assert(never<BodyVjp>,
            "xloom::scan_backward_into: the VJP must be callable as body_vjp(state const&..., element "
            "const&..., param const&..., output cotangent const&..., state cotangent&..., element "
            "cotangent&..., param cotangent&...)");
    else if constexpr (scan_vjp_call<BodyVjp, State, Inputs, Params, CtOutputs, CtStates, CtInputs, CtParams,
                           LeadingAxis>::has_copies)
        static_assert(never<BodyVjp>,
            "xloom::scan_backward_into: the VJP takes a cotangent that it is to write by value, so that what "
            "it writes is lost; take it by reference, as in double& ct_h or auto& ct_x");
    else
        return true;
    return false;
}

} // namespace xloom::inline XLOOM_ABI::detail
