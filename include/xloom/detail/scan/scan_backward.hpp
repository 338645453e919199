#pragma once
// The backward pass of a scan: runs the body's VJP over the iterations from the last to the first.

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <xloom/detail/check/cotangents.hpp>
#include <xloom/detail/check/scan.hpp>
#include <xloom/detail/scan/cotangents.hpp>
#include <xloom/detail/scan/iteration.hpp>
#include <xloom/detail/scan/residuals.hpp>

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
    explicit discarded_elements(std::array<traversal, K> const& traversals)
        : buffers_([&]<std::size_t... I>(std::index_sequence<I...>) {
              return decltype(buffers_){item_buffer<item_t<Ys>>(element_count(element(traversals[I])))...};
          }(std::index_sequence_for<Ys...>{})),
          cursors_([&]<std::size_t... I>(std::index_sequence<I...>) {
              return decltype(cursors_){
                  cursor<Ys>(std::get<I>(buffers_).data(), in_one_place(element(traversals[I])), 1)...};
          }(std::index_sequence_for<Ys...>{}))
    {
        detail::enter_all(cursors_);
    }

    discarded_elements(discarded_elements const&) = delete;
    discarded_elements& operator=(discarded_elements const&) = delete;

    auto elements() { return detail::output_elements(cursors_); }
    auto const& cursors() const { return cursors_; }

private:
    static shape element(traversal const& along) { return drop_axis(along.memory.layout.dims, along.axis); }
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
std::array<traversal, N> reversed(std::array<traversal, N> traversals)
{
    for (traversal& each : traversals)
        each.reverse = !each.reverse;
    return traversals;
}

/// The operands of a backward pass: tuples of references, of which the gradients are written.
template <class Inputs, class Params, class CtStates, class CtOutputs, class CtInit, class CtInputs,
    class CtParams>
struct scan_backward_operands {
    Inputs inputs;
    Params params;
    CtStates ct_states; ///< or an empty tuple
    CtOutputs ct_outputs;
    CtInit ct_init; ///< or an empty tuple
    CtInputs ct_inputs;
    CtParams ct_params;
};
template <class... Tuples>
scan_backward_operands(Tuples...) -> scan_backward_operands<Tuples...>;

/// Checks the operands of a backward pass.
template <class Record, class Operands>
void check_scan_backward(
    std::string_view op, Record const& record, Operands const& operands, scan_options const& options)
{
    auto const& [inputs, params, ct_states, ct_outputs, ct_init, ct_inputs, ct_params] = operands;
    detail::check_extents(op, "scan_inputs", inputs);
    detail::check_extents(op, "params", params);
    detail::check_extents(op, "ct_states", ct_states);
    detail::check_extents(op, "ct_outputs", ct_outputs);
    detail::check_extents(op, "ct_init", ct_init);
    detail::check_extents(op, "ct_scan_inputs", ct_inputs);
    detail::check_extents(op, "ct_params", ct_params);
    check_finished(op, record.states.is_finished());
    auto const input_shapes = detail::shapes_of(inputs);
    std::size_t const length = check_scan(op, input_shapes, record.output_shapes.size(), options);
    if (length != record.states.length())
        fail<shape_error>(op, ": the residuals must be those of a forward pass of the same length, but ",
            "scan_inputs have ", length, " elements and the forward pass had ", record.states.length(),
            " iterations. Give both the same scan inputs.");
    auto const state_shapes = detail::shapes_of(detail::const_leaves(detail::leaves(*record.zeros)));
    check_optional_cotangents(op, "ct_states", detail::shapes_of(ct_states), "states", state_shapes);
    auto const ct_output_shapes = detail::shapes_of(ct_outputs);
    check_cotangents(op, "ct_outputs", ct_output_shapes, "scan_outputs", record.output_shapes);
    if (length != 0) // an empty output of a dynamic rank is [0], whatever its axis
        check_scan_outputs(op, ct_output_shapes, length, options, words_of_ct_outputs);
    check_optional_cotangents(op, "ct_init", detail::shapes_of(ct_init), "states", state_shapes);
    check_cotangents(op, "ct_scan_inputs", detail::shapes_of(ct_inputs), "scan_inputs", input_shapes);
    check_cotangents(op, "ct_params", detail::shapes_of(ct_params), "params", detail::shapes_of(params));
    check_written(op,
        all_operands(numbered("ct_init", detail::traversals_of(ct_init)),
            numbered("ct_scan_inputs", detail::traversals_of(ct_inputs)),
            numbered("ct_params", detail::traversals_of(ct_params))),
        all_operands(numbered("scan_inputs", detail::traversals_of(inputs)),
            numbered("params", detail::traversals_of(params)),
            numbered("ct_states", detail::traversals_of(ct_states)),
            numbered("ct_outputs", detail::traversals_of(ct_outputs))));
}

/// The type of a pullback's cotangent X of a state before its shape is checked. Why tensors are not of the
/// state's type yet: a fixed shape or another rank would read past their ends.
template <class State, class X>
using unchecked_cotangent_t =
    std::conditional_t<tensor<State> && (tensor<X> || lazy<X>), input_t<X>, State const>;

/// Returns a pullback's cotangents of states, lazy expressions among them evaluated.
///
/// Errors    shape_error: the items of a lazy expression do not fit in memory.
template <class State, class CtStates>
auto unchecked_cotangents(CtStates const& ct_states)
{
    detail::check_evaluated_sizes(ct_states);
    return []<class... States, class... Xs>(std::tuple<States&...> const*, std::tuple<Xs&...> const& values) {
        return std::apply(
            [](auto&... value) { return std::tuple<unchecked_cotangent_t<States, bare<Xs>>...>(value...); },
            values);
    }(static_cast<leaves_t<State> const*>(nullptr), detail::leaves(ct_states));
}

/// Returns the cotangents of the final states: copies of these, or zeros if there are none.
template <class State, class CtStates>
State final_cotangents(CtStates const& ct_states, State const& zeros)
{
    if constexpr (std::tuple_size_v<CtStates> == 0)
        return zeros;
    else
        return detail::copied_states<State>(ct_states);
}

/// Adds the cotangents of the initial states to their gradients, if there are any.
template <class CtInit, class State>
void add_all(CtInit const& ct_init, State const& by_states)
{
    detail::for_each_leaf(ct_init,
        [&](auto i, auto& gradient) { detail::add_to(gradient, std::get<i>(detail::leaves(by_states))); });
}

/// Requires that time is axis 0 of every operand of a backward pass whose type has a fixed shape. Requires
/// check_scan_backward.
///
/// Errors    option_error: another axis.
template <class Inputs, class CtOutputs, class CtInputs>
void check_fixed_backward_axes(std::string_view op, scan_options const& options)
{
    check_fixed_axes(
        op, "scan_inputs", fixed_ranks<Inputs>::value, "scan_input_axes", options.scan_input_axes);
    check_fixed_axes(
        op, "ct_scan_inputs", fixed_ranks<CtInputs>::value, "scan_input_axes", options.scan_input_axes);
    check_fixed_axes(
        op, "ct_outputs", fixed_ranks<CtOutputs>::value, "scan_output_axes", options.scan_output_axes);
}

/// Runs a backward pass from the cotangents of the final states, and returns those of the initial states.
/// Requires check_scan_backward. run_body(states, elements of inputs, params, elements for outputs) runs one
/// iteration of the forward pass on states.
template <bool LeadingAxis, class State, class Kept, class RunBody, class BodyVjp, class... Xs, class Params,
    class CtStates, class... Ys, class CtInit, class... CtXs, class CtParams>
State run_scan_backward(std::string_view op, Kept& kept, RunBody const& run_body, BodyVjp& body_vjp,
    scan_backward_operands<std::tuple<Xs...>, Params, CtStates, std::tuple<Ys...>, CtInit,
        std::tuple<CtXs&...>, CtParams> const& operands,
    State ct_states, scan_options const& options)
{
    if constexpr (!LeadingAxis)
        detail::check_fixed_backward_axes<std::tuple<Xs...>, std::tuple<Ys...>, std::tuple<CtXs...>>(
            op, options);
    if (kept.length() == 0)
        return ct_states;
    kernel::iterations const all = kernel::all_iterations(kept.length());
    auto const input_traversals =
        detail::traversals_in_time(operands.inputs, options.scan_input_axes, options.scan_input_directions);
    auto const ct_input_traversals = detail::traversals_in_time(
        operands.ct_inputs, options.scan_input_axes, options.scan_input_directions);
    auto const ct_output_traversals = detail::traversals_in_time(
        operands.ct_outputs, options.scan_output_axes, options.scan_output_directions);

    using input_cursors = cursor_set<std::tuple<Xs...>, LeadingAxis>;
    auto x_forward = input_cursors::start(operands.inputs, input_traversals, all);
    auto x = input_cursors::start(operands.inputs, detail::reversed(input_traversals), all);
    auto ct_x = cursor_set<std::tuple<CtXs&...>, LeadingAxis>::start(
        operands.ct_inputs, detail::reversed(ct_input_traversals), all);
    detail::for_each_leaf(ct_x, [](auto, auto& cursor) { cursor.start_from_input(); });
    auto ct_y = cursor_set<std::tuple<Ys...>, LeadingAxis>::start(
        operands.ct_outputs, detail::reversed(ct_output_traversals), all);
    discarded_elements<std::tuple<Ys...>, LeadingAxis> discarded(ct_output_traversals);

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
    shape_guards const state_guards(detail::leaves(ct_states));
    shape_guards const param_guards(operands.ct_params);
    carried_cotangents<State> ct_current(std::move(ct_states));
    auto const pull = [&](std::size_t t, auto const& states) {
        iteration = t;
        auto const before = ct_current.before();
        detail::for_each_leaf(before, [](auto, auto& ct) { detail::set_to_zero(ct); });
        detail::enter_all(x);
        detail::enter_all(ct_y);
        detail::enter_all(ct_x);
        detail::call_body(body_vjp, detail::leaves(states), detail::input_elements(x), operands.params,
            ct_current.after(), detail::input_elements(ct_y), before, detail::output_elements(ct_x),
            operands.ct_params);
        state_guards.check_shapes(op, "ct_states", before, t);
        param_guards.check_shapes(op, "ct_params", operands.ct_params, t);
        detail::leave_all(x);
        detail::leave_all(ct_y);
        detail::leave_all(ct_x);
        ct_current.step();
    };
    auto const fail = [&](element_reshaped const& found) {
        detail::fail_if_own(op, "ct_scan_inputs", ct_x, found, iteration);
        detail::fail_if_own(op, "scan_outputs", discarded.cursors(), found, iteration);
        detail::fail_if_value(op, "ct_params", operands.ct_params, found, iteration);
    };
    detail::run_bodies(fail, [&] { kept.reverse(op, advance, pull); });
    return ct_current.result();
}

} // namespace xloom::inline XLOOM_ABI::detail
