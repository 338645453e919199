#pragma once
// The check that no input of a model is one of the outputs that a call writes.

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include <xloom/kernels.hpp>

namespace xloom_onnx {

namespace detail {

/// True if the input is this output, or in it.
template <class Input, class Output>
bool is_in(Input const& input, Output const& output)
{
    if constexpr (std::is_same_v<Input, Output>)
        return &input == &output;
    else
        return false;
}
template <class Input, class T>
bool is_in(Input const& input, std::vector<T> const& output)
{
    if constexpr (std::is_same_v<Input, std::vector<T>>)
        if (&input == &output)
            return true;
    return std::any_of(output.begin(), output.end(), [&](T const& each) { return is_in(input, each); });
}
template <class Input, class T>
bool is_in(Input const& input, std::optional<T> const& output)
{
    if constexpr (std::is_same_v<Input, std::optional<T>>)
        if (&input == &output)
            return true;
    return output && is_in(input, *output);
}

} // namespace detail

/// Requires that no input is an output or in one. Containers own their items, so no others overlap.
///
/// Errors    overlap_error, which names the model and the input.
template <class... Inputs, class... Outputs>
void check_overlap(std::string_view model, std::array<std::string_view, sizeof...(Inputs)> const& names,
    std::tuple<Inputs const&...> inputs, std::tuple<Outputs&...> outputs)
{
    auto const check = [&](std::string_view name, auto const& input) {
        bool const overlaps =
            std::apply([&](auto const&... output) { return (detail::is_in(input, output) || ...); }, outputs);
        if (overlaps)
            xloom::kernels::fail<xloom::overlap_error>(model, ": the input ", name,
                " is among the outputs that are written while it is read. Swap it with another tensor after "
                "the call.");
    };
    std::size_t i = 0;
    std::apply([&](auto const&... input) { (check(names[i++], input), ...); }, inputs);
}

} // namespace xloom_onnx
