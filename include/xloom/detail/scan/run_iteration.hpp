#pragma once
// One iteration of a scan in place.

#include <array>
#include <cstddef>
#include <tuple>

#include <xloom/detail/scan/body_call.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Makes an input and an output of the same tensor share the memory of the current element. Contiguous
/// elements share it already.
template <class Input, class Output>
void share_element(Input&, Output&)
{}
template <class T, class InputShape, class OutputShape>
void share_element(buffered_cursor<T const, InputShape>& input, buffered_cursor<T, OutputShape>& output)
{
    input.share_buffer_of(output);
}

/// Finds the outputs that are the same tensor as an input, whose elements must not be written before the body
/// runs, and makes the body's writes to them visible through the input. Requires check_in_place.
template <std::size_t M, class... Inputs, std::size_t K, class... Outputs>
std::array<bool, K> join_in_place(std::array<placed_operand, M> const& input_places,
    std::tuple<Inputs...>& inputs, std::array<placed_operand, K> const& output_places,
    std::tuple<Outputs...>& outputs)
{
    std::array<bool, K> is_in_place{};
    detail::for_each_leaf(outputs, [&](auto k, auto& output) {
        detail::for_each_leaf(inputs, [&](auto m, auto& input) {
            if (detail::is_same_traversal(output_places[k], input_places[m])) {
                is_in_place[k] = true;
                detail::share_element(input, output);
            }
        });
    });
    return is_in_place;
}

/// Runs one iteration of a scan in place.
template <class Body, class States, class Inputs, class Outputs, std::size_t K>
void run_iteration(
    Body& body, States const& states, Inputs& x, Outputs& y, std::array<bool, K> const& is_in_place)
{
    detail::enter_all(x);
    detail::enter_all(y);
    detail::for_each_leaf(y, [&](auto k, auto& cursor) {
        if (!is_in_place[k])
            detail::poison(cursor.element());
    });
    detail::call_body(body, states, detail::input_elements(x), detail::output_elements(y));
    detail::leave_all(x);
    detail::leave_all(y);
}

} // namespace xloom::inline XLOOM_ABI::detail
