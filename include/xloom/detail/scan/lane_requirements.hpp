#pragma once
// The requirements on the types of a scan whose sequences are lanes, and its operands as matrices.

#include <cstddef>
#include <tuple>
#include <type_traits>

#include <xloom/detail/scan/lane_scan.hpp>
#include <xloom/detail/scan/requirements.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True for a tensor of lane items whose rank is statically in [Least, 2].
template <class X, std::size_t Least>
inline constexpr bool is_lane_operand = false;
template <tensor X, std::size_t Least>
inline constexpr bool is_lane_operand<X, Least> =
    lane_item<item_t<X>> && enable_tensor<X>::rank >= Least && enable_tensor<X>::rank <= 2;

template <std::size_t Least, class Leaves>
inline constexpr bool are_lane_operands = false;
template <std::size_t Least, class... Xs>
inline constexpr bool are_lane_operands<Least, std::tuple<Xs...>> = (is_lane_operand<bare<Xs>, Least> && ...);

/// Requires states, inputs and outputs, tuples of references, of ranks and items that lanes have.
template <class States, class Inputs, class Outputs>
struct of_lane_ranks {
    static consteval bool holds()
    {
        if constexpr (!are_lane_operands<1, States>)
            static_assert(never<of_lane_ranks>,
                "a state is a tensor [N] or [N, K] of floats, doubles or integers of 32 or 64 bits, with an item or K "
                "items for each of N sequences");
        else if constexpr (!are_lane_operands<1, Inputs>)
            static_assert(never<of_lane_ranks>,
                "a scan input is a tensor [N, T] of floats, doubles or integers of 32 or 64 bits, or [N], a "
                "parameter of each sequence; capture other values in the body");
        else if constexpr (!are_lane_operands<2, Outputs>)
            static_assert(never<of_lane_ranks>,
                "a scan output is a tensor [N, T] of floats, doubles or integers of 32 or 64 bits");
        else
            return true;
        return false;
    }
};

template <class X>
using lane_state_t = lane_state<item_t<bare<X>>, enable_tensor<bare<X>>::rank == 2>;

template <class Leaves>
struct lane_operands;
template <class... Xs>
struct lane_operands<std::tuple<Xs...>> {
    using states = std::tuple<lane_state_t<Xs>...>;
    using inputs = std::tuple<lane_input<item_t<bare<Xs>>>...>;
    using outputs = std::tuple<lane_output<item_t<bare<Xs>>>...>;
};

/// Requires a body that can be called for lanes of states, inputs and outputs.
template <class Body, class States, class Inputs, class Outputs>
using updates_lanes = scan_body_in_place<lane_scan_call<fewest_lanes, Body, typename lane_operands<States>::states,
    typename lane_operands<Inputs>::inputs, typename lane_operands<Outputs>::outputs>>;

/// Returns an operand as a matrix whose columns are its sequences; of rank 1 it has one row.
template <class X>
auto lane_items_of(X& operand, std::size_t batch)
{
    auto const layout = detail::layout_of(operand);
    auto* const first = enable_tensor<bare<X>>::data(operand);
    using item = std::remove_pointer_t<decltype(first)>;
    if (layout.strides.size() == 1)
        return kernel::item_rows<item>{first, 0, layout.strides[0]};
    return kernel::item_rows<item>{first, layout.strides[1 - batch], layout.strides[batch]};
}

/// Returns K of a state [N, K]; 1 of a state [N].
template <class X>
std::size_t items_of_state(X const& state, std::size_t batch)
{
    shape const dims = detail::shape_of(state);
    return dims.size() == 1 ? 1 : dims[1 - batch];
}

template <class... Xs>
auto lane_states_of(std::tuple<Xs&...> const& states, std::size_t batch)
{
    return std::apply(
        [&](auto&... state) {
            return std::tuple<lane_state_t<Xs>...>{
                lane_state_t<Xs>{detail::lane_items_of(state, batch), detail::items_of_state(state, batch)}...};
        },
        states);
}
template <class... Xs>
auto lane_inputs_of(std::tuple<Xs...> const& inputs, std::size_t batch)
{
    return std::apply(
        [&](auto const&... input) {
            return std::tuple<lane_input<item_t<bare<Xs>>>...>{
                {detail::lane_items_of(input, batch), enable_tensor<bare<Xs>>::rank == 1}...};
        },
        inputs);
}
template <class... Xs>
auto lane_outputs_of(std::tuple<Xs&...> const& outputs, std::size_t batch)
{
    return std::apply(
        [&](auto&... output) {
            return std::tuple<lane_output<item_t<bare<Xs>>>...>{{detail::lane_items_of(output, batch)}...};
        },
        outputs);
}

} // namespace xloom::inline XLOOM_ABI::detail
