#pragma once
// The Loop operator: runs a body while a condition holds, carries values of any shape and stacks outputs.
// Includes loop_into.

#include <utility>

#include <xloom/control_flow/loop_into.hpp>
#include <xloom/detail/scan/body_call.hpp>
#include <xloom/detail/scan/growable_outputs.hpp>
#include <xloom/detail/scan/loop_control.hpp>
#include <xloom/detail/scan/requirements.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// Requires that a carried value's type can hold the new shape: a fixed shape and a static rank cannot
/// change.
template <class To, class From>
void require_room(std::string_view op, std::size_t i, To const& to, From const& from, std::int64_t iteration)
{
    if (!detail::has_room_for(to, from))
        fail<body_error>(op,
            ": a state of a fixed shape or rank must keep it in every iteration, but states[", i, "] was ",
            detail::shape_of(to), " and the body made it ", detail::shape_of(from), " at iteration ",
            iteration, ". Carry an xt::xarray to change it.");
}

template <class Step, class Body, class State>
auto run_loop(std::string_view op, Body& body, State state, loop_options const& options)
{
    using stack = growable_outputs<decltype(Step::scan_outputs)>;
    loop_control control(limit_of(op, options), options);
    auto const carried = detail::leaves(state);
    detail::check_ranks(op, "init", carried);
    stack outputs(op, control.limit(), control.guaranteed_trips());
    step_memory_pool recycled;
    auto const iterate = [&] {
        while (control.next(control.limit())) {
            loop_status const now = control.status();
            Step step = detail::call_body(body, std::tuple<std::int64_t, bool>(now.trip_count, now.cond),
                detail::const_leaves(carried));
            detail::check_ranks(op, "states", detail::leaves(step.state));
            detail::for_each_leaf(detail::leaves(step.state), [&](auto i, auto const& value) {
                detail::require_room(op, i, std::get<i>(carried), value, now.trip_count);
            });
            outputs.push(detail::leaves(step.scan_outputs), now.trip_count);
            detail::for_each_leaf(detail::leaves(step.state),
                [&](auto i, auto& value) { detail::assign_carried(std::get<i>(carried), value); });
            control.finish_iteration(step.cond);
        }
    };
    detail::name_states(op, carried, iterate);
    auto const [cond, trip_count, stopped] = control.status();
    return loop_result<State, typename stack::type>{
        std::move(state), std::move(outputs).finish(trip_count), cond, trip_count, stopped};
}

} // namespace detail

/// Runs `body` while a condition holds, carries values and stacks its scan outputs.
///
///     states, cond = init, options.cond
///     for iteration in range(max_trip_count):
///         if not cond: break
///         cond, states, y_t = body(iteration, cond, states)
///         y[iteration] = y_t
///     return states, y, cond, iteration
///
/// body(std::int64_t iteration, bool cond, carried value const&...) -> loop_step. init and the members of a
/// step are each one value or a flat std::tuple of values; a value is a tensor, a scalar, a sequence
/// (std::vector) or a std::optional. Other values are captured.
///
/// Shapes    carried values may change their shapes from one iteration to the next, never their item types.
///           Output k: [trips, element...].
/// Options   max_trip_count (none), cond (true; std::nullopt ignores the body's condition), stop (never): see
///           loop_options.
/// Errors    option_error: nothing can end the loop. body_error: an output element changed its shape,
///           or as in scan an expression does not broadcast. Other exceptions of the body propagate.
/// Order     cond is tested before each iteration, also the first; a trip count <= 0 means no iteration:
///           states = init, outputs of length 0, dimensions that no type fixes 0, an xarray's shape [0].
/// Cost      outputs: max_trip_count iterations are allocated at once if they are guaranteed or take at most
///           1 MiB; otherwise the capacity doubles, with at most 3 times the final size allocated.
/// Differs   from ONNX Runtime, which applies the body's cond where cond is omitted: by ONNX it is ignored.
/// Source    ONNX Loop-1 to 25; infer_loop has the shape rule.
/// Example
/// ```cpp
/// auto const halve = [](std::int64_t, bool, double v) { return xloom::loop_step{v / 2 > 1, v / 2, v}; };
/// auto const result = xloom::loop(halve, 6.0, {.max_trip_count = 10});
/// result.final_state; // = 0.75
/// result.scan_outputs; // = [6, 3, 1.5]
/// result.trip_count; // = 3
/// ```
template <class Body, class Init, class... Env>
auto loop(Body&& body, Init&& init, loop_options const& options = {}, Env&&...)
{
    using namespace detail;
    using state = owned_t<Init>;
    if constexpr (satisfied<environment<takes<>, Env...>>() && is_valid_loop<Body, state>()) {
        using step = bare<typename loop_call<Body, state>::result>;
        return detail::run_loop<step>("xloom::loop", body, state(static_cast<Init&&>(init)), options);
    } else {
        return loop_result<state, std::tuple<>>{}; // a value, so that one mistake gives one error
    }
}

/// Runs loop without options. It takes nothing behind them, which one sentence says of what is there.
template <class Body, class Init, detail::beside_options<loop_options> First, class... Env>
auto loop(Body&& body, Init&& init, First&& first, Env&&... env)
{
    return xloom::loop(
        body, static_cast<Init&&>(init), {}, static_cast<First&&>(first), static_cast<Env&&>(env)...);
}

} // namespace xloom::inline XLOOM_ABI
