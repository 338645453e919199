#pragma once
// A batch of scans whose sequences are SIMD lanes: one body of one sequence, run for many at once.

#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <xloom/detail/check/scan_lanes.hpp>
#include <xloom/detail/scan/lane_functions.hpp>
#include <xloom/detail/scan/lane_operands.hpp>
#include <xloom/detail/scan/lane_requirements.hpp>
#include <xloom/detail/scan/lane_scan.hpp>
#include <xloom/detail/scan/lanes.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

template <class Step, class Body, class State, class Inputs, class Lens, class Policy>
auto run_scan_lanes(Body const& body, State state, Inputs const& inputs, Lens const& sequence_lens,
    scan_lanes_options const& options, Policy const& policy)
{
    static constexpr std::string_view op = "xloom::scan_lanes";
    check_count(op, leaf_count<decltype(Step::scan_outputs)>, "scan outputs");
    auto const states = detail::leaves(state);
    detail::check_extents(op, "scan_inputs", inputs);
    auto const [extent, batch] = detail::check_scan_lanes(
        op, {"init", detail::shapes_of(states), detail::shapes_of(inputs), {}}, options);
    batch_rows const rows(op, sequence_lens, extent);
    shape const dims = batch == 0 ? shape{extent.batch, extent.length} : shape{extent.length, extent.batch};
    lane_outputs_t<Step> outputs;
    detail::for_each_leaf(detail::leaves(outputs), [&]<class Y>(auto k, Y& output) {
        output = enable_tensor<Y>::make(stacked_shape(op, k, {dims[1]}, dims[0], sizeof(item_t<Y>), {}));
    });
    detail::run_lanes(lane_step_writer<Body, leaves_t<State>, Inputs>{body}, rows,
        detail::lane_states_of(states, batch), detail::lane_inputs_of(inputs, batch),
        detail::lane_outputs_of(detail::leaves(outputs), batch), policy);
    return scan_result<State, lane_outputs_t<Step>>{std::move(state), std::move(outputs)};
}

template <class Body, class... States, class Inputs, class Lens, class... Outputs, class Policy>
void run_scan_lanes_into(Body const& body, std::tuple<States&...> states, Inputs const& inputs,
    Lens const& sequence_lens, std::tuple<Outputs&...> outputs, scan_lanes_options const& options,
    Policy const& policy)
{
    static constexpr std::string_view op = "xloom::scan_lanes_into";
    detail::check_extents(op, "scan_inputs", inputs);
    detail::check_extents(op, "scan_outputs", outputs);
    auto const [extent, batch] = detail::check_scan_lanes(op,
        {"states", detail::shapes_of(states), detail::shapes_of(inputs), detail::shapes_of(outputs)},
        options);
    batch_rows const rows(op, sequence_lens, extent);
    check_in_place(op, detail::traversals_of(states), detail::traversals_of(inputs),
        detail::traversals_of(outputs), operand_memory("sequence_lens", block_if_given(rows.given())));
    detail::run_lanes(body, rows, detail::lane_states_of(states, batch),
        detail::lane_inputs_of(inputs, batch), detail::lane_outputs_of(outputs, batch), policy);
}

} // namespace detail

/// Runs an independent scan over each sequence of a batch; the sequences are SIMD lanes.
///
///     for n in range(N):                    # many at once
///         state = init[n]
///         for t in range(sequence_lens[n]):
///             state, y[n, t] = body(state, x[n, t])
///         final_state[n] = state
///
/// body(state const&..., element const&...) -> scan_step, as in scan, whose states, elements and outputs are
/// lanes: numbers of many sequences, on which operators, select, abs, min, max, exp, log, sin, cos, tanh,
/// sigmoid, sqrt and pow work. So the body is written for one sequence; but it cannot branch on values: in
/// place of if and ?: it has select(condition, a, b).
///
/// Shapes    init [N], scan inputs [N, T], or [N]: a parameter of each sequence, given at every step.
///           sequence_lens [N], each in [0, T]; std::nullopt: T for every sequence. Outputs [N, T], zeros
///           from sequence_lens[n] on. With batch_axis = 1 operands of rank 2 are [T, N].
/// Types     float, double, and integers of 32 and 64 bits, each operand its own.
/// Options   batch_axis; length, required only without scan inputs [N, T].
/// Policy    groups of sequences run on its threads. Several threads call the body at once.
/// Errors    before the first iteration: shape_error, option_error; index_error: a sequence length outside
///           [0, T].
/// Order     any order of sequences, each from its first to its last iteration. The body must not depend on
///           other sequences: it is called as a const callable, also for lanes that have ended or do not
///           exist, whose results are dropped.
/// Cost      loads and stores vectors where sequences are adjacent (batch_axis = 1 of row-major operands);
///           else blocks of steps are transposed in the L1 cache, about 0.1 ns an item with AVX-512. The bits
///           of a sequence depend neither on the other sequences nor on the layout or the number of threads;
///           unless the body calls exp, log, sin, cos, tanh, sigmoid or pow, neither on the vector unit: a
///           product is never contracted with a sum. So they are those of scan_batched where the compiler
///           does not contract either.
/// Differs   from scan_batched in the types of the body's arguments, and in its rows, which are [N, T].
/// Source    ISPC's varying types; JAX's vmap of a scan.
/// Example
/// ```cpp
/// xt::xtensor<float, 2> const x = {{1, 2, 3}, {4, 5, 6}};
/// xt::xtensor<float, 1> const zero = {0, 0};
/// auto const add = [](auto const& sum, auto const& x_t) { return xloom::scan_step{sum + x_t, sum + x_t}; };
/// auto const [total, running] = xloom::scan_lanes(add, zero, x);
/// total; // = [6, 15]
/// running; // = [[1, 3, 6], [4, 9, 15]]
/// ```
template <class Body, class Init, class Inputs, class Lens = std::nullopt_t,
    class Options = scan_lanes_options, class... Env>
auto scan_lanes(Body&& body, Init&& init, Inputs const& scan_inputs, Lens const& sequence_lens = std::nullopt,
    Options&& options = {}, Env&&... env)
{
    using namespace detail;
    using state = owned_t<Init>;
    using inputs = decltype(detail::evaluated_inputs(scan_inputs));
    using body_type = std::remove_reference_t<Body>;
    using call = lane_step_call<body_type const, leaves_t<state>, inputs>;
    if constexpr (satisfied<options_and_policy<scan_lanes_options, Options, Env...>,
                      flat_arguments<state, inputs>, of_lane_ranks<leaves_t<state>, inputs>,
                      single_lane_states<leaves_t<state>>, holds_sequence_lens<Lens>,
                      takes_lanes<lane_step_call<body_type, leaves_t<state>, inputs>, call>,
                      returns_scan_step<call>, steps_lanes<leaves_t<state>, call>>())
        return detail::run_scan_lanes<bare<typename call::result>>(body,
            detail::to_owned(static_cast<Init&&>(init)), detail::evaluated_inputs(scan_inputs), sequence_lens,
            detail::options_of<scan_lanes_options>(options), detail::policy_of(options, env...));
    else
        return scan_result<state, std::tuple<>>{}; // a value, so that one mistake gives one error
}

/// Runs scan_lanes in place: the body updates the caller's states and writes the caller's outputs.
///
///     for n in range(N):                    # many at once
///         for t in range(sequence_lens[n]):
///             body(states[n], x[n, t], y[n, t])
///         y[n, sequence_lens[n]:] = 0
///
/// body(state&..., element const&..., output&...) -> void, as in scan_into. A state of rank 2 is a
/// std::span of K lanes.
///
/// Shapes    states [N] or [N, K], scan outputs [N, T], else as scan_lanes.
/// Types     as scan_lanes.
/// Options   as scan_lanes; length is required only without inputs and outputs [N, T].
/// Policy    as scan_lanes.
/// Errors    before the first write: shape_error, option_error, overlap_error; index_error: a sequence length
///           outside [0, T]. After an exception of the body, outputs hold the values of some or all steps
///           before it, and states their initial or final values.
/// Order     as scan_lanes.
/// Cost      as scan_lanes. Allocates once in each thread, before its first iteration: for each input and
///           output some 6,000 items at most, and for a state [N, K] the items of 128 sequences at most.
/// Aliasing  an output may be the same tensor as an input.
/// Source    ISPC's varying types; JAX's vmap of a scan.
/// Example
/// ```cpp
/// // A peak detector that rises at once and falls slowly, of two signals.
/// xt::xtensor<float, 2> const x = {{1, 0, 0}, {0, -4, 0}};
/// xt::xtensor<float, 1> peak = {0, 0};
/// auto y = xt::xtensor<float, 2>::from_shape({2, 3});
/// auto const detect = [](auto& p, auto const& x_t, auto& y_t) {
///     y_t = p = xloom::max(xloom::abs(x_t), 0.5f * p);
/// };
/// xloom::scan_lanes_into(detect, peak, x, std::nullopt, y);
/// y; // = [[1, 0.5, 0.25], [0, 4, 2]]
/// ```
template <class Body, class States, class Inputs, class Lens = std::nullopt_t, class Outputs = std::tuple<>,
    class Options = scan_lanes_options, class... Env>
void scan_lanes_into(Body&& body, States&& states, Inputs const& scan_inputs,
    Lens const& sequence_lens = std::nullopt, Outputs&& scan_outputs = {}, Options&& options = {},
    Env&&... env)
{
    using namespace detail;
    using inputs = decltype(detail::evaluated_inputs(scan_inputs));
    if constexpr (satisfied<options_and_policy<scan_lanes_options, Options, Env...>,
                      flat_arguments<States, inputs, Outputs>, updated<States>,
                      of_lane_ranks<leaves_t<States>, inputs, leaves_t<Outputs>>, holds_sequence_lens<Lens>,
                      written_by_body<Outputs, 2>,
                      updates_lanes<std::remove_reference_t<Body>, leaves_t<States>, inputs,
                          leaves_t<Outputs>>>())
        detail::run_scan_lanes_into(body, detail::leaves(states), detail::evaluated_inputs(scan_inputs),
            sequence_lens, detail::leaves(scan_outputs), detail::options_of<scan_lanes_options>(options),
            detail::policy_of(options, env...));
}

} // namespace xloom::inline XLOOM_ABI
