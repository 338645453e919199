#pragma once
// A batch of scans whose sequences are SIMD lanes: one body of one sequence, run for many at once.

#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <xloom/control_flow/lanes.hpp>
#include <xloom/detail/check/scan_lanes.hpp>
#include <xloom/detail/scan/lane_requirements.hpp>
#include <xloom/detail/scan/lane_scan.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

template <class Body, class... States, class Inputs, class Lens, class... Outputs, class Policy>
void run_scan_lanes_into(Body const& body, std::tuple<States&...> states, Inputs const& inputs,
    Lens const& sequence_lens, std::tuple<Outputs&...> outputs, scan_lanes_options const& options,
    Policy const& policy)
{
    static constexpr std::string_view op = "xloom::scan_lanes_into";
    auto const state_shapes = detail::shapes_of(states), output_shapes = detail::shapes_of(outputs);
    auto const input_shapes = detail::shapes_of(inputs);
    batch_extent const extent =
        check_scan_lanes(op, {"states", state_shapes, input_shapes, output_shapes}, options);
    batch_rows const rows(op, sequence_lens, extent);
    check_in_place(op, detail::traversals_of(states), detail::traversals_of(inputs),
        detail::traversals_of(outputs), {"sequence_lens", block_if_given(rows.given())});
    std::size_t const batch = wrap_axis(options.batch_axis, 2);
    detail::run_lanes(body, rows, detail::lane_states_of(states, batch), detail::lane_inputs_of(inputs, batch),
        detail::lane_outputs_of(outputs, batch), policy);
}

} // namespace detail

template <class Body, class States, class Inputs, class Lens = std::nullopt_t, class Outputs = std::tuple<>,
    class Options = scan_lanes_options, class... Env>
void scan_lanes_into(Body&& body, States&& states, Inputs const& scan_inputs,
    Lens const& sequence_lens = std::nullopt, Outputs&& scan_outputs = {}, Options&& options = {},
    Env&&... env)
{
    using namespace detail;
    using inputs = decltype(detail::evaluated_inputs(scan_inputs));
    if constexpr (satisfied<options_and_policy<scan_lanes_options, Options, Env...>,
                      flat_arguments<States, inputs, Outputs>, updated<States>, of_lane_ranks<leaves_t<States>, inputs, leaves_t<Outputs>>,
                      holds_sequence_lens<Lens>, written_by_body<Outputs, 2>,
                      updates_lanes<std::remove_reference_t<Body> const, leaves_t<States>, inputs, leaves_t<Outputs>>>())
        detail::run_scan_lanes_into(body, detail::leaves(states), detail::evaluated_inputs(scan_inputs),
            sequence_lens, detail::leaves(scan_outputs), detail::options_of<scan_lanes_options>(options),
            detail::policy_of(options, env...));
}

} // namespace xloom::inline XLOOM_ABI
