#pragma once
// Loop: a body runs while a condition holds, carries values of any shape and stacks outputs.

#include <stop_token>

#include <xloom/adapt/body.hpp>
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

/// Stacks outputs whose number is not known before the end.
///
/// Room for all `limit` iterations is taken at once where that is at most a gibibyte: memory that is never touched costs nothing, and a
/// loop that reaches its limit copies nothing. Otherwise the room doubles, so that at most 3 times the final size is held at once.
template <class Outputs>
class growing_stack {
public:
    using type = typename output_stack<Outputs, dynamic_length>::type;

    template <class Values>
    void push(std::string_view op, Values const& values, std::int64_t iteration, std::int64_t limit)
    {
        auto const t = static_cast<std::size_t>(iteration);
        if (t == 0) {
            room_ = first_room(values, static_cast<std::size_t>(limit));
            stack_.open(op, values, room_, {});
        } else if (t == room_) {
            room_ = std::min(2 * room_, static_cast<std::size_t>(limit));
            stack_.resize(op, room_, t);
        }
        stack_.push(op, values, t);
    }

    type finish(std::string_view op, std::int64_t trip_count) &&
    {
        auto const length = static_cast<std::size_t>(trip_count);
        if (length == 0)
            stack_.open_empty(op, {});
        else if (length != room_)
            stack_.resize(op, length, length);
        return std::move(stack_).finish();
    }

private:
    template <class Values>
    static std::size_t first_room(Values const& values, std::size_t limit)
    {
        constexpr std::size_t at_once = std::size_t{1} << 30;
        std::size_t bytes = 1;
        bool is_trivial = true;
        for_each_leaf(values, [&](auto, auto const& value) {
            using item = item_t<decltype(value)>;
            bytes += element_count(shape_of(value)) * sizeof(item);
            is_trivial = is_trivial && std::is_trivially_default_constructible_v<item>;
        });
        return is_trivial && limit <= at_once / bytes ? limit : std::min<std::size_t>(limit, 16);
    }

    output_stack<Outputs, dynamic_length> stack_;
    std::size_t room_ = 0;
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

template <class Step, class Body, class State>
auto run_loop(Body& body, State state, loop_options const& options)
{
    static constexpr std::string_view op = "xloom::loop";
    using stack = growing_stack<decltype(Step::scan_outputs)>;
    loop_control control(op, options);
    auto const carried = leaves(state);
    stack outputs;
    block_cache recycled;
    while (control.goes_on()) {
        loop_status const now = control.status();
        Step step = call_body(body, std::tuple<std::int64_t, bool>(now.trip_count, now.cond), const_leaves(carried));
        outputs.push(op, leaves(step.scan_outputs), now.trip_count, control.limit());
        for_each_leaf(leaves(step.state), [&](auto i, auto& value) { assign_carried(std::get<i>(carried), value); });
        control.finish_iteration(step.cond);
    }
    auto const [cond, trip_count, stopped] = control.status();
    return loop_result<State, typename stack::type>{std::move(state), std::move(outputs).finish(op, trip_count), cond, trip_count, stopped};
}

} // namespace detail

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
    std::int64_t room = std::numeric_limits<std::int64_t>::max();
    for_each_leaf(
        outputs, [&](auto k, auto const& output) { room = std::min(room, check_loop_output(op, k, shape_of(output), control.certain())); });
    auto const places = places_of(outputs);
    check_overlap(op, places_of(states), {}, places);

    auto y = walk<std::tuple<Outputs&...>, true>::start(outputs, places, 0);
    std::tuple<held_state<States>...> held(states);
    auto const current = std::apply([](auto&... state) { return std::tuple<States&...>(state.get()...); }, held);
    try {
        while (control.goes_on()) {
            if (control.status().trip_count == room)
                fail<shape_error>(
                    op, ": the scan outputs must have room for every iteration, but there is room for ", room, " and the loop goes on.");
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
