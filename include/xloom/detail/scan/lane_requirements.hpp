#pragma once
// The requirements on the types of scans and loops whose sequences are lanes.

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/scan/lane_loop.hpp>
#include <xloom/detail/scan/lane_operands.hpp>
#include <xloom/detail/scan/lane_scan.hpp>
#include <xloom/detail/scan/requirements.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True for a tensor of lane items that may have a rank.
template <class X, std::size_t... Ranks>
inline constexpr bool is_lane_operand = false;
template <tensor X, std::size_t... Ranks>
inline constexpr bool is_lane_operand<X, Ranks...> =
    lane_item<item_t<X>> && (... || (enable_tensor<X>::rank == Ranks));

template <class Leaves, std::size_t... Ranks>
inline constexpr bool are_lane_operands = false;
template <class... Xs, std::size_t... Ranks>
inline constexpr bool are_lane_operands<std::tuple<Xs...>, Ranks...> =
    (is_lane_operand<bare<Xs>, Ranks...> && ...);

/// Requires states, inputs and outputs, tuples of references, of ranks and items that lanes have.
template <class States, class Inputs, class Outputs = std::tuple<>>
struct of_lane_ranks {
    static consteval bool holds()
    {
        if constexpr (!are_lane_operands<States, 1, 2>)
            static_assert(never<of_lane_ranks>,
                "a state is a tensor [N] or [N, K] of floats, doubles or integers of "
                "32 or 64 bits, whose rank is known at compile time");
        else if constexpr (!are_lane_operands<Inputs, 1, 2, dynamic_rank>)
            static_assert(never<of_lane_ranks>,
                "a scan input is a tensor [N, T] of floats, doubles or integers of 32 or 64 bits, or [N], a "
                "parameter of each sequence; capture other values in the body");
        else if constexpr (!are_lane_operands<Outputs, 2, dynamic_rank>)
            static_assert(never<of_lane_ranks>,
                "a scan output is a tensor [N, T] of floats, doubles or integers of 32 or 64 bits");
        else
            return true;
        return false;
    }
};

/// The call of a body that updates states: body(state&..., element const&..., output&...).
template <class Body, class States, class Inputs, class Outputs>
struct lane_update_call
    : lane_scan_call<fewest_lanes, Body, typename lane_operands<States>::states,
          typename lane_operands<Inputs>::inputs, typename lane_operands<Outputs>::outputs> {};

/// Requires a body that takes lanes, also while it is const: ConstCall is the call of a const body.
template <class Call, class ConstCall>
struct takes_lanes {
    static consteval bool holds()
    {
        if constexpr (!Call::is_valid)
            static_assert(never<takes_lanes>,
                "the body must take lanes of the states, of an element of each input, then, in "
                "scan_lanes_into, of the outputs; write auto& or auto const& in place of the type of a "
                "number");
        else
            static_assert(ConstCall::is_valid,
                "a body of lanes is called while it is const, by several threads at once if the policy has "
                "them; it cannot be a mutable lambda");
        return ConstCall::is_valid;
    }
};

/// Requires a body that updates lanes of states and writes lanes of outputs.
template <class Body, class States, class Inputs, class Outputs>
using updates_lanes = requirements<takes_lanes<lane_update_call<Body, States, Inputs, Outputs>,
                                       lane_update_call<Body const, States, Inputs, Outputs>>,
    scan_body_in_place<lane_update_call<Body const, States, Inputs, Outputs>>>;

/// Requires states [N] of a body that returns steps.
template <class States>
struct single_lane_states;
template <class... Xs>
struct single_lane_states<std::tuple<Xs...>> {
    static consteval bool holds()
    {
        constexpr bool is_valid = ((enable_tensor<bare<Xs>>::rank == 1) && ...);
        static_assert(is_valid, "a state of scan_lanes is a tensor [N]; scan_lanes_into takes [N, K], too");
        return is_valid;
    }
};

/// Requires states and parameters [N] of a loop, at least one state.
template <class States, class Parameters>
struct of_single_lanes {
    static consteval bool holds()
    {
        constexpr bool is_valid = std::tuple_size_v<States> != 0 && are_lane_operands<States, 1> &&
                                  are_lane_operands<Parameters, 1>;
        static_assert(is_valid,
            "loop_lanes_into has at least one state; its states and parameters are tensors [N] "
            "of floats, doubles or integers of 32 or 64 bits; capture other values in the body");
        return is_valid;
    }
};

/// True for the type of trip_counts: a tensor [N] of std::int64_t, or std::tuple().
template <class X>
inline constexpr bool is_trip_counts = std::is_same_v<X, std::tuple<>>;
template <tensor X>
inline constexpr bool is_trip_counts<X> =
    std::is_same_v<item_t<X>, std::int64_t> && enable_tensor<X>::rank == 1;

/// Requires a variable for trip counts, or none.
template <class Counts>
struct holds_trip_counts {
    static consteval bool holds()
    {
        constexpr bool is_valid = is_trip_counts<bare<Counts>> &&
                                  is_writable<std::remove_reference_t<Counts>>::value &&
                                  outlives_call<Counts>;
        static_assert(is_valid,
            "trip_counts is a variable [N] of std::int64_t, or a view of one, or std::tuple(); "
            "it comes after the parameters, before the options");
        return is_valid;
    }
};

/// Requires a body that updates lanes of states and says in which of them its loop goes on.
template <class Body, class States, class Parameters>
struct ends_lanes {
    static consteval bool holds()
    {
        using call = lane_update_call<Body, States, Parameters, std::tuple<>>;
        using const_call = lane_update_call<Body const, States, Parameters, std::tuple<>>;
        if constexpr (!takes_lanes<call, const_call>::holds())
            return false;
        else if constexpr (!writes_by_reference<const_call>::holds())
            return false;
        else {
            constexpr bool is_valid = mask_bytes<bare<typename const_call::result>> != 0;
            static_assert(is_valid,
                "the body of loop_lanes_into must return a comparison of lanes: whether each loop goes on");
            return is_valid;
        }
    }
};

/// The call of a body that returns steps: body(state const&..., element const&...).
template <class Body, class States, class Inputs>
struct lane_step_call;
template <class Body, class... Ss, class... Xs>
struct lane_step_call<Body, std::tuple<Ss...>, std::tuple<Xs...>>
    : call_of<Body, std::tuple<lanes<item_t<bare<Ss>>, fewest_lanes> const&...,
                        lanes<item_t<bare<Xs>>, fewest_lanes> const&...>> {};

/// The type of the numbers in a value of a step: lanes, or a number that is the same in all of them.
template <class V>
struct lane_item_of {
    using type = V;
};
template <class T, std::size_t N>
struct lane_item_of<lanes<T, N>> {
    using type = T;
};
template <class V>
using lane_item_of_t = typename lane_item_of<bare<V>>::type;

/// Requires a step of lanes, whose states have the types of the initial ones.
template <class States, class Call>
struct steps_lanes {
    template <class... Ss, class... Vs>
    static consteval bool keeps(std::tuple<Ss...>*, std::tuple<Vs...>*)
    {
        if constexpr (sizeof...(Ss) != sizeof...(Vs))
            return false;
        else
            return (std::is_same_v<item_t<bare<Ss>>, lane_item_of_t<Vs>> && ...);
    }
    template <class... Vs>
    static consteval bool are_items(std::tuple<Vs...>*)
    {
        return (lane_item<lane_item_of_t<Vs>> && ...);
    }

    static consteval bool holds()
    {
        using step = bare<typename Call::result>;
        using states = leaves_t<decltype(step::state)>;
        using outputs = leaves_t<decltype(step::scan_outputs)>;
        if constexpr (!holds_values<step>::holds())
            return false;
        else if constexpr (!keeps(static_cast<States*>(nullptr), static_cast<states*>(nullptr)))
            static_assert(never<steps_lanes>,
                "the states of a step are as many as the initial ones, and lanes of the same types");
        else if constexpr (!are_items(static_cast<outputs*>(nullptr)))
            static_assert(never<steps_lanes>, "the outputs of a step are lanes or numbers");
        else
            return true;
        return false;
    }
};

/// The outputs [N, T] of steps.
template <class Outputs>
struct lane_outputs_of_step {
    using type = xt::xtensor<lane_item_of_t<Outputs>, 2>;
};
template <class... Ys>
struct lane_outputs_of_step<std::tuple<Ys...>> {
    using type = std::tuple<xt::xtensor<lane_item_of_t<Ys>, 2>...>;
};
template <class Step>
using lane_outputs_t = typename lane_outputs_of_step<decltype(Step::scan_outputs)>::type;

/// Returns the step of a body, whose arguments are the first ones of `all`.
template <std::size_t Count, class Body, class... Arguments>
XLOOM_ALWAYS_INLINE inline auto lane_step_of(Body const& body, std::tuple<Arguments&...> const& all)
{
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return body(std::as_const(std::get<I>(all))...);
    }(std::make_index_sequence<Count>());
}

/// A body that writes what another one returns.
template <class Body, class States, class Inputs>
struct lane_step_writer;
template <class Body, class... Ss, class... Xs>
struct lane_step_writer<Body, std::tuple<Ss...>, std::tuple<Xs...>> {
    Body const& body;

    template <class... Arguments>
    XLOOM_ALWAYS_INLINE void operator()(Arguments&&... arguments) const
    {
        std::tuple<Arguments&...> const all(arguments...);
        auto const step = detail::lane_step_of<sizeof...(Ss) + sizeof...(Xs)>(body, all);
        detail::for_each_leaf(
            detail::leaves(step.state), [&](auto i, auto const& state) { std::get<i>(all) = state; });
        detail::for_each_leaf(detail::leaves(step.scan_outputs),
            [&](auto i, auto const& output) { std::get<sizeof...(Ss) + sizeof...(Xs) + i>(all) = output; });
    }
};

} // namespace xloom::inline XLOOM_ABI::detail
