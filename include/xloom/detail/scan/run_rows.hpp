#pragma once
// The engine of scans over rows: pure ones, and those in place.

#include <array>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <xloom/detail/scan/iteration.hpp>
#include <xloom/detail/scan/requirements.hpp>
#include <xloom/detail/scan/rows.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The call of the body of a pure scan over rows: body(state const&..., element const&...).
template <class Rows, class Body, class State, class Inputs>
struct row_scan_call
    : call_of<Body,
          joined_t<leaves_t<rows_t<State> const>, typename Rows::template cursors<Inputs>::input_arguments>> {
};

/// The call of the body of a scan over rows in place: body(state&..., element const&..., output&...). A state
/// is an element of its tensor along the rows.
template <class Rows, class Body, class States, class Inputs, class Outputs>
struct row_scan_into_call
    : call_of<Body, joined_t<typename cursor_set<leaves_t<States>, true>::output_arguments,
                        typename Rows::template cursors<Inputs>::input_arguments,
                        typename Rows::template cursors<leaves_t<Outputs>>::output_arguments>> {};

/// Requires a pure body that returns steps for rows of the states, and that the policy in Env can call.
template <class Rows, class Body, class State, class Inputs, class... Env>
struct returns_step_by_rows {
    static consteval bool holds()
    {
        using call = row_scan_call<Rows, Body, State, Inputs>;
        return satisfied<returns_scan_step<call>, step_replaces<rows_t<State>, call>,
            shareable<row_scan_call<Rows, std::remove_reference_t<Body> const, State, Inputs>, Env...>>();
    }
};

/// Requires a body that updates rows of the states and writes outputs, and that the policy in Env can call.
template <class Rows, class Body, class States, class Inputs, class Outputs, class... Env>
using updates_rows = requirements<scan_body_in_place<row_scan_into_call<Rows, Body, States, Inputs, Outputs>>,
    shareable<row_scan_into_call<Rows, std::remove_reference_t<Body> const, States, Inputs, Outputs>,
        Env...>>;

/// Returns the first row that has elements; the number of rows if there is none.
template <class Rows>
std::size_t first_row_with_elements(Rows const& rows)
{
    std::size_t b = 0;
    while (b < rows.size() && rows.length(b) == 0)
        ++b;
    return b;
}

/// Runs pure scans over rows, on the threads of a policy. Requires checked operands.
///
/// The first iteration of all gives the shapes of the outputs. Its row goes on in its turn.
template <class Step, class Rows, class Body, class State, class Inputs, class Traversals, class Policy>
auto run_rows(std::string_view op, Rows const& rows, Body& caller_body, State state, Inputs const& inputs,
    Traversals const& traversals, Policy const& policy)
{
    using stack = row_outputs<Rows, typename as_tuple<decltype(Step::scan_outputs)>::type>;
    using cursors = typename Rows::template cursors<Inputs>;
    shared_body_t<Policy, Body>& body = caller_body;
    auto const states = detail::leaves(state);
    stack outputs(op, rows);
    std::size_t const opened = first_row_with_elements(rows);
    if (opened != rows.size()) {
        rows_t<State> row{};
        step_memory<Step> memory;
        detail::load_rows(states, opened, row);
        cursors elements(rows, inputs, traversals, opened, rows.size());
        elements.enter_row(opened);
        detail::iterate(
            op, body, detail::leaves(row), memory, elements.get(), 0, 1, std::tuple<>(),
            [&](auto const& values, std::size_t t) {
                outputs.open(values);
                outputs.row(opened, t).push(op, values, t, opened);
            },
            opened);
        detail::store_rows(states, opened, row);
    }
    detail::for_parts(rows, policy, [&](std::size_t first, std::size_t last) {
        rows_t<State> row{};
        step_memory<Step> memory;
        cursors elements(rows, inputs, traversals, first, last);
        for (std::size_t b = first; b < last; ++b) {
            std::size_t const begin = b == opened ? 1 : 0;
            detail::load_rows(states, b, row);
            elements.enter_row(b, begin);
            auto writers = outputs.row(b, begin);
            detail::iterate(
                op, body, detail::leaves(row), memory, elements.get(), begin, rows.length(b), writers.each,
                [&](auto const& values, std::size_t t) { writers.push(op, values, t, b); }, b);
            outputs.end_row(b);
            detail::store_rows(states, b, row);
        }
    });

    auto stacked = std::move(outputs).finish();
    if constexpr (is_tuple<decltype(Step::scan_outputs)>)
        return scan_result<State, typename stack::type>{std::move(state), std::move(stacked)};
    else
        return scan_result<State, std::tuple_element_t<0, typename stack::type>>{
            std::move(state), std::move(std::get<0>(stacked))};
}

/// Sets the elements of outputs past the end of row b to zeros, those that are not row-major through their
/// cursors.
template <class Rows, class... Outputs, class Traversals, class Cursors>
void clear_tails(Rows const& rows, std::size_t b, std::tuple<Outputs&...> const& outputs,
    Traversals const& traversals, Cursors& cursors)
{
    detail::for_each_leaf(outputs, [&]<class Y>(auto k, Y& output) {
        if (is_row_major(traversals[k].memory.layout)) {
            rows.clear_tail(output, b);
            return;
        }
        auto& cursor = std::get<k>(cursors);
        for (std::size_t t = rows.length(b); t < rows.longest(); ++t) {
            cursor.enter();
            cursor.element() = item_t<Y>{};
            cursor.leave();
        }
    });
}

/// The memory of the operands of a scan over rows in place.
template <std::size_t N, std::size_t M, std::size_t K>
struct row_scan_traversals {
    std::array<traversal, N> states;
    std::array<traversal, M> inputs;
    std::array<traversal, K> outputs;
};
template <std::size_t N, std::size_t M, std::size_t K>
row_scan_traversals(std::array<traversal, N> const&, std::array<traversal, M> const&,
    std::array<traversal, K> const&) -> row_scan_traversals<N, M, K>;

/// Runs scans over rows in place, on the threads of a policy, each with buffers of its own. Requires checked
/// operands.
template <class Rows, class Body, class... States, class Inputs, class... Outputs, class Traversals,
    class Policy>
void run_rows_into(std::string_view op, Rows const& rows, Body& caller_body,
    std::tuple<States&...> const& states, Inputs const& inputs, std::tuple<Outputs&...> const& outputs,
    Traversals const& traversals, Policy const& policy)
{
    constexpr write_back when = write_back_for<Body, States...>;
    using input_cursors = typename Rows::template cursors<Inputs>;
    using output_cursors = typename Rows::template cursors<std::tuple<Outputs&...>>;
    shared_body_t<Policy, Body>& body = caller_body;
    detail::for_parts(rows, policy, [&](std::size_t first, std::size_t last) {
        auto row = cursor_set<std::tuple<States&...>, true>::start(
            states, traversals.states, {first, last, rows.size()}, when);
        detail::for_each_leaf(row, [](auto, auto& cursor) { cursor.start_from_input(); });
        input_cursors x(rows, inputs, traversals.inputs, first, last);
        output_cursors y(rows, outputs, traversals.outputs, first, last, when);
        std::array<bool, sizeof...(Outputs)> const is_in_place =
            detail::join_in_place(traversals.inputs, x.get(), traversals.outputs, y.get());
        std::size_t b = first, t = 0;
        auto const fail = [&](element_reshaped const& found) {
            detail::fail_if_own(op, "states", row, found, t, b);
            detail::fail_if_own(op, "scan_outputs", y.get(), found, t, b);
        };
        detail::run_bodies(fail, [&] {
            for (; b < last; ++b) {
                std::size_t const length = rows.length(b);
                detail::enter_all(row);
                x.enter_row(b);
                y.enter_row(b);
                {
                    local_states held(detail::output_elements(row));
                    auto const current = held.get();
                    detail::name_states(op, current, [&] {
                        for (t = 0; t < length; ++t)
                            detail::run_iteration(body, current, x.get(), y.get(), is_in_place);
                    });
                }
                if constexpr (Rows::has_tails)
                    detail::clear_tails(rows, b, outputs, traversals.outputs, y.get());
                detail::leave_all(row);
            }
        });
    });
}

} // namespace xloom::inline XLOOM_ABI::detail
