#pragma once
// A batch of loops whose sequences are SIMD lanes: one body of one sequence, run for many at once.

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>

#include <xloom/detail/check/scan_lanes.hpp>
#include <xloom/detail/scan/lane_functions.hpp>
#include <xloom/detail/scan/lane_loop.hpp>
#include <xloom/detail/scan/lane_operands.hpp>
#include <xloom/detail/scan/lane_requirements.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of loops whose sequences are lanes.
struct loop_lanes_options {
    std::optional<std::int64_t> max_trip_count{}; ///< of each sequence; negative counts as 0
};

namespace detail {

template <class Body, class... States, class... Parameters, class... Counts, class Policy>
void run_loop_lanes_into(Body const& body, std::tuple<States&...> states,
    std::tuple<Parameters...> const& params, std::tuple<Counts&...> trip_counts,
    loop_lanes_options const& options, Policy const& policy)
{
    static constexpr std::string_view op = "xloom::loop_lanes_into";
    std::size_t const N =
        detail::check_loop_lanes(op, {"states", detail::shapes_of(states), detail::shapes_of(params),
                                         detail::shapes_of(trip_counts), "params", "trip_counts"});
    check_written(op,
        all_operands(numbered("states", detail::traversals_of(states)),
            numbered("trip_counts", detail::traversals_of(trip_counts))),
        numbered("params", detail::traversals_of(params)));
    kernel::item_rows<std::int64_t> counts;
    if constexpr (sizeof...(Counts) == 1)
        counts = detail::lane_items_of(std::get<0>(trip_counts), 0);
    detail::run_lane_loops(body, N, detail::lane_states_of(states, 0), detail::lane_inputs_of(params, 0),
        counts, options.max_trip_count.value_or((std::numeric_limits<std::int64_t>::max)()), policy);
}

} // namespace detail

/// Runs an independent loop for each sequence of a batch, in place; the sequences are SIMD lanes.
///
///     for n in range(N):                                # many at once
///         trip_counts[n], goes_on = 0, True
///         while goes_on and trip_counts[n] < max_trip_count:
///             goes_on = body(states[n], params[n])
///             trip_counts[n] += 1
///
/// body(state&..., parameter const&...) -> condition, a comparison of lanes, computes with lanes as that of
/// scan_lanes_into. A lane whose loop has ended takes the next sequence.
///
/// Shapes    states [N], params [N]; trip_counts [N], the iterations of each; std::tuple() omits it.
/// Types     float, double, and integers of 32 and 64 bits, each operand its own; trip_counts std::int64_t.
/// Options   max_trip_count.
/// Policy    sequences run on its threads. Several threads call the body at once.
/// Errors    before the first write: shape_error, overlap_error. After an exception of the body the states
///           of a sequence are final if its loop had ended at least 16 iterations before, else final or
///           initial.
/// Order     any order of sequences. The body must not depend on other sequences: it is called as a const
///           callable, also for lanes that have ended or have none, whose results are dropped.
/// Cost      every 16th iteration lanes take other sequences, so that those of short loops do not wait for
///           the longest. Allocates nothing on one thread. The bits of a sequence depend neither on the other
///           sequences nor on the number of threads or lanes.
/// Differs   from loop in the condition of each sequence. There are no outputs of each iteration.
/// Source    JAX's vmap of while_loop.
/// Example
/// ```cpp
/// // Square roots by Newton's method, each to its own accuracy.
/// xt::xtensor<float, 1> const a = {4, 9};
/// xt::xtensor<float, 1> x = {1, 3};
/// auto const improve = [](auto& root, auto const& square) {
///     auto const before = root;
///     root = 0.5f * (root + square / root);
///     return root != before;
/// };
/// xt::xtensor<std::int64_t, 1> counts = {0, 0};
/// xloom::loop_lanes_into(improve, x, a, counts, {.max_trip_count = 100});
/// x; // = [2, 3]
/// counts; // = [5, 1]
/// ```
template <class Body, class States, class Params = std::tuple<>, class Counts = std::tuple<>,
    class Options = loop_lanes_options, class... Env>
void loop_lanes_into(Body&& body, States&& states, Params const& params = {}, Counts&& trip_counts = {},
    Options&& options = {}, Env&&... env)
{
    using namespace detail;
    using inputs = decltype(detail::evaluated_inputs(params));
    if constexpr (satisfied<options_and_policy<loop_lanes_options, Options, Env...>,
                      flat_arguments<States, inputs>, updated<States>,
                      of_single_lanes<leaves_t<States>, inputs>, holds_trip_counts<Counts>,
                      ends_lanes<std::remove_reference_t<Body>, leaves_t<States>, inputs>>())
        detail::run_loop_lanes_into(body, detail::leaves(states), detail::evaluated_inputs(params),
            detail::leaves(trip_counts), detail::options_of<loop_lanes_options>(options),
            detail::policy_of(options, env...));
}

} // namespace xloom::inline XLOOM_ABI
