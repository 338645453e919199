#pragma once
// Loop: a body runs while a condition holds, carries values of any shape and stacks outputs.

#include <stop_token>

#include <xloom/adapt/body.hpp>
#include <xloom/adapt/growing_stack.hpp>
#include <xloom/adapt/step.hpp>
#include <xloom/check/loop.hpp>

namespace xloom {

/// What the body of loop returns: whether to go on, the next carried values, and this iteration's outputs.
/// Lazy xtensor expressions are evaluated right here, inside the body, so that none of them outlives the body's variables.
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

/// When a loop ends. ONNX's omitted inputs are std::nullopt.
struct loop_options {
    std::optional<std::int64_t> max_trip_count{}; ///< at most so many iterations; negative counts as 0
    std::optional<bool> cond = true;              ///< tested before each iteration; std::nullopt: true, and what the body says is ignored
    std::stop_token stop{};                       ///< asked before each iteration
};

/// How a loop ended. `cond` is the last condition, true if it was omitted; `stopped` tells that options.stop ended it.
struct loop_status {
    bool cond;
    std::int64_t trip_count;
    bool stopped;
};

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

/// What loop's and loop_into's arguments can be found guilty of at compile time.
enum class loop_fault { none, state, state_const, state_temporary, output, output_const, output_temporary, arity, result };

/// The one place that decides whether another iteration follows.
class loop_control {
public:
    loop_control(std::string_view op, loop_options const& options)
        : limit_(check_loop(op, options.max_trip_count, options.cond, options.stop.stop_possible())),
          has_cond_(options.cond.has_value()),
          is_certain_(options.max_trip_count && !options.cond && !options.stop.stop_possible()),
          stop_(options.stop),
          status_{options.cond.value_or(true), 0, false}
    {}

    bool goes_on()
    {
        if (status_.trip_count >= limit_ || !status_.cond)
            return false;
        status_.stopped = stop_.stop_requested();
        return !status_.stopped;
    }

    void finish_iteration(bool cond)
    {
        if (has_cond_)
            status_.cond = cond;
        ++status_.trip_count;
    }

    std::int64_t limit() const { return limit_; }
    /// The iterations that nothing can prevent.
    std::int64_t certain() const { return is_certain_ ? limit_ : 0; }
    loop_status const& status() const { return status_; }

private:
    std::int64_t limit_;
    bool has_cond_;
    bool is_certain_;
    std::stop_token const& stop_;
    loop_status status_;
};

template <class X>
using is_loop_state = std::bool_constant<!lazy<X>>;

template <class Body, class State>
consteval loop_fault find_loop_fault()
{
    if constexpr (!every_leaf<is_loop_state, leaves_t<State>>)
        return loop_fault::state;
    else {
        using call = call_of<Body, joined_t<std::tuple<std::int64_t, bool>, leaves_t<State const>>>;
        if constexpr (!call::is_valid)
            return loop_fault::arity;
        else
            return is_loop_step<bare<typename call::result>> ? loop_fault::none : loop_fault::result;
    }
}

/// A carried value may take any shape that its type has room for: a fixed shape no other, a static rank none of another rank.
template <class To, class From>
void require_room(std::string_view op, std::size_t i, To const& to, From const& from, std::int64_t iteration)
{
    if (!has_room_for(to, from))
        fail<body_error>(op, ": a state of a fixed shape or rank must keep it in every iteration, but states[", i, "] was ", shape_of(to),
            " and the body made it ", shape_of(from), " at iteration ", iteration, ". Carry an xt::xarray to change it.");
}

template <class Step, class Body, class State>
auto run_loop(Body& body, State state, loop_options const& options)
{
    static constexpr std::string_view op = "xloom::loop";
    using stack = growing_stack<decltype(Step::scan_outputs)>;
    loop_control control(op, options);
    auto const carried = leaves(state);
    stack outputs(op, control.limit(), control.certain());
    block_cache recycled;
    while (control.goes_on()) {
        loop_status const now = control.status();
        Step step = call_body(body, std::tuple<std::int64_t, bool>(now.trip_count, now.cond), const_leaves(carried));
        for_each_leaf(
            leaves(step.state), [&](auto i, auto const& value) { require_room(op, i, std::get<i>(carried), value, now.trip_count); });
        outputs.push(leaves(step.scan_outputs), now.trip_count);
        for_each_leaf(leaves(step.state), [&](auto i, auto& value) { assign_carried(std::get<i>(carried), value); });
        control.finish_iteration(step.cond);
    }
    auto const [cond, trip_count, stopped] = control.status();
    return loop_result<State, typename stack::type>{std::move(state), std::move(outputs).finish(trip_count), cond, trip_count, stopped};
}

} // namespace detail

/// Runs `body` while a condition holds, carries values and stacks what it returns.
///
///     states, cond = init, options.cond
///     for iteration in range(max_trip_count):
///         if not cond: break
///         cond, states, y_t = body(iteration, cond, states)
///         y[iteration] = y_t
///     return states, y, cond, iteration
///
/// body(std::int64_t iteration, bool cond, carried value const&...) -> loop_step. init and the members of a step are each one value or a
/// flat std::tuple of values; a value is a tensor, a scalar, a sequence (std::vector) or a std::optional. Other values are captured.
///
/// Shapes    carried values may change their shapes from one iteration to the next, never their item types. Output k: [trips, element...].
/// Options   max_trip_count (none), cond (true; std::nullopt ignores what the body says), stop (never): see loop_options.
/// Errors    option_error: nothing can end the loop. body_error: an output element changed its shape. What the body throws passes through.
/// Order     cond is tested before each iteration, also the first; a trip count <= 0 means no iteration: states = init, outputs of
///           length 0, dimensions that no type tells 0, an xarray's shape [0].
/// Cost      outputs: room for max_trip_count iterations at once where that is known, otherwise doubled: at most 3 times the final size.
/// Differs   from ONNX Runtime, which obeys the body's cond where cond is omitted: the text says it is ignored.
/// Source    ONNX Loop-1 to 25; infer_loop has the shape rule.  Example: tests/loop.test.cpp
template <class Body, class Init>
auto loop(Body&& body, Init&& init, loop_options const& options = {})
{
    using namespace detail;
    using state = owned_t<Init>;
    constexpr loop_fault fault = find_loop_fault<Body, state>();
    static_assert(fault != loop_fault::arity, "xloom::loop: the body must be callable as body(iteration, cond, carried value const&...)");
    static_assert(fault != loop_fault::result, "xloom::loop: the body must return xloom::loop_step{cond, state, scan_outputs}");
    if constexpr (fault == loop_fault::none) {
        using step = bare<typename call_of<Body, joined_t<std::tuple<std::int64_t, bool>, leaves_t<state const>>>::result>;
        constexpr step_fault wrong = find_step_fault<state, step>();
        static_assert(wrong != step_fault::lazy, "xloom::loop: the body returned a lazy xtensor expression or a view, which would refer to "
                                                 "the body's dead local variables; return "
                                                 "xloom::loop_step{...} without template arguments, or a container");
        static_assert(wrong != step_fault::count, "xloom::loop: the body must return as many carried values as init has");
        static_assert(wrong != step_fault::kind,
            "xloom::loop: a carried tensor must be replaced by a tensor, a scalar by a scalar, a sequence by a sequence");
        static_assert(wrong != step_fault::item_type,
            "xloom::loop: a carried value may change its shape, but never its element type; convert what the body returns");
        static_assert(wrong != step_fault::rank,
            "xloom::loop: a carried value of a static rank must keep it; carry an xt::xarray to change the rank");
        static_assert(wrong != step_fault::fixed_shape,
            "xloom::loop: a carried value of a fixed shape must keep it; carry an xt::xtensor to change the shape");
        constexpr bool stackable = !has_sequence_leaf<decltype(step::scan_outputs)>;
        static_assert(stackable, "xloom::loop: a scan output must be a tensor or a scalar; carry a sequence as a state instead");
        if constexpr (wrong == step_fault::none && stackable)
            return run_loop<step>(body, state(static_cast<Init&&>(init)), options);
        else
            return loop_result<state, std::tuple<>>{};
    } else {
        return loop_result<state, std::tuple<>>{};
    }
}

namespace detail {

template <class Body, class States, class Outputs>
consteval loop_fault find_loop_into_fault()
{
    using states = leaves_t<States>;
    using outputs = leaves_t<Outputs>;
    if constexpr (!every_leaf<is_loop_state, states>)
        return loop_fault::state;
    else if constexpr (!every_leaf<is_writable, states>)
        return loop_fault::state_const;
    else if constexpr (!outlives_call<States>)
        return loop_fault::state_temporary;
    else if constexpr (!every_leaf<is_scan_output, outputs>)
        return loop_fault::output;
    else if constexpr (!every_leaf<is_writable, outputs>)
        return loop_fault::output_const;
    else if constexpr (!outlives_call<Outputs>)
        return loop_fault::output_temporary;
    else {
        using call = call_of<Body, joined_t<std::tuple<std::int64_t>, states, typename walk<outputs, true>::output_arguments>>;
        if constexpr (!call::is_valid)
            return loop_fault::arity;
        else
            return std::is_same_v<typename call::result, bool> ? loop_fault::none : loop_fault::result;
    }
}

template <class Body, class... States, class... Outputs>
loop_status run_loop_into(Body& body, std::tuple<States&...> states, std::tuple<Outputs&...> outputs, loop_options const& options)
{
    static constexpr std::string_view op = "xloom::loop_into";
    loop_control control(op, options);
    std::int64_t const room = check_loop_outputs(op, shapes_of(outputs), control.certain());
    auto const places = places_of(outputs);
    check_overlap(op, places_of(states), {}, places);

    auto y = walk<std::tuple<Outputs&...>, true>::start(outputs, places, 0);
    std::tuple<held_state<States>...> held(states);
    auto const current = std::apply([](auto&... state) { return std::tuple<States&...>(state.get()...); }, held);
    try {
        while (control.goes_on()) {
            if (control.status().trip_count == room)
                fail_full(op, shapes_of(outputs), room);
            enter_all(y);
            for_each_leaf(y, [](auto, auto& cursor) { poison(cursor.element()); });
            bool const cond = call_body(body, std::tuple<std::int64_t>(control.status().trip_count), current, output_elements(y));
            leave_all(y);
            control.finish_iteration(cond);
        }
    } catch (element_reshaped const& found) {
        fail_if_own(op, y, found, static_cast<std::size_t>(control.status().trip_count));
        throw;
    }
    return control.status();
}

} // namespace detail

/// Loop in place: the body updates the caller's carried values and writes the caller's outputs.
///
/// body(std::int64_t iteration, carried value&..., output&...) -> bool, whether to go on. A carried value is the caller's own variable (a
/// scalar one a copy that goes home at the end) and may change its shape. The leading axis of an output is room for iterations, of which
/// the first status.trip_count are written; an output element is as in scan_into.
///
/// Errors    option_error, overlap_error, and a shape_error where the room cannot be enough: before the first write. shape_error: the room
///           is used up and the loop goes on. body_error: an output element was assigned another shape. After these, and what the body
///           throws, carried values and outputs hold what was written so far.
/// Cost      a hand-written loop over the same body; nothing is allocated after set-up.
/// Source    ONNX Loop-1 to 25.  Example: tests/loop_into.test.cpp
template <class Body, class States, class Outputs = std::tuple<>>
loop_status loop_into(Body&& body, States&& states, Outputs&& scan_outputs = {}, loop_options const& options = {})
{
    using namespace detail;
    constexpr loop_fault fault = find_loop_into_fault<Body, States, Outputs>();
    static_assert(fault != loop_fault::state,
        "xloom::loop_into: a carried value must be a variable that can be written, but a lazy xtensor expression was passed");
    static_assert(fault != loop_fault::state_const, "xloom::loop_into: a carried value is updated in place, so it must not be const");
    static_assert(fault != loop_fault::state_temporary,
        "xloom::loop_into: a carried value is updated in place, so it must be a variable or a view of one; pass several as std::tie(v, n)");
    static_assert(fault != loop_fault::output, "xloom::loop_into: a scan output is a tensor in memory with a leading axis to write along");
    static_assert(fault != loop_fault::output_const, "xloom::loop_into: a scan output is written, so it must not be const");
    static_assert(fault != loop_fault::output_temporary,
        "xloom::loop_into: a scan output is written in place, so it must be a variable or a view of one; pass several as std::tie(y, z)");
    static_assert(
        fault != loop_fault::arity, "xloom::loop_into: the body must be callable as body(iteration, carried value&..., output&...)");
    static_assert(fault != loop_fault::result, "xloom::loop_into: the body must return bool: whether to go on");
    if constexpr (fault == loop_fault::none)
        return run_loop_into(body, leaves(states), leaves(scan_outputs), options);
    else
        return {};
}

} // namespace xloom
