#pragma once
// The vector-Jacobian product of a loop in place: a forward pass that keeps states, and a backward pass.

#include <array>
#include <string_view>
#include <utility>

#include <xloom/control_flow/loop_into.hpp>
#include <xloom/detail/scan/loop_backward.hpp>
#include <xloom/detail/scan/loop_vjp_types.hpp>
#include <xloom/detail/scan/vjp_body.hpp>

namespace xloom::inline XLOOM_ABI {

/// Runs loop_into with a body that has parameters, and keeps the carried values that loop_backward_into
/// needs.
///
/// body(std::int64_t iteration, carried value&..., param const&..., output&...) -> bool, as in loop_into.
/// params is one value or a flat std::tuple of values of any type: whatever has a gradient and is not
/// carried.
///
/// Errors    as loop_into; option_error: checkpoint::sqrt or binomial without options.max_trip_count. If a
///           body throws, the residuals cannot be used for a backward pass.
/// Cost      that of loop_into, and a copy of all carried values that are kept: see checkpoint. With
///           checkpoint::online and carried values that keep their shapes, nothing is allocated in the loop
///           if the residuals have the memory from an earlier call.
/// Example   loop_backward_into has one.
template <class Body, class States, class Params, class Outputs, class Residuals>
loop_status loop_forward_into(Body&& body, States&& states, Params const& params, Outputs&& scan_outputs,
    Residuals& residuals, loop_options const& options = {})
{
    using namespace detail;
    if constexpr (is_valid_loop_forward_into<Body, States, Params, Outputs,
                      kept_state_t<loop_residuals, Residuals>>()) {
        static constexpr std::string_view op = "xloom::loop_forward_into";
        auto const parameters = detail::const_leaves(detail::leaves(params));
        auto& record = detail::record_of(residuals);
        detail::start_loop(op, record, limit_of(op, options), options);
        constexpr std::size_t count = leaf_count<States>;
        recording_body<1, count, 1 + count, bare<decltype(record.states)>, std::remove_reference_t<Body>,
            bare<decltype(parameters)>>
            recording(record.states, body, parameters);
        loop_status const status = detail::run_loop_into(
            op, recording, detail::leaves(states), detail::leaves(scan_outputs), options);
        detail::finish_loop(op, record, detail::leaves(states), detail::leaves(scan_outputs));
        return status;
    } else {
        return {}; // a value, so that one mistake gives one error
    }
}

/// Computes the cotangents of a loop's carried values and parameters from those of its results, by the VJP of
/// its body.
///
/// body_vjp is that of loop_vjp. ct_states holds the cotangents of the final values, and at the end those of
/// the initial ones; those of the parameters are added to ct_params. The body is that of loop_forward_into,
/// which computes the values again that were not kept; the outputs that it then writes are discarded.
///
/// Shapes    ct_outputs as the scan outputs, of which the iterations that were run are read; ct_states as the
///           final values, ct_params as the parameters.
/// Errors    before the first write: shape_error: a cotangent's shape. option_error: no forward pass has
///           finished with the residuals, or they have been moved from. overlap_error: a cotangent that is
///           written shares memory with another operand. body_error, after an iteration: body_vjp gave a
///           cotangent another shape. Exceptions of the bodies propagate; the cotangents then hold the values
///           written so far.
/// Order     from the last iteration to the first, with the same bits for every checkpoint.
/// Cost      a run of body_vjp for each iteration, and the runs of the body that the checkpoint states.
/// Example
/// ```cpp
/// auto const body = [](std::int64_t, double& v, double w) { return (v *= w) > 1; };
/// auto const body_vjp = [](std::int64_t, double v, double w, double& ct_v, double& ct_w) {
///     ct_w += ct_v * v;
///     ct_v *= w;
/// };
/// double v = 6, ct_v = 1, ct_w = 0;
/// xloom::loop_residuals<double> residuals(xloom::checkpoint::online(2));
/// auto const status = xloom::loop_forward_into(body, v, 0.5, std::tuple(), residuals);
/// status.trip_count; // = 3
/// xloom::loop_backward_into(body, body_vjp, 0.5, std::tuple(), ct_v, ct_w, residuals);
/// ct_v; // = 0.125
/// ct_w; // = 4.5
/// ```
template <class Body, class BodyVjp, class Params, class CtOutputs, class CtStates, class CtParams,
    class Residuals>
void loop_backward_into(Body&& body, BodyVjp&& body_vjp, Params const& params, CtOutputs const& ct_outputs,
    CtStates&& ct_states, CtParams&& ct_params, Residuals& residuals)
{
    using namespace detail;
    using outputs = decltype(detail::evaluated_inputs(ct_outputs));
    if constexpr (is_valid_loop_backward_into<std::remove_reference_t<Body>, BodyVjp,
                      kept_state_t<loop_residuals, Residuals>, Params, outputs, CtStates, CtParams>()) {
        static constexpr std::string_view op = "xloom::loop_backward_into";
        outputs const evaluated = detail::evaluated_inputs(ct_outputs);
        auto const cts = detail::const_leaves(detail::leaves(evaluated));
        auto const parameters = detail::const_leaves(detail::leaves(params));
        auto const ct_carried = detail::leaves(ct_states);
        auto const ct_parameters = detail::leaves(ct_params);
        auto& record = detail::record_of(residuals);
        detail::check_loop_cotangents(op, record, cts, ct_carried);
        check_ranks(op, "params", parameters);
        check_ranks(op, "ct_params", ct_parameters);
        check_cotangents(
            op, "ct_params", detail::shapes_of(ct_parameters), "params", detail::shapes_of(parameters));
        auto const written = std::tuple(detail::places_of(ct_carried), detail::places_of(ct_parameters));
        auto const read = std::tuple(detail::places_of(parameters), detail::places_of(cts));
        check_exclusive(op,
            std::array{named_places{"ct_states", std::get<0>(written)},
                named_places{"ct_params", std::get<1>(written)}},
            std::array{
                named_places{"params", std::get<0>(read)}, named_places{"ct_outputs", std::get<1>(read)}});
        auto const run_body = [&](std::int64_t t, auto const& carried, auto const& discarded) {
            static_cast<void>(
                detail::call_body(body, std::tuple<std::int64_t>(t), carried, parameters, discarded));
        };
        detail::run_loop_backward(op, record, run_body, body_vjp, parameters, cts, ct_carried, ct_parameters);
    }
}

} // namespace xloom::inline XLOOM_ABI
