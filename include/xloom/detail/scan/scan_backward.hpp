#pragma once
// The backward pass of a scan: runs the body's VJP over the iterations from the last to the first.

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <xloom/detail/check/cotangents.hpp>
#include <xloom/detail/check/scan.hpp>
#include <xloom/detail/scan/cotangent_values.hpp>
#include <xloom/detail/scan/kept_states.hpp>
#include <xloom/detail/scan/scan_body.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Elements for outputs that a body writes and nobody reads, of the shapes of the elements of `outputs`.
template <class Outputs, bool LeadingAxis>
class discarded_elements;
template <class... Ys, bool LeadingAxis>
class discarded_elements<std::tuple<Ys...>, LeadingAxis> {
    template <class Y>
    using cursor = element_cursor<item_t<Y>,
        typename element_shape<shape_type_t<bare<Y>>, LeadingAxis || fixed_rank<bare<Y>> != 0>::type>;

public:
    template <std::size_t K>
    explicit discarded_elements(std::array<placed_operand, K> const& places)
        : buffers_([&]<std::size_t... I>(std::index_sequence<I...>) {
              return decltype(buffers_){item_buffer<item_t<Ys>>(element_count(element(places[I])))...};
          }(std::index_sequence_for<Ys...>{})),
          cursors_([&]<std::size_t... I>(std::index_sequence<I...>) {
              return decltype(cursors_){
                  cursor<Ys>(std::get<I>(buffers_).data(), in_one_place(element(places[I])), 1)...};
          }(std::index_sequence_for<Ys...>{}))
    {
        detail::enter_all(cursors_);
    }

    discarded_elements(discarded_elements const&) = delete;
    discarded_elements& operator=(discarded_elements const&) = delete;

    auto elements() { return detail::output_elements(cursors_); }
    auto const& cursors() const { return cursors_; }

private:
    static shape element(placed_operand const& place)
    {
        return drop_axis(place.memory.layout.dims, place.axis);
    }
    static kernel::time_axis in_one_place(shape const& dims)
    {
        return {
            strided_layout{insert_axis(dims, 0, 1), insert_axis(row_major_strides(dims), 0, 0)}, 0, 1, false};
    }

    std::tuple<item_buffer<item_t<Ys>>...> buffers_;
    std::tuple<cursor<Ys>...> cursors_;
};

/// Returns the same operands with time reversed.
template <std::size_t N>
std::array<placed_operand, N> reversed(std::array<placed_operand, N> places)
{
    for (placed_operand& place : places)
        place.reverse = !place.reverse;
    return places;
}

/// The operands of a backward pass: tuples of references.
template <class Inputs, class Params, class CtOutputs, class CtStates, class CtInputs, class CtParams>
struct scan_backward_operands {
    Inputs inputs;
    Params params;
    CtOutputs ct_outputs;
    CtStates ct_states;
    CtInputs ct_inputs;
    CtParams ct_params;
};
template <class... Tuples>
scan_backward_operands(Tuples...) -> scan_backward_operands<Tuples...>;

/// Checks the operands of a backward pass. `output_shapes` are those of the forward pass.
template <class Kept, class Operands>
void check_scan_backward(std::string_view op, Kept const& kept, std::span<shape const> output_shapes,
    Operands const& operands, scan_options const& options)
{
    auto const& [inputs, params, ct_outputs, ct_states, ct_inputs, ct_params] = operands;
    detail::check_ranks(op, "scan_inputs", inputs);
    detail::check_ranks(op, "params", params);
    detail::check_ranks(op, "ct_outputs", ct_outputs);
    detail::check_ranks(op, "ct_states", ct_states);
    detail::check_ranks(op, "ct_inputs", ct_inputs);
    detail::check_ranks(op, "ct_params", ct_params);
    if (!kept.is_finished())
        fail<option_error>(op, ": the residuals must be those of a forward pass, but none has finished with "
                               "them. Call scan_forward_into first.");
    auto const input_shapes = detail::shapes_of(inputs);
    std::size_t const length = check_scan(op, input_shapes, output_shapes.size(), options);
    if (length != kept.length())
        fail<shape_error>(op, ": the residuals must be those of a forward pass of the same length, but ",
            "scan_inputs have ", length, " elements and the forward pass had ", kept.length(),
            " iterations. Give both the same scan inputs.");
    detail::check_cotangents(op, "ct_outputs", detail::shapes_of(ct_outputs), "scan_outputs", output_shapes);
    if (length != 0) {
        auto const state_shapes = std::apply(
            [](auto const&... each) { return std::array<shape, sizeof...(each)>{each.state_shape()...}; },
            kept.state_slots());
        detail::check_cotangents(op, "ct_states", detail::shapes_of(ct_states), "states", state_shapes);
    }
    detail::check_cotangents(op, "ct_inputs", detail::shapes_of(ct_inputs), "scan_inputs", input_shapes);
    detail::check_cotangents(
        op, "ct_params", detail::shapes_of(ct_params), "params", detail::shapes_of(params));
    auto const read =
        std::tuple(detail::places_of(inputs), detail::places_of(params), detail::places_of(ct_outputs));
    auto const written =
        std::tuple(detail::places_of(ct_states), detail::places_of(ct_inputs), detail::places_of(ct_params));
    detail::check_exclusive(op,
        std::array{named_places{"ct_states", std::get<0>(written)},
            named_places{"ct_inputs", std::get<1>(written)}, named_places{"ct_params", std::get<2>(written)}},
        std::array{named_places{"scan_inputs", std::get<0>(read)}, named_places{"params", std::get<1>(read)},
            named_places{"ct_outputs", std::get<2>(read)}});
}

/// Runs a backward pass. Requires check_scan_backward. run_body(states, elements of inputs, params, elements
/// for outputs) runs one iteration of the forward pass on states.
template <bool LeadingAxis, class Kept, class RunBody, class BodyVjp, class... Xs, class Params, class... Ys,
    class... States, class... CtXs, class CtParams>
void run_scan_backward(std::string_view op, Kept& kept, RunBody const& run_body, BodyVjp& body_vjp,
    scan_backward_operands<std::tuple<Xs...>, Params, std::tuple<Ys...>, std::tuple<States&...>,
        std::tuple<CtXs&...>, CtParams> const& operands,
    scan_options const& options)
{
    if constexpr (!LeadingAxis) {
        check_fixed_axes(op, "scan_inputs", fixed_ranks<std::tuple<Xs...>>::value, "scan_input_axes",
            options.scan_input_axes);
        check_fixed_axes(op, "ct_inputs", fixed_ranks<std::tuple<CtXs...>>::value, "scan_input_axes",
            options.scan_input_axes);
        check_fixed_axes(op, "ct_outputs", fixed_ranks<std::tuple<Ys...>>::value, "scan_output_axes",
            options.scan_output_axes);
    }
    kernel::iterations const all = kernel::all_iterations(kept.length());
    auto input_places = detail::places_of(operands.inputs);
    auto ct_input_places = detail::places_of(operands.ct_inputs);
    auto ct_output_places = detail::places_of(operands.ct_outputs);
    detail::place_in_time(input_places, options.scan_input_axes, options.scan_input_directions);
    detail::place_in_time(ct_input_places, options.scan_input_axes, options.scan_input_directions);
    detail::place_in_time(ct_output_places, options.scan_output_axes, options.scan_output_directions);

    using input_cursors = cursor_set<std::tuple<Xs...>, LeadingAxis>;
    auto x_forward = input_cursors::start(operands.inputs, input_places, all);
    auto x = input_cursors::start(operands.inputs, detail::reversed(input_places), all);
    auto ct_x = cursor_set<std::tuple<CtXs&...>, LeadingAxis>::start(
        operands.ct_inputs, detail::reversed(ct_input_places), all);
    auto ct_y = cursor_set<std::tuple<Ys...>, LeadingAxis>::start(
        operands.ct_outputs, detail::reversed(ct_output_places), all);
    discarded_elements<std::tuple<Ys...>, LeadingAxis> discarded(ct_output_places);

    std::size_t iteration = 0;
    auto const advance = [&](auto& states, std::size_t begin, std::size_t end) {
        std::apply([&](auto&... cursor) { (cursor.seek(begin), ...); }, x_forward);
        local_states current(detail::leaves(states));
        for (iteration = begin; iteration < end; ++iteration) {
            detail::enter_all(x_forward);
            run_body(current.get(), detail::input_elements(x_forward), operands.params, discarded.elements());
            detail::leave_all(x_forward);
        }
    };
    shape_guards const state_guards(operands.ct_states);
    shape_guards const param_guards(operands.ct_params);
    local_states ct_current(operands.ct_states);
    auto const pull = [&](std::size_t t, auto const& states) {
        iteration = t;
        detail::enter_all(x);
        detail::enter_all(ct_y);
        detail::enter_all(ct_x);
        detail::for_each_leaf(ct_x, [](auto, auto& cursor) { detail::set_to_zero(cursor.element()); });
        detail::call_body(body_vjp, detail::leaves(states), detail::input_elements(x), operands.params,
            detail::input_elements(ct_y), ct_current.get(), detail::output_elements(ct_x),
            operands.ct_params);
        state_guards.check_shapes(op, "ct_states", operands.ct_states, t);
        param_guards.check_shapes(op, "ct_params", operands.ct_params, t);
        detail::leave_all(x);
        detail::leave_all(ct_y);
        detail::leave_all(ct_x);
    };
    auto const fail = [&](element_reshaped const& found) {
        detail::fail_if_own(op, "ct_inputs", ct_x, found, iteration);
        detail::fail_if_own(op, "scan_outputs", discarded.cursors(), found, iteration);
        detail::fail_if_value(op, "ct_states", operands.ct_states, found, iteration);
        detail::fail_if_value(op, "ct_params", operands.ct_params, found, iteration);
    };
    detail::run_bodies(fail, [&] { kept.reverse(advance, pull); });
}

} // namespace xloom::inline XLOOM_ABI::detail
