#pragma once
// The types that a compile error names for an invalid step: the index of the state, its type and the returned
// type.

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>

#include <xloom/run/scan/step.hpp>

namespace xloom::detail {

/// A carried value's index, with its initial and its returned type (of its items, if these differ). A
/// compiler prints these in the error of a static_assert on `fits`.
template <std::size_t StateNumber, class InitialType, class ReturnedType, step_fault Fault>
struct carried_state {
    static constexpr bool fits(step_fault asked) noexcept { return asked != Fault; }
};

/// The first carried value with an error, from index I.
template <class To, class From, std::size_t I = 0>
struct first_at_fault {
    using type = carried_state<I, void, void, step_fault::none>;
};
template <class To, class... Tos, class From, class... Froms, std::size_t I>
struct first_at_fault<std::tuple<To&, Tos&...>, std::tuple<From&, Froms&...>, I> {
    static constexpr step_fault fault = find_carried_fault<To, From>();
    static constexpr bool is_item_type = fault == step_fault::item_type;
    using found = carried_state<I, std::conditional_t<is_item_type, item_t<To>, To>,
        std::conditional_t<is_item_type, item_t<From>, From>, fault>;
    using type = typename std::conditional_t<fault == step_fault::none,
        first_at_fault<std::tuple<Tos&...>, std::tuple<Froms&...>, I + 1>, std::type_identity<found>>::type;
};

/// The first carried value with an error; none if the step's error does not concern the types of carried
/// values.
template <class State, class Step, step_fault Wrong>
struct carried_at_fault {
    using type = carried_state<0, void, void, step_fault::none>;
};
template <class State, class Step, step_fault Wrong>
    requires(Wrong >= step_fault::kind)
struct carried_at_fault<State, Step, Wrong>
    : first_at_fault<leaves_t<State>, leaves_t<decltype(Step::state)>> {};

/// A tag for the values of a step that were not grouped in tuples: scan_step{a, b, y}.
struct loose_values {};

/// A tag for the state of a step whose condition is not a bool.
struct no_bool {};

} // namespace xloom::detail
