#pragma once
// A batch of loops whose sequences are SIMD lanes: one body of one sequence, run for many at once.

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <tuple>

#include <xloom/detail/check/scan_lanes.hpp>
#include <xloom/detail/core/loop_lanes_options.hpp>
#include <xloom/detail/scan/lane_functions.hpp>
#include <xloom/detail/scan/lane_loop.hpp>
#include <xloom/detail/scan/lane_requirements.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

template <class Body, class... States, class... Parameters, class Policy>
xt::xtensor<std::int64_t, 1> run_loop_lanes_into(Body const& body, std::tuple<States&...> states,
    std::tuple<Parameters...> const& params, loop_lanes_options const& options, Policy const& policy)
{
    static constexpr std::string_view op = "xloom::loop_lanes_into";
    std::size_t const N = detail::check_loop_lanes(
        op, {"states", detail::shapes_of(states), detail::shapes_of(params), {}, "params"});
    check_written(op, numbered("states", detail::traversals_of(states)),
        numbered("params", detail::traversals_of(params)));
    auto const items = [](auto&... operands) { return std::tuple(detail::lane_items_of(operands, 0)...); };
    return detail::run_lane_loops(body, N, std::apply(items, states), std::apply(items, params),
        options.max_trip_count.value_or((std::numeric_limits<std::int64_t>::max)()), policy);
}

} // namespace detail

/// Runs an independent loop for each sequence of a batch, in place; the sequences are SIMD lanes. Returns the
/// number of iterations of each, [N].
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
/// Shapes    states [N], params [N].
/// Types     float, double, and integers of 32 and 64 bits, each operand its own.
/// Options   max_trip_count.
/// Policy    sequences run on its threads. Several threads call the body at once.
/// Errors    before the first write: shape_error, option_error, overlap_error. After an exception of the body
///           the states of sequences whose loops had ended are final, the others initial.
/// Order     any order of sequences. The body must not depend on other sequences: it is called as a const
///           callable, also for lanes that have ended or have none, whose results are dropped.
/// Cost      every 16th iteration lanes take other sequences, so that those of short loops do not wait for
///           the longest. The bits of a sequence depend neither on the other sequences nor on the number of
///           threads or lanes.
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
/// auto const counts = xloom::loop_lanes_into(improve, x, a, {.max_trip_count = 100});
/// x; // = [2, 3]
/// counts; // = [5, 1]
/// ```
template <class Body, class States, class Params = std::tuple<>, class Options = loop_lanes_options,
    class... Env>
xt::xtensor<std::int64_t, 1> loop_lanes_into(
    Body&& body, States&& states, Params const& params = {}, Options&& options = {}, Env&&... env)
{
    using namespace detail;
    using inputs = decltype(detail::evaluated_inputs(params));
    if constexpr (satisfied<options_and_policy<loop_lanes_options, Options, Env...>,
                      flat_arguments<States, inputs>, updated<States>,
                      of_single_lanes<leaves_t<States>, inputs>,
                      ends_lanes<std::remove_reference_t<Body>, leaves_t<States>, inputs>>())
        return detail::run_loop_lanes_into(body, detail::leaves(states), detail::evaluated_inputs(params),
            detail::options_of<loop_lanes_options>(options), detail::policy_of(options, env...));
    else
        return {}; // a value, so that one mistake gives one error
}

} // namespace xloom::inline XLOOM_ABI
