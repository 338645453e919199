#pragma once
// Scan: a body runs over the elements of its inputs in order, carries states and stacks outputs.

#include <xloom/adapt/body.hpp>
#include <xloom/adapt/step.hpp>
#include <xloom/check/scan.hpp>

namespace xloom {

/// What the body of scan returns: the next states, and this iteration's outputs.
/// Lazy xtensor expressions are evaluated right here, inside the body, so that none of them outlives the body's variables.
template <class State, class ScanOutputs = std::tuple<>>
struct scan_step {
    State state;
    ScanOutputs scan_outputs{};
};
template <class State>
scan_step(State&&) -> scan_step<detail::stored_t<State>>;
template <class State, class ScanOutputs>
scan_step(State&&, ScanOutputs&&) -> scan_step<detail::stored_t<State>, detail::stored_t<ScanOutputs>>;

template <class State, class ScanOutputs>
struct scan_result {
    State final_state;
    ScanOutputs scan_outputs;
};

namespace detail {

template <class T>
inline constexpr bool is_scan_step = false;
template <class State, class ScanOutputs>
inline constexpr bool is_scan_step<scan_step<State, ScanOutputs>> = true;

/// What scan's and scan_into's arguments can be found guilty of at compile time.
enum class scan_fault { none, state, state_const, state_temporary, input, output, output_const, output_temporary, lengths, arity, result };

template <class Body, class State, class Inputs, bool LeadingAxis>
consteval scan_fault find_scan_fault()
{
    if constexpr (!every_leaf<is_scan_state, leaves_t<State>>)
        return scan_fault::state;
    else if constexpr (!every_leaf<is_scan_input, Inputs>)
        return scan_fault::input;
    else if constexpr (LeadingAxis && !static_length<Inputs>::agrees)
        return scan_fault::lengths;
    else {
        using call = call_of<Body, joined_t<leaves_t<State const>, typename walk<Inputs, LeadingAxis>::input_arguments>>;
        if constexpr (!call::is_valid)
            return scan_fault::arity;
        else
            return is_scan_step<bare<typename call::result>> ? scan_fault::none : scan_fault::result;
    }
}

template <std::size_t N>
void place_in_time(std::array<placed_operand, N>& places, axes const& axis, scan_directions const& directions)
{
    for (std::size_t i = 0; i < N; ++i) {
        places[i].axis = wrap_axis(axis_option(axis, i), places[i].memory.layout.dims.size());
        places[i].reverse = is_reverse(directions, i);
    }
}

/// The iterations of a pure scan over cursors; `push` takes the outputs of each. States end as the body left them.
template <class Step, class Body, class States, class Elements, class Push>
void iterate(std::string_view op, Body& body, States const& states, Elements& elements, std::size_t length, Push&& push,
    std::optional<std::size_t> row = {})
{
    for (std::size_t t = 0; t < length; ++t) {
        enter_all(elements);
        Step step = call_body(body, const_leaves(states), input_elements(elements));
        leave_all(elements);
        auto const returned = leaves(step.state);
        for_each_leaf(returned, [&](auto i, auto const& value) {
            if (!have_same_shape(std::get<i>(states), value))
                fail_reshaped(op, "states", i, shape_of(std::get<i>(states)), shape_of(value), t, row);
        });
        push(leaves(step.scan_outputs), t);
        for_each_leaf(returned, [&](auto i, auto& value) { assign_carried(std::get<i>(states), value); });
    }
}

/// The pure scan of a checked body. Length is the number of iterations where the types tell it.
template <class Step, std::size_t Length, bool LeadingAxis, class Body, class State, class Inputs>
auto run_scan(Body& body, State state, Inputs const& inputs, scan_options const& options)
{
    static constexpr std::string_view op = "xloom::scan";
    using stack = output_stack<decltype(Step::scan_outputs), Length>;

    std::size_t const length = check_scan(op, shapes_of(inputs), leaf_count<decltype(Step::scan_outputs)>, options);
    auto places = places_of(inputs);
    place_in_time(places, options.input_axes, options.input_directions);
    auto elements = walk<Inputs, LeadingAxis>::start(inputs, places, length);
    stack outputs;
    block_cache recycled;
    iterate<Step>(op, body, leaves(state), elements, length, [&](auto const& values, std::size_t t) {
        if (t == 0)
            outputs.open(op, values, length, options);
        outputs.push(op, values, t);
    });
    if (length == 0)
        outputs.open_empty(op, options);
    return scan_result<State, typename stack::type>{std::move(state), std::move(outputs).finish()};
}

template <bool LeadingAxis, class Body, class Init, class Inputs>
auto scan(Body& body, Init&& init, Inputs const& scan_inputs, scan_options const& options)
{
    using state = owned_t<Init>;
    using inputs = decltype(evaluated_inputs(scan_inputs));

    constexpr scan_fault fault = find_scan_fault<Body, state, inputs, LeadingAxis>();
    static_assert(
        fault != scan_fault::state, "xloom::scan: a state is a tensor or a scalar; carry sequences and optionals with xloom::loop");
    static_assert(
        fault != scan_fault::input, "xloom::scan: a scan input is a tensor with an axis to walk along; capture other values in the body");
    static_assert(fault != scan_fault::lengths, "xloom::scan: all scan inputs must have the same sequence length");
    static_assert(fault != scan_fault::arity, "xloom::scan: the body must be callable as body(state const&..., element const&...)");
    static_assert(fault != scan_fault::result, "xloom::scan: the body must return xloom::scan_step{state, scan_outputs}");
    if constexpr (fault == scan_fault::none) {
        using arguments = joined_t<leaves_t<state const>, typename walk<inputs, LeadingAxis>::input_arguments>;
        using step = bare<typename call_of<Body, arguments>::result>;
        constexpr step_fault wrong = find_step_fault<state, step>();
        static_assert(wrong != step_fault::lazy, "xloom::scan: the body returned a lazy xtensor expression or a view, which would refer to "
                                                 "the body's dead local variables; return "
                                                 "xloom::scan_step{...} without template arguments, or a container");
        static_assert(wrong != step_fault::count, "xloom::scan: the body must return as many states as init has");
        static_assert(
            wrong != step_fault::kind, "xloom::scan: a state that is a tensor must be replaced by a tensor, a scalar by a scalar");
        static_assert(wrong != step_fault::item_type, "xloom::scan: a state must keep its element type; convert what the body returns");
        static_assert(wrong != step_fault::rank, "xloom::scan: a state must keep its rank");
        static_assert(wrong != step_fault::fixed_shape, "xloom::scan: a state must keep its shape");
        if constexpr (wrong == step_fault::none) {
            constexpr std::size_t length = LeadingAxis ? static_length<inputs>::value : dynamic_length;
            return run_scan<step, length, LeadingAxis>(body, state(static_cast<Init&&>(init)), evaluated_inputs(scan_inputs), options);
        } else {
            return scan_result<state, std::tuple<>>{};
        }
    } else {
        return scan_result<state, std::tuple<>>{};
    }
}

} // namespace detail

/// Runs `body` over the elements of `scan_inputs` in order, carries states and stacks what it returns.
///
///     states = init
///     for t in range(T):
///         states, y_t = body(states, x[t])
///         y[t] = y_t
///     return states, y
///
/// init, scan_inputs and the two members of a step are each one value or a flat std::tuple of values (std::tie for variables,
/// std::tuple{} for none). The body gets them flat, in ONNX's order: body(state const&..., element const&...) -> scan_step. An element
/// is an element_view, or one item where the input's rank is statically 1. Other values are captured.
///
/// Shapes    scan input [..., T, ...] with T along its axis; its elements lack that axis. State: as init. Output k stacks its elements
///           along output_axes[k]. K outputs for M inputs, any K and M; without inputs T is options.length.
/// Types     states: tensors of any item type, or scalars (rank 0). Outputs: scalars give xtensor<Y, 1>, xtensor<Y, r> gives
///           xtensor<Y, r + 1>, xarray gives xarray. Without options, fixed shapes in give fixed shapes out.
/// Errors    before the first iteration: shape_error, option_error (see check_scan). body_error: a state or an output element changed
///           its shape. What the body throws passes through; nothing of the caller's is changed.
/// Order     t = 0 .. T-1; a reverse input shows element T-1-t, a reverse output is filled from its end. The two are independent.
///           T = 0 is legal: states = init, outputs of length 0; dimensions that no type tells are 0, an xarray's shape is [0].
/// Cost      one pass; the outputs are allocated once, elements that do not lie side by side go through a buffer, and what the body
///           returns lives in recycled memory. scan_into with an in-place body does without that.
/// Differs   from ONNX's inference and ONNX Runtime: directions and all lists are checked, T = 0 works.
/// Source    ONNX Scan-9 to 25; infer_scan has the shape rule.  Example: tests/scan.test.cpp
template <class Body, class Init, class Inputs>
auto scan(Body&& body, Init&& init, Inputs const& scan_inputs)
{
    return detail::scan<true>(body, static_cast<Init&&>(init), scan_inputs, {});
}

/// With axes, directions or a length. Axes are then known at run time only, so fixed shapes give xtensors.
template <class Body, class Init, class Inputs>
auto scan(Body&& body, Init&& init, Inputs const& scan_inputs, scan_options const& options)
{
    return detail::scan<false>(body, static_cast<Init&&>(init), scan_inputs, options);
}

namespace detail {

template <class Body, class States, class Inputs, class Outputs, bool LeadingAxis>
consteval scan_fault find_scan_into_fault()
{
    using states = leaves_t<States>;
    using outputs = leaves_t<Outputs>;
    if constexpr (!every_leaf<is_scan_state, states>)
        return scan_fault::state;
    else if constexpr (!every_leaf<is_writable, states>)
        return scan_fault::state_const;
    else if constexpr (!outlives_call<States>)
        return scan_fault::state_temporary;
    else if constexpr (!every_leaf<is_scan_input, Inputs>)
        return scan_fault::input;
    else if constexpr (!every_leaf<is_scan_output, outputs>)
        return scan_fault::output;
    else if constexpr (!every_leaf<is_writable, outputs>)
        return scan_fault::output_const;
    else if constexpr (!outlives_call<Outputs>)
        return scan_fault::output_temporary;
    else if constexpr (LeadingAxis && !static_length<joined_t<Inputs, outputs>>::agrees)
        return scan_fault::lengths;
    else {
        using call = call_of<Body,
            joined_t<states, typename walk<Inputs, LeadingAxis>::input_arguments, typename walk<outputs, LeadingAxis>::output_arguments>>;
        if constexpr (!call::is_valid)
            return scan_fault::arity;
        else
            return std::is_void_v<typename call::result> ? scan_fault::none : scan_fault::result;
    }
}

/// Which outputs are an input's own tensor, so that their elements must not be touched before the body. Requires check_overlap.
template <std::size_t K, std::size_t M>
std::array<bool, K> find_in_place(std::array<placed_operand, K> const& outputs, std::array<placed_operand, M> const& inputs)
{
    std::array<bool, K> in_place{};
    for (std::size_t k = 0; k < K; ++k)
        in_place[k] = std::any_of(inputs.begin(), inputs.end(), [&](placed_operand const& input) { return is_walked_alike(outputs[k], input); });
    return in_place;
}

template <bool LeadingAxis, class Body, class... States, class Inputs, class... Outputs>
void run_scan_into(
    Body& body, std::tuple<States&...> states, Inputs const& inputs, std::tuple<Outputs&...> outputs, scan_options const& options)
{
    static constexpr std::string_view op = "xloom::scan_into";
    std::size_t const length = check_scan(op, shapes_of(inputs), sizeof...(Outputs), options);
    check_scan_outputs(op, shapes_of(outputs), length, options);
    auto input_places = places_of(inputs);
    auto output_places = places_of(outputs);
    place_in_time(input_places, options.input_axes, options.input_directions);
    place_in_time(output_places, options.output_axes, options.output_directions);
    check_overlap(op, places_of(states), input_places, output_places);

    std::array<bool, sizeof...(Outputs)> const holds_input = find_in_place(output_places, input_places);
    auto x = walk<Inputs, LeadingAxis>::start(inputs, input_places, length);
    auto y = walk<std::tuple<Outputs&...>, LeadingAxis>::start(outputs, output_places, length);
    auto const guards =
        std::apply([](States&... state) { return std::tuple<shape_guard<States>...>(shape_guard<States>(state)...); }, states);
    std::tuple<held_state<States>...> held(states);
    auto const current = std::apply([](auto&... state) { return std::tuple<States&...>(state.get()...); }, held);
    std::size_t t = 0;
    try {
        for (; t < length; ++t) {
            enter_all(x);
            enter_all(y);
            for_each_leaf(y, [&](auto k, auto& cursor) {
                if (!holds_input[k])
                    poison(cursor.element());
            });
            call_body(body, current, input_elements(x), output_elements(y));
            leave_all(x);
            leave_all(y);
            for_each_leaf(guards, [&](auto i, auto const& guard) {
                if (!guard.holds(std::get<i>(current)))
                    fail_reshaped(op, "states", i, guard.expected(), shape_of(std::get<i>(current)), t);
            });
        }
    } catch (element_reshaped const& found) {
        fail_if_own(op, y, found, t);
        throw;
    }
}

template <bool LeadingAxis, class Body, class States, class Inputs, class Outputs>
void scan_into(Body& body, States&& states, Inputs const& scan_inputs, Outputs&& scan_outputs, scan_options const& options)
{
    using inputs = decltype(evaluated_inputs(scan_inputs));
    constexpr scan_fault fault = find_scan_into_fault<Body, States, inputs, Outputs, LeadingAxis>();
    static_assert(fault != scan_fault::state,
        "xloom::scan_into: a state is a tensor or a scalar; carry sequences and optionals with xloom::loop_into");
    static_assert(fault != scan_fault::state_const, "xloom::scan_into: a state is updated in place, so it must not be const");
    static_assert(fault != scan_fault::state_temporary,
        "xloom::scan_into: a state is updated in place, so it must be a variable or a view of one; pass several as std::tie(h, c)");
    static_assert(fault != scan_fault::input,
        "xloom::scan_into: a scan input is a tensor with an axis to walk along; capture other values in the body");
    static_assert(fault != scan_fault::output, "xloom::scan_into: a scan output is a tensor in memory with an axis to walk along");
    static_assert(fault != scan_fault::output_const, "xloom::scan_into: a scan output is written, so it must not be const");
    static_assert(fault != scan_fault::output_temporary,
        "xloom::scan_into: a scan output is written in place, so it must be a variable or a view of one; pass several as std::tie(y, z)");
    static_assert(fault != scan_fault::lengths, "xloom::scan_into: all scan inputs and outputs must have the same sequence length");
    static_assert(
        fault != scan_fault::arity, "xloom::scan_into: the body must be callable as body(state&..., element const&..., output&...)");
    static_assert(fault != scan_fault::result, "xloom::scan_into: the body writes through its references and must return void");
    if constexpr (fault == scan_fault::none)
        run_scan_into<LeadingAxis>(body, leaves(states), evaluated_inputs(scan_inputs), leaves(scan_outputs), options);
}

} // namespace detail

/// Scan in place: the body updates the caller's states and writes the caller's outputs, and nothing is allocated in the loop.
///
///     for t in range(T):
///         body(states, x[t], y[t])
///
/// body(state&..., element const&..., output&...) -> void. A state is the caller's own variable, a scalar one a copy of it that goes
/// home at the end. An output element is an element_view, or one item where the output's rank is statically 1; what it holds at first
/// is unspecified (NaN in debug builds), so write all of it. `xt::noalias(y_t) = ...` and raw loops allocate nothing.
///
/// Shapes    as scan; output k has T along output_axes[k], its other dimensions are the caller's choice.
/// Errors    before the first write: shape_error, option_error, overlap_error. body_error, found after an iteration: a state or an output
///           element changed its shape. After a body_error or what the body throws, states and outputs hold what was written so far.
/// Aliasing  an output may be an input's own tensor on the same axis in the same direction; any other overlap is an overlap_error.
/// Cost      a hand-written loop over the same body. Allocates before the first iteration only, for operands that are lazy expressions
///           and for elements whose items do not lie side by side.
/// Source    ONNX Scan-9 to 25.  Example: tests/scan_into.test.cpp
template <class Body, class States, class Inputs, class Outputs = std::tuple<>>
void scan_into(Body&& body, States&& states, Inputs const& scan_inputs, Outputs&& scan_outputs = {})
{
    detail::scan_into<true>(body, static_cast<States&&>(states), scan_inputs, static_cast<Outputs&&>(scan_outputs), {});
}

/// With axes, directions or a length.
template <class Body, class States, class Inputs, class Outputs>
void scan_into(Body&& body, States&& states, Inputs const& scan_inputs, Outputs&& scan_outputs, scan_options const& options)
{
    detail::scan_into<false>(body, static_cast<States&&>(states), scan_inputs, static_cast<Outputs&&>(scan_outputs), options);
}

} // namespace xloom
