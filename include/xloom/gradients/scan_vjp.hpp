#pragma once
// The vector-Jacobian product of a scan: its results, and a function from their cotangents to those of its
// operands. Includes scan_vjp_into.

#include <string_view>
#include <utility>

#include <xloom/control_flow/scan.hpp>
#include <xloom/detail/scan/cotangent_values.hpp>
#include <xloom/detail/scan/recorded_vjp.hpp>
#include <xloom/gradients/scan_vjp_into.hpp>

namespace xloom::inline XLOOM_ABI {

/// The cotangents of a scan's operands, which its pullback returns.
template <class State, class Inputs, class Params>
struct scan_gradients {
    State init;
    Inputs scan_inputs;
    Params params;
};

/// The result of scan_vjp: those of scan, and the pullback.
template <class State, class ScanOutputs, class Pullback>
struct scan_vjp_result {
    State final_state;
    ScanOutputs scan_outputs;
    Pullback pullback;
};

namespace detail {

/// The function from the cotangents of a scan's results to those of its operands.
template <bool LeadingAxis, class Step, class Body, class BodyVjp, class Init, class Inputs, class Params>
class scan_pullback {
    using state = owned_t<Init>;
    using operand_cotangents = scan_gradients<state, owned_t<Inputs>, owned_t<Params>>;
    static constexpr std::string_view op = "xloom::scan_vjp";

public:
    scan_pullback(Body body, BodyVjp body_vjp, held_pack_t<Inputs> inputs, held_pack_t<Params> params,
        checkpoint const& checkpoints, scan_options const& options)
        : body_(std::move(body)),
          body_vjp_(std::move(body_vjp)),
          inputs_(std::move(inputs)),
          params_(std::move(params)),
          residuals_(checkpoints),
          options_(options)
    {}

    /// Runs the scan.
    auto run_forward(state init)
    {
        auto const inputs = detail::const_leaves(detail::leaves(inputs_));
        auto const params = detail::const_leaves(detail::leaves(params_));
        auto& record = detail::record_of(residuals_);
        detail::check_ranks(op, "scan_inputs", inputs);
        record.states.start(op,
            check_scan(op, detail::shapes_of(inputs), leaf_count<decltype(Step::scan_outputs)>, options_),
            true);
        constexpr std::size_t states = leaf_count<state>;
        recording_body<0, states, states + std::tuple_size_v<bare<decltype(inputs)>>,
            bare<decltype(record.states)>, Body, bare<decltype(params)>>
            recording(record.states, body_, params);
        auto result = detail::run_scan<Step, static_length<bare<decltype(inputs)>>::value, LeadingAxis>(
            op, recording, std::move(init), inputs, options_);
        detail::finish_scan(record, detail::leaves(result.final_state), detail::leaves(result.scan_outputs));
        return result;
    }

    /// Returns the cotangents of init, scan_inputs and params.
    template <class CtStates, class CtOutputs>
    operand_cotangents operator()(CtStates const& ct_states, CtOutputs const& ct_outputs)
    {
        auto& record = detail::record_of(residuals_);
        check_pullback(op, record.states.is_finished());
        auto const inputs = detail::const_leaves(detail::leaves(inputs_));
        auto const params = detail::const_leaves(detail::leaves(params_));
        decltype(auto) body_vjp = detail::vjp_of<leaf_count<state>, std::tuple_size_v<bare<decltype(inputs)>>,
            std::tuple_size_v<bare<decltype(params)>>>(body_, body_vjp_);
        using outputs = decltype(detail::evaluated_inputs(ct_outputs));
        using call = scan_vjp_call<bare<decltype(body_vjp)>, state, bare<decltype(inputs)>, Params, outputs,
            owned_t<Inputs>, owned_t<Params>, LeadingAxis>;
        if constexpr (satisfied<fitting_pullback<state, decltype(Step::scan_outputs), CtStates, outputs>,
                          is_scan_vjp<call>, writes_by_reference<call>>()) {
            operand_cotangents by{state(ct_states), detail::zeros_like_pack<Inputs>(inputs),
                detail::zeros_like_pack<Params>(params)};
            outputs const evaluated = detail::evaluated_inputs(ct_outputs);
            scan_backward_operands const operands{inputs, params,
                detail::const_leaves(detail::leaves(by.init)),
                detail::const_leaves(detail::leaves(evaluated)), std::tuple<>(),
                detail::leaves(by.scan_inputs), detail::leaves(by.params)};
            detail::check_scan_backward(op, record, operands, options_);
            auto const run_body = [&](auto const& states, auto const& x, auto const& parameters,
                                      auto const&) {
                Step step = detail::call_body(body_, detail::const_leaves(states), x, parameters);
                detail::for_each_leaf(detail::leaves(step.state),
                    [&](auto i, auto& value) { detail::assign_carried(std::get<i>(states), value); });
            };
            by.init = detail::run_scan_backward<LeadingAxis>(
                op, record.states, run_body, body_vjp, operands, std::move(by.init), options_);
            return by;
        } else {
            return {}; // a value, so that one mistake gives one error
        }
    }

private:
    Body body_;
    BodyVjp body_vjp_;
    held_pack_t<Inputs> inputs_;
    held_pack_t<Params> params_;
    scan_residuals<state> residuals_;
    scan_options options_;
};

/// The call of a pure body with parameters: body(state const&..., element const&..., param const&...).
template <class Body, class State, class Inputs, class Params, bool LeadingAxis>
struct scan_param_call {
    using arguments =
        joined_t<leaves_t<State const>, input_arguments_t<Inputs, LeadingAxis>, const_leaves_t<Params>>;
    using call = call_of<Body, arguments>;
    static constexpr bool is_valid = call::is_valid;
};

/// The requirements of scan on the operands and on the step that a body returns.
template <class Call, class State, class Inputs, bool LeadingAxis>
struct fits_scan {
    static consteval bool holds()
    {
        return is_valid_scan<callable_returning<typename Call::call::result>, State, Inputs, LeadingAxis>();
    }
};

template <bool LeadingAxis, class Body, class BodyVjp, class Init, class Inputs, class Params, class... Env>
auto scan_vjp(Body&& body, BodyVjp&& body_vjp, Init&& init, Inputs&& scan_inputs, Params&& params,
    scan_options const& options, Env const&... env)
{
    using state = owned_t<Init>;
    using inputs = const_leaves_t<held_pack_t<Inputs>>;
    using callable = std::remove_reference_t<Body>;
    using call = scan_param_call<callable, state, inputs, Params, LeadingAxis>;
    if constexpr (satisfied<follows_body<BodyVjp>, checkpoint_only<Env...>, flat_arguments<Params>,
                      has_zero_cotangents<Params>, have_time<inputs, std::tuple<>, std::tuple<>>,
                      is_scan_body<call>, fits_scan<call, state, inputs, LeadingAxis>,
                      recordable<bare<BodyVjp>, callable, call>>()) {
        scan_pullback<LeadingAxis, bare<typename call::call::result>, std::decay_t<Body>,
            std::decay_t<BodyVjp>, Init, Inputs, Params>
            pullback(std::forward<Body>(body), std::forward<BodyVjp>(body_vjp),
                detail::hold(std::forward<Inputs>(scan_inputs)), detail::hold(std::forward<Params>(params)),
                checkpoint_of(env...), options);
        auto result = pullback.run_forward(state(std::forward<Init>(init)));
        return scan_vjp_result<state, decltype(result.scan_outputs), decltype(pullback)>{
            std::move(result.final_state), std::move(result.scan_outputs), std::move(pullback)};
    } else {
        return scan_vjp_result<state, std::tuple<>,
            no_pullback>{}; // a value, so that one mistake gives one error
    }
}

} // namespace detail

/// Runs scan with a body that has parameters, and returns its results with a pullback, the function from
/// their cotangents to the cotangents of init, scan_inputs and params.
///
///     final_state, scan_outputs = scan(lambda *args: body(*args, *params), init, scan_inputs)
///     pullback(ct_states, ct_outputs) = ct_init, ct_scan_inputs, ct_params
///
/// body(state const&..., element const&..., param const&...) -> scan_step, as in scan. params is one value or
/// a flat std::tuple of values: whatever has a gradient and is no state or scan input, such as weights.
/// body_vjp is that of scan_vjp_into, and check_vjp tests it; or recorded_with<Tape>(), which derives it from
/// a generic body. std::tuple{} stands for no inputs, params or outputs.
///
/// Shapes    as scan; each cotangent as its value.
/// Types     as scan. A parameter is a tensor, or a scalar that 0 can be converted to.
/// Options   scan_options. Behind them a checkpoint (all): which states are kept until the pullback is
///           called.
/// Errors    as scan; the pullback: shape_error: a cotangent's shape; option_error: it has been moved from;
///           body_error: body_vjp changed the shape of a cotangent. Exceptions of the bodies propagate.
/// Order     the body_vjp runs from the last iteration to the first; same bits for every checkpoint.
/// Cost      as scan, a copy of every state that is kept; the pullback: T runs of body_vjp, and the runs of
///           the body that the checkpoint states. scan_forward_into and scan_vjp_into use the caller's
///           memory. The pullback can be called again: then all states but the first are computed again.
/// Aliasing  tensors that are variables are not copied: they must live, unchanged, until the last call of the
///           pullback. Other operands and both callables are kept in the pullback.
/// Source    JAX's jax.vjp of jax.lax.scan.
/// Example
/// ```cpp
/// xt::xtensor<double, 1> const x = {1, 2, 3};
/// auto const body = [](double h, double x_t, double w) {
///     return xloom::scan_step{w * h + x_t, w * h + x_t};
/// };
/// auto const body_vjp = [](double h, double, double w, double ct_next, double ct_y, double& ct_h,
///                           double& ct_x, double& ct_w) {
///     double const ct = ct_next + ct_y;
///     ct_h += ct * w;
///     ct_x += ct;
///     ct_w += ct * h;
/// };
/// auto [h, y, pullback] = xloom::scan_vjp(body, body_vjp, 0.0, x, 0.5);
/// y; // = [1, 2.5, 4.25]
/// auto const [ct_h, ct_x, ct_w] = pullback(0.0, xt::xtensor<double, 1>{1, 1, 1});
/// ct_x; // = [1.75, 1.5, 1]
/// ct_w; // = 4
/// ```
template <class Body, class BodyVjp, class Init, class Inputs, class Params = std::tuple<>, class... Env>
    requires(detail::is_beside_options<scan_options, Env...>)
auto scan_vjp(Body&& body, BodyVjp&& body_vjp, Init&& init, Inputs&& scan_inputs, Params&& params = {},
    Env const&... env)
{
    return detail::scan_vjp<true>(std::forward<Body>(body), std::forward<BodyVjp>(body_vjp),
        std::forward<Init>(init), std::forward<Inputs>(scan_inputs), std::forward<Params>(params),
        detail::default_scan_options, env...);
}

/// Runs scan_vjp with axes, directions or a length.
template <class Body, class BodyVjp, class Init, class Inputs, class Params, class... Env>
auto scan_vjp(Body&& body, BodyVjp&& body_vjp, Init&& init, Inputs&& scan_inputs, Params&& params,
    scan_options const& options, Env const&... env)
{
    return detail::scan_vjp<false>(std::forward<Body>(body), std::forward<BodyVjp>(body_vjp),
        std::forward<Init>(init), std::forward<Inputs>(scan_inputs), std::forward<Params>(params), options,
        env...);
}

} // namespace xloom::inline XLOOM_ABI
