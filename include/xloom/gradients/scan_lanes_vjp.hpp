#pragma once
// The vector-Jacobian product of a scan whose sequences are SIMD lanes.

#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <xloom/control_flow/scan_lanes.hpp>
#include <xloom/detail/check/scan_lanes.hpp>
#include <xloom/detail/scan/cotangents.hpp>
#include <xloom/detail/scan/lane_backward.hpp>
#include <xloom/detail/scan/scan_backward.hpp>
#include <xloom/detail/scan/vjp_requirements.hpp>

namespace xloom::inline XLOOM_ABI {

/// The cotangents of the operands of scan_lanes: init, scan_inputs. That of a parameter [N] is summed over
/// time.
template <class State, class Inputs>
struct scan_lanes_gradients {
    State init;
    Inputs scan_inputs;
};

namespace detail {

template <class State, class Body, class BodyVjp, class Inputs, class Lens, class CtStates, class CtOutputs,
    class Gradient, class Policy>
void scan_lanes_vjp(Body const& body, BodyVjp const& body_vjp, State state, Inputs const& inputs,
    Lens const& sequence_lens, CtStates const& ct_states, CtOutputs const& ct_outputs, Gradient& gradient,
    scan_lanes_options const& options, Policy const& policy)
{
    static constexpr std::string_view op = "xloom::scan_lanes_vjp";
    auto const states = detail::leaves(state);
    detail::check_extents(op, "scan_inputs", inputs);
    detail::check_extents(op, "ct_outputs", ct_outputs);
    lane_extent const checked = detail::check_scan_lanes(op,
        {"init", detail::shapes_of(states), detail::shapes_of(inputs), detail::shapes_of(ct_outputs),
            "scan_inputs", "ct_outputs"},
        options);
    batch_rows const rows(op, sequence_lens, checked.extent);
    detail::check_extents(op, "ct_states", ct_states);
    check_ct_states(op, detail::shapes_of(ct_states), checked.extent.batch);
    gradient.init = detail::final_cotangents(ct_states, detail::zero_cotangents<State>(states));
    gradient.scan_inputs = detail::zero_cotangents<decltype(gradient.scan_inputs)>(inputs);
    detail::run_scan_lanes_vjp<!std::is_same_v<Lens, std::nullopt_t>>(
        op, body, body_vjp, states, inputs, rows, ct_outputs, checked, gradient, policy);
}

/// Requires the cotangents of the results of scan_lanes_vjp.
template <class Cotangents>
struct follow_sequence_lens {
    static consteval bool holds()
    {
        static_assert(is_cotangents<bare<Cotangents>>,
            "after sequence_lens come the cotangents of the results, as in "
            "xloom::cotangents().states(ct_h).outputs(ct_y)");
        return is_cotangents<bare<Cotangents>>;
    }
};

} // namespace detail

/// Returns the cotangents of the operands of scan_lanes, from those of its results and by the VJP of its
/// body, for many sequences at once.
///
///     for n in range(N):                    # many at once
///         ct_state = ct_states[n]
///         for t in reversed(range(sequence_lens[n])):
///             before = zeros
///             body_vjp(state[n] before t, x[n, t], ct_state, ct_y[n, t], before, ct_x[n, t])
///             ct_state = before
///         ct_init[n] = ct_state
///
/// body(state const&..., element const&...) -> scan_step, as in scan_lanes. body_vjp(state const&..., element
/// const&..., state cotangent const&..., output cotangent const&..., state cotangent&..., element
/// cotangent&...) -> void receives what the body received, the cotangents of what it computed, and the
/// cotangents of what it received, and adds to these. All of them are lanes. A coefficient that all sequences
/// share is a parameter [N] of equal numbers; its gradient is the sum of ct_scan_inputs over N.
///
/// Shapes    as scan_lanes; each cotangent as its value. Without cotangents().states() those of the final
///           states are zeros. Cotangents past the end of a sequence are zeros, and not read in ct_outputs.
/// Types     float and double, each operand its own. A std::tuple for several states, inputs, outputs.
/// Options   scan_lanes_options, those of the forward pass.
/// Policy    groups of sequences run on its threads. Several threads call the bodies at once.
/// Errors    as scan_lanes; shape_error: the shape of a cotangent; the states to keep do not fit in memory.
/// Order     as scan_lanes; each sequence from its last iteration to its first. The bits of a sequence do not
///           depend on the others, the layout or the number of threads.
/// Cost      T runs of the body and of body_vjp; the states of all steps, [T, N] for each, are kept. With
///           sequence_lens the second pass counts the steps of each sequence: twice the time with AVX2.
/// Source    JAX's jax.vjp of jax.vmap of jax.lax.scan.
/// Example
/// ```cpp
/// // y_t = h = a h + x_t, of two signals with a coefficient each
/// xt::xtensor<double, 2> const x = {{1, 2, 3}, {1, 0, 0}};
/// xt::xtensor<double, 1> const zero = {0, 0}, a = {0.5, 2};
/// auto const body = [](auto const& h, auto const& x_t, auto const& a) {
///     return xloom::scan_step{a * h + x_t, a * h + x_t};
/// };
/// auto const body_vjp = [](auto const& h, auto const&, auto const& a, auto const& ct_next, auto const& ct_y,
///                           auto& ct_h, auto& ct_x, auto& ct_a) {
///     auto const ct = ct_next + ct_y;
///     ct_h += ct * a;
///     ct_x += ct;
///     ct_a += ct * h;
/// };
/// xt::xtensor<double, 2> const ct_y = {{1, 1, 1}, {0, 0, 1}};
/// auto const [ct_h, ct_inputs] = xloom::scan_lanes_vjp(
///     body, body_vjp, zero, std::tie(x, a), std::nullopt, xloom::cotangents().outputs(ct_y));
/// ct_h; // = [0.875, 8]
/// std::get<0>(ct_inputs); // = [[1.75, 1.5, 1], [4, 2, 1]]
/// std::get<1>(ct_inputs); // = [4, 4]
/// ```
template <class Body, class BodyVjp, class Init, class Inputs, class Lens = std::nullopt_t,
    class Cotangents = std::nullopt_t, class Options = scan_lanes_options, class... Env>
auto scan_lanes_vjp(Body&& body, BodyVjp&& body_vjp, Init&& init, Inputs const& scan_inputs,
    Lens const& sequence_lens = std::nullopt, Cotangents const& cotangents = std::nullopt,
    Options&& options = {}, Env&&... env)
{
    using namespace detail;
    using state = owned_t<Init>;
    using inputs = decltype(detail::evaluated_inputs(scan_inputs));
    using body_type = std::remove_reference_t<Body>;
    using call = lane_step_call<body_type const, leaves_t<state>, inputs>;
    if constexpr (satisfied<follows_body<BodyVjp>, holds_sequence_lens<Lens>,
                      follow_sequence_lens<Cotangents>,
                      options_and_policy<scan_lanes_options, Options, Env...>, flat_arguments<state, inputs>,
                      of_lane_ranks<leaves_t<state>, inputs>, single_lane_states<leaves_t<state>>,
                      takes_lanes<lane_step_call<body_type, leaves_t<state>, inputs>, call>,
                      returns_scan_step<call>, steps_lanes<leaves_t<state>, call>>()) {
        scan_lanes_gradients<state, owned_t<Inputs>> gradient;
        using ct_states = decltype(detail::evaluated_inputs(cotangents.ct_states));
        using ct_outputs = decltype(detail::evaluated_inputs(cotangents.ct_outputs));
        using vjp_call =
            lane_vjp_call<std::remove_reference_t<BodyVjp> const, leaves_t<state>, inputs, ct_outputs>;
        if constexpr (satisfied<has_lane_cotangents<state, inputs, ct_states, ct_outputs,
                                    leaves_t<decltype(bare<typename call::result>::scan_outputs)>>,
                          is_lane_vjp<vjp_call>, writes_by_reference<vjp_call>>())
            detail::scan_lanes_vjp<state>(body, body_vjp, detail::to_owned(static_cast<Init&&>(init)),
                detail::evaluated_inputs(scan_inputs), sequence_lens,
                detail::evaluated_inputs(cotangents.ct_states),
                detail::evaluated_inputs(cotangents.ct_outputs), gradient,
                detail::options_of<scan_lanes_options>(options), detail::policy_of(options, env...));
        return gradient;
    } else {
        return scan_lanes_gradients<std::tuple<>,
            std::tuple<>>{}; // a value, so that one mistake gives one error
    }
}

} // namespace xloom::inline XLOOM_ABI
