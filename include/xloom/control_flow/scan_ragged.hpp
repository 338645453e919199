#pragma once
// Scans over the segments of ragged rows.

#include <utility>

#include <xloom/detail/check/scan_ragged.hpp>
#include <xloom/detail/scan/scan_ragged_types.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

template <class Step, class Body, class State, class Inputs, class Splits>
auto run_scan_ragged(Body& body, State state, Inputs const& inputs, Splits const& row_splits)
{
    static constexpr std::string_view op = "xloom::scan_ragged";
    using stack = stacked_outputs<decltype(Step::scan_outputs), dynamic_length>;
    auto const states = detail::leaves(state);
    detail::check_ranks(op, "init", states);
    detail::check_ranks(op, "scan_inputs", inputs);
    std::size_t const rows =
        check_scan(op, detail::shapes_of(inputs), leaf_count<decltype(Step::scan_outputs)>, {});
    row_split_list const splits(op, row_splits, rows);
    check_segment_states(op, "init", detail::shapes_of(states), splits.size());

    rows_t<State> row{};
    auto elements =
        cursor_set<Inputs, true>::start(inputs, detail::places_of(inputs), kernel::all_iterations(rows));
    stack outputs;
    step_memory_pool recycled;
    for (std::size_t s = 0; s < splits.size(); ++s) {
        detail::for_each_leaf(
            states, [&](auto i, auto const& each) { detail::load_row(each, s, std::get<i>(row)); });
        detail::iterate<Step>(
            op, body, detail::leaves(row), elements, 0, splits.length(s),
            [&](auto const& values, std::size_t t) {
                if (t + splits.begin(s) == 0)
                    outputs.open(op, values, rows, {});
                outputs.push(op, values, t);
            },
            s);
        detail::for_each_leaf(
            states, [&](auto i, auto& each) { detail::store_row(each, s, std::get<i>(row)); });
    }
    if (rows == 0)
        outputs.open_empty(op, {});
    return scan_result<State, typename stack::type>{std::move(state), std::move(outputs).finish()};
}

} // namespace detail

/// Runs an independent scan over each segment of consecutive rows.
///
///     for s in range(S):
///         states = init[s]
///         for i in range(row_splits[s], row_splits[s + 1]):
///             states, y[i] = body(states, x[i])
///         final_state[s] = states
///
/// It is scan_batched without padding: the rows of all segments follow each other along axis 0.
///
/// Shapes    init [S, ...], scan inputs [N, ...], at least one, row_splits [S + 1], from 0 to N, not
///           decreasing. Outputs [N, ...]. A segment without rows keeps its states.
/// Types     as scan_batched; row_splits of any integers.
/// Errors    before the first iteration: shape_error; index_error: row_splits that are none. body_error as in
///           scan, with the segment as the row.
/// Order     segments in order, each from its first to its last row.
/// Source    ONNX Scan-8, without padding; tf.RaggedTensor's row_splits.
/// Example
/// ```cpp
/// xt::xtensor<int, 1> const x = {1, 2, 3, 4}, row_splits = {0, 3, 4}, zero = {0, 10};
/// auto const add = [](int sum, int x_t) { return xloom::scan_step{sum + x_t, sum + x_t}; };
/// auto const [total, running] = xloom::scan_ragged(add, zero, x, row_splits);
/// total; // = [6, 14]
/// running; // = [1, 3, 6, 14]
/// ```
template <class Body, class Init, class Inputs, class Splits>
auto scan_ragged(Body&& body, Init&& init, Inputs const& scan_inputs, Splits const& row_splits)
{
    using namespace detail;
    using state = owned_t<Init>;
    using inputs = decltype(detail::evaluated_inputs(scan_inputs));
    if constexpr (is_valid_scan_ragged<Body, state, inputs, Splits>()) {
        using step = bare<typename scan_ragged_call<Body, state, inputs>::result>;
        auto const [splits] = detail::evaluated_inputs(std::tie(row_splits));
        return run_scan_ragged<step>(
            body, state(static_cast<Init&&>(init)), detail::evaluated_inputs(scan_inputs), splits);
    } else {
        return scan_result<state, std::tuple<>>{}; // a value, so that one mistake gives one error
    }
}

} // namespace xloom::inline XLOOM_ABI
