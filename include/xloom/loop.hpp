#pragma once
// The Loop operator: runs a body while a condition holds, carries values of any shape and stacks outputs.
// Includes loop_into.

#include <utility>

#include <xloom/loop_into.hpp>
#include <xloom/run/scan/body_call.hpp>
#include <xloom/run/scan/growable_outputs.hpp>
#include <xloom/run/scan/loop_control.hpp>
#include <xloom/run/scan/step.hpp>
#include <xloom/run/scan/step_report.hpp>

namespace xloom {

/// The value that the body of loop returns: whether to continue, the next carried values, and this
/// iteration's outputs. Construction evaluates lazy xtensor expressions inside the body, so that none of them
/// outlives the body's variables.
template <class State, class ScanOutputs = std::tuple<>>
struct loop_step {
    bool cond;
    State state;
    ScanOutputs scan_outputs{};
};
template <class State>
loop_step(bool, State&&) -> loop_step<detail::stored_t<State>>;
template <class State, class ScanOutputs>
loop_step(bool, State&&, ScanOutputs&&) -> loop_step<detail::stored_t<State>, detail::stored_t<ScanOutputs>>;

/// The step deduced from four or more values, which loop rejects: carried values and outputs cannot be
/// distinguished.
template <>
struct loop_step<detail::loose_values> {
    explicit loop_step(auto const&...) {}
};
template <class A, class B, class C, class... More>
loop_step(bool, A const&, B const&, C const&, More const&...) -> loop_step<detail::loose_values>;

/// The step deduced from a condition that is not a bool, such as a tensor of rank 0; loop rejects it.
template <>
struct loop_step<detail::no_bool> {
    explicit loop_step(auto const&...) {}
};
/// Deduces the step that loop rejects.
template <class Cond, class... Values>
    requires(!std::is_convertible_v<Cond const&, bool>)
loop_step(Cond const&, Values const&...) -> loop_step<detail::no_bool>;

/// The result of loop: the carried values at its end, the stacked outputs, and the members of loop_status.
template <class State, class ScanOutputs>
struct loop_result {
    State final_state;
    ScanOutputs scan_outputs;
    bool cond;
    std::int64_t trip_count;
    bool stopped;
};

namespace detail {

template <class T>
inline constexpr bool is_loop_step = false;
template <class State, class ScanOutputs>
inline constexpr bool is_loop_step<loop_step<State, ScanOutputs>> = true;
template <>
inline constexpr bool is_loop_step<loop_step<loose_values>> = false;
template <>
inline constexpr bool is_loop_step<loop_step<no_bool>> = false;

/// A compile-time error of a loop call.
enum class loop_fault { none, pack, arity, loose, condition, result };

template <class Body, class State>
consteval loop_fault find_loop_fault()
{
    if constexpr (!is_flat<State>)
        return loop_fault::pack;
    else {
        using call = call_of<Body, joined_t<std::tuple<std::int64_t, bool>, leaves_t<State const>>>;
        if constexpr (!call::is_valid)
            return loop_fault::arity;
        else if constexpr (std::is_same_v<bare<typename call::result>, loop_step<loose_values>>)
            return loop_fault::loose;
        else if constexpr (std::is_same_v<bare<typename call::result>, loop_step<no_bool>>)
            return loop_fault::condition;
        else
            return is_loop_step<bare<typename call::result>> ? loop_fault::none : loop_fault::result;
    }
}

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
auto run_loop(Body& body, State state, loop_options const& options)
{
    static constexpr std::string_view op = "xloom::loop";
    using stack = growable_outputs<decltype(Step::scan_outputs)>;
    loop_control control(limit_of(op, options), options);
    auto const carried = detail::leaves(state);
    detail::check_ranks(op, "init", carried);
    stack outputs(op, control.limit(), control.guaranteed_trips());
    step_memory_pool recycled;
    while (control.next(control.limit())) {
        loop_status const now = control.status();
        Step step = detail::call_body(
            body, std::tuple<std::int64_t, bool>(now.trip_count, now.cond), detail::const_leaves(carried));
        detail::check_ranks(op, "states", detail::leaves(step.state));
        detail::for_each_leaf(detail::leaves(step.state), [&](auto i, auto const& value) {
            detail::require_room(op, i, std::get<i>(carried), value, now.trip_count);
        });
        outputs.push(detail::leaves(step.scan_outputs), now.trip_count);
        detail::for_each_leaf(detail::leaves(step.state),
            [&](auto i, auto& value) { detail::assign_carried(std::get<i>(carried), value); });
        control.finish_iteration(step.cond);
    }
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
/// Errors    option_error: nothing can end the loop. body_error: an output element changed its shape.
///           Exceptions of the body propagate.
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
template <class Body, class Init>
auto loop(Body&& body, Init&& init, loop_options const& options = {})
{
    using namespace detail;
    using state = owned_t<Init>;
    constexpr loop_fault fault = find_loop_fault<Body, state>();
    static_assert(fault != loop_fault::pack, "xloom::loop: a pack is one value or a flat std::tuple of "
                                             "values, but a std::tuple stands inside a std::tuple");
    static_assert(fault != loop_fault::arity,
        "xloom::loop: the body must be callable as body(iteration, cond, carried value const&...)");
    static_assert(fault != loop_fault::loose,
        "xloom::loop: a step holds a condition, one state and one scan output, each a value or a std::tuple "
        "of values; return "
        "loop_step{cond, std::tuple{a, b}, y}, or loop_step{cond, a, std::tuple{y, z}}");
    static_assert(fault != loop_fault::condition,
        "xloom::loop: the condition of a step must be a bool; of a tensor of "
        "rank 0 give the item, as in loop_step{cond(), state}");
    static_assert(fault != loop_fault::result,
        "xloom::loop: the body must return xloom::loop_step{cond, state, scan_outputs}");
    if constexpr (fault == loop_fault::none) {
        using step = bare<
            typename call_of<Body, joined_t<std::tuple<std::int64_t, bool>, leaves_t<state const>>>::result>;
        constexpr step_fault wrong = find_step_fault<state, step>();
        static_assert(wrong != step_fault::reference,
            "xloom::loop: the body returned references, which could outlive the body's variables; return "
            "xloom::loop_step{...} without "
            "template arguments");
        using carried = typename carried_at_fault<state, step, wrong>::type;
        static_assert(wrong != step_fault::lazy,
            "xloom::loop: the body returned a lazy xtensor expression or a view, which would refer to "
            "the body's dead local variables; return "
            "xloom::loop_step{...} without template arguments, or a container");
        static_assert(wrong != step_fault::output,
            "xloom::loop: a scan output must be a tensor or a scalar; carry a sequence as a state instead");
        static_assert(wrong != step_fault::output_item,
            "xloom::loop: the items of a scan output must be default-constructible, copyable and no more "
            "aligned than xtensor "
            "aligns items; hold others by std::shared_ptr");
        static_assert(wrong != step_fault::count,
            "xloom::loop: the body must return as many carried values as init has");
        static_assert(carried::fits(step_fault::kind),
            "xloom::loop: a carried tensor must be replaced by a tensor, a "
            "scalar by a scalar, a sequence by a sequence");
        static_assert(carried::fits(step_fault::item_type),
            "xloom::loop: a carried value may change its shape, but never its element type; convert what the "
            "body returns, or give init "
            "that type (0.0, not 0, for a double)");
        static_assert(carried::fits(step_fault::rank), "xloom::loop: a carried value of a static rank must "
                                                       "keep it; carry an xt::xarray to change the rank");
        static_assert(carried::fits(step_fault::fixed_shape),
            "xloom::loop: a carried value of a fixed shape must keep "
            "it; carry an xt::xtensor to change the shape");
        if constexpr (wrong == step_fault::none)
            return run_loop<step>(body, state(static_cast<Init&&>(init)), options);
        else
            return loop_result<state, std::tuple<>>{};
    } else {
        return loop_result<state, std::tuple<>>{};
    }
}

} // namespace xloom
