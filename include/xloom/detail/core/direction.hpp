#pragma once
// The directions in which scans and recurrent operators traverse the time axis.

#include <array>
#include <cstddef>
#include <string_view>

#include <xloom/detail/core/error.hpp>

namespace xloom::inline XLOOM_ABI {

/// ONNX's attribute `direction` of recurrent operators, and the directions of Scan's inputs and outputs,
/// which are forward or reverse. A bidirectional operator has two sets of weights and states: forward, then
/// reverse.
enum class direction : signed char { forward, reverse, bidirectional };

namespace detail {

inline constexpr std::array<std::string_view, 3> direction_names{"forward", "reverse", "bidirectional"};

/// Returns D, the length of the direction axis of weights, states and outputs.
constexpr std::size_t direction_count(direction d) noexcept { return d == direction::bidirectional ? 2 : 1; }

} // namespace detail

/// Returns the value of ONNX's attribute, such as "forward".
constexpr std::string_view name_of(direction d) noexcept
{
    auto const number = static_cast<std::size_t>(d);
    return number < detail::direction_names.size() ? detail::direction_names[number] : "unknown";
}

/// Returns the direction of this name; case-sensitive.
///
/// Errors    option_error: an unknown name.
/// Source    ONNX LSTM-22, GRU-22, RNN-22 (direction).
/// Example   tests/detail/core/direction.test.cpp
constexpr direction parse_direction(std::string_view op, std::string_view name)
{
    for (direction const d : {direction::forward, direction::reverse, direction::bidirectional})
        if (name == name_of(d))
            return d;
    auto const& [forward, reverse, bidirectional] = detail::direction_names;
    detail::fail<option_error>(op, ": a direction must be one that ONNX names, but direction is \"", name,
        "\". Choose one of ", forward, ", ", reverse, " and ", bidirectional, ".");
}

} // namespace xloom::inline XLOOM_ABI
