#pragma once
// A batch of scans in place: the body updates rows of the caller's states and writes the caller's outputs.

#include <xloom/control_flow/scan_into.hpp>
#include <xloom/detail/check/scan_batched.hpp>
#include <xloom/detail/scan/batch_rows.hpp>
#include <xloom/detail/scan/row_lengths.hpp>
#include <xloom/detail/scan/scan_batched_types.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// Sets an output element to zeros (value-initialised items).
template <class T>
void set_zeros(T& item)
{
    item = T{};
}
template <class T, class Shape>
void set_zeros(basic_element_view<T, Shape>& element)
{
    element = T{};
}

template <class Body, class... States, class Inputs, class... Outputs, class Lens>
void run_scan_batched_into(Body& body, std::tuple<States&...> states, Inputs const& inputs,
    std::tuple<Outputs&...> outputs, Lens const& sequence_lens, scan_batched_options const& options)
{
    static constexpr std::string_view op = "xloom::scan_batched_into";
    detail::check_ranks(op, "states", states);
    detail::check_ranks(op, "scan_inputs", inputs);
    detail::check_ranks(op, "scan_outputs", outputs);
    batch_extent const extent =
        check_scan_batched(op, "states", detail::shapes_of(states), detail::shapes_of(inputs), options);
    check_batch_outputs(op, detail::shapes_of(outputs), extent);
    row_lengths const lengths(op, sequence_lens, extent);
    auto const state_places = detail::places_of(states);
    auto input_places = detail::places_of(inputs);
    auto output_places = detail::places_of(outputs);
    detail::place_in_time(input_places, axes(input_places.size(), 1), options.directions);
    detail::place_in_time(output_places, axes(output_places.size(), 1), {});
    check_overlap(op, state_places, input_places, output_places);
    check_lengths_overlap(op, lengths.given(), "states", state_places);
    check_lengths_overlap(op, lengths.given(), "scan_outputs", output_places);

    constexpr write_back when = write_back_for<Body, States...>;
    auto rows = cursor_set<std::tuple<States&...>, true>::start(
        states, state_places, kernel::all_iterations(extent.batch), when);
    detail::for_each_leaf(rows, [](auto, auto& cursor) { cursor.start_from_input(); });
    batch_cursors<Inputs> x(inputs, extent.length, options.directions);
    batch_cursors<std::tuple<Outputs&...>> y(outputs, extent.length, {}, when);
    std::array<bool, sizeof...(Outputs)> const holds_input =
        detail::join_in_place(input_places, x.cursors(), output_places, y.cursors());
    std::size_t b = 0, t = 0;
    auto const fail = [&](element_reshaped const& found) {
        detail::fail_if_own(op, "states", rows, found, t, b);
        detail::fail_if_own(op, "scan_outputs", y.cursors(), found, t, b);
    };
    detail::run_bodies(fail, [&] {
        for (; b < extent.batch; ++b) {
            std::size_t const length = lengths[b];
            detail::enter_all(rows);
            x.start_row(inputs, b, length);
            y.start_row(outputs, b, extent.length);
            {
                local_states held(detail::output_elements(rows));
                auto const current = held.get();
                detail::name_states(op, current, [&] {
                    for (t = 0; t < length; ++t)
                        detail::run_iteration(body, current, x.cursors(), y.cursors(), holds_input);
                });
            }
            detail::for_each_leaf(outputs, [&](auto k, auto& output) {
                if (length < extent.length && is_row_major(output_places[k].memory.layout)) {
                    detail::clear_row(output, b, length, extent);
                    return;
                }
                auto& cursor = std::get<k>(y.cursors());
                for (std::size_t i = length; i < extent.length; ++i) {
                    cursor.enter();
                    detail::set_zeros(cursor.element());
                    cursor.leave();
                }
            });
            detail::leave_all(rows);
        }
    });
}

} // namespace detail

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
/// Errors    before the first write: shape_error, option_error, overlap_error; index_error: a sequence length
///           outside [0, T]. body_error: a row of a state or an output element was assigned another shape,
///           or as in scan an expression does not broadcast. After a body_error or an exception of the body,
///           states and outputs hold the values written so far; the element of that iteration, and a row of a
///           state whose items are not contiguous, may be unwritten.
/// Order     rows in order, each from its first to its last iteration.
/// Cost      that of a hand-written loop over the same body. Allocates before the first iteration only, for
///           lazy operands and for strided elements.
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
/// xloom::scan_batched_into(add, total, x, running, lens);
/// total; // = [6, 14]
/// running; // = [[1, 3, 6], [14, 0, 0]]
/// ```
template <class Body, class States, class Inputs, class Outputs = std::tuple<>, class Lens = std::nullopt_t>
void scan_batched_into(Body&& body, States&& states, Inputs const& scan_inputs, Outputs&& scan_outputs = {},
    Lens const& sequence_lens = std::nullopt, scan_batched_options const& options = {})
{
    using namespace detail;
    using inputs = decltype(detail::evaluated_inputs(scan_inputs));
    if constexpr (is_valid_scan_batched_into<Body, States, inputs, Outputs, Lens>())
        detail::run_scan_batched_into(body, detail::leaves(states), detail::evaluated_inputs(scan_inputs),
            detail::leaves(scan_outputs), sequence_lens, options);
}

} // namespace xloom::inline XLOOM_ABI
