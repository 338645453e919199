#pragma once
// The Scan operator: runs a body over the elements of its inputs in order, carries states and stacks outputs.
// Includes scan_into.

#include <utility>

#include <xloom/control_flow/scan_into.hpp>
#include <xloom/detail/check/scan.hpp>
#include <xloom/detail/scan/requirements.hpp>
#include <xloom/detail/scan/scan_body.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// Runs a pure scan whose body is valid. Length is the number of iterations if it is static, else
/// dynamic_length.
template <class Step, std::size_t Length, bool LeadingAxis, class Body, class State, class Inputs>
auto run_scan(std::string_view op, Body& body, State state, Inputs const& inputs, scan_options const& options)
{
    using stack = stacked_outputs<decltype(Step::scan_outputs), Length>;

    detail::check_ranks(op, "init", detail::leaves(state));
    detail::check_ranks(op, "scan_inputs", inputs);
    std::size_t const length =
        check_scan(op, detail::shapes_of(inputs), leaf_count<decltype(Step::scan_outputs)>, options);
    check_output_axes(op, stack::ranks, options);
    if constexpr (!LeadingAxis) {
        check_fixed_axes(
            op, "scan_inputs", fixed_ranks<Inputs>::value, "scan_input_axes", options.scan_input_axes);
        check_fixed_axes(op, "scan_outputs", fixed_ranks<leaves_t<typename stack::type>>::value,
            "scan_output_axes", options.scan_output_axes);
    }
    auto places = detail::places_of(inputs);
    detail::place_in_time(places, options.scan_input_axes, options.scan_input_directions);
    auto elements = cursor_set<Inputs, LeadingAxis>::start(inputs, places, kernel::all_iterations(length));
    stack outputs;
    step_memory_pool recycled;
    detail::iterate<Step>(
        op, body, detail::leaves(state), elements, 0, length, [&](auto const& values, std::size_t t) {
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
    if constexpr (satisfied<environment<takes<>, Env...>>() &&
                  is_valid_scan<Body, state, inputs, LeadingAxis>()) {
        using step = bare<typename scan_call<Body, state, inputs, LeadingAxis>::result>;
        return detail::run_scan<step, static_length<inputs>::value, LeadingAxis>("xloom::scan", body,
            state(static_cast<Init&&>(init)), detail::evaluated_inputs(scan_inputs), options);
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
/// Cost      one pass; the outputs are allocated once, strided elements are copied through a buffer, and
///           values that the body returns use a memory pool. scan_into with an in-place body needs no pool.
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

} // namespace xloom::inline XLOOM_ABI
