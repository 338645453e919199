#pragma once
// The operands of scans and loops whose sequences are lanes, as matrices whose columns are sequences.

#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>

#include <xloom/detail/kernel/item_rows.hpp>
#include <xloom/detail/scan/lanes.hpp>
#include <xloom/detail/tensor/operands.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// A state [N], or if IsArray [N, K], whose items are the rows.
template <class T, bool IsArray>
struct lane_state {
    using item = T;
    static constexpr bool is_array = IsArray;

    kernel::item_rows<T> items;
    std::size_t count; ///< K, or 1

    /// Returns the type that holds it for N sequences.
    template <std::size_t N>
    using held = std::conditional_t<IsArray, std::span<lanes<T, N>>, lanes<T, N>>;

    lane_state from(std::size_t sequence) const { return {items.from_column(sequence), count}; }
};

/// An input [N, T], whose rows are steps, or a parameter [N] of each sequence, which is one row.
template <class T>
struct lane_input {
    using item = T;
    kernel::item_rows<T const> items;
    bool is_parameter;

    lane_input from(std::size_t sequence) const { return {items.from_column(sequence), is_parameter}; }
};

/// An output [N, T], whose rows are steps.
template <class T>
struct lane_output {
    using item = T;
    kernel::item_rows<T> items;

    lane_output from(std::size_t sequence) const { return {items.from_column(sequence)}; }
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
            return std::tuple<lane_state_t<Xs>...>{lane_state_t<Xs>{
                detail::lane_items_of(state, batch), detail::items_of_state(state, batch)}...};
        },
        states);
}
template <class... Xs>
auto lane_inputs_of(std::tuple<Xs...> const& inputs, std::size_t batch)
{
    return std::apply(
        [&](auto const&... input) {
            return std::tuple<lane_input<item_t<bare<Xs>>>...>{
                {detail::lane_items_of(input, batch), detail::rank_of(input) == 1}...};
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
