#pragma once
// Scan-8: a batch of scans, each row with its own states and its own length.

#include <optional>
#include <string_view>
#include <utility>

#include <xloom/detail/check/scan_batched.hpp>
#include <xloom/detail/scan/batch_rows.hpp>
#include <xloom/detail/scan/run_rows.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

template <class Step, class Body, class State, class Inputs, class Lens, class Policy>
auto run_scan_batched(Body& body, State state, Inputs const& inputs, Lens const& sequence_lens,
    scan_batched_options const& options, Policy const& policy)
{
    static constexpr std::string_view op = "xloom::scan_batched";
    check_count(op, leaf_count<decltype(Step::scan_outputs)>, "scan outputs");
    auto const states = detail::leaves(state);
    detail::check_extents(op, "init", states);
    detail::check_extents(op, "scan_inputs", inputs);
    batch_rows const rows(op, sequence_lens,
        check_scan_batched(op, "init", detail::shapes_of(states), detail::shapes_of(inputs), options));
    auto const traversals =
        detail::traversals_in_time(inputs, axes(std::tuple_size_v<Inputs>, 1), options.scan_input_directions);
    return detail::run_rows<Step>(op, rows, body, std::move(state), inputs, traversals, policy);
}

template <class Body, class... States, class Inputs, class Lens, class... Outputs, class Policy>
void run_scan_batched_into(Body& body, std::tuple<States&...> states, Inputs const& inputs,
    Lens const& sequence_lens, std::tuple<Outputs&...> outputs, scan_batched_options const& options,
    Policy const& policy)
{
    static constexpr std::string_view op = "xloom::scan_batched_into";
    detail::check_extents(op, "states", states);
    detail::check_extents(op, "scan_inputs", inputs);
    detail::check_extents(op, "scan_outputs", outputs);
    batch_extent const extent =
        check_scan_batched(op, "states", detail::shapes_of(states), detail::shapes_of(inputs), options);
    check_batch_outputs(op, detail::shapes_of(outputs), extent);
    batch_rows const rows(op, sequence_lens, extent);
    row_scan_traversals const traversals{detail::traversals_of(states),
        detail::traversals_in_time(inputs, axes(std::tuple_size_v<Inputs>, 1), options.scan_input_directions),
        detail::traversals_in_time(outputs, axes(sizeof...(Outputs), 1), {})};
    check_in_place(op, traversals.states, traversals.inputs, traversals.outputs,
        operand_memory("sequence_lens", block_if_given(rows.given())));
    detail::run_rows_into(op, rows, body, states, inputs, outputs, traversals, policy);
}

} // namespace detail

/// Runs an independent scan over each row of a batch; the rows may have different lengths.
///
///     for b in range(N):
///         states = init[b]
///         for t in range(sequence_lens[b]):
///             states, y[b, t] = body(states, x[b, t])
///         final_state[b] = states
///
/// As scan, but axis 0 of every operand is the batch and axis 1 of inputs and outputs is time; the body's
/// elements have neither.
///
/// Shapes    init [N, ...], scan inputs [N, T, ...], sequence_lens [N], each in [0, T]; std::nullopt: T for
///           every row. Outputs [N, T, ...], zeros (value-initialised items) from sequence_lens[b] on.
/// Options   scan_input_directions: a reverse input starts at element sequence_lens[b] - 1 of its row;
///           outputs start at 0.
/// Policy    rows run on its threads, in parts with about as many iterations; any number of
///           threads gives the same bits. Several threads then call the body at once, as a const one. Of
///           several exceptions that of the first row passes on; rows of other threads run to their end.
/// Errors    before the first iteration: shape_error, option_error; index_error: a sequence length outside
///           [0, T]. body_error as in scan.
/// Order     rows in order, each from its first to its last iteration; with a policy rows in any order.
/// Differs   from ONNX Runtime: a sequence length of 0 is valid. ONNX leaves the tail undefined; it is zero
///           here, as in ONNX Runtime.
/// Source    ONNX Scan-8; infer_scan has the shape rule.
/// Example
/// ```cpp
/// xt::xtensor<int, 2> const x = {{1, 2, 3}, {4, 5, 6}};
/// xt::xtensor<int, 1> const zero = {0, 0}, lens = {3, 1};
/// auto const add = [](int sum, int x_t) { return xloom::scan_step{sum + x_t, sum + x_t}; };
/// auto const [total, running] = xloom::scan_batched(add, zero, x, lens);
/// total; // = [6, 4]
/// running; // = [[1, 3, 6], [4, 0, 0]]
/// ```
template <class Body, class Init, class Inputs, class Lens = std::nullopt_t,
    class Options = scan_batched_options, class... Env>
auto scan_batched(Body&& body, Init&& init, Inputs const& scan_inputs,
    Lens const& sequence_lens = std::nullopt, Options&& options = {}, Env&&... env)
{
    using namespace detail;
    using state = owned_t<Init>;
    using inputs = decltype(detail::evaluated_inputs(scan_inputs));
    if constexpr (satisfied<options_and_policy<scan_batched_options, Options, Env...>,
                      flat_arguments<state, inputs>, carried_by_rows<state>, copied_by_rows<state>,
                      scanned_inputs<inputs, 2>, holds_sequence_lens<Lens>,
                      returns_step_by_rows<batch_rows, Body, state, inputs, Options, Env...>>()) {
        using step = bare<typename row_scan_call<batch_rows, Body, state, inputs>::result>;
        return detail::run_scan_batched<step>(body, detail::to_owned(static_cast<Init&&>(init)),
            detail::evaluated_inputs(scan_inputs), sequence_lens,
            detail::options_of<scan_batched_options>(options), detail::policy_of(options, env...));
    } else {
        return scan_result<state, std::tuple<>>{}; // a value, so that one mistake gives one error
    }
}

/// Runs scan_batched in place: the body updates rows of the caller's states and writes the caller's outputs,
/// and nothing is allocated in the loop.
///
///     for b in range(N):
///         for t in range(sequence_lens[b]):
///             body(states[b], x[b, t], y[b, t])
///         y[b, sequence_lens[b]:] = 0
///
/// body(state&..., element const&..., output&...) -> void, as in scan_into, but a state is a row of the
/// caller's tensor: an element_view, or one item where the tensor's rank is statically 1. It cannot change
/// its shape. A row of length 0 keeps its states.
///
/// Shapes    states [N, ...], scan inputs [N, T, ...], scan outputs [N, T, ...], sequence_lens [N], each in
///           [0, T]; std::nullopt: T for every row.
/// Options   as scan_batched.
/// Policy    rows run on its threads, in parts with about as many iterations; any number of
///           threads gives the same bits. Several threads then call the body at once, as a const one. Of
///           several exceptions that of the first row passes on; rows of other threads run to their end.
/// Errors    before the first write: shape_error, option_error, overlap_error; index_error: a sequence length
///           outside [0, T]. body_error: a row of a state or an output element was assigned another shape,
///           or as in scan an expression does not broadcast. After a body_error or an exception of the body,
///           states and outputs hold the values written so far; the element of that iteration, and a row of a
///           state whose items are not contiguous, may be unwritten.
/// Order     rows in order, each from its first to its last iteration; with a policy rows in any order.
/// Cost      that of a hand-written loop over the same body. Allocates before the first iteration only, for
///           lazy operands and, in each thread, for strided elements.
/// Aliasing  as scan_into: an output may be the same tensor as a forward input, whose elements beyond the
///           length of a row are then zeros, too.
/// Source    ONNX Scan-8.
/// Example
/// ```cpp
/// xt::xtensor<int, 2> const x = {{1, 2, 3}, {4, 5, 6}};
/// xt::xtensor<int, 1> const lens = {3, 1};
/// xt::xtensor<int, 1> total = {0, 10};
/// auto running = xt::xtensor<int, 2>::from_shape({2, 3});
/// auto const add = [](int& sum, int x_t, int& y_t) { y_t = sum += x_t; };
/// xloom::scan_batched_into(add, total, x, lens, running);
/// total; // = [6, 14]
/// running; // = [[1, 3, 6], [14, 0, 0]]
/// ```
template <class Body, class States, class Inputs, class Lens = std::nullopt_t, class Outputs = std::tuple<>,
    class Options = scan_batched_options, class... Env>
void scan_batched_into(Body&& body, States&& states, Inputs const& scan_inputs,
    Lens const& sequence_lens = std::nullopt, Outputs&& scan_outputs = {}, Options&& options = {},
    Env&&... env)
{
    using namespace detail;
    using inputs = decltype(detail::evaluated_inputs(scan_inputs));
    if constexpr (satisfied<options_and_policy<scan_batched_options, Options, Env...>,
                      flat_arguments<States, inputs, Outputs>, carried_by_rows<States>, updated<States>,
                      scanned_inputs<inputs, 2>, holds_sequence_lens<Lens>, written_by_body<Outputs, 2>,
                      updates_rows<batch_rows, Body, States, inputs, Outputs, Options, Env...>>())
        detail::run_scan_batched_into(body, detail::leaves(states), detail::evaluated_inputs(scan_inputs),
            sequence_lens, detail::leaves(scan_outputs), detail::options_of<scan_batched_options>(options),
            detail::policy_of(options, env...));
}

} // namespace xloom::inline XLOOM_ABI
