#pragma once
// Scans over the segments of ragged rows.

#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

#include <xloom/detail/check/scan_batched.hpp>
#include <xloom/detail/scan/cursors.hpp>
#include <xloom/detail/scan/iteration.hpp>
#include <xloom/detail/scan/rows.hpp>
#include <xloom/detail/scan/run_rows.hpp>
#include <xloom/detail/tensor/row_split_list.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

template <class Leaves>
class ragged_cursors;

/// The segments that row_splits tell, each a row. An output holds the elements of all, one after the other.
class ragged_rows {
public:
    template <class Leaves>
    using cursors = ragged_cursors<Leaves>;
    template <class Y>
    using stacked_t = detail::stacked_t<Y, dynamic_length>;

    static constexpr bool has_tails = false;

    /// Errors    shape_error, index_error
    template <class Splits>
    ragged_rows(std::string_view op, Splits const& splits, std::size_t elements)
        : splits_(op, splits, elements), elements_(elements)
    {}

    std::size_t size() const { return splits_.size(); }
    std::size_t elements() const { return elements_; }
    std::size_t begin(std::size_t s) const { return splits_.begin(s); }
    std::size_t length(std::size_t s) const { return splits_.length(s); }
    std::size_t begin_of_part(std::size_t part, std::size_t parts) const
    {
        return splits_.begin_of_part(part, parts);
    }

    shape stacked_shape(std::string_view op, std::size_t k, shape const& element, std::size_t bytes) const
    {
        return detail::stacked_shape(op, k, element, elements_, bytes, {});
    }

    /// Returns the elements of segment s of an operand.
    kernel::time_axis elements_of_row(strided_layout const& layout, std::size_t s) const
    {
        return kernel::time_axis(layout, 0, elements_, false).from(begin(s));
    }

    template <class Y>
    void clear_tail(Y&, std::size_t) const
    {}

private:
    row_split_list splits_;
    std::size_t elements_;
};

/// Cursors over the elements of consecutive segments.
template <class... Xs>
class ragged_cursors<std::tuple<Xs...>> {
    using set = cursor_set<std::tuple<Xs...>, true>;

public:
    using input_arguments = typename set::input_arguments;
    using output_arguments = typename set::output_arguments;

    template <class Traversals>
    ragged_cursors(ragged_rows const& rows, std::tuple<Xs...> const& operands, Traversals const& traversals,
        std::size_t first, std::size_t last, write_back when = write_back::each_element)
        : cursors_(
              set::start(operands, traversals, {rows.begin(first), rows.begin(last), rows.elements()}, when))
    {}

    /// Makes the element of iteration t of segment s the next one. Requires that it follows the element
    /// before: segments from the first to the last, and each element once, but for the first t.
    void enter_row(std::size_t, std::size_t t = 0)
    {
        for (; t != 0; --t)
            detail::for_each_leaf(cursors_, [](auto, auto& cursor) {
                cursor.enter();
                cursor.leave();
            });
    }

    auto& get() { return cursors_; }

private:
    typename set::cursors cursors_;
};

template <class Step, class Body, class State, class Inputs, class Splits, class Policy>
auto run_scan_ragged(
    Body& body, State state, Inputs const& inputs, Splits const& row_splits, Policy const& policy)
{
    static constexpr std::string_view op = "xloom::scan_ragged";
    auto const states = detail::leaves(state);
    detail::check_extents(op, "init", states);
    detail::check_extents(op, "scan_inputs", inputs);
    ragged_rows const rows(op, row_splits,
        check_scan(op, detail::shapes_of(inputs), leaf_count<decltype(Step::scan_outputs)>, {}));
    check_segment_states(op, "init", detail::shapes_of(states), rows.size());
    return detail::run_rows<Step>(
        op, rows, body, std::move(state), inputs, detail::traversals_of(inputs), policy);
}

template <class Body, class... States, class Inputs, class Splits, class... Outputs, class Policy>
void run_scan_ragged_into(Body& body, std::tuple<States&...> states, Inputs const& inputs,
    Splits const& row_splits, std::tuple<Outputs&...> outputs, Policy const& policy)
{
    static constexpr std::string_view op = "xloom::scan_ragged_into";
    detail::check_extents(op, "states", states);
    detail::check_extents(op, "scan_inputs", inputs);
    detail::check_extents(op, "scan_outputs", outputs);
    ragged_rows const rows(op, row_splits, detail::scan_length<true>(op, inputs, outputs, {}));
    check_segment_states(op, "states", detail::shapes_of(states), rows.size());
    row_scan_traversals const traversals{
        detail::traversals_of(states), detail::traversals_of(inputs), detail::traversals_of(outputs)};
    memory_block const splits = detail::memory_of(row_splits);
    check_in_place(
        op, traversals.states, traversals.inputs, traversals.outputs, operand_memory("row_splits", splits));
    detail::run_rows_into(op, rows, body, states, inputs, outputs, traversals, policy);
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
/// Policy    segments run on its threads, in parts with about as many iterations; any number of
///           threads gives the same bits. Several threads then call the body at once, as a const one. Of
///           several exceptions that of the first segment passes on; those of other threads run to their end.
/// Errors    before the first iteration: shape_error; index_error: row_splits do not begin with 0, end with N
///           and ascend. body_error as in scan, with the segment as the row.
/// Order     segments in order, each from its first to its last row; with a policy segments in any order.
/// Source    ONNX Scan-8, without padding; tf.RaggedTensor's row_splits.
/// Example
/// ```cpp
/// xt::xtensor<int, 1> const x = {1, 2, 3, 4}, row_splits = {0, 3, 4}, zero = {0, 10};
/// auto const add = [](int sum, int x_t) { return xloom::scan_step{sum + x_t, sum + x_t}; };
/// auto const [total, running] = xloom::scan_ragged(add, zero, x, row_splits);
/// total; // = [6, 14]
/// running; // = [1, 3, 6, 14]
/// ```
template <class Body, class Init, class Inputs, class Splits, class... Env>
auto scan_ragged(Body&& body, Init&& init, Inputs const& scan_inputs, Splits const& row_splits, Env&&... env)
{
    using namespace detail;
    using state = owned_t<Init>;
    using inputs = decltype(detail::evaluated_inputs(scan_inputs));
    if constexpr (satisfied<at_most_a_policy<Env...>, flat_arguments<state, inputs>, carried_by_rows<state>,
                      copied_by_rows<state>, scanned_inputs<inputs>, some_input<inputs>,
                      splits_of_rows<Splits>,
                      returns_step_by_rows<ragged_rows, Body, state, inputs, Env...>>()) {
        using step = bare<typename row_scan_call<ragged_rows, Body, state, inputs>::result>;
        auto const [splits] = detail::evaluated_inputs(std::tie(row_splits));
        return detail::run_scan_ragged<step>(body, detail::to_owned(static_cast<Init&&>(init)),
            detail::evaluated_inputs(scan_inputs), splits, detail::policy_of(env...));
    } else {
        return scan_result<state, std::tuple<>>{}; // a value, so that one mistake gives one error
    }
}

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
/// Policy    segments run on its threads, in parts with about as many iterations; any number of
///           threads gives the same bits. Several threads then call the body at once, as a const one. Of
///           several exceptions that of the first segment passes on; those of other threads run to their end.
/// Errors    before the first write: shape_error, overlap_error; index_error: row_splits do not begin with 0,
///           end with N and ascend. body_error as in scan_batched_into.
/// Order     segments in order, each from its first to its last row; with a policy segments in any order.
/// Cost      that of a hand-written loop over the same body. Allocates before the first iteration only, for
///           lazy operands, in each thread for strided elements, and for row_splits that are not
///           contiguous or not of std::size_t or its signed type.
/// Aliasing  as scan_into.
/// Source    ONNX Scan-8, without padding; tf.RaggedTensor's row_splits.
/// Example
/// ```cpp
/// xt::xtensor<int, 1> const x = {1, 2, 3, 4}, row_splits = {0, 3, 4};
/// xt::xtensor<int, 1> total = {0, 10};
/// auto running = xt::xtensor<int, 1>::from_shape({4});
/// auto const add = [](int& sum, int x_t, int& y_t) { y_t = sum += x_t; };
/// xloom::scan_ragged_into(add, total, x, row_splits, running);
/// total; // = [6, 14]
/// running; // = [1, 3, 6, 14]
/// ```
template <class Body, class States, class Inputs, class Splits, class Outputs = std::tuple<>, class... Env>
void scan_ragged_into(Body&& body, States&& states, Inputs const& scan_inputs, Splits const& row_splits,
    Outputs&& scan_outputs = {}, Env&&... env)
{
    using namespace detail;
    using inputs = decltype(detail::evaluated_inputs(scan_inputs));
    if constexpr (satisfied<at_most_a_policy<Env...>, flat_arguments<States, inputs, Outputs>,
                      carried_by_rows<States>, updated<States>, scanned_inputs<inputs>, some_input<inputs>,
                      splits_of_rows<Splits>, written_by_body<Outputs>,
                      updates_rows<ragged_rows, Body, States, inputs, Outputs, Env...>>()) {
        auto const [splits] = detail::evaluated_inputs(std::tie(row_splits));
        detail::run_scan_ragged_into(body, detail::leaves(states), detail::evaluated_inputs(scan_inputs),
            splits, detail::leaves(scan_outputs), detail::policy_of(env...));
    }
}

} // namespace xloom::inline XLOOM_ABI
