#pragma once
// The step and the result of a pure loop.

#include <cstdint>

#include <xloom/detail/scan/step.hpp>

namespace xloom::inline XLOOM_ABI {

/// The value that the body of loop returns: whether to continue, the next carried values, and this
/// iteration's outputs. Construction evaluates lazy xtensor expressions inside the body, so that none of them
/// outlives the body's variables.
template <class State, class ScanOutputs = std::tuple<>>
struct loop_step {
    bool cond;
    State state;
    ScanOutputs scan_outputs{};
};
template <class State>
loop_step(bool, State&&) -> loop_step<detail::stored_t<State>>;
template <class State, class ScanOutputs>
loop_step(bool, State&&, ScanOutputs&&) -> loop_step<detail::stored_t<State>, detail::stored_t<ScanOutputs>>;

/// The step deduced from four or more values, which loop rejects: carried values and outputs cannot be
/// distinguished.
template <>
struct loop_step<detail::loose_values> {
    explicit loop_step(auto const&...) {}
};
template <class A, class B, class C, class... More>
loop_step(bool, A const&, B const&, C const&, More const&...) -> loop_step<detail::loose_values>;

/// The step deduced from a condition that is not a bool, such as a tensor of rank 0; loop rejects it.
template <>
struct loop_step<detail::no_bool> {
    explicit loop_step(auto const&...) {}
};
/// Deduces the step that loop rejects.
template <class Cond, class... Values>
    requires(!std::is_convertible_v<Cond const&, bool>)
loop_step(Cond const&, Values const&...) -> loop_step<detail::no_bool>;

/// The result of loop: the carried values at its end, the stacked outputs, and the members of loop_status.
template <class State, class ScanOutputs>
struct loop_result {
    State final_state;
    ScanOutputs scan_outputs;
    bool cond;
    std::int64_t trip_count;
    bool stopped;
};

namespace detail {

template <class T>
inline constexpr bool is_loop_step = false;
template <class State, class ScanOutputs>
inline constexpr bool is_loop_step<loop_step<State, ScanOutputs>> = true;
template <>
inline constexpr bool is_loop_step<loop_step<loose_values>> = false;
template <>
inline constexpr bool is_loop_step<loop_step<no_bool>> = false;

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
