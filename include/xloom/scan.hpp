#pragma once
// The Scan operator: runs a body over the elements of its inputs in order, carries states and stacks outputs.
// Includes scan_into and scan_batched.

#include <utility>

#include <xloom/check/scan.hpp>
#include <xloom/run/scan/scan_body.hpp>
#include <xloom/scan_batched.hpp>
#include <xloom/scan_into.hpp>

namespace xloom {

namespace detail {

/// A compile-time error of a scan call.
enum class scan_fault { none, pack, state, foreign, input, lengths, arity, loose, result };

template <class Body, class State, class Inputs, bool LeadingAxis>
consteval scan_fault find_scan_fault()
{
    if constexpr (!is_flat<State> || !is_flat<Inputs>)
        return scan_fault::pack;
    else if constexpr (!every_leaf<is_scan_state, leaves_t<State>>)
        return scan_fault::state;
    else if constexpr (!every_leaf<is_no_foreign_memory, Inputs>)
        return scan_fault::foreign;
    else if constexpr (!every_leaf<is_scan_input, Inputs>)
        return scan_fault::input;
    else if constexpr (LeadingAxis && !static_length<Inputs>::agrees)
        return scan_fault::lengths;
    else {
        using call = call_of<Body,
            joined_t<leaves_t<State const>, typename cursor_set<Inputs, LeadingAxis>::input_arguments>>;
        if constexpr (!call::is_valid)
            return scan_fault::arity;
        else if constexpr (std::is_same_v<bare<typename call::result>, scan_step<loose_values>>)
            return scan_fault::loose;
        else
            return is_scan_step<bare<typename call::result>> ? scan_fault::none : scan_fault::result;
    }
}

/// Runs a pure scan whose body is valid. Length is the number of iterations if it is static, else
/// dynamic_length.
template <class Step, std::size_t Length, bool LeadingAxis, class Body, class State, class Inputs>
auto run_scan(Body& body, State state, Inputs const& inputs, scan_options const& options)
{
    static constexpr std::string_view op = "xloom::scan";
    using stack = stacked_outputs<decltype(Step::scan_outputs), Length>;

    detail::check_ranks(op, "init", detail::leaves(state));
    detail::check_ranks(op, "scan_inputs", inputs);
    std::size_t const length =
        check_scan(op, detail::shapes_of(inputs), leaf_count<decltype(Step::scan_outputs)>, options);
    check_output_axes(op, stack::ranks, options);
    auto places = detail::places_of(inputs);
    detail::place_in_time(places, options.input_axes, options.input_directions);
    auto elements = cursor_set<Inputs, LeadingAxis>::start(inputs, places, kernel::all_iterations(length));
    stack outputs;
    step_memory_pool recycled;
    detail::iterate<Step>(
        op, body, detail::leaves(state), elements, length, [&](auto const& values, std::size_t t) {
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
    using inputs = decltype(detail::evaluated_inputs(scan_inputs));

    constexpr scan_fault fault = find_scan_fault<Body, state, inputs, LeadingAxis>();
    static_assert(fault != scan_fault::pack, "xloom::scan: a pack is one value or a flat std::tuple of "
                                             "values, but a std::tuple stands inside a std::tuple");
    static_assert(fault != scan_fault::state,
        "xloom::scan: a state is a tensor or a scalar; carry sequences and optionals with xloom::loop");
    static_assert(fault != scan_fault::foreign,
        "xloom::scan: a scan input must be a tensor of xtensor; wrap a std::vector or an Eigen matrix by "
        "xt::adapt, or specialise "
        "xloom::enable_tensor for its type");
    static_assert(fault != scan_fault::input,
        "xloom::scan: a scan input is a tensor with an axis to walk along; capture other values in the body");
    static_assert(
        fault != scan_fault::lengths, "xloom::scan: all scan inputs must have the same sequence length");
    static_assert(fault != scan_fault::arity,
        "xloom::scan: the body must be callable as body(state const&..., element const&...)");
    static_assert(fault != scan_fault::loose,
        "xloom::scan: a step holds one state and one scan output, each a value or a std::tuple of values; "
        "return "
        "scan_step{std::tuple{a, b}, y}, or scan_step{a, std::tuple{y, z}}");
    static_assert(fault != scan_fault::result,
        "xloom::scan: the body must return xloom::scan_step{state, scan_outputs}");
    if constexpr (fault == scan_fault::none) {
        using arguments =
            joined_t<leaves_t<state const>, typename cursor_set<inputs, LeadingAxis>::input_arguments>;
        using step = bare<typename call_of<Body, arguments>::result>;
        constexpr step_fault wrong = find_step_fault<state, step>();
        static_assert(wrong != step_fault::reference,
            "xloom::scan: the body returned references, which could outlive the body's variables; return "
            "xloom::scan_step{...} without "
            "template arguments");
        using carried = typename carried_at_fault<state, step, wrong>::type;
        static_assert(wrong != step_fault::lazy,
            "xloom::scan: the body returned a lazy xtensor expression or a view, which would refer to "
            "the body's dead local variables; return "
            "xloom::scan_step{...} without template arguments, or a container");
        static_assert(wrong != step_fault::output, "xloom::scan: a scan output must be a tensor or a scalar");
        static_assert(wrong != step_fault::output_item,
            "xloom::scan: the items of a scan output must be default-constructible, copyable and no more "
            "aligned than xtensor "
            "aligns items; hold others by std::shared_ptr");
        static_assert(
            wrong != step_fault::count, "xloom::scan: the body must return as many states as init has");
        static_assert(carried::fits(step_fault::kind),
            "xloom::scan: a state that is a tensor must be replaced by a tensor, a scalar by a scalar");
        static_assert(carried::fits(step_fault::item_type),
            "xloom::scan: a state must keep its element type; convert what the body returns, or give init "
            "that type (0.0, not 0, for "
            "a double)");
        static_assert(carried::fits(step_fault::rank), "xloom::scan: a state must keep its rank");
        static_assert(carried::fits(step_fault::fixed_shape), "xloom::scan: a state must keep its shape");
        if constexpr (wrong == step_fault::none) {
            constexpr std::size_t length = LeadingAxis ? static_length<inputs>::value : dynamic_length;
            return run_scan<step, length, LeadingAxis>(
                body, state(static_cast<Init&&>(init)), detail::evaluated_inputs(scan_inputs), options);
        } else {
            return scan_result<state, std::tuple<>>{};
        }
    } else {
        return scan_result<state, std::tuple<>>{};
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
///           Output k stacks its elements along output_axes[k]. K outputs for M inputs, any K and M; without
///           inputs T is options.length.
/// Types     states: tensors of any item type, or scalars (rank 0). Outputs: scalars give xtensor<Y, 1>,
///           xtensor<Y, r> gives xtensor<Y, r + 1>, xarray gives xarray. Without options, fixed shapes in
///           give fixed shapes out.
/// Errors    before the first iteration: shape_error, option_error. body_error: a state or
///           an output element changed its shape. Exceptions of the body propagate; the caller's variables
///           are unchanged.
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
template <class Body, class Init, class Inputs>
auto scan(Body&& body, Init&& init, Inputs const& scan_inputs)
{
    return detail::scan<true>(body, static_cast<Init&&>(init), scan_inputs, {});
}

/// Runs scan with axes, directions or a length. Axes are known at run time only, so fixed shapes give
/// xtensors.
template <class Body, class Init, class Inputs>
auto scan(Body&& body, Init&& init, Inputs const& scan_inputs, scan_options const& options)
{
    return detail::scan<false>(body, static_cast<Init&&>(init), scan_inputs, options);
}

} // namespace xloom
