#pragma once
// The Loop operator: runs a body while a condition holds, carries values of any shape and stacks outputs.
// loop returns new tensors, loop_into writes the caller's.

#include <cstdint>
#include <utility>

#include <xloom/detail/check/loop.hpp>
#include <xloom/detail/scan/growable_outputs.hpp>
#include <xloom/detail/scan/iteration.hpp>
#include <xloom/detail/scan/requirements.hpp>
#include <xloom/detail/tensor/operand_tuple.hpp>

namespace xloom::inline XLOOM_ABI {

/// The status of a loop at its end. `cond` is the last condition, true if it was omitted; `stopped` is true
/// if options.stop ended the loop.
struct loop_status {
    bool cond;
    std::int64_t trip_count;
    bool stopped;
};

namespace detail {

/// The state of a running loop, which decides whether another iteration follows.
class loop_control {
public:
    /// Requires a `limit` from check_loop. Why check_loop is not called here: a constructor that is not
    /// inlined keeps the members in memory during the whole loop.
    loop_control(std::int64_t limit, loop_options const& options)
        : limit_(limit),
          has_cond_(options.cond.has_value()),
          can_stop_(options.stop.stop_possible()),
          is_certain_(options.max_trip_count && !has_cond_ && !can_stop_),
          stop_(options.stop),
          cond_(options.cond.value_or(true))
    {}

    /// True if another iteration follows, among the first `end`. Polls the stop token.
    bool next(std::int64_t end)
    {
        if (!may_continue(end))
            return false;
        stopped_ = stop_.stop_requested();
        return !stopped_;
    }

    /// Like next(), without polling; false if the loop has a stop token.
    ///
    /// Why: an inner loop on this condition has no atomic operation, after which the compiler would reload
    /// all values in memory.
    bool next_without_stop_token(std::int64_t end) const { return !can_stop_ && may_continue(end); }

    void finish_iteration(bool cond)
    {
        cond_ = cond || !has_cond_;
        ++trip_count_;
    }

    std::int64_t limit() const { return limit_; }
    /// Returns the number of iterations that are guaranteed: 0 if a condition or a stop token can end the
    /// loop.
    std::int64_t guaranteed_trips() const { return is_certain_ ? limit_ : 0; }
    loop_status status() const { return {cond_, trip_count_, stopped_}; }

private:
    bool may_continue(std::int64_t end) const { return trip_count_ < end && cond_; }

    std::int64_t limit_;
    bool has_cond_;
    bool can_stop_;
    bool is_certain_;
    stop_token const& stop_;
    bool cond_;
    std::int64_t trip_count_ = 0;
    bool stopped_ = false;
};

template <class Body, class... States, class... Outputs>
loop_status run_loop_into(std::string_view op, Body& body, std::tuple<States&...> states,
    std::tuple<Outputs&...> outputs, loop_options const& options)
{
    loop_control control(check_loop(op, options), options);
    detail::check_extents(op, "states", states);
    detail::check_extents(op, "scan_outputs", outputs);
    std::int64_t const room = check_loop_outputs(op, detail::shapes_of(outputs), control.guaranteed_trips());
    auto const traversals = detail::traversals_of(outputs);
    check_in_place(op, detail::traversals_of(states), std::array<traversal, 0>(), traversals);
    detail::check_held_tensors<true>(op, "states", states, numbered("scan_outputs", traversals));

    auto y = cursor_set<std::tuple<Outputs&...>, true>::start(
        outputs, traversals, kernel::all_iterations(0), write_back_for<Body, States...>);
    std::int64_t const end = (std::min)(control.limit(), room);
    {
        local_states held(states);
        auto const current = held.get();
        auto const fail = [&](element_reshaped const& found) {
            auto const t = static_cast<std::size_t>(control.status().trip_count);
            detail::fail_if_own(op, "scan_outputs", y, found, t);
            detail::fail_if_value(op, "states", current, found, t);
        };
        auto const iterate = [&] {
            while (control.next(end))
                do {
                    detail::enter_all(y);
                    detail::for_each_leaf(y, [](auto, auto& cursor) { detail::poison(cursor.element()); });
                    bool const cond =
                        detail::call_body(body, std::tuple<std::int64_t>(control.status().trip_count),
                            current, detail::output_elements(y));
                    detail::leave_all(y);
                    control.finish_iteration(cond);
                } while (control.next_without_stop_token(end));
        };
        detail::run_bodies(fail, [&] { detail::name_states(op, current, iterate); });
    }
    if (control.next(control.limit()))
        fail_full(op, detail::shapes_of(outputs), room);
    return control.status();
}

/// Requires that a carried value of type To, maybe an optional, can take the shape of the new one: a fixed
/// shape and a static rank cannot change. Two static ones that differ are a compile-time error.
///
/// Errors    body_error
template <class To, class From>
void check_room(std::string_view op, std::size_t i, From const& from, std::int64_t iteration)
{
    if constexpr (is_optional<To>) {
        detail::check_room<typename To::value_type>(op, i, from, iteration);
    } else if constexpr (is_optional<From>) {
        if (from)
            detail::check_room<To>(op, i, *from, iteration);
    } else if constexpr (tensor<From> && !std::is_same_v<To, From>) {
        check_rank(op, "states", detail::rank_of(from), i);
        constexpr bool has_fixed_shape = is_fixed_shape<shape_type_t<To>>;
        bool has_room = true;
        if constexpr (has_fixed_shape)
            has_room = detail::is_shaped_like(from, shape_of_type<To>());
        else if constexpr (enable_tensor<To>::rank != dynamic_rank)
            has_room = detail::rank_of(from) == enable_tensor<To>::rank;
        if (!has_room)
            fail<body_error>(op,
                ": a state of a fixed shape or rank must keep it in every iteration, but states[", i,
                "] has ",
                has_fixed_shape ? concat("the shape ", shape_of_type<To>())
                                : concat("rank ", enable_tensor<To>::rank),
                " and the body made its shape ", detail::describe_shape(from), " at iteration ", iteration,
                ". Carry an xt::xarray to change it.");
    }
}

/// Runs a loop, whose end `control` decides, and returns its control. `outputs` grow with the loop.
///
/// Why copies of both: g++ 12 keeps in registers what the function owns; a scalar state takes a quarter of
/// the time.
template <class Step, class Body, class Carried, class Outputs>
loop_control run_loop_iterations(std::string_view op, Body& body, Carried carried, step_memory<Step>& memory,
    loop_control control, Outputs& outputs)
{
    while (control.next(control.limit())) {
        loop_status const now = control.status();
        outputs.make_room(now.trip_count);
        Step step = memory.make(&step, carried, outputs.writers(), [&] {
            return detail::call_body(body, std::tuple<std::int64_t, bool>(now.trip_count, now.cond),
                detail::const_leaves(carried));
        });
        detail::check_extents(op, "states", detail::leaves(step.state));
        detail::for_each_leaf(detail::leaves(step.state), [&](auto i, auto const& value) {
            auto const& to = std::get<i>(carried);
            detail::check_room<bare<decltype(to)>>(op, i, value, now.trip_count);
        });
        outputs.push(detail::leaves(step.scan_outputs), now.trip_count);
        memory.replace(carried, detail::leaves(step.state));
        control.finish_iteration(step.cond);
    }
    return control;
}

template <class Step, class Body, class State>
auto run_loop(std::string_view op, Body& body, State state, loop_options const& options)
{
    using stack = growable_outputs<decltype(Step::scan_outputs)>;
    loop_control const begin(check_loop(op, options), options);
    auto const carried = detail::leaves(state);
    detail::check_extents(op, "init", carried);
    stack outputs(op, begin.limit(), begin.guaranteed_trips());
    step_memory<Step> memory;
    loop_control const end = detail::name_states(
        op, carried, [&] { return detail::run_loop_iterations(op, body, carried, memory, begin, outputs); });
    auto const [cond, trip_count, stopped] = end.status();
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
/// (a std::vector of tensors) or a std::optional. Other values are captured.
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
template <class Body, class Init, class Options = loop_options, class... Env>
auto loop(Body&& body, Init&& init, Options&& options = {}, Env&&...)
{
    using namespace detail;
    using state = owned_t<Init>;
    if constexpr (satisfied<after_operands<loop_options, takes<>, Options, Env...>,
                      fits_loop<Body, state>>()) {
        using step = bare<typename loop_call<Body, state>::result>;
        return detail::run_loop<step>("xloom::loop", body, detail::to_owned(static_cast<Init&&>(init)),
            detail::options_of<loop_options>(options));
    } else {
        return loop_result<state, std::tuple<>>{}; // a value, so that one mistake gives one error
    }
}

/// Runs a loop in place: the body updates the caller's carried values and writes the caller's outputs.
///
/// body(std::int64_t iteration, carried value&..., output&...) -> bool, true to continue. A carried value is
/// the caller's variable (a scalar is a copy of it, written back at the end) and may change its shape. The
/// leading axis of an output is its capacity in iterations, of which the first status.trip_count are written;
/// an output element is as in scan_into.
///
/// Errors    before the first write: option_error, overlap_error, shape_error if the capacity is too small
///           for the guaranteed iterations. shape_error: the capacity is used up and the loop continues.
///           body_error: an output element was assigned another shape, or as in scan an expression does not
///           broadcast. After these, and after an exception of the body, carried values and outputs hold the
///           values written so far; the element of that iteration may be unwritten.
/// Aliasing  any overlap is an overlap_error. A body that captures an output's tensor reads the elements of
///           earlier iterations from it; the current element in it is unspecified.
/// Cost      that of a hand-written loop over the same body; nothing is allocated after set-up.
/// Real time if the body is, after a call with the same operands, of contiguous elements.
/// Source    ONNX Loop-1 to 25.
/// Example
/// ```cpp
/// double v = 6;
/// auto y = xt::xtensor<double, 1>::from_shape({10});
/// auto const halve = [](std::int64_t, double& value, double& y_t) {
///     y_t = value;
///     return (value /= 2) > 1;
/// };
/// auto const status = xloom::loop_into(halve, v, y);
/// v; // = 0.75
/// status.trip_count; // = 3
/// ```
template <class Body, class States, class Outputs = std::tuple<>, class Options = loop_options, class... Env>
loop_status loop_into(
    Body&& body, States&& states, Outputs&& scan_outputs = {}, Options&& options = {}, Env&&...)
{
    using namespace detail;
    if constexpr (satisfied<after_operands<loop_options, takes<>, Options, Env...>,
                      fits_loop_into<Body, States, Outputs>>())
        return detail::run_loop_into("xloom::loop_into", body, detail::leaves(states),
            detail::leaves(scan_outputs), detail::options_of<loop_options>(options));
    else
        return {}; // a value, so that one mistake gives one error
}

} // namespace xloom::inline XLOOM_ABI
