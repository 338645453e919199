#pragma once
// The backward pass of scan_lanes: the VJP of its body over the states that a forward pass has kept, and what
// it requires of the call.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <xloom/detail/check/cotangents.hpp>
#include <xloom/detail/check/scan_lanes.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/kernel/item_rows.hpp>
#include <xloom/detail/scan/batch_rows.hpp>
#include <xloom/detail/scan/lane_operands.hpp>
#include <xloom/detail/scan/lane_requirements.hpp>
#include <xloom/detail/scan/lane_scan.hpp>
#include <xloom/detail/scan/lanes.hpp>
#include <xloom/detail/scan/vjp_requirements.hpp>
#include <xloom/detail/tensor/xtensor.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The scan inputs that are parameters [N]. Their cotangents are states of the backward pass; those of the
/// others are its outputs.
template <class Inputs>
struct lane_parameters;
template <class... Xs>
struct lane_parameters<std::tuple<Xs...>> {
    static constexpr std::size_t inputs = sizeof...(Xs);
    static constexpr std::array<bool, inputs> are{(enable_tensor<bare<Xs>>::rank == 1)...};

    /// Returns the number of inputs of the same kind before input i.
    static constexpr std::size_t place(std::size_t i)
    {
        return static_cast<std::size_t>(
            std::count(are.begin(), are.begin() + static_cast<std::ptrdiff_t>(i), are[i]));
    }
    static constexpr std::size_t count = static_cast<std::size_t>(std::count(are.begin(), are.end(), true));
};

/// The call of a body's VJP on lanes.
template <class BodyVjp, class States, class Inputs, class CtOutputs>
struct lane_vjp_call;
template <class BodyVjp, class... Ss, class... Xs, class... Ys>
struct lane_vjp_call<BodyVjp, std::tuple<Ss...>, std::tuple<Xs...>, std::tuple<Ys...>>
    : call_of<BodyVjp,
          std::tuple<lanes<item_t<bare<Ss>>, fewest_lanes> const&...,
              lanes<item_t<bare<Xs>>, fewest_lanes> const&...,
              lanes<item_t<bare<Ss>>, fewest_lanes> const&...,
              lanes<item_t<bare<Ys>>, fewest_lanes> const&..., lanes<item_t<bare<Ss>>, fewest_lanes>&...,
              lanes<item_t<bare<Xs>>, fewest_lanes>&...>> {};

/// Requires the VJP of a body of lanes.
template <class Call>
struct is_lane_vjp {
    static consteval bool holds()
    {
        static_assert(Call::is_valid,
            "the VJP must be callable, while it is const, as body_vjp(state const&..., element const&..., "
            "state cotangent const&..., output cotangent const&..., state cotangent&..., element "
            "cotangent&...), of lanes, where the first state cotangents are those after the iteration");
        return Call::is_valid;
    }
};

/// Requires scan inputs, states and cotangents of floating-point numbers, whose ranks are known.
template <class State, class Inputs, class CtStates, class CtOutputs, class Outputs>
struct has_lane_cotangents {
    template <class... Xs>
    static consteval bool are_known(std::tuple<Xs...>*)
    {
        return ((enable_tensor<bare<Xs>>::rank != dynamic_rank &&
                 std::is_floating_point_v<item_t<bare<Xs>>>)&&...);
    }
    template <class... Ys, class... Vs>
    static consteval bool are_of_outputs(std::tuple<Ys...>*, std::tuple<Vs...>*)
    {
        if constexpr (sizeof...(Ys) != sizeof...(Vs))
            return false;
        else
            return (
                (is_lane_operand<bare<Ys>, 2> && std::is_same_v<item_t<bare<Ys>>, lane_item_of_t<Vs>>)&&...);
    }
    static consteval bool holds()
    {
        if constexpr (!are_known(static_cast<Inputs*>(nullptr)) ||
                      !are_known(static_cast<leaves_t<State>*>(nullptr)))
            static_assert(never<has_lane_cotangents>,
                "states and scan inputs that have a gradient are floats or doubles, and their ranks are "
                "known at compile time; capture other values in the body");
        else if constexpr (std::tuple_size_v<CtStates> != 0 && !have_same_items<leaves_t<State>, CtStates>)
            static_assert(never<has_lane_cotangents>,
                "there is a cotangent [N] for each state, with items of the state's type, or none");
        else if constexpr (!are_of_outputs(static_cast<CtOutputs*>(nullptr), static_cast<Outputs*>(nullptr)))
            static_assert(never<has_lane_cotangents>,
                "there is a cotangent [N, T] for each output of the body, with items of the output's type");
        else
            return true;
        return false;
    }
};

/// A body that keeps the states before each step, where another one has its outputs.
template <class Body, std::size_t States, std::size_t Inputs>
struct lane_state_keeper {
    Body const& body;

    template <class... Arguments>
    XLOOM_ALWAYS_INLINE void operator()(Arguments&... arguments) const
    {
        std::tuple<Arguments&...> const all(arguments...);
        auto const step = detail::lane_step_of<States + Inputs>(body, all);
        detail::for_each_leaf(detail::leaves(step.state), [&](auto i, auto const& state) {
            std::get<States + Inputs + i>(all) = std::get<i>(all);
            std::get<i>(all) = state;
        });
    }
};

/// A step of the backward pass: a body whose states are the cotangents of states and parameters, whose
/// elements are those of the forward pass and the cotangents of its outputs, and whose outputs are the
/// cotangents of elements. If IsRagged, a last state counts the steps until the last one of its sequence.
template <class BodyVjp, std::size_t States, class Parameters, std::size_t CtOutputs, bool IsRagged>
struct lane_backward_step {
    static constexpr std::size_t X = Parameters::inputs;
    static constexpr std::size_t carried = States + Parameters::count, kept = carried + IsRagged,
                                 elements = kept + States, ct_outputs = elements + X,
                                 ct_elements = ct_outputs + CtOutputs;

    BodyVjp const& body_vjp;

    template <class... Arguments>
    XLOOM_ALWAYS_INLINE void operator()(Arguments&... arguments) const
    {
        std::tuple<Arguments&...> const all(arguments...);
        if constexpr (IsRagged)
            run_active(
                all, std::make_index_sequence<carried>(), std::make_index_sequence<X - Parameters::count>());
        else
            run(all);
    }

private:
    /// Runs the step in the sequences whose last step has been reached.
    template <class All, std::size_t... c, std::size_t... e>
    XLOOM_ALWAYS_INLINE void run_active(
        All const& all, std::index_sequence<c...>, std::index_sequence<e...>) const
    {
        auto& steps_until_last = std::get<carried>(all);
        auto const choose = [&]<class T>(T& ct, std::type_identity_t<T> const& ended) {
            ct = select(T(steps_until_last) > 0, ended, ct);
        };
        auto const before = std::tuple(std::get<c>(all)...);
        run(all);
        (choose(std::get<c>(all), std::get<c>(before)), ...);
        (choose(std::get<ct_elements + e>(all), 0), ...);
        steps_until_last -= 1;
    }

    template <class All>
    XLOOM_ALWAYS_INLINE void run(All const& all) const
    {
        [&]<std::size_t... s, std::size_t... x, std::size_t... y>(
            std::index_sequence<s...>, std::index_sequence<x...>, std::index_sequence<y...>) {
            auto const ct_next = std::tuple(std::get<s>(all)...);
            ((std::get<s>(all) = 0), ...);
            ((Parameters::are[x] ? void() : void(std::get<place_of(x)>(all) = 0)), ...);
            body_vjp(std::as_const(std::get<kept + s>(all))..., std::as_const(std::get<elements + x>(all))...,
                std::get<s>(ct_next)..., std::as_const(std::get<ct_outputs + y>(all))..., std::get<s>(all)...,
                std::get<place_of(x)>(all)...);
        }(std::make_index_sequence<States>(), std::make_index_sequence<X>(),
            std::make_index_sequence<CtOutputs>());
    }

    /// Returns the place of the cotangent of element x.
    static constexpr std::size_t place_of(std::size_t x)
    {
        return (Parameters::are[x] ? States : ct_elements) + Parameters::place(x);
    }
};

/// Returns the rows of a matrix from the last to the first.
template <class Item>
kernel::item_rows<Item> reversed(kernel::item_rows<Item> const& of, std::size_t rows)
{
    return {of.at(rows - 1, 0), -of.row, of.column};
}
template <class T>
lane_input<T> reversed(lane_input<T> const& of, std::size_t rows)
{
    return of.is_parameter ? of : lane_input<T>{detail::reversed(of.items, rows), false};
}
template <class T>
lane_output<T> reversed(lane_output<T> const& of, std::size_t rows)
{
    return {detail::reversed(of.items, rows)};
}
template <class... Operands>
std::tuple<Operands...> all_reversed(std::tuple<Operands...> const& operands, std::size_t rows)
{
    return std::apply(
        [&](auto const&... each) { return std::tuple(detail::reversed(each, rows)...); }, operands);
}

/// Returns references to the tensors of one rank among gradients.
template <std::size_t Rank, class... Xs>
auto of_rank(std::tuple<Xs&...> const& gradients)
{
    return std::apply(
        [](Xs&... gradient) {
            return std::tuple_cat([](Xs& each) {
                if constexpr (enable_tensor<Xs>::rank == Rank)
                    return std::tie(each);
                else
                    return std::tuple<>();
            }(gradient)...);
        },
        gradients);
}

/// A value [T, N] for every step of each sequence.
template <class T>
using lane_history = xt::xtensor<T, 2>;

/// Runs the forward pass, and returns the states before each step.
template <class Body, class... Ss, class Inputs, class Policy>
auto keep_lane_states(std::string_view op, Body const& body, batch_rows const& rows,
    std::tuple<Ss&...> const& states, Inputs const& inputs, Policy const& policy)
{
    using kept_states = std::tuple<lane_history<item_t<Ss>>...>;
    check_kept_states(op, rows.longest(), {rows.size()}, sizeof(double), "Run fewer iterations");
    kept_states kept{lane_history<item_t<Ss>>::from_shape({rows.longest(), rows.size()})...};
    detail::run_lanes(lane_state_keeper<Body, sizeof...(Ss), std::tuple_size_v<Inputs>>{body}, rows,
        detail::lane_states_of(states, 0), inputs, detail::lane_outputs_of(detail::leaves(kept), 1), policy);
    return kept;
}

/// Returns, for each sequence, the number of steps after its last one.
inline xt::xtensor<std::int64_t, 1> steps_past_end(batch_rows const& rows)
{
    auto steps = xt::xtensor<std::int64_t, 1>::from_shape({rows.size()});
    for (std::size_t n = 0; n < rows.size(); ++n)
        steps(n) = static_cast<std::int64_t>(rows.longest() - rows.length(n));
    return steps;
}

/// Runs both passes. `gradient` has the cotangents of the final states, which become those of init, and
/// zeros.
template <bool IsRagged, class Body, class BodyVjp, class... Ss, class Inputs, class CtOutputs,
    class Gradient, class Policy>
void run_scan_lanes_vjp(std::string_view op, Body const& body, BodyVjp const& body_vjp,
    std::tuple<Ss&...> const& states, Inputs const& scan_inputs, batch_rows const& rows,
    CtOutputs const& ct_outputs, lane_extent const& checked, Gradient& gradient, Policy const& policy)
{
    using parameters = lane_parameters<Inputs>;
    std::size_t const T = rows.longest();
    auto const inputs = detail::lane_inputs_of(scan_inputs, checked.batch_axis);
    auto const kept = detail::keep_lane_states(op, body, rows, states, inputs, policy);
    if (T == 0 || rows.size() == 0)
        return;
    auto const ct_inputs = detail::leaves(gradient.scan_inputs);
    std::conditional_t<IsRagged, std::tuple<xt::xtensor<std::int64_t, 1>>, std::tuple<>> until_last;
    if constexpr (IsRagged)
        std::get<0>(until_last) = steps_past_end(rows);
    detail::run_lanes(
        lane_backward_step<BodyVjp, sizeof...(Ss), parameters, std::tuple_size_v<CtOutputs>, IsRagged>{
            body_vjp},
        batch_rows(op, std::nullopt, checked.extent),
        detail::lane_states_of(std::tuple_cat(detail::leaves(gradient.init), detail::of_rank<1>(ct_inputs),
                                   detail::leaves(until_last)),
            0),
        std::tuple_cat(detail::all_reversed(detail::lane_inputs_of(kept, 1), T),
            detail::all_reversed(inputs, T),
            detail::all_reversed(detail::lane_inputs_of(ct_outputs, checked.batch_axis), T)),
        detail::all_reversed(detail::lane_outputs_of(detail::of_rank<2>(ct_inputs), checked.batch_axis), T),
        policy);
}

} // namespace xloom::inline XLOOM_ABI::detail
