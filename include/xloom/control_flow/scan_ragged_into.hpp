#pragma once
// Scans over the segments of ragged rows, in place.

#include <xloom/control_flow/scan_into.hpp>
#include <xloom/detail/check/scan_ragged.hpp>
#include <xloom/detail/scan/scan_ragged_types.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

template <class Body, class... States, class Inputs, class... Outputs, class Splits>
void run_scan_ragged_into(Body& body, std::tuple<States&...> states, Inputs const& inputs,
    std::tuple<Outputs&...> outputs, Splits const& row_splits)
{
    static constexpr std::string_view op = "xloom::scan_ragged_into";
    detail::check_ranks(op, "states", states);
    detail::check_ranks(op, "scan_inputs", inputs);
    detail::check_ranks(op, "scan_outputs", outputs);
    std::size_t const rows = detail::scan_length<true>(op, inputs, outputs, {});
    row_split_list const splits(op, row_splits, rows);
    check_segment_states(op, "states", detail::shapes_of(states), splits.size());
    auto const state_places = detail::places_of(states);
    auto const input_places = detail::places_of(inputs);
    auto const output_places = detail::places_of(outputs);
    check_overlap(op, state_places, input_places, output_places);
    check_splits_overlap(op, detail::memory_of(row_splits), "states", state_places);
    check_splits_overlap(op, detail::memory_of(row_splits), "scan_outputs", output_places);

    constexpr write_back when = write_back_for<Body, States...>;
    auto segment = cursor_set<std::tuple<States&...>, true>::start(
        states, state_places, kernel::all_iterations(splits.size()), when);
    detail::for_each_leaf(segment, [](auto, auto& cursor) { cursor.start_from_input(); });
    auto x = cursor_set<Inputs, true>::start(inputs, input_places, kernel::all_iterations(rows));
    auto y = cursor_set<std::tuple<Outputs&...>, true>::start(
        outputs, output_places, kernel::all_iterations(rows), when);
    std::array<bool, sizeof...(Outputs)> const holds_input =
        detail::join_in_place(input_places, x, output_places, y);
    std::size_t s = 0, t = 0;
    auto const fail = [&](element_reshaped const& found) {
        detail::fail_if_own(op, "states", segment, found, t, s);
        detail::fail_if_own(op, "scan_outputs", y, found, t, s);
    };
    detail::run_bodies(fail, [&] {
        for (; s < splits.size(); ++s) {
            std::size_t const length = splits.length(s);
            detail::enter_all(segment);
            {
                local_states held(detail::output_elements(segment));
                auto const current = held.get();
                detail::name_states(op, current, [&] {
                    for (t = 0; t < length; ++t)
                        detail::run_iteration(body, current, x, y, holds_input);
                });
            }
            detail::leave_all(segment);
        }
    });
}

} // namespace detail

/// Runs scan_ragged in place: the body updates rows of the caller's states and writes the caller's outputs,
/// and nothing is allocated in the loop.
///
///     for s in range(S):
///         for i in range(row_splits[s], row_splits[s + 1]):
///             body(states[s], x[i], y[i])
///
/// body(state&..., element const&..., output&...) -> void, as in scan_batched_into.
///
/// Shapes    states [S, ...], scan inputs and outputs [N, ...], row_splits [S + 1], from 0 to N, not
///           decreasing. A segment without rows keeps its states.
/// Errors    before the first write: shape_error, overlap_error; index_error: row_splits that are none.
///           body_error as in scan_batched_into.
/// Order     segments in order, each from its first to its last row.
/// Cost      that of a hand-written loop over the same body. Allocates before the first iteration only, for
///           lazy operands, for strided elements and for row_splits that are not of std::size_t's size.
/// Aliasing  as scan_into.
/// Source    ONNX Scan-8, without padding; tf.RaggedTensor's row_splits.
/// Example
/// ```cpp
/// xt::xtensor<int, 1> const x = {1, 2, 3, 4}, row_splits = {0, 3, 4};
/// xt::xtensor<int, 1> total = {0, 10};
/// auto running = xt::xtensor<int, 1>::from_shape({4});
/// auto const add = [](int& sum, int x_t, int& y_t) { y_t = sum += x_t; };
/// xloom::scan_ragged_into(add, total, x, running, row_splits);
/// total; // = [6, 14]
/// running; // = [1, 3, 6, 14]
/// ```
template <class Body, class States, class Inputs, class Outputs, class Splits>
void scan_ragged_into(
    Body&& body, States&& states, Inputs const& scan_inputs, Outputs&& scan_outputs, Splits const& row_splits)
{
    using namespace detail;
    using inputs = decltype(detail::evaluated_inputs(scan_inputs));
    if constexpr (is_valid_scan_ragged_into<Body, States, inputs, Outputs, Splits>()) {
        auto const [splits] = detail::evaluated_inputs(std::tie(row_splits));
        run_scan_ragged_into(body, detail::leaves(states), detail::evaluated_inputs(scan_inputs),
            detail::leaves(scan_outputs), splits);
    }
}

} // namespace xloom::inline XLOOM_ABI
