#pragma once
// The values that pure bodies return, and their assignment to carried values.

#include <cstdint>
#include <utility>

#include <xloom/detail/kernel/strided_copy.hpp>
#include <xloom/detail/scan/step_value.hpp>
#include <xloom/detail/tensor/operand_tuple.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// The type that a step stores as value K for an argument T&&: lazy expressions, views and variables are
/// evaluated or copied while the body's variables exist, temporary containers are moved.
template <class T, std::size_t K>
struct stored {
    using owner = std::conditional_t<std::is_constructible_v<owned_t<T>, T>, owned_t<T>, bare<T>>;
    static constexpr bool is_copied =
        lazy<bare<T>> || tensor_view<bare<T>> || (std::is_lvalue_reference_v<T> && tensor<bare<T>>);
    using type = typename std::conditional_t<is_copied, evaluated<owner, K>, std::type_identity<owner>>::type;
};
template <class Values, std::size_t First, class Indices>
struct stored_tuple;
template <class... Ts, std::size_t First, std::size_t... I>
struct stored_tuple<std::tuple<Ts...>, First, std::index_sequence<I...>> {
    using type = std::tuple<typename stored<Ts, First + I>::type...>;
};
template <class... Ts, std::size_t First>
struct stored<std::tuple<Ts...>, First>
    : stored_tuple<std::tuple<Ts...>, First, std::index_sequence_for<Ts...>> {};
/// The types of values, one or a tuple, that follow `Before` in a step.
template <class T, class Before = std::tuple<>>
using stored_t = typename stored<std::conditional_t<is_tuple<bare<T>>, bare<T>, T>, leaf_count<Before>>::type;

/// False if a value may refer to variables of a body that has returned: lazy expressions and views.
template <class T>
inline constexpr bool is_self_contained = !lazy<T> && !tensor_view<T>;
template <class... Ts>
inline constexpr bool is_self_contained<std::tuple<Ts...>> = (is_self_contained<bare<Ts>> && ...);
template <class T>
inline constexpr bool is_self_contained<std::optional<T>> = is_self_contained<T>;
template <class T, class Allocator>
inline constexpr bool is_self_contained<std::vector<T, Allocator>> = is_self_contained<T>;

/// A tag for the values of a step that were not grouped in tuples: scan_step{a, b, y}.
struct loose_values {};

/// A tag for the state of a step whose condition is not a bool.
struct no_bool {};

/// Assigns `from` to `to`: moves if the types are equal and `from` is not const, otherwise copies the items.
/// Requires a valid replacement, and check_room.
template <class To, class From>
void assign_carried(To& to, From& from)
{
    if constexpr (is_optional<From> && !std::is_same_v<To, From>) {
        if (from)
            detail::assign_carried(to, *from);
        else
            to.reset();
    } else if constexpr (is_optional<To> && tensor<From>) {
        using value = typename To::value_type;
        if constexpr (std::is_same_v<value, From>) {
            to = std::move(from);
        } else {
            if (!to)
                to.emplace(enable_tensor<value>::make(detail::shape_of(from)));
            detail::assign_carried(*to, from);
        }
    } else if constexpr (std::is_same_v<To, From> || !tensor<To>) {
        to = std::move(from);
    } else {
        if (!detail::have_same_shape(to, from))
            to = enable_tensor<To>::make(detail::shape_of(from));
        detail::copy_items(from, to);
    }
}

} // namespace detail

/// The value that the body of scan returns: the next states, and this iteration's outputs. Construction
/// evaluates lazy xtensor expressions inside the body, so that none of them outlives the body's variables. A
/// body with several return statements must name one type, because a container and a lazy expression deduce
/// two: `-> xloom::scan_step<xt::xtensor<float, 1>>` before the braces, and `return {2 * h};`.
template <class State, class ScanOutputs = std::tuple<>>
struct scan_step {
    State state;
    ScanOutputs scan_outputs{};
};
template <class State>
scan_step(State&&) -> scan_step<detail::stored_t<State>>;
template <class State, class Outputs>
scan_step(State&&, Outputs&&) -> scan_step<detail::stored_t<State>, detail::stored_t<Outputs, State>>;

/// The step deduced from three or more values, which scan rejects: states and outputs cannot be
/// distinguished.
template <>
struct scan_step<detail::loose_values> {
    explicit scan_step(auto const&...) {}
};
template <class A, class B, class C, class... More>
scan_step(A const&, B const&, C const&, More const&...) -> scan_step<detail::loose_values>;

/// The result of scan and scan_batched: the states after the last iteration, and the stacked outputs.
template <class State, class ScanOutputs>
struct scan_result {
    State final_state;
    ScanOutputs scan_outputs;
};

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
template <class State, class Outputs>
loop_step(bool, State&&, Outputs&&) -> loop_step<detail::stored_t<State>, detail::stored_t<Outputs, State>>;

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
inline constexpr bool is_scan_step = false;
template <class State, class ScanOutputs>
inline constexpr bool is_scan_step<scan_step<State, ScanOutputs>> = true;

template <class T>
inline constexpr bool is_loop_step = false;
template <class State, class ScanOutputs>
inline constexpr bool is_loop_step<loop_step<State, ScanOutputs>> = true;

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
