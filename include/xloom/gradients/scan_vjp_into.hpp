#pragma once
// The vector-Jacobian product of a scan in place: a forward pass that keeps states, and a backward pass.

#include <string_view>
#include <utility>

#include <xloom/control_flow/scan_into.hpp>
#include <xloom/detail/scan/scan_backward.hpp>
#include <xloom/detail/scan/scan_residuals.hpp>
#include <xloom/detail/scan/scan_vjp_types.hpp>
#include <xloom/detail/scan/vjp_body.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

template <bool LeadingAxis, class Body, class States, class Inputs, class Params, class Outputs,
    class Residuals>
void scan_forward_into(Body& body, States&& states, Inputs const& scan_inputs, Params const& params,
    Outputs&& scan_outputs, Residuals& residuals, scan_options const& options)
{
    using inputs = decltype(detail::evaluated_inputs(scan_inputs));
    if constexpr (is_valid_scan_forward_into<Body, States, inputs, Params, Outputs,
                      kept_state_t<scan_residuals, Residuals>, LeadingAxis>()) {
        static constexpr std::string_view op = "xloom::scan_forward_into";
        inputs const evaluated = detail::evaluated_inputs(scan_inputs);
        auto const parameters = detail::const_leaves(detail::leaves(params));
        auto& record = detail::record_of(residuals);
        detail::check_ranks(op, "scan_inputs", evaluated);
        record.states.start(op, check_scan(op, detail::shapes_of(evaluated), leaf_count<Outputs>, options),
            /*is_exact*/ true);
        recording_body<0, leaf_count<States>, leaf_count<States> + std::tuple_size_v<inputs>,
            bare<decltype(record.states)>, Body, bare<decltype(parameters)>>
            recording(record.states, body, parameters);
        detail::run_scan_into<op, LeadingAxis>(
            recording, detail::leaves(states), evaluated, detail::leaves(scan_outputs), options);
        auto const shapes = detail::shapes_of(detail::leaves(scan_outputs));
        record.output_shapes.assign(shapes.begin(), shapes.end());
        record.states.finish();
    }
}

template <bool LeadingAxis, class Body, class BodyVjp, class Inputs, class Params, class CtOutputs,
    class CtStates, class CtInputs, class CtParams, class Residuals>
void scan_backward_into(Body& body, BodyVjp& body_vjp, Inputs const& scan_inputs, Params const& params,
    CtOutputs const& ct_outputs, CtStates&& ct_states, CtInputs&& ct_inputs, CtParams&& ct_params,
    Residuals& residuals, scan_options const& options)
{
    using inputs = decltype(detail::evaluated_inputs(scan_inputs));
    using outputs = decltype(detail::evaluated_inputs(ct_outputs));
    if constexpr (is_valid_scan_backward_into<Body, BodyVjp, kept_state_t<scan_residuals, Residuals>, inputs,
                      Params, outputs, CtStates, CtInputs, CtParams, LeadingAxis>()) {
        static constexpr std::string_view op = "xloom::scan_backward_into";
        inputs const evaluated = detail::evaluated_inputs(scan_inputs);
        outputs const evaluated_cts = detail::evaluated_inputs(ct_outputs);
        scan_backward_operands const operands{detail::const_leaves(detail::leaves(evaluated)),
            detail::const_leaves(detail::leaves(params)), detail::const_leaves(detail::leaves(evaluated_cts)),
            detail::leaves(ct_states), detail::leaves(ct_inputs), detail::leaves(ct_params)};
        auto& record = detail::record_of(residuals);
        detail::check_scan_backward(op, record.states, record.output_shapes, operands, options);
        auto const run_body = [&](auto const&... arguments) { detail::call_body(body, arguments...); };
        detail::run_scan_backward<LeadingAxis>(op, record.states, run_body, body_vjp, operands, options);
    }
}

} // namespace detail

/// Runs scan_into with a body that has parameters, and keeps the states that scan_backward_into needs.
///
///     for t in range(T):
///         keep states if residuals' checkpoint chooses iteration t
///         body(states, x[t], params, y[t])
///
/// body(state&..., element const&..., param const&..., output&...) -> void, as in scan_into. params is one
/// value or a flat std::tuple of values of any type (std::tie for variables): whatever has a gradient and is
/// no state or scan input, such as weights.
///
/// Errors    as scan_into; option_error: the states to keep do not fit in memory. If a body throws, the
///           residuals cannot be used for a backward pass.
/// Cost      that of scan_into, and a copy of every state that is kept: see checkpoint. Allocates before the
///           first iteration only and, except for lazy operands and strided elements, nothing if the
///           residuals have the memory from an earlier call.
/// Source    JAX's jax.vjp of jax.lax.scan.
/// Example   scan_backward_into has one.
template <class Body, class States, class Inputs, class Params, class Outputs, class Residuals>
void scan_forward_into(Body&& body, States&& states, Inputs const& scan_inputs, Params const& params,
    Outputs&& scan_outputs, Residuals& residuals)
{
    detail::scan_forward_into<true>(body, static_cast<States&&>(states), scan_inputs, params,
        static_cast<Outputs&&>(scan_outputs), residuals, {});
}

/// Runs scan_forward_into with axes, directions or a length.
template <class Body, class States, class Inputs, class Params, class Outputs, class Residuals>
void scan_forward_into(Body&& body, States&& states, Inputs const& scan_inputs, Params const& params,
    Outputs&& scan_outputs, Residuals& residuals, scan_options const& options)
{
    detail::scan_forward_into<false>(body, static_cast<States&&>(states), scan_inputs, params,
        static_cast<Outputs&&>(scan_outputs), residuals, options);
}

/// Computes the cotangents of a scan's operands from those of its results, by the VJP of its body.
///
///     for t in reversed(range(T)):
///         ct_x[t] = 0
///         body_vjp(states before t, x[t], params, ct_y[t], ct_states, ct_x[t], ct_params)
///
/// body_vjp(state const&..., element const&..., param const&..., output cotangent const&..., state
/// cotangent&..., element cotangent&..., param cotangent&...) -> void. A state's cotangent is that of the
/// state after the iteration, which body_vjp replaces by that of the state before it; it adds to the
/// cotangents of the element, which is zeros at first, and of the parameters. check_vjp tests a body_vjp. The
/// body is that of scan_forward_into, which computes the states again that were not kept; the outputs that it
/// then writes are discarded.
///
/// Shapes    ct_outputs as the scan outputs, ct_states as the states, ct_inputs as the scan inputs, ct_params
///           as the parameters.
/// Options   those of the forward pass.
/// Errors    before the first write: shape_error: a cotangent's shape; residuals of another length.
///           option_error: no forward pass has finished with the residuals, or they have been moved from.
///           overlap_error: a cotangent that is written shares memory with another operand. body_error, after
///           an iteration: body_vjp changed the shape of a cotangent. Exceptions of the bodies propagate; the
///           cotangents then hold the values written so far.
/// Order     from the last iteration to the first, with the same bits for every checkpoint.
/// Cost      T runs of body_vjp, and the runs of the body that the checkpoint states. Allocates before the
///           first iteration only. The residuals can be used again: then all states but the first are
///           computed again.
/// Source    JAX's jax.vjp of jax.lax.scan.
/// Example
/// ```cpp
/// auto const body = [](double& h, double x_t, double w, double& y_t) { y_t = h = w * h + x_t; };
/// auto const body_vjp = [](double h, double, double w, double ct_y, double& ct_h, double& ct_x,
///                           double& ct_w) {
///     ct_x = ct_h + ct_y;
///     ct_w += ct_x * h;
///     ct_h = ct_x * w;
/// };
/// xt::xtensor<double, 1> const x = {1, 2, 3};
/// auto y = xt::xtensor<double, 1>::from_shape({3});
/// double h = 0, w = 0.5;
/// xloom::scan_residuals<double> residuals(xloom::checkpoint::sqrt());
/// xloom::scan_forward_into(body, h, x, w, y, residuals);
/// y; // = [1, 2.5, 4.25]
/// xt::xtensor<double, 1> const ct_y = {1, 1, 1};
/// auto ct_x = xt::xtensor<double, 1>::from_shape({3});
/// double ct_h = 0, ct_w = 0;
/// xloom::scan_backward_into(body, body_vjp, x, w, ct_y, ct_h, ct_x, ct_w, residuals);
/// ct_x; // = [1.75, 1.5, 1]
/// ct_w; // = 4
/// ct_h; // = 0.875
/// ```
template <class Body, class BodyVjp, class Inputs, class Params, class CtOutputs, class CtStates,
    class CtInputs, class CtParams, class Residuals>
void scan_backward_into(Body&& body, BodyVjp&& body_vjp, Inputs const& scan_inputs, Params const& params,
    CtOutputs const& ct_outputs, CtStates&& ct_states, CtInputs&& ct_inputs, CtParams&& ct_params,
    Residuals& residuals)
{
    detail::scan_backward_into<true>(body, body_vjp, scan_inputs, params, ct_outputs,
        static_cast<CtStates&&>(ct_states), static_cast<CtInputs&&>(ct_inputs),
        static_cast<CtParams&&>(ct_params), residuals, {});
}

/// Runs scan_backward_into with the axes, directions or length of the forward pass.
template <class Body, class BodyVjp, class Inputs, class Params, class CtOutputs, class CtStates,
    class CtInputs, class CtParams, class Residuals>
void scan_backward_into(Body&& body, BodyVjp&& body_vjp, Inputs const& scan_inputs, Params const& params,
    CtOutputs const& ct_outputs, CtStates&& ct_states, CtInputs&& ct_inputs, CtParams&& ct_params,
    Residuals& residuals, scan_options const& options)
{
    detail::scan_backward_into<false>(body, body_vjp, scan_inputs, params, ct_outputs,
        static_cast<CtStates&&>(ct_states), static_cast<CtInputs&&>(ct_inputs),
        static_cast<CtParams&&>(ct_params), residuals, options);
}

} // namespace xloom::inline XLOOM_ABI
