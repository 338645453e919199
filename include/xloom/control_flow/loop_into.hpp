#pragma once
// Loop in place: the body updates the caller's carried values and writes the caller's outputs.

#include <xloom/detail/scan/body_call.hpp>
#include <xloom/detail/scan/loop_control.hpp>
#include <xloom/detail/scan/requirements.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

template <class Body, class... States, class... Outputs>
loop_status run_loop_into(std::string_view op, Body& body, std::tuple<States&...> states,
    std::tuple<Outputs&...> outputs, loop_options const& options)
{
    loop_control control(limit_of(op, options), options);
    detail::check_ranks(op, "states", states);
    detail::check_ranks(op, "scan_outputs", outputs);
    std::int64_t const room = check_loop_outputs(op, detail::shapes_of(outputs), control.guaranteed_trips());
    auto const places = detail::places_of(outputs);
    check_in_place(op, detail::places_of(states), std::array<placed_operand, 0>(), places);

    auto y = cursor_set<std::tuple<Outputs&...>, true>::start(
        outputs, places, kernel::all_iterations(0), write_back_for<Body, States...>);
    std::int64_t const end = (std::min)(control.limit(), room);
    {
        local_states held(states);
        auto const current = held.get();
        auto const fail = [&](element_reshaped const& found) {
            auto const t = static_cast<std::size_t>(control.status().trip_count);
            detail::fail_if_own(op, "scan_outputs", y, found, t);
            detail::fail_if_value(op, "states", current, found, t);
        };
        auto const iterate = [&] {
            while (control.next(end))
                do {
                    detail::enter_all(y);
                    detail::for_each_leaf(y, [](auto, auto& cursor) { detail::poison(cursor.element()); });
                    bool const cond =
                        detail::call_body(body, std::tuple<std::int64_t>(control.status().trip_count),
                            current, detail::output_elements(y));
                    detail::leave_all(y);
                    control.finish_iteration(cond);
                } while (control.next_without_stop_token(end));
        };
        detail::run_bodies(fail, [&] { detail::name_states(op, current, iterate); });
    }
    if (control.next(control.limit()))
        fail_full(op, detail::shapes_of(outputs), room);
    return control.status();
}

} // namespace detail

/// Runs a loop in place: the body updates the caller's carried values and writes the caller's outputs.
///
/// body(std::int64_t iteration, carried value&..., output&...) -> bool, true to continue. A carried value is
/// the caller's variable (a scalar is a copy of it, written back at the end) and may change its shape. The
/// leading axis of an output is its capacity in iterations, of which the first status.trip_count are written;
/// an output element is as in scan_into.
///
/// Errors    before the first write: option_error, overlap_error, shape_error if the capacity is too small
///           for the guaranteed iterations. shape_error: the capacity is used up and the loop continues.
///           body_error: an output element was assigned another shape, or as in scan an expression does not
///           broadcast. After these, and after an exception of the body, carried values and outputs hold the
///           values written so far; the element of that iteration may be unwritten.
/// Aliasing  any overlap is an overlap_error. A body that captures an output's tensor reads the elements of
///           earlier iterations from it; the current element in it is unspecified.
/// Cost      that of a hand-written loop over the same body; nothing is allocated after set-up.
/// Source    ONNX Loop-1 to 25.
/// Example
/// ```cpp
/// double v = 6;
/// auto y = xt::xtensor<double, 1>::from_shape({10});
/// auto const halve = [](std::int64_t, double& value, double& y_t) {
///     y_t = value;
///     return (value /= 2) > 1;
/// };
/// auto const status = xloom::loop_into(halve, v, y);
/// v; // = 0.75
/// status.trip_count; // = 3
/// ```
template <class Body, class States, class Outputs = std::tuple<>, class... Env>
loop_status loop_into(
    Body&& body, States&& states, Outputs&& scan_outputs = {}, loop_options const& options = {}, Env&&...)
{
    using namespace detail;
    if constexpr (satisfied<environment<takes<>, Env...>>() && is_valid_loop_into<Body, States, Outputs>())
        return detail::run_loop_into(
            "xloom::loop_into", body, detail::leaves(states), detail::leaves(scan_outputs), options);
    else
        return {}; // a value, so that one mistake gives one error
}

/// Runs loop_into without options. It takes nothing behind them, which one sentence says of what is there.
template <class Body, class States, class Outputs, detail::beside_options<loop_options> First, class... Env>
loop_status loop_into(Body&& body, States&& states, Outputs&& scan_outputs, First&& first, Env&&... env)
{
    return xloom::loop_into(body, static_cast<States&&>(states), static_cast<Outputs&&>(scan_outputs), {},
        static_cast<First&&>(first), static_cast<Env&&>(env)...);
}

} // namespace xloom::inline XLOOM_ABI
