#pragma once
// The requirements of derivatives on the types of a call, each a compile-time error of one sentence. Those on
// the forward pass are the operators' own.

#include <cstdint>
#include <type_traits>

#include <xloom/detail/core/checkpoint.hpp>
#include <xloom/detail/scan/cotangents.hpp>
#include <xloom/detail/scan/requirements.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The types of an argument's values as const references: those of parameters in a body's arguments.
template <class Operands>
using const_leaves_t = decltype(detail::const_leaves(detail::leaves(std::declval<bare<Operands> const&>())));

/// The elements that a body writes in a backward pass, which nobody reads, for the outputs' cotangents.
template <class CtOutputs, bool LeadingAxis>
struct discarded_arguments;
template <class... Ys, bool LeadingAxis>
struct discarded_arguments<std::tuple<Ys...>, LeadingAxis> {
    using type = typename cursor_set<std::tuple<owned_t<Ys>&...>, LeadingAxis>::output_arguments;
};
template <class CtOutputs, bool LeadingAxis>
using discarded_arguments_t = typename discarded_arguments<CtOutputs, LeadingAxis>::type;

/// True if two tuples have values of the same items in the same order.
template <class A, class B>
inline constexpr bool have_same_items = false;
template <class... As, class... Bs>
    requires(sizeof...(As) == sizeof...(Bs))
inline constexpr bool have_same_items<std::tuple<As...>, std::tuple<Bs...>> =
    (std::is_same_v<item_t<As>, item_t<Bs>> && ...);

/// The type of the states that residuals keep; void for what is no such residuals.
template <template <class> class Residuals, class X>
struct kept_state {
    using type = void;
};
template <template <class> class Residuals, class State>
struct kept_state<Residuals, Residuals<State>> {
    using type = State;
};
template <template <class> class Residuals, class X>
using kept_state_t = typename kept_state<Residuals, X>::type;

/// True for a value whose cotangent can begin as 0 by its shape alone.
template <class X>
struct has_zero : std::bool_constant<tensor<X> || lazy<X> ||
                                     (std::is_constructible_v<bare<X>, int> && !has_sequence<bare<X>>)> {};

/// The type of a callable with any arguments and the result of a call, which must be valid. It has no
/// definition.
template <class Call>
struct callable_like {
    template <class... Arguments>
    typename Call::result operator()(Arguments&&...) const;
};

/// The pullback of a call that is not valid.
struct no_pullback {
    template <class... Cotangents>
    void operator()(Cotangents const&...) const
    {}
};

/// Requires no operand in the place of a VJP.
template <class BodyVjp>
struct follows_body {
    static consteval bool holds()
    {
        static_assert(
            !is_operand<BodyVjp>, "the body's VJP must follow the body, but an operand stands in its place");
        return !is_operand<BodyVjp>;
    }
};

/// Requires tensors or scalars for the values of an argument.
template <class Operands>
struct has_zero_cotangents {
    static consteval bool holds()
    {
        constexpr bool is_valid = every_leaf<has_zero, const_leaves_t<Operands>>;
        static_assert(is_valid, "what has a gradient is a tensor or a scalar, whose cotangent can begin as "
                                "0; pass other types to "
                                "scan_forward_into or loop_forward_into, with cotangents of your own");
        return is_valid;
    }
};

/// Requires residuals that keep states of this type, for a forward pass.
template <class State, class States>
struct keeps_states {
    static consteval bool holds()
    {
        constexpr bool is_valid = std::is_same_v<owned_t<bare<States>>, State>;
        static_assert(is_valid,
            "residuals must be scan_residuals<State> of a scan or loop_residuals<State> of a loop, of the "
            "states' own type, without references and const; for views, of the container that owns such "
            "items");
        return is_valid;
    }
};

/// Requires residuals of a forward pass, which keep a State.
template <class State>
struct has_residuals {
    static consteval bool holds()
    {
        static_assert(!std::is_void_v<State>,
            "residuals must be those of the forward pass: scan_residuals of scan_forward_into, "
            "loop_residuals of loop_forward_into");
        return !std::is_void_v<State>;
    }
};

/// Requires a pure body of a scan: its call with parameters.
template <class Call>
struct is_scan_body {
    static consteval bool holds()
    {
        static_assert(Call::is_valid, "the body of a scan must be callable as body(state const&..., element "
                                      "const&..., param const&...)");
        return Call::is_valid;
    }
};

/// Requires a body of a scan in place.
template <class Call>
struct is_scan_body_into {
    static consteval bool holds()
    {
        static_assert(Call::is_valid,
            "the body must be callable as body(state&..., element const&..., param const&..., output&...); "
            "the arguments stand in the order body, states, scan_inputs, params, scan_outputs, with "
            "std::tuple() where there are none");
        return Call::is_valid;
    }
};

/// Requires a pure body of a loop.
template <class Call>
struct is_loop_body {
    static consteval bool holds()
    {
        static_assert(Call::is_valid,
            "the body must be callable as body(std::int64_t iteration, bool cond, carried value const&..., "
            "param const&...)");
        return Call::is_valid;
    }
};

/// Requires a body of a loop in place.
template <class Call>
struct is_loop_body_into {
    static consteval bool holds()
    {
        static_assert(Call::is_valid,
            "the body must be callable as body(std::int64_t iteration, carried value&..., param const&..., "
            "output&...); the arguments stand in the order body, states, params, scan_outputs, with "
            "std::tuple() where there are none");
        return Call::is_valid;
    }
};

/// Requires the VJP of a scan's body.
template <class Call>
struct is_scan_vjp {
    static consteval bool holds()
    {
        static_assert(Call::is_valid,
            "the VJP must be callable as body_vjp(state const&..., element const&..., param const&..., state "
            "cotangent const&..., output cotangent const&..., state cotangent&..., element cotangent&..., "
            "param cotangent&...), where the first state cotangents are those after the iteration");
        return Call::is_valid;
    }
};

/// Requires the VJP of a loop's body.
template <class Call>
struct is_loop_vjp {
    static consteval bool holds()
    {
        static_assert(Call::is_valid,
            "the VJP must be callable as body_vjp(std::int64_t iteration, carried value const&..., param "
            "const&..., carried value's cotangent const&..., output cotangent const&..., carried value's "
            "cotangent&..., param cotangent&...), where the first cotangents are those after the iteration");
        return Call::is_valid;
    }
};

/// The kind of an argument in an environment that is a checkpoint.
struct a_checkpoint {};
template <class T>
    requires std::is_same_v<std::remove_cvref_t<T>, checkpoint>
inline constexpr bool is_of_kind<a_checkpoint, T> = true;

/// Requires at most a checkpoint after the options.
template <class... Env>
struct environment<takes<a_checkpoint>, Env...> {
    static consteval bool holds()
    {
        constexpr bool is_valid = sizeof...(Env) <= 1 && (is_of_kind<a_checkpoint, Env> && ...);
        static_assert(
            is_valid, "after the operands and params come the options, then at most one xloom::checkpoint");
        return is_valid;
    }
};

/// Returns the checkpoint of an environment; all if there is none.
template <class... Env>
checkpoint checkpoint_of(Env const&... env)
{
    checkpoint const all = checkpoint::all();
    return detail::first_of_kind<a_checkpoint>(all, env...);
}

/// Requires the arguments of a pullback: a value for each state, and a tensor for each scan output.
template <class State, class Outputs, class CtStates, class CtOutputs>
struct fitting_pullback {
    static consteval bool holds()
    {
        if constexpr (!std::is_constructible_v<State, CtStates const&> ||
                      leaf_count<State> != leaf_count<CtStates const>)
            static_assert(never<CtStates>, "the pullback's arguments are pullback(ct_states, ct_outputs), "
                                           "ct_states of the types of the states");
        else if constexpr (!every_leaf<may_have_an_axis, CtOutputs> ||
                           !have_same_items<leaves_t<Outputs>, CtOutputs>)
            static_assert(never<CtOutputs>,
                "the pullback's arguments are pullback(ct_states, ct_outputs), ct_outputs with a tensor for "
                "each scan output, with items of its type; std::tuple() where there are none");
        else
            return true;
        return false;
    }
};

template <class T>
inline constexpr bool is_cotangents = false;
template <class States, class Outputs>
inline constexpr bool is_cotangents<cotangents<States, Outputs>> = true;
template <class T>
inline constexpr bool is_gradients = false;
template <class Init, class Inputs, class Params>
inline constexpr bool is_gradients<gradients<Init, Inputs, Params>> = true;

/// Requires the two groups of a backward pass in place.
template <class Cotangents, class Gradients>
struct cotangents_and_gradients {
    static consteval bool holds()
    {
        constexpr bool is_valid = is_cotangents<bare<Cotangents>> && is_gradients<bare<Gradients>>;
        static_assert(is_valid, "after the residuals come the cotangents of the results, as in "
                                "xloom::cotangents().states(ct_h).outputs(ct_y), and the gradients, as in "
                                "xloom::gradients().init(ct_h).scan_inputs(ct_x).params(ct_w)");
        return is_valid;
    }
};

/// Requires tensors with time for the inputs of a backward pass and the cotangents that have it.
template <class Inputs, class CtOutputs, class CtInputs>
struct have_time {
    static consteval bool holds()
    {
        constexpr bool is_valid = every_leaf<may_have_an_axis, Inputs> &&
                                  every_leaf<may_have_an_axis, CtOutputs> &&
                                  every_leaf<is_scan_output, CtInputs>;
        static_assert(is_valid,
            "scan inputs, their gradients and the cotangents of scan outputs are tensors with at least one "
            "axis");
        return is_valid;
    }
};

/// Requires variables for gradients.
template <class... Arguments>
struct are_added_to {
    static consteval bool holds()
    {
        constexpr bool is_valid = ((every_leaf<is_writable, leaves_t<Arguments>> &&
                                    outlives_call<std::remove_const_t<Arguments>>)&&...);
        static_assert(is_valid,
            "a gradient is added to in place, so it must be a variable that is not const, "
            "or a view of one");
        return is_valid;
    }
};

/// Requires a cotangent for each state, initial state, scan input or param.
template <class State, class CtStates>
struct one_of_each_state {
    static consteval bool holds()
    {
        constexpr bool is_valid = std::tuple_size_v<leaves_t<CtStates>> == 0
                                      ? every_leaf<has_zero, leaves_t<State>>
                                      : have_same_items<leaves_t<State>, leaves_t<CtStates>>;
        static_assert(is_valid,
            "there must be a cotangent for each state, with items of the state's type; states that are "
            "tensors or scalars may be omitted all together");
        return is_valid;
    }
};
template <class State, class CtInit>
struct one_of_each_init {
    static consteval bool holds()
    {
        constexpr bool is_valid =
            std::tuple_size_v<leaves_t<CtInit>> == 0 || have_same_items<leaves_t<State>, leaves_t<CtInit>>;
        static_assert(is_valid,
            "there must be a gradient for each initial state, with items of the state's type, or for none");
        return is_valid;
    }
};
template <class Inputs, class CtInputs>
struct one_of_each_input {
    static consteval bool holds()
    {
        constexpr bool is_valid = have_same_items<Inputs, leaves_t<CtInputs>>;
        static_assert(
            is_valid, "there must be a gradient for each scan input, with items of the input's type");
        return is_valid;
    }
};
template <class Params, class CtParams>
struct one_of_each_param {
    static consteval bool holds()
    {
        constexpr bool is_valid =
            std::tuple_size_v<const_leaves_t<Params>> == std::tuple_size_v<leaves_t<CtParams>>;
        static_assert(is_valid, "there must be a gradient for each of the params");
        return is_valid;
    }
};

/// The types of the operands of a backward pass in place, and the requirements on them. Gradients are const
/// in a const object that holds views of them.
template <class State, class Inputs, class Params, class Cotangents, class Gradients>
struct backward_operand_types {
    using outputs = decltype(detail::evaluated_inputs(std::declval<Cotangents const&>().ct_outputs));
    using ct_states = decltype(Cotangents::ct_states);
    using ct_init = std::remove_reference_t<decltype((std::declval<Gradients&>().ct_init))>;
    using ct_inputs = std::remove_reference_t<decltype((std::declval<Gradients&>().ct_scan_inputs))>;
    using ct_params = std::remove_reference_t<decltype((std::declval<Gradients&>().ct_params))>;

    static consteval bool holds()
    {
        return satisfied<flat_arguments<Params, ct_states, ct_init, ct_inputs, ct_params>,
            have_time<Inputs, outputs, leaves_t<ct_inputs>>, are_added_to<ct_init, ct_inputs, ct_params>,
            one_of_each_state<State, ct_states>, one_of_each_init<State, ct_init>,
            one_of_each_input<Inputs, ct_inputs>, one_of_each_param<Params, ct_params>>();
    }
};

/// Requires, for the body of a backward pass, that of the forward pass.
template <class Call>
struct is_forward_body {
    static consteval bool holds()
    {
        static_assert(Call::is_valid, "the body must be that of the forward pass, and there must be a "
                                      "cotangent for each output that it writes");
        return Call::is_valid;
    }
};

} // namespace xloom::inline XLOOM_ABI::detail
