#pragma once
// The step and the result of a pure scan, and the iterations that scan and scan_batched share.

#include <xloom/detail/scan/body_call.hpp>
#include <xloom/detail/scan/step.hpp>

namespace xloom::inline XLOOM_ABI {

/// The value that the body of scan returns: the next states, and this iteration's outputs. Construction
/// evaluates lazy xtensor expressions inside the body, so that none of them outlives the body's variables. A
/// body with several return statements must name one type, because a container and a lazy expression deduce
/// two: `-> xloom::scan_step<xt::xtensor<float, 1>>` before the braces, and `return {2 * h};`.
template <class State, class ScanOutputs = std::tuple<>>
struct scan_step {
    State state;
    ScanOutputs scan_outputs{};
};
template <class State>
scan_step(State&&) -> scan_step<detail::stored_t<State>>;
template <class State, class ScanOutputs>
scan_step(State&&, ScanOutputs&&) -> scan_step<detail::stored_t<State>, detail::stored_t<ScanOutputs>>;

/// The step deduced from three or more values, which scan rejects: states and outputs cannot be
/// distinguished.
template <>
struct scan_step<detail::loose_values> {
    explicit scan_step(auto const&...) {}
};
template <class A, class B, class C, class... More>
scan_step(A const&, B const&, C const&, More const&...) -> scan_step<detail::loose_values>;

/// The result of scan and scan_batched: the states after the last iteration, and the stacked outputs.
template <class State, class ScanOutputs>
struct scan_result {
    State final_state;
    ScanOutputs scan_outputs;
};

namespace detail {

template <class T>
inline constexpr bool is_scan_step = false;
template <class State, class ScanOutputs>
inline constexpr bool is_scan_step<scan_step<State, ScanOutputs>> = true;
template <>
inline constexpr bool is_scan_step<scan_step<loose_values>> = false;

template <std::size_t N>
void place_in_time(std::array<placed_operand, N>& places, axes const& axis, scan_directions const& directions)
{
    for (std::size_t i = 0; i < N; ++i) {
        places[i].axis = wrap_axis(axis_option(axis, i), places[i].memory.layout.dims.size());
        places[i].reverse = is_reverse(directions, i);
    }
}

/// Runs iterations [begin, end) of a pure scan over cursors; `push` receives the outputs of each. The final
/// states are left in `states`.
template <class Step, class Body, class States, class Elements, class Push>
void run_iterations(std::string_view op, Body& body, States const& states, Elements& elements,
    std::size_t begin, std::size_t end, Push&& push, std::optional<std::size_t> row = {})
{
    for (std::size_t t = begin; t < end; ++t) {
        detail::enter_all(elements);
        Step step = detail::call_body(body, detail::const_leaves(states), detail::input_elements(elements));
        detail::leave_all(elements);
        auto const returned = detail::leaves(step.state);
        detail::for_each_leaf(returned, [&](auto i, auto const& value) {
            if (!detail::have_same_shape(std::get<i>(states), value))
                detail::fail_reshaped(op, "states", i, detail::shape_of(std::get<i>(states)),
                    detail::describe_shape(value), t, row);
        });
        push(detail::leaves(step.scan_outputs), t);
        detail::for_each_leaf(
            returned, [&](auto i, auto& value) { detail::assign_carried(std::get<i>(states), value); });
    }
}

/// Runs run_iterations, with the errors of name_states where a state is a tensor.
///
/// Why others are not passed through name_states: g++ 12 takes 3 times as long for a scalar state.
template <class Step, class Body, class... States, class Elements, class Push>
void iterate(std::string_view op, Body& body, std::tuple<States&...> const& states, Elements& elements,
    std::size_t begin, std::size_t end, Push&& push, std::optional<std::size_t> row = {})
{
    if constexpr ((tensor<States> || ...))
        detail::name_states(op, states,
            [&] { detail::run_iterations<Step>(op, body, states, elements, begin, end, push, row); });
    else
        detail::run_iterations<Step>(op, body, states, elements, begin, end, push, row);
}

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
