#pragma once
// The backward pass of a loop: runs the body's VJP over the iterations from the last to the first.

#include <array>
#include <string_view>
#include <vector>

#include <xloom/control_flow/loop_options.hpp>
#include <xloom/detail/check/cotangents.hpp>
#include <xloom/detail/check/loop.hpp>
#include <xloom/detail/scan/kept_states.hpp>
#include <xloom/detail/scan/scan_backward.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// The states that a forward pass of a loop kept, and the shapes of its results.
template <class State>
struct loop_record {
    kept_states<value_slots, State> states;
    std::vector<shape> state_shapes{};
    std::vector<shape> output_shapes{};
};

} // namespace detail

template <class State>
class loop_residuals;

namespace detail {

/// Returns the residuals for an operator.
template <class State>
loop_record<State>& record_of(loop_residuals<State>& residuals)
{
    return residuals;
}

} // namespace detail

/// The memory of loop_forward_into's carried values, from which loop_backward_into begins. State is the type
/// of the carried values: one type or a std::tuple. One call may use it at a time.
template <class State>
class loop_residuals : private detail::loop_record<State> {
public:
    explicit loop_residuals(checkpoint const& checkpoints = checkpoint::all())
        : detail::loop_record<State>{detail::kept_states<detail::value_slots, State>(checkpoints)}
    {}

private:
    template <class S>
    friend detail::loop_record<S>& detail::record_of(loop_residuals<S>& residuals);
};

namespace detail {

/// Begins a forward pass of at most `limit` iterations.
template <class State>
void start_loop(
    std::string_view op, loop_record<State>& record, std::int64_t limit, loop_options const& options)
{
    checkpoint::kind const policy = record.states.policy();
    bool const reads_length = policy == checkpoint::kind::sqrt || policy == checkpoint::kind::binomial;
    if (reads_length && !options.max_trip_count)
        fail<option_error>(op, ": checkpoint::sqrt and checkpoint::binomial need the number of iterations in "
                               "advance, but options.max_trip_count is empty. Give it, or choose "
                               "checkpoint::online or checkpoint::all.");
    record.states.start(op, static_cast<std::size_t>((std::max)(limit, std::int64_t{0})), /*is_exact*/ false);
}

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

/// Ends a forward pass with these results.
template <class State, class States, class Outputs>
void finish_loop(
    std::string_view op, loop_record<State>& record, States const& states, Outputs const& outputs)
{
    auto const state_shapes = detail::shapes_if_tensors(op, "states", states);
    auto const output_shapes = detail::shapes_of(outputs);
    record.state_shapes.assign(state_shapes.begin(), state_shapes.end());
    record.output_shapes.assign(output_shapes.begin(), output_shapes.end());
    record.states.finish();
}

/// Checks the cotangents of a loop's results.
template <class State, class CtOutputs, class CtStates>
void check_loop_cotangents(std::string_view op, loop_record<State> const& record, CtOutputs const& ct_outputs,
    CtStates const& ct_states)
{
    if (!record.states.is_finished())
        fail<option_error>(op, ": the residuals must be those of a forward pass, but none has finished with "
                               "them. Call loop_forward_into first.");
    detail::check_ranks(op, "ct_outputs", ct_outputs);
    check_cotangents(op, "ct_outputs", detail::shapes_of(ct_outputs), "scan_outputs", record.output_shapes);
    check_cotangents(op, "ct_states", detail::shapes_if_tensors(op, "ct_states", ct_states), "states",
        record.state_shapes);
}

/// Runs a backward pass whose operands are checked. run_body(t, states, elements for outputs) runs iteration
/// t of the forward pass on states.
template <class State, class RunBody, class BodyVjp, class Params, class... Ys, class CtStates,
    class CtParams>
void run_loop_backward(std::string_view op, loop_record<State>& record, RunBody const& run_body,
    BodyVjp& body_vjp, Params const& params, std::tuple<Ys...> const& ct_outputs, CtStates const& ct_states,
    CtParams const& ct_params)
{
    auto const places = detail::places_of(ct_outputs);
    auto ct_y = cursor_set<std::tuple<Ys...>, true>::start(
        ct_outputs, detail::reversed(places), kernel::all_iterations(record.states.length()));
    discarded_elements<std::tuple<Ys...>, true> discarded(places);
    std::size_t iteration = 0;
    auto const advance = [&](State& states, std::size_t begin, std::size_t end) {
        for (iteration = begin; iteration < end; ++iteration)
            run_body(static_cast<std::int64_t>(iteration), detail::leaves(states), discarded.elements());
    };
    shape_guards const guards(ct_params);
    auto const pull = [&](std::size_t t, State const& states) {
        iteration = t;
        auto const values = detail::leaves(states);
        detail::enter_all(ct_y);
        detail::call_body(body_vjp, std::tuple<std::int64_t>(static_cast<std::int64_t>(t)), values, params,
            detail::input_elements(ct_y), ct_states, ct_params);
        detail::leave_all(ct_y);
        detail::for_each_leaf(values, [&]<class X>(auto i, X const& value) {
            if constexpr (tensor<X>)
                if (!detail::have_same_shape(value, std::get<i>(ct_states)))
                    detail::fail_reshaped(op, "ct_states", i, detail::shape_of(value),
                        detail::describe_shape(std::get<i>(ct_states)), t);
        });
        guards.check_shapes(op, "ct_params", ct_params, t);
    };
    auto const fail = [&](element_reshaped const& found) {
        detail::fail_if_own(op, "scan_outputs", discarded.cursors(), found, iteration);
        detail::fail_if_value(op, "ct_states", ct_states, found, iteration);
        detail::fail_if_value(op, "ct_params", ct_params, found, iteration);
    };
    detail::run_bodies(fail, [&] { record.states.reverse(advance, pull); });
}

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
