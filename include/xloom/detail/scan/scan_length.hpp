#pragma once
// The number of iterations of a scan whose outputs are the caller's, and the checks that it takes.

#include <string_view>
#include <tuple>

#include <xloom/detail/check/scan.hpp>
#include <xloom/detail/scan/body_call.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True if every operand has a first axis, of this length.
template <class... Xs>
bool have_leading_length(std::tuple<Xs...> const& operands, std::size_t length)
{
    auto const has_length = [length](auto const& operand) {
        return detail::rank_of(operand) != 0 && detail::length_of_axis_0(operand) == length;
    };
    return std::apply([&](auto const&... each) { return (... && has_length(each)); }, operands);
}

/// Checks the shapes of the operands and the options, and returns the number of iterations.
template <bool LeadingAxis, class Inputs, class Outputs>
[[gnu::noinline]] std::size_t check_scan_into(
    std::string_view op, Inputs const& inputs, Outputs const& outputs, scan_options const& options)
{
    std::size_t const length = check_scan(op, detail::shapes_of(inputs), std::tuple_size_v<Outputs>, options);
    check_scan_outputs(op, detail::shapes_of(outputs), length, options);
    if constexpr (!LeadingAxis) {
        check_fixed_axes(
            op, "scan_inputs", fixed_ranks<Inputs>::value, "scan_input_axes", options.scan_input_axes);
        check_fixed_axes(
            op, "scan_outputs", fixed_ranks<Outputs>::value, "scan_output_axes", options.scan_output_axes);
    }
    return length;
}

/// Returns the number of iterations, checked. Of operands that are scanned along axis 0 it only compares the
/// lengths, and leaves the rest to check_scan_into where they differ: all checks together would take longer
/// than a short scan of scalars.
template <bool LeadingAxis, class Inputs, class Outputs>
std::size_t scan_length(
    std::string_view op, Inputs const& inputs, Outputs const& outputs, scan_options const& options)
{
    constexpr std::size_t input_count = std::tuple_size_v<Inputs>;
    if constexpr (LeadingAxis && input_count != 0 && input_count <= max_operands &&
                  std::tuple_size_v<Outputs> <= max_operands) {
        auto const& first = std::get<0>(inputs);
        if (detail::rank_of(first) != 0) {
            std::size_t const length = detail::length_of_axis_0(first);
            if (detail::have_leading_length(inputs, length) && detail::have_leading_length(outputs, length))
                return length;
        }
    }
    return detail::check_scan_into<LeadingAxis>(op, inputs, outputs, options);
}

} // namespace xloom::inline XLOOM_ABI::detail
