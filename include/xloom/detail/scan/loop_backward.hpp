#pragma once
// The backward pass of a loop: runs the body's VJP over the iterations from the last to the first.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <xloom/detail/check/cotangents.hpp>
#include <xloom/detail/check/loop.hpp>
#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/scan/scan_backward.hpp>

namespace xloom::inline XLOOM_ABI::detail {

template <class State>
using loop_record = forward_record<value_slots, State>;

/// Returns the shapes of the tensors among the values, and empty shapes for the others.
template <class... Xs>
std::array<shape, sizeof...(Xs)> shapes_if_tensors(
    std::string_view op, std::string_view name, std::tuple<Xs&...> const& values)
{
    std::array<shape, sizeof...(Xs)> shapes{};
    detail::for_each_leaf(values, [&]<class X>(auto i, X const& value) {
        if constexpr (tensor<X>) {
            check_rank(op, name, detail::rank_of(value), i);
            shapes[i] = detail::shape_of(value);
        }
    });
    return shapes;
}

/// Begins a forward pass of at most `limit` iterations on these states.
template <class State, class States>
void start_loop(std::string_view op, loop_record<State>& record, States const& states, std::int64_t limit,
    loop_options const& options)
{
    checkpoint::kind const policy = record.states.policy();
    bool const reads_length = policy == checkpoint::kind::sqrt || policy == checkpoint::kind::binomial;
    if (reads_length && !options.max_trip_count)
        fail<option_error>(op, ": checkpoint::sqrt and checkpoint::binomial need the number of iterations in "
                               "advance, but options.max_trip_count is empty. Give it, or choose "
                               "checkpoint::online or checkpoint::all.");
    auto const initial_shapes = detail::shapes_if_tensors(op, "states", states);
    record.initial_shapes.assign(initial_shapes.begin(), initial_shapes.end());
    record.states.start(op, saturating_cast<std::size_t>(limit), /*is_exact*/ false);
}

/// Requires that the tensors that a cotangent holds, in a sequence or an optional, have the shapes of those
/// that its value holds in the same places; with Counts, that it holds as many.
///
/// Errors    shape_error.
template <bool Counts, class Cotangent, class Value>
void check_held_shapes(std::string_view op, std::string_view cotangents, std::string_view values,
    std::size_t i, Cotangent const& cotangent, Value const& value)
{
    detail::for_each_difference<Counts>(
        cotangent, value, [&](std::string const& actual, std::string const& expected) {
            fail<shape_error>(op, ": a cotangent must have the shape of its value, but ", cotangents, "[", i,
                "] holds ", actual, " where ", values, "[", i, "] holds ", expected, ". Give it that shape.");
        });
}

/// Checks the cotangents of a loop's results.
template <class State, class CtStates, class CtOutputs>
void check_loop_cotangents(std::string_view op, loop_record<State> const& record, CtStates const& ct_states,
    CtOutputs const& ct_outputs)
{
    check_finished(op, record.states.is_finished());
    detail::check_extents(op, "ct_outputs", ct_outputs);
    check_cotangents(op, "ct_outputs", detail::shapes_of(ct_outputs), "scan_outputs", record.output_shapes);
    auto const zeros = detail::const_leaves(detail::leaves(*record.zeros));
    check_optional_cotangents(op, "ct_states", detail::shapes_if_tensors(op, "ct_states", ct_states),
        "states", detail::shapes_if_tensors(op, "states", zeros));
    detail::for_each_leaf(ct_states, [&]<class X>(auto i, X const& cotangent) {
        if constexpr (has_sequence<X>)
            detail::check_held_shapes<true>(op, "ct_states", "states", i, cotangent, std::get<i>(zeros));
    });
}

/// Checks the gradients of a loop's operands.
template <class State, class Params, class CtStates, class CtOutputs, class CtInit, class CtParams>
void check_loop_gradients(std::string_view op, loop_record<State> const& record, Params const& params,
    CtStates const& ct_states, CtOutputs const& ct_outputs, CtInit const& ct_init, CtParams const& ct_params)
{
    check_optional_cotangents(
        op, "ct_init", detail::shapes_if_tensors(op, "ct_init", ct_init), "init", record.initial_shapes);
    detail::for_each_leaf(ct_init, [&]<class X>(auto i, X const& gradient) {
        if constexpr (has_sequence<X>) {
            if (record.states.length() == 0)
                detail::check_held_shapes<false>(
                    op, "ct_init", "init", i, gradient, std::get<i>(detail::leaves(*record.zeros)));
            else
                detail::check_held_shapes<false>(
                    op, "ct_init", "init", i, gradient, std::get<i>(record.states.state_slots()).first());
        }
    });
    detail::check_extents(op, "params", params);
    detail::check_extents(op, "ct_params", ct_params);
    check_cotangents(op, "ct_params", detail::shapes_of(ct_params), "params", detail::shapes_of(params));
    auto const of_init = detail::traversals_of(ct_init);
    auto const of_params = detail::traversals_of(ct_params);
    auto const of_values = detail::traversals_of(params);
    auto const of_states = detail::traversals_of(ct_states);
    auto const of_outputs = detail::traversals_of(ct_outputs);
    auto const by_init = numbered("ct_init", of_init);
    auto const by_params = numbered("ct_params", of_params);
    auto const read = all_operands(
        numbered("params", of_values), numbered("ct_states", of_states), numbered("ct_outputs", of_outputs));
    check_written(op, all_operands(by_init, by_params), read);
    detail::check_held_tensors<true>(op, "ct_init", ct_init, all_operands(by_params, read));
    detail::check_held_tensors<false>(op, "ct_states", ct_states, all_operands(by_init, by_params));
}

/// Runs a backward pass from the cotangents of the final values, and returns those of the initial ones. All
/// operands are checked. run_body(t, states, elements for outputs) runs iteration t of the forward pass on
/// states.
template <class State, class RunBody, class BodyVjp, class Params, class... Ys, class CtParams>
State run_loop_backward(std::string_view op, loop_record<State>& record, RunBody const& run_body,
    BodyVjp& body_vjp, Params const& params, State ct_states, std::tuple<Ys...> const& ct_outputs,
    CtParams const& ct_params)
{
    auto const traversals = detail::traversals_of(ct_outputs);
    auto ct_y = cursor_set<std::tuple<Ys...>, true>::start(
        ct_outputs, detail::reversed(traversals), kernel::all_iterations(record.states.length()));
    discarded_elements<std::tuple<Ys...>, true> discarded(traversals);
    std::size_t iteration = 0;
    auto const advance = [&](State& states, std::size_t begin, std::size_t end) {
        for (iteration = begin; iteration < end; ++iteration)
            run_body(static_cast<std::int64_t>(iteration), detail::leaves(states), discarded.elements());
    };
    shape_guards const guards(ct_params);
    carried_cotangents<State> ct_current(std::move(ct_states));
    auto const pull = [&](std::size_t t, State const& states) {
        iteration = t;
        auto const values = detail::leaves(states);
        auto const before = ct_current.before();
        detail::for_each_leaf(
            values, [&](auto i, auto const& value) { detail::set_to_zero_of(std::get<i>(before), value); });
        detail::enter_all(ct_y);
        detail::call_body(body_vjp, std::tuple<std::int64_t>(static_cast<std::int64_t>(t)), values, params,
            ct_current.after(), detail::input_elements(ct_y), before, ct_params);
        detail::leave_all(ct_y);
        detail::for_each_leaf(values, [&](auto i, auto const& value) {
            detail::for_each_difference<true>(
                value, std::get<i>(before), [&](std::string const& was, std::string const& is) {
                    detail::fail_reshaped(op, "ct_states", i, was, is, t);
                });
        });
        guards.check_shapes(op, "ct_params", ct_params, t);
        ct_current.step();
    };
    auto const fail = [&](element_reshaped const& found) {
        detail::fail_if_own(op, "scan_outputs", discarded.cursors(), found, iteration);
        detail::fail_if_value(op, "ct_params", ct_params, found, iteration);
    };
    detail::run_bodies(fail, [&] { record.states.reverse(op, advance, pull); });
    return ct_current.result();
}

} // namespace xloom::inline XLOOM_ABI::detail
