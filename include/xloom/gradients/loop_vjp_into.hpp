#pragma once
// The vector-Jacobian product of a loop in place: a forward pass that keeps states, and a backward pass.

#include <string_view>
#include <utility>

#include <xloom/control_flow/loop_into.hpp>
#include <xloom/detail/scan/loop_backward.hpp>
#include <xloom/detail/scan/vjp_requirements.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// The call of a loop's body in place: body(iteration, carried value&..., param const&..., output&...).
template <class Body, class States, class Params, class Outputs>
struct loop_forward_call : call_of<Body, joined_t<std::tuple<std::int64_t>, leaves_t<States>,
                                             const_leaves_t<Params>, output_arguments_t<Outputs, true>>> {};

/// The call of the same body in a backward pass, which discards the outputs.
template <class Body, class State, class Params, class CtOutputs>
struct loop_repeated_call
    : call_of<Body, joined_t<std::tuple<std::int64_t>, leaves_t<State>, const_leaves_t<Params>,
                        discarded_arguments_t<CtOutputs, true>>> {};

/// The call of the VJP of a loop's body.
template <class BodyVjp, class State, class Params, class CtOutputs, class CtParams>
struct loop_vjp_call
    : call_of<BodyVjp, joined_t<std::tuple<std::int64_t>, leaves_t<State const>, const_leaves_t<Params>,
                           leaves_t<State const>, input_arguments_t<CtOutputs, true>, leaves_t<State>,
                           leaves_t<CtParams>>> {};

/// The requirements of loop_into on the operands and on what a body returns.
template <class Call, class States, class Outputs>
struct fits_loop_into {
    static consteval bool holds()
    {
        return is_valid_loop_into<callable_returning<typename Call::result>, States, Outputs>();
    }
};

} // namespace detail

/// Runs loop_into with a body that has parameters, and keeps the carried values that loop_vjp_into needs.
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
/// Example   loop_vjp_into has one.
template <class Body, class States, class Params, class Outputs, class Residuals, class... Env>
loop_status loop_forward_into(Body&& body, States&& states, Params const& params, Outputs&& scan_outputs,
    Residuals& residuals, loop_options const& options = {}, Env&&...)
{
    using namespace detail;
    using call = loop_forward_call<Body, States, Params, Outputs>;
    if constexpr (satisfied<environment<takes<>, Env...>, flat_arguments<Params>,
                      keeps_states<kept_state_t<loop_residuals, Residuals>, States>,
                      are_loop_outputs<leaves_t<Outputs>>, is_loop_body_into<call>, writes_by_reference<call>,
                      fits_loop_into<call, States, Outputs>>()) {
        static constexpr std::string_view op = "xloom::loop_forward_into";
        auto const parameters = detail::const_leaves(detail::leaves(params));
        auto& record = detail::record_of(residuals);
        detail::start_loop(op, record, detail::leaves(states), limit_of(op, options), options);
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

/// Runs loop_forward_into without options.
template <class Body, class States, class Params, class Outputs, class Residuals,
    detail::beside_options<loop_options> First, class... Env>
loop_status loop_forward_into(Body&& body, States&& states, Params const& params, Outputs&& scan_outputs,
    Residuals& residuals, First&& first, Env&&... env)
{
    return xloom::loop_forward_into(body, std::forward<States>(states), params,
        std::forward<Outputs>(scan_outputs), residuals, loop_options{}, std::forward<First>(first),
        std::forward<Env>(env)...);
}

/// Adds the cotangents of a loop's carried values and parameters to gradients, from the cotangents of its
/// results and by the VJP of its body.
///
/// body_vjp is that of loop_vjp. The body is that of loop_forward_into, which computes the values again that
/// were not kept; the outputs that it then writes are discarded.
///
/// Shapes    each cotangent as its value: ct_states as the final values, ct_init as the initial ones. Of
///           ct_outputs, which are as the scan outputs, the iterations that were run are read. Without
///           cotangents().states() those of tensors and scalars are zeros; gradients().init() is optional. A
///           sequence or an optional is extended by what it does not have.
/// Errors    before the first write: shape_error: a cotangent's shape. option_error: no forward pass has
///           finished with the residuals, or they have been moved from. overlap_error: a gradient shares
///           memory with another operand. body_error, after an iteration: body_vjp gave a cotangent another
///           shape. Exceptions of the bodies propagate; the gradients then hold the sums so far.
/// Order     from the last iteration to the first, with the same bits for every checkpoint.
/// Cost      a run of body_vjp for each iteration, and the runs of the body that the checkpoint states.
/// Example
/// ```cpp
/// auto const body = [](std::int64_t, double& v, double w) { return (v *= w) > 1; };
/// auto const body_vjp = [](std::int64_t, double v, double w, double ct_next, double& ct_v, double& ct_w) {
///     ct_v += ct_next * w;
///     ct_w += ct_next * v;
/// };
/// double v = 6, ct_v = 0, ct_w = 0;
/// xloom::loop_residuals<double> residuals(xloom::checkpoint::online(2));
/// auto const status = xloom::loop_forward_into(body, v, 0.5, std::tuple(), residuals);
/// status.trip_count; // = 3
/// xloom::loop_vjp_into(body, body_vjp, 0.5, residuals, xloom::cotangents().states(1.0),
///     xloom::gradients().init(ct_v).params(ct_w));
/// ct_v; // = 0.125
/// ct_w; // = 4.5
/// ```
template <class Body, class BodyVjp, class Params, class Residuals, class Cotangents, class Gradients,
    class... Env>
void loop_vjp_into(Body&& body, BodyVjp&& body_vjp, Params const& params, Residuals& residuals,
    Cotangents const& cotangents, Gradients&& gradients, Env&&...)
{
    using namespace detail;
    using state = kept_state_t<loop_residuals, Residuals>;
    if constexpr (satisfied<follows_body<BodyVjp>, environment<takes<>, Env...>, has_residuals<state>,
                      cotangents_and_gradients<Cotangents, Gradients>>()) {
        using outputs = decltype(detail::evaluated_inputs(cotangents.ct_outputs));
        using ct_states_t = decltype(cotangents.ct_states);
        using init = decltype(gradients.ct_init);
        using ct_inputs = decltype(gradients.ct_scan_inputs);
        using ct_params_t = decltype(gradients.ct_params);
        using body_call = loop_repeated_call<std::remove_reference_t<Body>, state, Params, outputs>;
        using vjp_call = loop_vjp_call<BodyVjp, state, Params, outputs, ct_params_t>;
        if constexpr (satisfied<flat_arguments<Params, ct_states_t, init, ct_params_t>,
                          have_time<std::tuple<>, outputs, std::tuple<>>,
                          one_of_each_input<std::tuple<>, ct_inputs>, are_added_to<init, ct_params_t>,
                          one_of_each_state<state, ct_states_t>, one_of_each_init<state, init>,
                          one_of_each_param<Params, ct_params_t>, is_forward_body<body_call>,
                          is_loop_vjp<vjp_call>, writes_by_reference<vjp_call>>()) {
            static constexpr std::string_view op = "xloom::loop_vjp_into";
            outputs const evaluated = detail::evaluated_inputs(cotangents.ct_outputs);
            auto const evaluated_states = detail::evaluated_inputs(cotangents.ct_states);
            auto const ct_states = detail::const_leaves(detail::leaves(evaluated_states));
            auto const ct_outputs = detail::const_leaves(detail::leaves(evaluated));
            auto const parameters = detail::const_leaves(detail::leaves(params));
            auto const ct_init = detail::leaves(gradients.ct_init);
            auto const ct_params = detail::leaves(gradients.ct_params);
            auto& record = detail::record_of(residuals);
            detail::check_loop_cotangents(op, record, ct_states, ct_outputs);
            detail::check_loop_gradients(op, record, parameters, ct_states, ct_outputs, ct_init, ct_params);
            auto const run_body = [&](std::int64_t t, auto const& carried, auto const& discarded) {
                static_cast<void>(
                    detail::call_body(body, std::tuple<std::int64_t>(t), carried, parameters, discarded));
            };
            detail::add_all(ct_init,
                detail::run_loop_backward(op, record, run_body, body_vjp, parameters,
                    detail::final_cotangents<state>(ct_states, record.state_shapes), ct_outputs, ct_params));
        }
    }
}

} // namespace xloom::inline XLOOM_ABI
