#pragma once
// Scan in place: the body updates the caller's states and writes the caller's outputs.

#include <xloom/detail/scan/requirements.hpp>
#include <xloom/detail/scan/run_iteration.hpp>
#include <xloom/detail/scan/scan_length.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// Runs a scan in place. Op is the operator's name in errors.
///
/// Why Op is a template argument, and the states are not held by local_states: with either of them g++ 12
/// takes 1.5 times as long for outputs with strided elements that do not fit in the caches.
template <std::string_view const& Op, bool LeadingAxis, class Body, class... States, class Inputs,
    class... Outputs>
void run_scan_into(Body& body, std::tuple<States&...> states, Inputs const& inputs,
    std::tuple<Outputs&...> outputs, scan_options const& options, scan_workspace* workspace = nullptr)
{
    static constexpr std::string_view op = Op;
    static constexpr bool strided = takes_strided_elements<std::remove_cv_t<Body>>;
    detail::check_ranks(op, "states", states);
    detail::check_ranks(op, "scan_inputs", inputs);
    detail::check_ranks(op, "scan_outputs", outputs);
    std::size_t const length = detail::scan_length<LeadingAxis>(op, inputs, outputs, options);
    auto input_places = detail::places_of(inputs);
    auto output_places = detail::places_of(outputs);
    detail::place_in_time(input_places, options.scan_input_axes, options.scan_input_directions);
    detail::place_in_time(output_places, options.scan_output_axes, options.scan_output_directions);
    check_in_place(op, detail::places_of(states), input_places, output_places);

    auto x = cursor_set<Inputs, LeadingAxis, strided>::start(
        inputs, input_places, kernel::all_iterations(length), write_back::each_element, workspace);
    auto y = cursor_set<std::tuple<Outputs&...>, LeadingAxis, strided>::start(
        outputs, output_places, kernel::all_iterations(length), write_back_for<Body, States...>, workspace);
    std::array<bool, sizeof...(Outputs)> const is_in_place =
        detail::join_in_place(input_places, x, output_places, y);
    shape_guards const guards(states);
    std::tuple<local_state<States>...> held(states);
    auto const current =
        std::apply([](auto&... state) { return std::tuple<States&...>(state.get()...); }, held);
    std::size_t t = 0;
    auto const fail = [&](element_reshaped const& found) {
        detail::fail_if_own(op, "scan_outputs", y, found, t);
        detail::fail_if_value(op, "states", current, found, t);
    };
    detail::run_bodies(fail, [&] {
        detail::name_states(op, current, [&] {
            for (; t < length; ++t) {
                detail::run_iteration(body, current, x, y, is_in_place);
                guards.check_shapes(op, "states", current, t);
            }
        });
    });
}

/// Options are large, so a call without them refers to these instead of making its own.
inline constexpr scan_options default_scan_options{};

inline constexpr std::string_view scan_into_name = "xloom::scan_into";

template <bool LeadingAxis, class Body, class States, class Inputs, class Outputs, class... Env>
void scan_into(Body& body, States&& states, Inputs const& scan_inputs, Outputs&& scan_outputs,
    scan_options const& options, Env&&... env)
{
    using inputs = decltype(detail::evaluated_inputs(scan_inputs));
    if constexpr (satisfied<environment<takes<a_workspace<scan_workspace>>, Env...>>() &&
                  is_valid_scan_into<Body, States, inputs, Outputs, LeadingAxis>())
        run_scan_into<scan_into_name, LeadingAxis>(body, detail::leaves(states),
            detail::evaluated_inputs(scan_inputs), detail::leaves(scan_outputs), options,
            detail::workspace_of<scan_workspace>(env...));
}

} // namespace detail

/// Runs a scan in place: the body updates the caller's states and writes the caller's outputs, and nothing is
/// allocated in the loop.
///
///     for t in range(T):
///         body(states, x[t], y[t])
///
/// body(state&..., element const&..., output&...) -> void. A state is the caller's variable; a scalar state
/// is a copy of it, written back at the end. An output element is an element_view, or one item where the
/// output's rank is statically 1. It is unspecified at first (NaN in debug builds), so write all of it; if
/// the output is the same tensor as an input, it is the input's element. `xt::noalias(y_t) = ...` and raw
/// loops allocate nothing.
///
/// Shapes    as scan; output k has T along scan_output_axes[k], its other dimensions are arbitrary.
/// Options   scan_options. An axis other than 0 of an input or output of a fixed shape is an option_error.
/// Errors    before the first write: shape_error, option_error, overlap_error. body_error, after an
///           iteration: a state or an output element changed its shape, or as in scan an expression does not
///           broadcast. After a body_error or an exception of the body, states and outputs hold the values
///           written so far; the element of that iteration may be unwritten.
/// Aliasing  an output may be the same tensor as an input, on the same axis in the same direction: x_t and
///           y_t then share memory, whatever the layout. Any other overlap is an overlap_error. A body that
///           captures an output's tensor reads the elements of earlier iterations from it; the current
///           element in it is unspecified.
/// Cost      that of a hand-written loop over the same body. Allocates before the first iteration only, for
///           lazy operands and for strided elements, which are copied for the body unless it is marked by
///           strided_elements; the memory for these copies may come from a scan_workspace.
/// Source    ONNX Scan-9 to 25.
/// Example
/// ```cpp
/// xt::xtensor<double, 1> const x = {1, 2, 3};
/// auto y = xt::xtensor<double, 1>::from_shape({3});
/// double sum = 0;
/// xloom::scan_into([](double& h, double x_t, double& y_t) { y_t = h += x_t; }, sum, x, y);
/// sum; // = 6
/// y; // = [1, 3, 6]
/// ```
///
/// With a workspace a call with the same operands as an earlier one allocates nothing, except for lazy
/// operands:
/// ```cpp
/// xt::xtensor<float, 2> const samples = {{1, 2, 3}, {4, 5, 6}}; // [channel, time]
/// xt::xtensor<float, 1> peak = {0, 0};
/// xloom::scan_workspace workspace;
/// auto const larger = [](auto& h, auto const& x_t) { xt::noalias(h) = xt::maximum(h, x_t); };
/// xloom::scan_into(larger, peak, samples, std::tie(), {.scan_input_axes = {1}}, workspace);
/// peak; // = [3, 6]
/// ```
template <class Body, class States, class Inputs, class Outputs = std::tuple<>, class... Env>
    requires detail::are_without_options<scan_options, Env...>
void scan_into(
    Body&& body, States&& states, Inputs const& scan_inputs, Outputs&& scan_outputs = {}, Env&&... env)
{
    detail::scan_into<true>(body, static_cast<States&&>(states), scan_inputs,
        static_cast<Outputs&&>(scan_outputs), detail::default_scan_options, static_cast<Env&&>(env)...);
}

/// Runs scan_into with axes, directions or a length.
template <class Body, class States, class Inputs, class Outputs = std::tuple<>, class... Env>
void scan_into(Body&& body, States&& states, Inputs const& scan_inputs, Outputs&& scan_outputs,
    scan_options const& options, Env&&... env)
{
    detail::scan_into<false>(body, static_cast<States&&>(states), scan_inputs,
        static_cast<Outputs&&>(scan_outputs), options, static_cast<Env&&>(env)...);
}

} // namespace xloom::inline XLOOM_ABI
