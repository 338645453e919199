#pragma once
// The vector-Jacobian product of a scan: scan_vjp returns its results and a function from their cotangents to
// those of its operands; scan_forward_into and scan_vjp_into are the two passes in place.

#include <string_view>
#include <utility>

#include <xloom/control_flow/scan.hpp>
#include <xloom/detail/scan/cotangents.hpp>
#include <xloom/detail/scan/recorded_vjp.hpp>
#include <xloom/detail/scan/residuals.hpp>
#include <xloom/detail/scan/scan_backward.hpp>
#include <xloom/detail/scan/vjp_requirements.hpp>

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

/// The call of a forward body in place: body(state&..., element const&..., param const&..., output&...).
template <class Body, class States, class Inputs, class Params, class Outputs, bool LeadingAxis>
struct scan_forward_call
    : call_of<Body, joined_t<leaves_t<States>, input_arguments_t<Inputs, LeadingAxis>, const_leaves_t<Params>,
                        output_arguments_t<Outputs, LeadingAxis>>> {};

/// The call of the same body in a backward pass, which discards the outputs.
template <class Body, class State, class Inputs, class Params, class CtOutputs, bool LeadingAxis>
struct scan_repeated_call
    : call_of<Body, joined_t<leaves_t<State>, input_arguments_t<Inputs, LeadingAxis>, const_leaves_t<Params>,
                        discarded_arguments_t<CtOutputs, LeadingAxis>>> {};

/// The call of a body's VJP.
template <class BodyVjp, class State, class Inputs, class Params, class CtOutputs, class CtInputs,
    class CtParams, bool LeadingAxis>
struct scan_vjp_call
    : call_of<BodyVjp,
          joined_t<leaves_t<State const>, input_arguments_t<Inputs, LeadingAxis>, const_leaves_t<Params>,
              leaves_t<State const>, input_arguments_t<CtOutputs, LeadingAxis>, leaves_t<State>,
              output_arguments_t<CtInputs, LeadingAxis>, leaves_t<CtParams>>> {};

template <bool LeadingAxis, class... Env, class Body, class States, class Inputs, class Params, class Outputs,
    class Residuals>
void scan_forward_into(Body& body, States&& states, Inputs const& scan_inputs, Params const& params,
    Outputs&& scan_outputs, Residuals& residuals, scan_options const& options)
{
    using inputs = decltype(detail::evaluated_inputs(scan_inputs));
    using call = scan_forward_call<Body, States, inputs, Params, Outputs, LeadingAxis>;
    if constexpr (satisfied<environment<takes<>, Env...>, flat_arguments<Params>,
                      keeps_states<kept_state_t<scan_residuals, Residuals>, States>,
                      scan_into_operands<States, inputs, Outputs, LeadingAxis>, is_scan_body_into<call>,
                      writes_by_reference<call>>()) {
        static constexpr std::string_view op = "xloom::scan_forward_into";
        inputs const evaluated = detail::evaluated_inputs(scan_inputs);
        auto const parameters = detail::const_leaves(detail::leaves(params));
        auto& record = detail::record_of(residuals);
        detail::check_extents(op, "scan_inputs", evaluated);
        record.states.start(op, check_scan(op, detail::shapes_of(evaluated), leaf_count<Outputs>, options),
            /*is_exact*/ true);
        auto recorded =
            detail::recording<0, leaf_count<States>, leaf_count<States> + std::tuple_size_v<inputs>>(
                record, body, parameters);
        detail::run_scan_into<op, LeadingAxis>(
            recorded, detail::leaves(states), evaluated, detail::leaves(scan_outputs), options);
        record.finish(detail::leaves(states), detail::shapes_of(detail::leaves(scan_outputs)));
    }
}

template <bool LeadingAxis, class... Env, class Body, class BodyVjp, class Inputs, class Params,
    class Residuals, class Cotangents, class Gradients>
void scan_vjp_into(Body& body, BodyVjp& body_vjp, Inputs const& scan_inputs, Params const& params,
    Residuals& residuals, Cotangents const& cts, Gradients& by, scan_options const& options)
{
    using state = kept_state_t<scan_residuals, Residuals>;
    using inputs = decltype(detail::evaluated_inputs(scan_inputs));
    if constexpr (satisfied<follows_body<BodyVjp>, environment<takes<>, Env...>, has_residuals<state>,
                      cotangents_and_gradients<Cotangents, Gradients>>()) {
        using types = backward_operand_types<state, inputs, Params, bare<Cotangents>, Gradients>;
        using outputs = typename types::outputs;
        using body_call = scan_repeated_call<Body, state, inputs, Params, outputs, LeadingAxis>;
        using vjp_call = scan_vjp_call<BodyVjp, state, inputs, Params, outputs, typename types::ct_inputs,
            typename types::ct_params, LeadingAxis>;
        if constexpr (satisfied<types, is_forward_body<body_call>, is_scan_vjp<vjp_call>,
                          writes_by_reference<vjp_call>>()) {
            static constexpr std::string_view op = "xloom::scan_vjp_into";
            inputs const evaluated = detail::evaluated_inputs(scan_inputs);
            outputs const evaluated_cts = detail::evaluated_inputs(cts.ct_outputs);
            auto const evaluated_states = detail::evaluated_inputs(cts.ct_states);
            scan_backward_operands const operands{detail::const_leaves(detail::leaves(evaluated)),
                detail::const_leaves(detail::leaves(params)),
                detail::const_leaves(detail::leaves(evaluated_states)),
                detail::const_leaves(detail::leaves(evaluated_cts)), detail::leaves(by.ct_init),
                detail::leaves(by.ct_scan_inputs), detail::leaves(by.ct_params)};
            auto& record = detail::record_of(residuals);
            detail::check_scan_backward(op, record, operands, options);
            auto const run_body = [&](auto const&... arguments) { detail::call_body(body, arguments...); };
            detail::add_all(operands.ct_init,
                detail::run_scan_backward<LeadingAxis>(op, record.states, run_body, body_vjp, operands,
                    detail::final_cotangents(operands.ct_states, *record.zeros), options));
        }
    }
}

/// The function from the cotangents of a scan's results to those of its operands.
template <bool LeadingAxis, class Step, class Body, class BodyVjp, class Init, class Inputs, class Params>
class scan_pullback {
    using state = owned_t<Init>;
    using operand_cotangents = scan_gradients<state, owned_t<Inputs>, owned_t<Params>>;
    static constexpr std::string_view op = "xloom::scan_vjp";

public:
    scan_pullback(Body body, BodyVjp body_vjp, held_operands_t<Inputs> inputs, held_operands_t<Params> params,
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
        detail::check_extents(op, "scan_inputs", inputs);
        detail::check_extents(op, "params", params);
        record.states.start(op,
            check_scan(op, detail::shapes_of(inputs), leaf_count<decltype(Step::scan_outputs)>, options_),
            true);
        constexpr std::size_t states = leaf_count<state>;
        auto recorded = detail::recording<0, states, states + std::tuple_size_v<bare<decltype(inputs)>>>(
            record, body_, params);
        auto result = detail::run_scan<Step, static_length<bare<decltype(inputs)>>::value, LeadingAxis>(
            op, recorded, std::move(init), inputs, options_);
        record.finish(
            detail::leaves(result.final_state), detail::shapes_of(detail::leaves(result.scan_outputs)));
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
        decltype(auto) body_vjp =
            detail::vjp_of<recorded_vjp, leaf_count<state>, std::tuple_size_v<bare<decltype(inputs)>>,
                std::tuple_size_v<bare<decltype(params)>>>(body_, body_vjp_);
        using outputs = decltype(detail::evaluated_inputs(ct_outputs));
        using call = scan_vjp_call<bare<decltype(body_vjp)>, state, bare<decltype(inputs)>, Params, outputs,
            owned_t<Inputs>, owned_t<Params>, LeadingAxis>;
        if constexpr (satisfied<fitting_pullback<state, decltype(Step::scan_outputs), CtStates, outputs>,
                          is_scan_vjp<call>, writes_by_reference<call>>()) {
            auto const of_states = detail::unchecked_cotangents<state>(ct_states);
            auto ct_inputs = detail::zero_cotangents<Inputs>(inputs);
            auto ct_params = detail::zero_cotangents<Params>(params);
            outputs const evaluated = detail::evaluated_inputs(ct_outputs);
            scan_backward_operands const operands{inputs, params,
                detail::const_leaves(detail::leaves(of_states)),
                detail::const_leaves(detail::leaves(evaluated)), std::tuple<>(), detail::leaves(ct_inputs),
                detail::leaves(ct_params)};
            detail::check_scan_backward(op, record, operands, options_);
            auto const run_body = [&](auto const& states, auto const& x, auto const& parameters,
                                      auto const&) {
                Step step = detail::call_body(body_, detail::const_leaves(states), x, parameters);
                detail::for_each_leaf(detail::leaves(step.state), [&](auto i, auto& value) {
                    auto& to = std::get<i>(states);
                    if (!detail::have_same_shape(to, value))
                        fail_repeated(op, i, detail::shape_of(to), detail::describe_shape(value));
                    detail::assign_carried(to, value);
                });
            };
            auto ct_init = detail::run_scan_backward<LeadingAxis>(op, record.states, run_body, body_vjp,
                operands, detail::final_cotangents(operands.ct_states, *record.zeros), options_);
            return {std::move(ct_init), std::move(ct_inputs), std::move(ct_params)};
        } else {
            return {}; // a value, so that one mistake gives one error
        }
    }

private:
    Body body_;
    BodyVjp body_vjp_;
    held_operands_t<Inputs> inputs_;
    held_operands_t<Params> params_;
    scan_residuals<state> residuals_;
    scan_options options_;
};

/// The call of a pure body with parameters: body(state const&..., element const&..., param const&...).
template <class Body, class State, class Inputs, class Params, bool LeadingAxis>
struct scan_param_call
    : call_of<Body,
          joined_t<leaves_t<State const>, input_arguments_t<Inputs, LeadingAxis>, const_leaves_t<Params>>> {};

template <bool LeadingAxis, class Body, class BodyVjp, class Init, class Inputs, class Params, class... Env>
auto scan_vjp(Body&& body, BodyVjp&& body_vjp, Init&& init, Inputs&& scan_inputs, Params&& params,
    scan_options const& options, Env const&... env)
{
    using state = owned_t<Init>;
    using inputs = const_leaves_t<held_operands_t<Inputs>>;
    using callable = std::remove_reference_t<Body>;
    using call = scan_param_call<callable, state, inputs, Params, LeadingAxis>;
    if constexpr (satisfied<follows_body<BodyVjp>, environment<takes<a_checkpoint>, Env...>,
                      flat_arguments<Params>, has_zero_cotangents<Params>,
                      have_time<inputs, std::tuple<>, std::tuple<>>, is_scan_body<call>,
                      fits_scan<callable_like<call>, state, inputs, LeadingAxis>,
                      recordable<bare<BodyVjp>, callable, call>>()) {
        scan_pullback<LeadingAxis, bare<typename call::result>, std::decay_t<Body>, std::decay_t<BodyVjp>,
            Init, Inputs, Params>
            pullback(std::forward<Body>(body), std::forward<BodyVjp>(body_vjp),
                detail::hold(std::forward<Inputs>(scan_inputs)), detail::hold(std::forward<Params>(params)),
                checkpoint_of(env...), options);
        auto result = pullback.run_forward(detail::to_owned(std::forward<Init>(init)));
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
/// Options   scan_options. After them a checkpoint (all): which states are kept until the pullback is
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
    requires detail::are_without_options<scan_options, Env...>
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

/// Runs scan_into with a body that has parameters, and keeps the states that scan_vjp_into needs.
///
///     for t in range(T):
///         keep states if residuals' checkpoint chooses iteration t
///         body(states, x[t], params, y[t])
///
/// body(state&..., element const&..., param const&..., output&...) -> void, as in scan_into. params is one
/// value or a flat std::tuple of values of any type (std::tie for variables): whatever has a gradient and is
/// no state or scan input, such as weights.
///
/// Errors    as scan_into; shape_error: the states to keep do not fit in memory. After an exception
///           the residuals cannot be used for a backward pass.
/// Cost      that of scan_into, and a copy of every state that is kept: see checkpoint. Allocates before the
///           first iteration and, for a copy of the states, after the last one; except for lazy operands and
///           strided elements, nothing if the residuals have the memory from an earlier call.
/// Source    JAX's jax.vjp of jax.lax.scan.
/// Example   scan_vjp_into has one.
template <class Body, class States, class Inputs, class Params, class Outputs, class Residuals, class... Env>
    requires detail::are_without_options<scan_options, Env...>
void scan_forward_into(Body&& body, States&& states, Inputs const& scan_inputs, Params const& params,
    Outputs&& scan_outputs, Residuals& residuals, Env&&...)
{
    detail::scan_forward_into<true, Env...>(body, std::forward<States>(states), scan_inputs, params,
        std::forward<Outputs>(scan_outputs), residuals, detail::default_scan_options);
}

/// Runs scan_forward_into with axes, directions or a length.
template <class Body, class States, class Inputs, class Params, class Outputs, class Residuals, class... Env>
void scan_forward_into(Body&& body, States&& states, Inputs const& scan_inputs, Params const& params,
    Outputs&& scan_outputs, Residuals& residuals, scan_options const& options, Env&&...)
{
    detail::scan_forward_into<false, Env...>(body, std::forward<States>(states), scan_inputs, params,
        std::forward<Outputs>(scan_outputs), residuals, options);
}

/// Adds the cotangents of a scan's operands to gradients, from the cotangents of its results and by the VJP
/// of its body.
///
///     ct_states = cotangents.states
///     for t in reversed(range(T)):
///         before = zeros
///         body_vjp(states before t, x[t], params, ct_states, ct_y[t], before, ct_x[t], ct_params)
///         ct_states = before
///     ct_init += ct_states
///
/// body_vjp(state const&..., element const&..., param const&..., state cotangent const&..., output cotangent
/// const&..., state cotangent&..., element cotangent&..., param cotangent&...) -> void receives what the body
/// received, the cotangents of what it computed, and the cotangents of what it received, and adds to these.
/// check_vjp tests a body_vjp. The body is that of scan_forward_into, which computes the states again that
/// were not kept; the outputs that it then writes are discarded.
///
/// Shapes    each cotangent as its value. Without cotangents().states() those of the final states are zeros;
///           gradients().init() is optional.
/// Options   those of the forward pass.
/// Errors    before the first write: shape_error: a cotangent's shape; residuals of another length; axes that
///           cannot be those of the forward pass. option_error: no forward pass has finished with the
///           residuals, or they have been moved from. overlap_error: a gradient shares memory with another
///           operand. body_error, after an iteration: body_vjp changed the shape of a cotangent. Exceptions
///           of the bodies propagate; the gradients then hold the sums so far.
/// Order     from the last iteration to the first, with the same bits for every checkpoint.
/// Cost      T runs of body_vjp, and the runs of the body that the checkpoint states. Allocates before the
///           first iteration only. The residuals can be used again: then all states but the first are
///           computed again.
/// Source    JAX's jax.vjp of jax.lax.scan.
/// Example
/// ```cpp
/// auto const body = [](double& h, double x_t, double w, double& y_t) { y_t = h = w * h + x_t; };
/// auto const body_vjp = [](double h, double, double w, double ct_next, double ct_y, double& ct_h,
///                           double& ct_x, double& ct_w) {
///     double const ct = ct_next + ct_y; // both results are w * h + x_t
///     ct_h += ct * w;
///     ct_x += ct;
///     ct_w += ct * h;
/// };
/// xt::xtensor<double, 1> const x = {1, 2, 3};
/// auto y = xt::xtensor<double, 1>::from_shape({3});
/// double h = 0, w = 0.5;
/// xloom::scan_residuals<double> residuals(xloom::checkpoint::sqrt());
/// xloom::scan_forward_into(body, h, x, w, y, residuals);
/// y; // = [1, 2.5, 4.25]
/// xt::xtensor<double, 1> const ct_y = {1, 1, 1};
/// xt::xtensor<double, 1> ct_x = {0, 0, 0};
/// double ct_h = 0, ct_w = 0;
/// xloom::scan_vjp_into(body, body_vjp, x, w, residuals, xloom::cotangents().outputs(ct_y),
///     xloom::gradients().init(ct_h).scan_inputs(ct_x).params(ct_w));
/// ct_x; // = [1.75, 1.5, 1]
/// ct_w; // = 4
/// ct_h; // = 0.875
/// ```
template <class Body, class BodyVjp, class Inputs, class Params, class Residuals, class Cotangents,
    class Gradients, class... Env>
    requires detail::are_without_options<scan_options, Env...>
void scan_vjp_into(Body&& body, BodyVjp&& body_vjp, Inputs const& scan_inputs, Params const& params,
    Residuals& residuals, Cotangents const& cotangents, Gradients&& gradients, Env&&...)
{
    detail::scan_vjp_into<true, Env...>(
        body, body_vjp, scan_inputs, params, residuals, cotangents, gradients, detail::default_scan_options);
}

/// Runs scan_vjp_into with the axes, directions or length of the forward pass.
template <class Body, class BodyVjp, class Inputs, class Params, class Residuals, class Cotangents,
    class Gradients, class... Env>
void scan_vjp_into(Body&& body, BodyVjp&& body_vjp, Inputs const& scan_inputs, Params const& params,
    Residuals& residuals, Cotangents const& cotangents, Gradients&& gradients, scan_options const& options,
    Env&&...)
{
    detail::scan_vjp_into<false, Env...>(
        body, body_vjp, scan_inputs, params, residuals, cotangents, gradients, options);
}

} // namespace xloom::inline XLOOM_ABI
