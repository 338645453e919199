#pragma once
// The Scan operator: runs a body over the elements of its inputs in order, carries states and stacks outputs.
// scan returns new tensors, scan_into writes the caller's.

#include <utility>

#include <xloom/detail/check/scan.hpp>
#include <xloom/detail/scan/cursors.hpp>
#include <xloom/detail/scan/iteration.hpp>
#include <xloom/detail/scan/requirements.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// Runs a scan in place. Op is the operator's name in errors.
///
/// Why Op is a template argument: with a function argument g++ 12 takes 1.5 times as long for outputs with
/// strided elements that do not fit in the caches.
template <std::string_view const& Op, bool LeadingAxis, class Body, class... States, class Inputs,
    class... Outputs>
void run_scan_into(Body& body, std::tuple<States&...> states, Inputs const& inputs,
    std::tuple<Outputs&...> outputs, scan_options const& options, scan_workspace* workspace = nullptr)
{
    static constexpr std::string_view op = Op;
    static constexpr bool strided = takes_strided_elements<std::remove_cv_t<Body>>;
    detail::check_extents(op, "states", states);
    detail::check_extents(op, "scan_inputs", inputs);
    detail::check_extents(op, "scan_outputs", outputs);
    std::size_t const length = detail::scan_length<LeadingAxis>(op, inputs, outputs, options);
    auto const input_traversals =
        detail::traversals_in_time(inputs, options.scan_input_axes, options.scan_input_directions);
    auto const output_traversals =
        detail::traversals_in_time(outputs, options.scan_output_axes, options.scan_output_directions);
    check_in_place(op, detail::traversals_of(states), input_traversals, output_traversals);

    auto x = cursor_set<Inputs, LeadingAxis, strided>::start(
        inputs, input_traversals, kernel::all_iterations(length), write_back::each_element, workspace);
    auto y = cursor_set<std::tuple<Outputs&...>, LeadingAxis, strided>::start(outputs, output_traversals,
        kernel::all_iterations(length), write_back_for<Body, States...>, workspace);
    std::array<bool, sizeof...(Outputs)> const is_in_place =
        detail::join_in_place(input_traversals, x, output_traversals, y);
    shape_guards const guards(states);
    local_states held(states);
    auto const current = held.get();
    std::size_t t = 0;
    auto const fail = [&](element_reshaped const& found) {
        detail::fail_if_own(op, "scan_outputs", y, found, t);
        detail::fail_if_value(op, "states", current, found, t);
    };
    detail::run_bodies(fail, [&] {
        detail::name_states(op, current, [&] {
            for (; t < length; ++t) {
                detail::run_iteration(body, current, x, y, is_in_place);
                guards.check_shapes(op, "states", current, t);
            }
        });
    });
}

/// Options are large, so a call without them refers to these instead of making its own.
inline constexpr scan_options default_scan_options{};

inline constexpr std::string_view scan_into_name = "xloom::scan_into";

template <bool LeadingAxis, class Body, class States, class Inputs, class Outputs, class... Env>
void scan_into(Body& body, States&& states, Inputs const& scan_inputs, Outputs&& scan_outputs,
    scan_options const& options, Env&&... env)
{
    using inputs = decltype(detail::evaluated_inputs(scan_inputs));
    if constexpr (satisfied<environment<takes<a_workspace<scan_workspace>>, Env...>,
                      fits_scan_into<Body, States, inputs, Outputs, LeadingAxis>>())
        run_scan_into<scan_into_name, LeadingAxis>(body, detail::leaves(states),
            detail::evaluated_inputs(scan_inputs), detail::leaves(scan_outputs), options,
            detail::workspace_of<scan_workspace>(env...));
}

/// Runs a pure scan whose body is valid. Length is the number of iterations if it is static, else
/// dynamic_length.
template <class Step, std::size_t Length, bool LeadingAxis, class Body, class State, class Inputs>
auto run_scan(std::string_view op, Body& body, State state, Inputs const& inputs, scan_options const& options)
{
    using stack = stacked_outputs<decltype(Step::scan_outputs), Length>;

    detail::check_extents(op, "init", detail::leaves(state));
    detail::check_extents(op, "scan_inputs", inputs);
    std::size_t const length =
        check_scan(op, detail::shapes_of(inputs), leaf_count<decltype(Step::scan_outputs)>, options);
    check_output_axes(op, stack::ranks, options);
    if constexpr (!LeadingAxis) {
        check_fixed_axes(
            op, "scan_inputs", fixed_ranks<Inputs>::value, "scan_input_axes", options.scan_input_axes);
        check_fixed_axes(op, "scan_outputs", fixed_ranks<leaves_t<typename stack::type>>::value,
            "scan_output_axes", options.scan_output_axes);
    }
    auto const traversals =
        detail::traversals_in_time(inputs, options.scan_input_axes, options.scan_input_directions);
    auto elements =
        cursor_set<Inputs, LeadingAxis>::start(inputs, traversals, kernel::all_iterations(length));
    stack outputs;
    step_memory<Step> memory;
    detail::iterate(op, body, detail::leaves(state), memory, elements, 0, length, outputs.writers(),
        [&](auto const& values, std::size_t t) {
            if (t == 0)
                outputs.open(op, values, length, options);
            outputs.push(op, values, t);
        });
    if (length == 0)
        outputs.open_empty(op, options);
    return scan_result<State, typename stack::type>{std::move(state), std::move(outputs).finish()};
}

template <bool LeadingAxis, class... Env, class Body, class Init, class Inputs>
auto scan(Body& body, Init&& init, Inputs const& scan_inputs, scan_options const& options)
{
    using state = owned_t<Init>;
    using inputs = decltype(detail::evaluated_inputs(scan_inputs));
    if constexpr (satisfied<environment<takes<>, Env...>, fits_scan<Body, state, inputs, LeadingAxis>>()) {
        using step = bare<typename scan_call<Body, state, inputs, LeadingAxis>::result>;
        return detail::run_scan<step, static_length<inputs>::value, LeadingAxis>("xloom::scan", body,
            detail::to_owned(static_cast<Init&&>(init)), detail::evaluated_inputs(scan_inputs), options);
    } else {
        return scan_result<state, std::tuple<>>{}; // a value, so that one mistake gives one error
    }
}

} // namespace detail

/// Runs `body` over the elements of `scan_inputs` in order, carries states and stacks its scan outputs.
///
///     states = init
///     for t in range(T):
///         states, y_t = body(states, x[t])
///         y[t] = y_t
///     return states, y
///
/// init, scan_inputs and the two members of a step are each one value or a flat std::tuple of values
/// (std::tie for variables, std::tuple{} for none). The body receives them as separate arguments, in ONNX's
/// order: body(state const&..., element const&...) -> scan_step. An element is an element_view, or one item
/// where the input's rank is statically 1. Other values are captured.
///
/// Shapes    scan input [..., T, ...] with T along its axis; its elements lack that axis. State: as init.
///           Output k stacks its elements along scan_output_axes[k]. K outputs for M inputs, any K and M;
///           without inputs T is options.length.
/// Types     states: tensors of any item type, or scalars (rank 0). Outputs: scalars give xtensor<Y, 1>,
///           xtensor<Y, r> gives xtensor<Y, r + 1>, xarray gives xarray. If inputs and the elements of an
///           output have fixed shapes, so has the output.
/// Options   scan_options. An axis other than 0 of an input or output of a fixed shape is an option_error.
/// Errors    before the first iteration: shape_error, option_error. body_error: a state or an output element
///           changed its shape, or xtensor cannot broadcast the shapes in an expression of the body and a
///           state is a tensor. Other exceptions of the body propagate; the caller's variables are unchanged.
/// Order     t = 0 .. T-1; a reverse input passes element T-1-t, a reverse output is filled from its end. The
///           two are independent. T = 0 is valid: states = init, outputs of length 0; dimensions that no type
///           fixes are 0, an xarray's shape is [0].
/// Cost      one pass; the outputs are allocated once, strided elements are copied through a buffer. A body
///           that returns a new step evaluates expressions in the memory of the next states and the outputs,
///           and elementwise ones over tensors of one shape and item type in plain loops. The values of other
///           steps are allocated and copied.
/// Differs   from ONNX's inference and ONNX Runtime: directions and all lists are checked, T = 0 works.
/// Source    ONNX Scan-9 to 25; infer_scan has the shape rule.
/// Example
/// ```cpp
/// xt::xtensor<double, 2> const x = {{1, 2}, {3, 4}, {5, 6}};
/// xt::xtensor<double, 1> const zero = {0, 0};
/// auto const add = [](auto const& sum, auto const& x_t) { return xloom::scan_step{sum + x_t, sum + x_t}; };
/// auto const [total, running] = xloom::scan(add, zero, x);
/// total; // = [9, 12]
/// running; // = [[1, 2], [4, 6], [9, 12]]
/// ```
template <class Body, class Init, class Inputs, class... Env>
    requires detail::are_without_options<scan_options, Env...>
auto scan(Body&& body, Init&& init, Inputs const& scan_inputs, Env&&...)
{
    return detail::scan<true, Env...>(body, static_cast<Init&&>(init), scan_inputs, {});
}

/// Runs scan with axes, directions or a length. The types of the results do not depend on the options.
template <class Body, class Init, class Inputs, class... Env>
auto scan(Body&& body, Init&& init, Inputs const& scan_inputs, scan_options const& options, Env&&...)
{
    return detail::scan<false, Env...>(body, static_cast<Init&&>(init), scan_inputs, options);
}

/// Runs a scan in place: the body updates the caller's states and writes the caller's outputs, and nothing is
/// allocated in the loop.
///
///     for t in range(T):
///         body(states, x[t], y[t])
///
/// body(state&..., element const&..., output&...) -> void. A state is the caller's variable; a scalar state
/// is a copy of it, written back at the end. An output element is an element_view, or one item where the
/// output's rank is statically 1. It is unspecified at first (NaN in debug builds), so write all of it; if
/// the output is the same tensor as an input, it is the input's element. `xt::noalias(y_t) = ...` and raw
/// loops allocate nothing.
///
/// Shapes    as scan; output k has T along scan_output_axes[k], its other dimensions are arbitrary.
/// Options   scan_options. An axis other than 0 of an input or output of a fixed shape is an option_error.
/// Errors    before the first write: shape_error, option_error, overlap_error. body_error, after an
///           iteration: a state or an output element changed its shape, or as in scan an expression does not
///           broadcast. After a body_error or an exception of the body, states and outputs hold the values
///           written so far; the element of that iteration may be unwritten.
/// Aliasing  an output may be the same tensor as an input, on the same axis in the same direction: x_t and
///           y_t then share memory, whatever the layout. Any other overlap is an overlap_error. A body that
///           captures an output's tensor reads the elements of earlier iterations from it; the current
///           element in it is unspecified.
/// Cost      that of a hand-written loop over the same body. Allocates before the first iteration only, for
///           lazy operands and for strided elements, which are copied for the body unless it is marked by
///           strided_elements; the memory for these copies may come from a scan_workspace.
/// Real time if the body is, after a call with the same operands, of contiguous elements or with a workspace.
///           Not with lazy operands.
/// Source    ONNX Scan-9 to 25.
/// Example
/// ```cpp
/// xt::xtensor<double, 1> const x = {1, 2, 3};
/// auto y = xt::xtensor<double, 1>::from_shape({3});
/// double sum = 0;
/// xloom::scan_into([](double& h, double x_t, double& y_t) { y_t = h += x_t; }, sum, x, y);
/// sum; // = 6
/// y; // = [1, 3, 6]
/// ```
///
/// With a workspace a call with the same operands as an earlier one allocates nothing, except for lazy
/// operands:
/// ```cpp
/// xt::xtensor<float, 2> const samples = {{1, 2, 3}, {4, 5, 6}}; // [channel, time]
/// xt::xtensor<float, 1> peak = {0, 0};
/// xloom::scan_workspace workspace;
/// auto const larger = [](auto& h, auto const& x_t) { xt::noalias(h) = xt::maximum(h, x_t); };
/// xloom::scan_into(larger, peak, samples, std::tie(), {.scan_input_axes = {1}}, workspace);
/// peak; // = [3, 6]
/// ```
template <class Body, class States, class Inputs, class Outputs = std::tuple<>, class... Env>
    requires detail::are_without_options<scan_options, Env...>
void scan_into(
    Body&& body, States&& states, Inputs const& scan_inputs, Outputs&& scan_outputs = {}, Env&&... env)
{
    detail::scan_into<true>(body, static_cast<States&&>(states), scan_inputs,
        static_cast<Outputs&&>(scan_outputs), detail::default_scan_options, static_cast<Env&&>(env)...);
}

/// Runs scan_into with axes, directions or a length.
template <class Body, class States, class Inputs, class Outputs = std::tuple<>, class... Env>
void scan_into(Body&& body, States&& states, Inputs const& scan_inputs, Outputs&& scan_outputs,
    scan_options const& options, Env&&... env)
{
    detail::scan_into<false>(body, static_cast<States&&>(states), scan_inputs,
        static_cast<Outputs&&>(scan_outputs), options, static_cast<Env&&>(env)...);
}

} // namespace xloom::inline XLOOM_ABI
