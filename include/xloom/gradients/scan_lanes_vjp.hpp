#pragma once
// The vector-Jacobian product of a scan whose sequences are SIMD lanes.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <xloom/control_flow/scan_lanes.hpp>
#include <xloom/detail/check/cotangents.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/scan/cotangents.hpp>
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

/// The scan inputs that are parameters [N]. Their cotangents are states of the backward pass; those of the
/// others are its outputs.
template <class Inputs>
struct lane_parameters;
template <class... Xs>
struct lane_parameters<std::tuple<Xs...>> {
    static constexpr std::size_t inputs = sizeof...(Xs);
    static constexpr std::array<bool, inputs> are{(enable_tensor<bare<Xs>>::rank == 1)...};

    /// Returns the number of inputs of the same kind before input i.
    static constexpr std::size_t place(std::size_t i)
    {
        return static_cast<std::size_t>(
            std::count(are.begin(), are.begin() + static_cast<std::ptrdiff_t>(i), are[i]));
    }
    static constexpr std::size_t count = static_cast<std::size_t>(std::count(are.begin(), are.end(), true));
};

/// The call of a body's VJP on lanes.
template <class BodyVjp, class States, class Inputs, class CtOutputs>
struct lane_vjp_call;
template <class BodyVjp, class... Ss, class... Xs, class... Ys>
struct lane_vjp_call<BodyVjp, std::tuple<Ss...>, std::tuple<Xs...>, std::tuple<Ys...>>
    : call_of<BodyVjp,
          std::tuple<lanes<item_t<bare<Ss>>, fewest_lanes> const&...,
              lanes<item_t<bare<Xs>>, fewest_lanes> const&...,
              lanes<item_t<bare<Ss>>, fewest_lanes> const&...,
              lanes<item_t<bare<Ys>>, fewest_lanes> const&..., lanes<item_t<bare<Ss>>, fewest_lanes>&...,
              lanes<item_t<bare<Xs>>, fewest_lanes>&...>> {};

/// Requires the VJP of a body of lanes.
template <class Call>
struct is_lane_vjp {
    static consteval bool holds()
    {
        static_assert(Call::is_valid,
            "the VJP must be callable, while it is const, as body_vjp(state const&..., element const&..., "
            "state cotangent const&..., output cotangent const&..., state cotangent&..., element "
            "cotangent&...), of lanes, where the first state cotangents are those after the iteration");
        return Call::is_valid;
    }
};

/// Requires scan inputs, states and cotangents of floating-point numbers, whose ranks are known.
template <class State, class Inputs, class CtStates, class CtOutputs, class Outputs>
struct has_lane_cotangents {
    template <class... Xs>
    static consteval bool are_known(std::tuple<Xs...>*)
    {
        return ((enable_tensor<bare<Xs>>::rank != dynamic_rank &&
                 std::is_floating_point_v<item_t<bare<Xs>>>)&&...);
    }
    template <class... Ys, class... Vs>
    static consteval bool are_of_outputs(std::tuple<Ys...>*, std::tuple<Vs...>*)
    {
        if constexpr (sizeof...(Ys) != sizeof...(Vs))
            return false;
        else
            return (
                (is_lane_operand<bare<Ys>, 2> && std::is_same_v<item_t<bare<Ys>>, lane_item_of_t<Vs>>)&&...);
    }
    static consteval bool holds()
    {
        if constexpr (!are_known(static_cast<Inputs*>(nullptr)) ||
                      !are_known(static_cast<leaves_t<State>*>(nullptr)))
            static_assert(never<has_lane_cotangents>,
                "states and scan inputs that have a gradient are floats or doubles, and their ranks are "
                "known at compile time; capture other values in the body");
        else if constexpr (std::tuple_size_v<CtStates> != 0 && !have_same_items<leaves_t<State>, CtStates>)
            static_assert(never<has_lane_cotangents>,
                "there is a cotangent [N] for each state, with items of the state's type, or none");
        else if constexpr (!are_of_outputs(static_cast<CtOutputs*>(nullptr), static_cast<Outputs*>(nullptr)))
            static_assert(never<has_lane_cotangents>,
                "there is a cotangent [N, T] for each output of the body, with items of the output's type");
        else
            return true;
        return false;
    }
};

/// A body that keeps the states before each step, where another one has its outputs.
template <class Body, std::size_t States, std::size_t Inputs>
struct lane_state_keeper {
    Body const& body;

    template <class... Arguments>
    XLOOM_ALWAYS_INLINE void operator()(Arguments&... arguments) const
    {
        std::tuple<Arguments&...> const all(arguments...);
        auto const step = detail::lane_step_of<States + Inputs>(body, all);
        detail::for_each_leaf(detail::leaves(step.state), [&](auto i, auto const& state) {
            std::get<States + Inputs + i>(all) = std::get<i>(all);
            std::get<i>(all) = state;
        });
    }
};

/// A step of the backward pass: a body whose states are the cotangents of states and parameters, whose
/// elements are those of the forward pass and the cotangents of its outputs, and whose outputs are the
/// cotangents of elements. If IsRagged, a last state counts the steps until the last one of its sequence.
template <class BodyVjp, std::size_t States, class Parameters, std::size_t CtOutputs, bool IsRagged>
struct lane_backward_step {
    static constexpr std::size_t X = Parameters::inputs;
    static constexpr std::size_t carried = States + Parameters::count, kept = carried + IsRagged,
                                 elements = kept + States, ct_outputs = elements + X,
                                 ct_elements = ct_outputs + CtOutputs;

    BodyVjp const& body_vjp;

    template <class... Arguments>
    XLOOM_ALWAYS_INLINE void operator()(Arguments&... arguments) const
    {
        std::tuple<Arguments&...> const all(arguments...);
        if constexpr (IsRagged)
            run_active(
                all, std::make_index_sequence<carried>(), std::make_index_sequence<X - Parameters::count>());
        else
            run(all);
    }

private:
    /// Runs the step in the sequences whose last step has been reached.
    template <class All, std::size_t... c, std::size_t... e>
    XLOOM_ALWAYS_INLINE void run_active(
        All const& all, std::index_sequence<c...>, std::index_sequence<e...>) const
    {
        auto& steps_until_last = std::get<carried>(all);
        auto const choose = [&]<class T>(T& ct, std::type_identity_t<T> const& ended) {
            ct = select(T(steps_until_last) > 0, ended, ct);
        };
        auto const before = std::tuple(std::get<c>(all)...);
        run(all);
        (choose(std::get<c>(all), std::get<c>(before)), ...);
        (choose(std::get<ct_elements + e>(all), 0), ...);
        steps_until_last -= 1;
    }

    template <class All>
    XLOOM_ALWAYS_INLINE void run(All const& all) const
    {
        [&]<std::size_t... s, std::size_t... x, std::size_t... y>(
            std::index_sequence<s...>, std::index_sequence<x...>, std::index_sequence<y...>) {
            auto const ct_next = std::tuple(std::get<s>(all)...);
            ((std::get<s>(all) = 0), ...);
            ((Parameters::are[x] ? void() : void(std::get<place_of(x)>(all) = 0)), ...);
            body_vjp(std::as_const(std::get<kept + s>(all))..., std::as_const(std::get<elements + x>(all))...,
                std::get<s>(ct_next)..., std::as_const(std::get<ct_outputs + y>(all))..., std::get<s>(all)...,
                std::get<place_of(x)>(all)...);
        }(std::make_index_sequence<States>(), std::make_index_sequence<X>(),
            std::make_index_sequence<CtOutputs>());
    }

    /// Returns the place of the cotangent of element x.
    static constexpr std::size_t place_of(std::size_t x)
    {
        return (Parameters::are[x] ? States : ct_elements) + Parameters::place(x);
    }
};

/// Returns the rows of a matrix from the last to the first.
template <class Item>
kernel::item_rows<Item> reversed(kernel::item_rows<Item> const& of, std::size_t rows)
{
    return {of.at(rows - 1, 0), -of.row, of.column};
}
template <class T>
lane_input<T> reversed(lane_input<T> const& of, std::size_t rows)
{
    return of.is_parameter ? of : lane_input<T>{detail::reversed(of.items, rows), false};
}
template <class T>
lane_output<T> reversed(lane_output<T> const& of, std::size_t rows)
{
    return {detail::reversed(of.items, rows)};
}
template <class... Operands>
std::tuple<Operands...> all_reversed(std::tuple<Operands...> const& operands, std::size_t rows)
{
    return std::apply(
        [&](auto const&... each) { return std::tuple(detail::reversed(each, rows)...); }, operands);
}

/// Returns references to the tensors of one rank among gradients.
template <std::size_t Rank, class... Xs>
auto of_rank(std::tuple<Xs&...> const& gradients)
{
    return std::apply(
        [](Xs&... gradient) {
            return std::tuple_cat([](Xs& each) {
                if constexpr (enable_tensor<Xs>::rank == Rank)
                    return std::tie(each);
                else
                    return std::tuple<>();
            }(gradient)...);
        },
        gradients);
}

/// Requires a cotangent of the shape of each state, if there are any.
///
/// Errors    shape_error
inline void check_ct_states(std::string_view op, std::span<shape const> cotangents, std::size_t N)
{
    auto const is_right = [&](std::size_t i) { return cotangents[i] == shape{N}; };
    if (!are_all_right(cotangents.size(), is_right))
        fail<shape_error>(op, ": the cotangent of a state must have its shape, ", shape{N}, ", but ",
            facts_of_shapes("ct_states", cotangents, is_right), ". Give it that shape.");
}

/// A value [T, N] for every step of each sequence.
template <class T>
using lane_history = xt::xtensor<T, 2>;

/// Runs the forward pass, and returns the states before each step.
template <class Body, class... Ss, class Inputs, class Policy>
auto keep_lane_states(std::string_view op, Body const& body, batch_rows const& rows,
    std::tuple<Ss&...> const& states, Inputs const& inputs, Policy const& policy)
{
    using kept_states = std::tuple<lane_history<item_t<Ss>>...>;
    check_kept_states(op, rows.longest(), {rows.size()}, sizeof(double), "Run fewer iterations");
    kept_states kept{lane_history<item_t<Ss>>::from_shape({rows.longest(), rows.size()})...};
    detail::run_lanes(lane_state_keeper<Body, sizeof...(Ss), std::tuple_size_v<Inputs>>{body}, rows,
        detail::lane_states_of(states, 0), inputs, detail::lane_outputs_of(detail::leaves(kept), 1), policy);
    return kept;
}

/// Returns, for each sequence, the number of steps behind its last one.
inline xt::xtensor<std::int64_t, 1> steps_behind(batch_rows const& rows)
{
    auto steps = xt::xtensor<std::int64_t, 1>::from_shape({rows.size()});
    for (std::size_t n = 0; n < rows.size(); ++n)
        steps(n) = static_cast<std::int64_t>(rows.longest() - rows.length(n));
    return steps;
}

/// Runs both passes. `gradient` has the cotangents of the final states, which become those of init, and
/// zeros.
template <bool IsRagged, class Body, class BodyVjp, class... Ss, class Inputs, class CtOutputs,
    class Gradient, class Policy>
void run_scan_lanes_vjp(std::string_view op, Body const& body, BodyVjp const& body_vjp,
    std::tuple<Ss&...> const& states, Inputs const& scan_inputs, batch_rows const& rows,
    CtOutputs const& ct_outputs, lane_extent const& checked, Gradient& gradient, Policy const& policy)
{
    using parameters = lane_parameters<Inputs>;
    std::size_t const T = rows.longest();
    auto const inputs = detail::lane_inputs_of(scan_inputs, checked.batch_axis);
    auto const kept = detail::keep_lane_states(op, body, rows, states, inputs, policy);
    if (T == 0 || rows.size() == 0)
        return;
    auto const ct_inputs = detail::leaves(gradient.scan_inputs);
    std::conditional_t<IsRagged, std::tuple<xt::xtensor<std::int64_t, 1>>, std::tuple<>> until_last;
    if constexpr (IsRagged)
        std::get<0>(until_last) = steps_behind(rows);
    detail::run_lanes(
        lane_backward_step<BodyVjp, sizeof...(Ss), parameters, std::tuple_size_v<CtOutputs>, IsRagged>{
            body_vjp},
        batch_rows(op, std::nullopt, checked.extent),
        detail::lane_states_of(std::tuple_cat(detail::leaves(gradient.init), detail::of_rank<1>(ct_inputs),
                                   detail::leaves(until_last)),
            0),
        std::tuple_cat(detail::all_reversed(detail::lane_inputs_of(kept, 1), T),
            detail::all_reversed(inputs, T),
            detail::all_reversed(detail::lane_inputs_of(ct_outputs, checked.batch_axis), T)),
        detail::all_reversed(detail::lane_outputs_of(detail::of_rank<2>(ct_inputs), checked.batch_axis), T),
        policy);
}

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
            "behind sequence_lens come the cotangents of the results, as in "
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
///           states are zeros. Cotangents behind the end of a sequence are zeros, and not read in ct_outputs.
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
