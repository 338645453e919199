#pragma once
// The iterations of scans and loops: calls of the body on the current elements, and its errors.

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <xloom/detail/scan/body.hpp>
#include <xloom/detail/scan/cursors.hpp>
#include <xloom/detail/scan/step_memory.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Returns body(arguments of the first tuple..., of the second tuple..., ...).
template <class Body, class... Arguments>
decltype(auto) call_body(Body& body, Arguments&&... arguments)
{
    return std::apply(body, std::tuple_cat(static_cast<Arguments&&>(arguments)...));
}

/// The guards of several values.
template <class... Xs>
class shape_guards {
public:
    explicit shape_guards(std::tuple<Xs&...> const& values) : guards_(values) {}

    /// Requires that the values have their shapes after an iteration.
    ///
    /// Errors    body_error.
    void check_shapes(std::string_view op, std::string_view name, std::tuple<Xs&...> const& values,
        std::size_t iteration) const
    {
        detail::for_each_leaf(guards_, [&](auto i, auto const& guard) {
            if (!guard.holds(std::get<i>(values)))
                detail::fail_reshaped(
                    op, name, i, guard.expected(), detail::describe_shape(std::get<i>(values)), iteration);
        });
    }

private:
    std::tuple<shape_guard<Xs>...> guards_;
};

/// Throws a body_error that names the operand if the element that was assigned another shape is one of its
/// elements.
template <class... Cursors>
void fail_if_own(std::string_view op, std::string_view name, std::tuple<Cursors...> const& operands,
    element_reshaped const& found, std::size_t iteration, std::optional<std::size_t> row = {})
{
    detail::for_each_leaf(operands, [&](auto k, auto const& cursor) {
        if (cursor.is_own(found))
            detail::fail_reshaped(op, name, k, found.is(), found.assigned(), iteration, row);
    });
    detail::for_each_leaf(operands, [&](auto k, auto const& cursor) {
        if (cursor.is_copy(found))
            detail::fail_reshaped(op, name, k, found.is(), found.assigned(), iteration, row);
    });
}

/// Throws a body_error that names the operand if the element that was assigned another shape is one of these
/// values: a state, for example, that is an element of an outer operator.
template <class... Xs>
void fail_if_value(std::string_view op, std::string_view name, std::tuple<Xs&...> const& values,
    element_reshaped const& found, std::size_t iteration)
{
    detail::for_each_leaf(values, [&](auto i, auto const& value) {
        if (found.view() == std::addressof(value))
            detail::fail_reshaped(op, name, i, found.is(), found.assigned(), iteration);
    });
}

/// Returns run(), which calls the body, and replaces xtensor's error about shapes that do not broadcast by a
/// body_error with the shapes of the states that are tensors, if there are any.
template <class... Xs, class Run>
auto name_states(
    [[maybe_unused]] std::string_view op, [[maybe_unused]] std::tuple<Xs&...> const& states, Run const& run)
{
#ifdef __cpp_exceptions
    if constexpr ((tensor<Xs> || ...)) {
        try {
            return run();
        } catch (xt::broadcast_error const& found) {
            fact_list shapes;
            detail::for_each_leaf(states, [&]<class X>(auto i, X const& state) {
                if constexpr (tensor<X>)
                    shapes.add("states[", i(), "] is ", detail::describe_shape(state));
            });
            std::string report = found.what();
            std::erase(report, '\n');
            fail<body_error>(op,
                ": the shapes in a body's expressions must broadcast, but some do not, where ", shapes,
                ". Give them shapes that broadcast to the state's. xtensor reports: ", report);
        }
    } else
#endif
        return run();
}

/// Runs a function that calls the body, and passes an element_reshaped to `fail`, which throws an error with
/// the operand's name if it knows the element. Without exceptions it is reported without the name.
template <class Fail, class Run>
void run_bodies([[maybe_unused]] Fail const& fail, Run const& run)
{
#ifdef __cpp_exceptions
    try {
        run();
    } catch (element_reshaped const& found) {
        fail(found);
        throw;
    }
#else
    run();
#endif
}

/// Runs one iteration of a scan in place.
template <class Body, class States, class Inputs, class Outputs, std::size_t K>
void run_iteration(
    Body& body, States const& states, Inputs& x, Outputs& y, std::array<bool, K> const& is_in_place)
{
    detail::enter_all(x);
    detail::enter_all(y);
    detail::for_each_leaf(y, [&](auto k, auto& cursor) {
        if (!is_in_place[k])
            detail::poison(cursor.element());
    });
    detail::call_body(body, states, detail::input_elements(x), detail::output_elements(y));
    detail::leave_all(x);
    detail::leave_all(y);
}

/// Runs iterations [begin, end) of a pure scan over cursors; `push` receives the outputs of each, for which
/// there are `writers`. The final states are left in `states`, references whose copy g++ 12 keeps in
/// registers.
template <class Step, class Body, class States, class Elements, class Writers, class Push>
void run_iterations(std::string_view op, Body& body, States states, step_memory<Step>& memory,
    Elements& elements, std::size_t begin, std::size_t end, Writers const& writers, Push&& push,
    std::optional<std::size_t> row = {})
{
    for (std::size_t t = begin; t < end; ++t) {
        detail::enter_all(elements);
        Step step = memory.make(&step, states, writers, [&] {
            return detail::call_body(body, detail::const_leaves(states), detail::input_elements(elements));
        });
        detail::leave_all(elements);
        auto const returned = detail::leaves(step.state);
        detail::for_each_leaf(returned, [&](auto i, auto const& value) {
            auto const& state = std::get<i>(states);
            if (!detail::have_same_shape(state, value))
                detail::fail_reshaped(
                    op, "states", i, detail::shape_of(state), detail::describe_shape(value), t, row);
        });
        push(detail::leaves(step.scan_outputs), t);
        memory.replace(states, returned);
    }
}

/// Runs run_iterations, with the errors of name_states.
template <class Step, class Body, class... States, class Elements, class Writers, class Push>
void iterate(std::string_view op, Body& body, std::tuple<States&...> const& states, step_memory<Step>& memory,
    Elements& elements, std::size_t begin, std::size_t end, Writers const& writers, Push&& push,
    std::optional<std::size_t> row = {})
{
    detail::name_states(op, states,
        [&] { detail::run_iterations(op, body, states, memory, elements, begin, end, writers, push, row); });
}

} // namespace xloom::inline XLOOM_ABI::detail
