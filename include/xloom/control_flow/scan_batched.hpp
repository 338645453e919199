#pragma once
// Scan-8: a batch of scans, each row with its own states and its own length.

#include <algorithm>
#include <utility>

#include <xloom/detail/check/scan_batched.hpp>
#include <xloom/detail/scan/batch_rows.hpp>
#include <xloom/detail/scan/row_lengths.hpp>
#include <xloom/detail/scan/scan_batched_types.hpp>
#include <xloom/detail/scan/scan_body.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

template <class Outputs>
struct as_tuple {
    using type = std::tuple<Outputs>;
};
template <class... Ys>
struct as_tuple<std::tuple<Ys...>> {
    using type = std::tuple<Ys...>;
};

template <class Step, class Body, class State, class Inputs, class Lens>
auto run_scan_batched(Body& body, State state, Inputs const& inputs, Lens const& sequence_lens,
    scan_batched_options const& options)
{
    static constexpr std::string_view op = "xloom::scan_batched";
    auto const states = detail::leaves(state);
    detail::check_ranks(op, "init", states);
    detail::check_ranks(op, "scan_inputs", inputs);
    batch_extent const extent =
        check_scan_batched(op, "init", detail::shapes_of(states), detail::shapes_of(inputs), options);
    row_lengths const lengths(op, sequence_lens, extent);

    rows_t<State> row{};
    using stack = batch_outputs<typename as_tuple<decltype(Step::scan_outputs)>::type>;
    stack outputs(op, extent);
    batch_cursors<Inputs> elements(inputs, extent.length, options.directions);
    step_memory_pool recycled;
    for (std::size_t b = 0; b < extent.batch; ++b) {
        std::size_t const length = lengths[b];
        detail::for_each_leaf(
            states, [&](auto i, auto const& each) { detail::load_row(each, b, std::get<i>(row)); });
        elements.start_row(inputs, b, length);
        // The first iteration of all gives the shapes of the outputs. The others write through writers of
        // their own, which stay in registers.
        std::size_t const opening = outputs.is_open() ? 0 : (std::min)(length, std::size_t{1});
        detail::iterate<Step>(
            op, body, detail::leaves(row), elements.cursors(), 0, opening,
            [&](auto const& values, std::size_t) {
                outputs.open(values, b);
                outputs.row(b).push(op, values, 0, b);
            },
            b);
        auto writers = outputs.row(b, opening);
        detail::iterate<Step>(
            op, body, detail::leaves(row), elements.cursors(), opening, length,
            [&](auto const& values, std::size_t t) { writers.push(op, values, t, b); }, b);
        outputs.end_row(b, length);
        detail::for_each_leaf(
            states, [&](auto i, auto& each) { detail::store_row(each, b, std::get<i>(row)); });
    }

    auto stacked = std::move(outputs).finish();
    if constexpr (is_tuple<decltype(Step::scan_outputs)>)
        return scan_result<State, typename stack::type>{std::move(state), std::move(stacked)};
    else
        return scan_result<State, std::tuple_element_t<0, typename stack::type>>{
            std::move(state), std::move(std::get<0>(stacked))};
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
/// Options   directions: a reverse input starts at element sequence_lens[b] - 1 of its row; outputs
///           start at 0.
/// Errors    before the first iteration: shape_error, option_error; index_error: a sequence length outside
///           [0, T]. body_error as in scan.
/// Order     rows in order, each from its first to its last iteration.
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
template <class Body, class Init, class Inputs, class Lens = std::nullopt_t>
auto scan_batched(Body&& body, Init&& init, Inputs const& scan_inputs,
    Lens const& sequence_lens = std::nullopt, scan_batched_options const& options = {})
{
    using namespace detail;
    using state = owned_t<Init>;
    using inputs = decltype(detail::evaluated_inputs(scan_inputs));
    if constexpr (is_valid_scan_batched<Body, state, inputs, Lens>()) {
        using step = bare<typename scan_batched_call<Body, state, inputs>::result>;
        return run_scan_batched<step>(body, state(static_cast<Init&&>(init)),
            detail::evaluated_inputs(scan_inputs), sequence_lens, options);
    } else {
        return scan_result<state, std::tuple<>>{}; // a value, so that one mistake gives one error
    }
}

} // namespace xloom::inline XLOOM_ABI
