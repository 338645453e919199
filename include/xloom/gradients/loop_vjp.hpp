#pragma once
// The vector-Jacobian product of a loop: loop_vjp returns its results and a function from their cotangents to
// those of its operands; loop_forward_into and loop_vjp_into are the two passes in place.

#include <string_view>
#include <utility>

#include <xloom/control_flow/loop.hpp>
#include <xloom/detail/scan/cotangents.hpp>
#include <xloom/detail/scan/loop_backward.hpp>
#include <xloom/detail/scan/recorded_vjp.hpp>
#include <xloom/detail/scan/vjp_requirements.hpp>

namespace xloom::inline XLOOM_ABI {

/// The cotangents of a loop's operands, which its pullback returns.
template <class State, class Params>
struct loop_gradients {
    State init;
    Params params;
};

/// The result of loop_vjp: those of loop, and the pullback.
template <class State, class ScanOutputs, class Pullback>
struct loop_vjp_result {
    State final_state;
    ScanOutputs scan_outputs;
    Pullback pullback;
    bool cond;
    std::int64_t trip_count;
    bool stopped;
};

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

/// The function from the cotangents of a loop's results to those of its operands.
template <class Step, class Body, class BodyVjp, class Init, class Params>
class loop_pullback {
    using state = owned_t<Init>;
    using operand_cotangents = loop_gradients<state, owned_t<Params>>;
    static constexpr std::string_view op = "xloom::loop_vjp";

public:
    loop_pullback(Body body, BodyVjp body_vjp, held_operands_t<Params> params, checkpoint const& checkpoints)
        : body_(std::move(body)),
          body_vjp_(std::move(body_vjp)),
          params_(std::move(params)),
          residuals_(checkpoints)
    {}

    /// Runs the loop.
    auto run_forward(state init, loop_options const& options)
    {
        auto const params = detail::const_leaves(detail::leaves(params_));
        loop_record<state>& record = detail::record_of(residuals_);
        detail::check_extents(op, "params", params);
        detail::start_loop(op, record, detail::leaves(init), check_loop(op, options), options);
        constexpr std::size_t states = leaf_count<state>;
        auto recorded = detail::recording<2, states, 2 + states>(record, body_, params);
        auto result = detail::run_loop<Step>(op, recorded, std::move(init), options);
        record.finish(
            detail::leaves(result.final_state), detail::shapes_of(detail::leaves(result.scan_outputs)));
        return result;
    }

    /// Returns the cotangents of init and params.
    template <class CtStates, class CtOutputs>
    operand_cotangents operator()(CtStates const& ct_states, CtOutputs const& ct_outputs)
    {
        loop_record<state>& record = detail::record_of(residuals_);
        check_pullback(op, record.states.is_finished());
        auto const params = detail::const_leaves(detail::leaves(params_));
        decltype(auto) body_vjp =
            detail::vjp_of<recorded_loop_vjp, leaf_count<state>, std::tuple_size_v<bare<decltype(params)>>>(
                body_, body_vjp_);
        using outputs = decltype(detail::evaluated_inputs(ct_outputs));
        using call = loop_vjp_call<bare<decltype(body_vjp)>, state, Params, outputs, owned_t<Params>>;
        if constexpr (satisfied<fitting_pullback<state, decltype(Step::scan_outputs), CtStates, outputs>,
                          is_loop_vjp<call>, writes_by_reference<call>>()) {
            auto const of_states = detail::unchecked_cotangents<state>(ct_states);
            auto const ct_last = detail::const_leaves(detail::leaves(of_states));
            auto ct_params = detail::zero_cotangents<Params>(params);
            outputs const evaluated = detail::evaluated_inputs(ct_outputs);
            auto const ct_ys = detail::const_leaves(detail::leaves(evaluated));
            detail::check_loop_cotangents(op, record, ct_last, ct_ys);
            auto const run_body = [&](std::int64_t t, auto const& carried, auto const&) {
                Step step = detail::call_body(
                    body_, std::tuple<std::int64_t, bool>(t, true), detail::const_leaves(carried), params);
                detail::for_each_leaf(detail::leaves(step.state), [&](auto i, auto& value) {
                    auto& to = std::get<i>(carried);
                    detail::check_room<bare<decltype(to)>>(op, i, value, t);
                    detail::assign_carried(to, value);
                });
            };
            auto ct_init = detail::run_loop_backward(op, record, run_body, body_vjp, params,
                detail::final_cotangents(ct_last, *record.zeros), ct_ys, detail::leaves(ct_params));
            return {std::move(ct_init), std::move(ct_params)};
        } else {
            return {}; // a value, so that one mistake gives one error
        }
    }

private:
    Body body_;
    BodyVjp body_vjp_;
    held_operands_t<Params> params_;
    loop_residuals<state> residuals_;
};

/// The call of a loop's body with parameters: body(iteration, cond, carried value const&..., param
/// const&...).
template <class Body, class State, class Params>
struct loop_param_call
    : call_of<Body, joined_t<std::tuple<std::int64_t, bool>, leaves_t<State const>, const_leaves_t<Params>>> {
};

} // namespace detail

/// Runs loop with a body that has parameters, and returns its results with a pullback, the function from
/// their cotangents to the cotangents of init and params. The number of iterations need not be known.
///
///     final_state, scan_outputs = loop(lambda *args: body(*args, *params), init)
///     pullback(ct_states, ct_outputs) = ct_init, ct_params
///
/// body(std::int64_t iteration, bool cond, carried value const&..., param const&...) -> loop_step, as in
/// loop. body_vjp(std::int64_t iteration, carried value const&..., param const&..., carried value's cotangent
/// const&..., output cotangent const&..., carried value's cotangent&..., param cotangent&...) -> void
/// receives the carried values before the iteration, the cotangents of those after it, and of the outputs.
/// It adds to the cotangents of the values before the iteration, which are zeros of their shapes, and of the
/// parameters. recorded_with<Tape>() in its place derives it from a generic body. The number of iterations
/// has no derivative.
///
/// Shapes    each cotangent as its value; ct_outputs [trips, element...].
/// Types     as loop; the cotangent of a carried value has the value's type. A parameter is a tensor, or a
///           scalar that 0 can be converted to.
/// Options   loop_options. After them a checkpoint (all): which carried values are kept until the pullback
///           is called; sqrt and binomial need options.max_trip_count.
/// Errors    as loop; option_error: a checkpoint that needs max_trip_count. The pullback: shape_error: a
///           cotangent's shape; option_error: it has been moved from; body_error: body_vjp gave a cotangent
///           another shape. Exceptions of the bodies propagate.
/// Order     the body_vjp runs from the last iteration to the first; same bits for every checkpoint.
/// Cost      as loop, a copy of every carried value that is kept; the pullback: trips runs of body_vjp, and
///           the runs of the body that the checkpoint states.
/// Aliasing  parameters that are variables of tensor types are not copied: they must live, unchanged, until
///           the last call of the pullback. Other operands and both callables are kept in the pullback.
/// Source    JAX has no reverse mode of while_loop; P. Stumm, A. Walther, New algorithms for optimal online
///           checkpointing, SIAM J. Sci. Comput. 32 (2010).
/// Example
/// ```cpp
/// auto const body = [](std::int64_t, bool, double v, double w) {
///     return xloom::loop_step{w * v > 1, w * v};
/// };
/// auto const body_vjp = [](std::int64_t, double v, double w, double ct_next, double& ct_v, double& ct_w) {
///     ct_v += ct_next * w;
///     ct_w += ct_next * v;
/// };
/// auto result = xloom::loop_vjp(body, body_vjp, 6.0, 0.5, xloom::checkpoint::online(2));
/// result.final_state; // = 0.75
/// auto const [ct_v, ct_w] = result.pullback(1.0, std::tuple());
/// ct_v; // = 0.125
/// ct_w; // = 4.5
/// ```
template <class Body, class BodyVjp, class Init, class Params = std::tuple<>, class Options = loop_options,
    class... Env>
auto loop_vjp(Body&& body, BodyVjp&& body_vjp, Init&& init, Params&& params = {}, Options&& options = {},
    Env const&... env)
{
    using namespace detail;
    using state = owned_t<Init>;
    using callable = std::remove_reference_t<Body>;
    using call = loop_param_call<callable, state, Params>;
    if constexpr (satisfied<follows_body<BodyVjp>,
                      after_operands<loop_options, takes<a_checkpoint>, Options, Env...>,
                      flat_arguments<Params>, has_zero_cotangents<Params>, is_loop_body<call>,
                      fits_loop<callable_like<call>, state>, recordable<bare<BodyVjp>, callable, call>>()) {
        loop_pullback<bare<typename call::result>, std::decay_t<Body>, std::decay_t<BodyVjp>, Init, Params>
            pullback(std::forward<Body>(body), std::forward<BodyVjp>(body_vjp),
                detail::hold(std::forward<Params>(params)), checkpoint_of(options, env...));
        auto result = pullback.run_forward(
            detail::to_owned(std::forward<Init>(init)), detail::options_of<loop_options>(options));
        return loop_vjp_result<state, decltype(result.scan_outputs), decltype(pullback)>{
            std::move(result.final_state), std::move(result.scan_outputs), std::move(pullback), result.cond,
            result.trip_count, result.stopped};
    } else {
        return loop_vjp_result<state, std::tuple<>,
            no_pullback>{}; // a value, so that one mistake gives one error
    }
}

/// Runs loop_into with a body that has parameters, and keeps the carried values that loop_vjp_into needs.
///
/// body(std::int64_t iteration, carried value&..., param const&..., output&...) -> bool, as in loop_into.
/// params is one value or a flat std::tuple of values of any type: whatever has a gradient and is not
/// carried.
///
/// Errors    as loop_into; option_error: checkpoint::sqrt or binomial without options.max_trip_count.
///           After an exception the residuals cannot be used for a backward pass.
/// Cost      that of loop_into, and a copy of all carried values that are kept: see checkpoint. With
///           checkpoint::online and carried values that keep their shapes, nothing is allocated in the loop
///           if the residuals have the memory from an earlier call.
/// Example   loop_vjp_into has one.
template <class Body, class States, class Params, class Outputs, class Residuals,
    class Options = loop_options, class... Env>
loop_status loop_forward_into(Body&& body, States&& states, Params const& params, Outputs&& scan_outputs,
    Residuals& residuals, Options&& options = {}, Env&&...)
{
    using namespace detail;
    using call = loop_forward_call<Body, States, Params, Outputs>;
    if constexpr (satisfied<after_operands<loop_options, takes<>, Options, Env...>, flat_arguments<Params>,
                      keeps_states<kept_state_t<loop_residuals, Residuals>, States>, written_by_body<Outputs>,
                      is_loop_body_into<call>, writes_by_reference<call>,
                      fits_loop_into<callable_like<call>, States, Outputs>>()) {
        static constexpr std::string_view op = "xloom::loop_forward_into";
        loop_options const& given = detail::options_of<loop_options>(options);
        auto const parameters = detail::const_leaves(detail::leaves(params));
        auto& record = detail::record_of(residuals);
        detail::start_loop(op, record, detail::leaves(states), check_loop(op, given), given);
        constexpr std::size_t count = leaf_count<States>;
        auto recorded = detail::recording<1, count, 1 + count>(record, body, parameters);
        loop_status const status =
            detail::run_loop_into(op, recorded, detail::leaves(states), detail::leaves(scan_outputs), given);
        record.finish(detail::leaves(states), detail::shapes_of(detail::leaves(scan_outputs)));
        return status;
    } else {
        return {}; // a value, so that one mistake gives one error
    }
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
///           sequence or an optional in it is extended by what it does not have.
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
        using types = backward_operand_types<state, std::tuple<>, Params, bare<Cotangents>, Gradients>;
        using outputs = typename types::outputs;
        using body_call = loop_repeated_call<std::remove_reference_t<Body>, state, Params, outputs>;
        using vjp_call = loop_vjp_call<BodyVjp, state, Params, outputs, typename types::ct_params>;
        if constexpr (satisfied<one_of_each_input<std::tuple<>, typename types::ct_inputs>, types,
                          is_forward_body<body_call>, is_loop_vjp<vjp_call>,
                          writes_by_reference<vjp_call>>()) {
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
            detail::add_all(
                ct_init, detail::run_loop_backward(op, record, run_body, body_vjp, parameters,
                             detail::final_cotangents(ct_states, *record.zeros), ct_outputs, ct_params));
        }
    }
}

} // namespace xloom::inline XLOOM_ABI
