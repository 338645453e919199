#pragma once
// Compile-time traits of the operands of derivatives.

#include <xloom/detail/scan/body_call.hpp>
#include <xloom/detail/scan/step.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The types of a pack's values as const references: those of parameters in a body's arguments.
template <class Pack>
using const_leaves_t = decltype(detail::const_leaves(detail::leaves(std::declval<bare<Pack> const&>())));

/// True if two tuples have values of the same items in the same order.
template <class A, class B>
inline constexpr bool have_same_items = false;
template <class... As, class... Bs>
    requires(sizeof...(As) == sizeof...(Bs))
inline constexpr bool have_same_items<std::tuple<As...>, std::tuple<Bs...>> =
    (std::is_same_v<item_t<As>, item_t<Bs>> && ...);

/// The type of the states that residuals keep; void for what is no such residuals.
template <template <class> class Residuals, class X>
struct kept_state {
    using type = void;
};
template <template <class> class Residuals, class State>
struct kept_state<Residuals, Residuals<State>> {
    using type = State;
};
template <template <class> class Residuals, class X>
using kept_state_t = typename kept_state<Residuals, X>::type;

/// The elements that a body writes in a backward pass, which nobody reads, for the outputs' cotangents.
template <class CtOutputs, bool LeadingAxis>
struct discarded_arguments;
template <class... Ys, bool LeadingAxis>
struct discarded_arguments<std::tuple<Ys...>, LeadingAxis> {
    using type = typename cursor_set<std::tuple<owned_t<Ys>&...>, LeadingAxis>::output_arguments;
};
template <class CtOutputs, bool LeadingAxis>
using discarded_arguments_t = typename discarded_arguments<CtOutputs, LeadingAxis>::type;

/// True for a parameter whose cotangent can begin as 0.
template <class X>
struct has_zero : std::bool_constant<tensor<X> || lazy<X> || std::is_constructible_v<bare<X>, int>> {};

/// The type of a callable with any arguments and this result. It has no definition.
template <class Result>
struct callable_returning {
    template <class... Arguments>
    Result operator()(Arguments&&...) const;
};

/// The pullback of a call that is not valid.
struct no_pullback {
    template <class... Cotangents>
    void operator()(Cotangents const&...) const
    {}
};

} // namespace xloom::inline XLOOM_ABI::detail
