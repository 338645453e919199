#pragma once
// The requirements of scan, scan_batched and loop on the types that a body returns, with their compile-time
// errors.

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>

#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/scan/step.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True for a reference, and for a tuple that contains one.
template <class T>
inline constexpr bool is_or_has_reference = std::is_reference_v<T>;
template <class... Ts>
inline constexpr bool is_or_has_reference<std::tuple<Ts...>> = (std::is_reference_v<Ts> || ...);

/// True if the containers that stack values of type Y can construct, copy and align its items; xtensor with
/// xsimd uses one alignment for all items.
template <class Y>
inline constexpr bool every_item_stacks =
    std::is_default_constructible_v<item_t<Y>> && std::is_copy_constructible_v<item_t<Y>> &&
    std::is_copy_assignable_v<item_t<Y>> &&
    (XTENSOR_DEFAULT_ALIGNMENT == 0 || alignof(item_t<Y>) <= XTENSOR_DEFAULT_ALIGNMENT ||
        (tensor<Y> && !expression<Y>));
template <class... Ys>
inline constexpr bool every_item_stacks<std::tuple<Ys...>> = (every_item_stacks<Ys> && ...);

/// The replacement of a carried value of type To by a value of type From: what the two types have in common.
/// The value of an optional can be replaced without the optional.
template <class To, class From>
struct replacement {
    static constexpr bool keeps_kind =
        std::is_same_v<To, From> || !(tensor<To> || has_sequence<To> || tensor<From> || has_sequence<From>);
    static constexpr bool keeps_item_type = std::is_same_v<item_t<To>, item_t<From>>;
    static constexpr bool keeps_rank = true;
    static constexpr bool keeps_shape = true;
};
template <tensor To, tensor From>
struct replacement<To, From> {
    static constexpr std::size_t to_rank = enable_tensor<To>::rank;
    static constexpr std::size_t from_rank = enable_tensor<From>::rank;

    static constexpr bool keeps_kind = true;
    static constexpr bool keeps_item_type = std::is_same_v<item_t<To>, item_t<From>>;
    static constexpr bool keeps_rank =
        to_rank == from_rank || to_rank == dynamic_rank || from_rank == dynamic_rank;
    static constexpr bool keeps_shape = !is_fixed_shape<shape_type_t<To>> ||
                                        !is_fixed_shape<shape_type_t<From>> ||
                                        std::is_same_v<shape_type_t<To>, shape_type_t<From>>;
};
template <class To, class From>
struct replacement<std::optional<To>, From> : replacement<To, From> {};
template <class To, class From>
struct replacement<std::optional<To>, std::optional<From>> : replacement<To, From> {};
template <class To>
struct replacement<std::optional<To>, std::nullopt_t> : replacement<To, To> {};

template <class Replacement>
inline constexpr bool is_valid_replacement = Replacement::keeps_kind && Replacement::keeps_item_type &&
                                             Replacement::keeps_rank && Replacement::keeps_shape;

/// A carried value's index, its initial type and the type that the body returned. A compiler prints these in
/// the error of a static_assert on never<carried_state>.
template <std::size_t StateNumber, class InitialType, class ReturnedType>
struct carried_state {};

/// The first invalid replacement among carried values, which have the indices from I; a valid one if there is
/// none. Its `shown` holds the types of the items where these differ, otherwise those of the values.
template <class To, class From, std::size_t I = 0>
struct first_invalid : replacement<int, int> {};
template <class To, class... Tos, class From, class... Froms, std::size_t I>
    requires is_valid_replacement<replacement<To, From>>
struct first_invalid<std::tuple<To&, Tos&...>, std::tuple<From&, Froms&...>, I>
    : first_invalid<std::tuple<Tos&...>, std::tuple<Froms&...>, I + 1> {};
template <class To, class... Tos, class From, class... Froms, std::size_t I>
    requires(!is_valid_replacement<replacement<To, From>>)
struct first_invalid<std::tuple<To&, Tos&...>, std::tuple<From&, Froms&...>, I> : replacement<To, From> {
    using types = replacement<To, From>;
    using shown = std::conditional_t<types::keeps_kind && !types::keeps_item_type,
        carried_state<I, item_t<To>, item_t<From>>, carried_state<I, To, From>>;
};

// The message of a static_assert is a literal, so only the preprocessor can insert an operator's sentences.
// The macro defines function<State, Step>(): true if the outputs of a Step can be stacked and its state can
// replace State, otherwise a compile-time error of one sentence.
#define XLOOM_STEP_TYPES(function, op, step, output, count, kind, item_type, rank, shape)                    \
    template <class State, class Step>                                                                       \
    consteval bool function()                                                                                \
    {                                                                                                        \
        using state = decltype(Step::state);                                                                 \
        using outputs = decltype(Step::scan_outputs);                                                        \
        using invalid = first_invalid<leaves_t<State>, leaves_t<state>>;                                     \
        if constexpr (is_or_has_reference<state> || is_or_has_reference<outputs>)                            \
            static_assert(never<Step>,                                                                       \
                op ": the body returned references, which could outlive the body's variables; return " step  \
                   "{...} without template arguments");                                                      \
        else if constexpr (!is_self_contained<state> || !is_self_contained<outputs>)                         \
            static_assert(never<Step>, op ": the body returned a lazy xtensor expression or a view, which "  \
                                          "would refer to the body's dead local variables; return " step     \
                                          "{...} without template arguments, or a container");               \
        else if constexpr (!is_stackable<outputs>)                                                           \
            static_assert(never<Step>, op ": " output);                                                      \
        else if constexpr (!every_item_stacks<outputs>)                                                      \
            static_assert(never<Step>,                                                                       \
                op ": the items of a scan output must be default-constructible, copyable and no more "       \
                   "aligned than xtensor aligns items; hold others by std::shared_ptr");                     \
        else if constexpr (leaf_count<State> != leaf_count<state>)                                           \
            static_assert(never<Step>, op ": " count);                                                       \
        else if constexpr (!invalid::keeps_kind)                                                             \
            static_assert(detail::never<typename invalid::shown>, op ": " kind);                             \
        else if constexpr (!invalid::keeps_item_type)                                                        \
            static_assert(detail::never<typename invalid::shown>,                                            \
                op ": " item_type                                                                            \
                   "; convert what the body returns, or give init that type (0.0, not 0, for a double)");    \
        else if constexpr (!invalid::keeps_rank)                                                             \
            static_assert(detail::never<typename invalid::shown>, op ": " rank);                             \
        else if constexpr (!invalid::keeps_shape)                                                            \
            static_assert(detail::never<typename invalid::shown>, op ": " shape);                            \
        else                                                                                                 \
            return true;                                                                                     \
        return false;                                                                                        \
    }

XLOOM_STEP_TYPES(is_valid_scan_step, "xloom::scan", "xloom::scan_step",
    "a scan output must be a tensor or a scalar", "the body must return as many states as init has",
    "a state that is a tensor must be replaced by a tensor, a scalar by a scalar",
    "a state must keep its element type", "a state must keep its rank", "a state must keep its shape")

XLOOM_STEP_TYPES(is_valid_scan_batched_step, "xloom::scan_batched", "xloom::scan_step",
    "a scan output must be a tensor or a scalar", "the body must return as many states as init has",
    "a row of a state that is a tensor must be replaced by a tensor, a scalar one by a scalar",
    "a state must keep its element type", "a row of a state must keep its rank",
    "a row of a state must keep its shape")

XLOOM_STEP_TYPES(is_valid_scan_ragged_step, "xloom::scan_ragged", "xloom::scan_step",
    "a scan output must be a tensor or a scalar", "the body must return as many states as init has",
    "a row of a state that is a tensor must be replaced by a tensor, a scalar one by a scalar",
    "a state must keep its element type", "a row of a state must keep its rank",
    "a row of a state must keep its shape")

XLOOM_STEP_TYPES(is_valid_loop_step, "xloom::loop", "xloom::loop_step",
    "a scan output must be a tensor or a scalar; carry a sequence as a state instead",
    "the body must return as many carried values as init has",
    "a carried tensor must be replaced by a tensor, a scalar by a scalar, a sequence by a sequence",
    "a carried value may change its shape, but never its element type",
    "a carried value of a static rank must keep it; carry an xt::xarray to change the rank",
    "a carried value of a fixed shape must keep it; carry an xt::xtensor to change the shape")

#undef XLOOM_STEP_TYPES

} // namespace xloom::inline XLOOM_ABI::detail
