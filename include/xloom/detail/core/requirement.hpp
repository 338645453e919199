#pragma once
// Requirements on the types of a call, each a compile-time error of one sentence; and the environment of a
// call: the arguments after its options, which say where it runs and change no result.
//
// An operator `f(operands..., options, environment...)` takes a policy, a workspace and a rank axis in any
// order, each at most once, and says which of them it has a use for. Without options the environment, or
// nothing, is in their place. One function serves all of these calls, because braces deduce no type, so that
// the default type applies:
//
//     template <class X, class Options = f_options, class... Env>
//     auto f(X const& x, Options&& options = {}, Env&&... env)
//     {
//         if constexpr (satisfied<options_and_policy<f_options, Options, Env...>, readable<X>>())
//             run(x, options_of<f_options>(options), policy_of(options, env...));
//     }

#include <cstddef>
#include <type_traits>

#include <xloom/detail/core/abi.hpp>
#include <xloom/detail/core/policy.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// False for every T. A static_assert on it fails only where its statement is instantiated.
template <class T>
inline constexpr bool never = false;

/// True if all requirements hold. A requirement is a type whose `static consteval bool holds()` contains a
/// static_assert with its sentence. Those after the first that fails are not instantiated, so that a mistake
/// gives one error, on every compiler. The operator then returns a value instead of running.
///
///     if constexpr (satisfied<readable<X>, integer_indices<Indices>>())
template <class First, class... Rest>
consteval bool satisfied()
{
    if constexpr (!First::holds())
        return false;
    else if constexpr (sizeof...(Rest) != 0)
        return satisfied<Rest...>();
    else
        return true;
}

/// Several requirements as one, in their order.
template <class... Requirements>
struct requirements {
    static consteval bool holds() { return satisfied<Requirements...>(); }
};

/// The kinds of arguments in an environment: an execution policy, a workspace of the type W, and the division
/// of an axis over ranks, for which distributed_axis specialises is_of_kind.
struct a_policy {};
template <class W>
struct a_workspace {};
struct a_rank_axis {};

/// True if an argument of the type T, a reference for a variable, is of a kind. A workspace is written, so it
/// is a variable.
template <class Kind, class T>
inline constexpr bool is_of_kind = false;
template <class T>
inline constexpr bool is_of_kind<a_policy, T> = execution_policy<std::remove_cvref_t<T>>;
template <class W>
inline constexpr bool is_of_kind<a_workspace<W>, W&> = true;

/// The kinds that an operator has a use for.
template <class... Kinds>
struct takes {};

template <class Kind, class... Env>
inline constexpr std::size_t count_of_kind = ((is_of_kind<Kind, Env> ? 1 : 0) + ... + 0);

template <class Kind>
inline constexpr bool is_workspace_kind = false;
template <class W>
inline constexpr bool is_workspace_kind<a_workspace<W>> = true;

/// Requires that every argument in Env is of one of the kinds, and that no kind is there twice.
template <class Kinds, class... Env>
struct environment;
template <class... Kinds, class... Env>
struct environment<takes<Kinds...>, Env...> {
    static consteval bool holds()
    {
        constexpr bool is_valid = ((count_of_kind<Kinds, Env...> <= 1) && ...) &&
                                  (count_of_kind<Kinds, Env...> + ... + 0) == sizeof...(Env);
        constexpr bool with_policy = (std::is_same_v<Kinds, a_policy> || ...);
        constexpr bool with_workspace = (is_workspace_kind<Kinds> || ...);
        if constexpr (is_valid)
            return true;
        else if constexpr (with_policy && with_workspace)
            static_assert(never<environment>,
                "after the operands and outputs come the options, then a policy and a "
                "workspace of this operator, in any order, each at most once");
        else if constexpr (with_policy)
            static_assert(never<environment>,
                "after the operands and outputs come the options, then at most one policy");
        else if constexpr (with_workspace)
            static_assert(never<environment>,
                "after the operands and outputs come the options, then at most one "
                "workspace of this operator; several inputs are one operand, std::tie(a, b)");
        else
            static_assert(never<environment>,
                "after the operands and outputs come the options, and nothing else; several inputs are one "
                "operand, std::tie(a, b)");
        return false;
    }
};

/// Requires that nothing but a policy follows the options.
template <class... Env>
using at_most_a_policy = environment<takes<a_policy>, Env...>;

/// Requires that nothing but a policy and a workspace of the type W follows the options.
template <class W, class... Env>
using policy_and_workspace = environment<takes<a_policy, a_workspace<W>>, Env...>;

/// An argument in the place of a call's options that is none: the first of its environment, or a mistake.
template <class T, class Options>
concept beside_options = !std::is_convertible_v<T, Options const&>;

/// Requires that a call's arguments after its operands are Options or none, then an environment of Kinds.
template <class Options, class Kinds, class First, class... Env>
using after_operands = std::conditional_t<beside_options<First, Options>, environment<Kinds, First, Env...>,
    environment<Kinds, Env...>>;

/// Requires that a call's arguments after its operands are Options or none, then at most a policy.
template <class Options, class First, class... Env>
using options_and_policy = after_operands<Options, takes<a_policy>, First, Env...>;

/// Returns the options of a call; the default ones if another argument is in their place.
template <class Options, class First>
constexpr decltype(auto) options_of(First const& first)
{
    if constexpr (std::is_base_of_v<Options, First>)
        return static_cast<Options const&>(first);
    else if constexpr (beside_options<First const&, Options>)
        return Options{};
    else
        return Options(first);
}

/// The first argument of a kind; `otherwise` if there is none.
template <class Kind, class Otherwise>
constexpr Otherwise& first_of_kind(Otherwise& otherwise) noexcept
{
    return otherwise;
}
template <class Kind, class Otherwise, class First, class... Rest>
constexpr auto& first_of_kind(Otherwise& otherwise, First& first, Rest&... rest) noexcept
{
    if constexpr (is_of_kind<Kind, First&>)
        return first;
    else
        return detail::first_of_kind<Kind>(otherwise, rest...);
}

/// Returns the policy of an environment, by a policy_ref if it may have threads: they compute with subnormal
/// numbers as the caller's does. Serial if there is none.
template <class... Env>
constexpr decltype(auto) policy_of(Env const&... env)
{
    auto const& policy = detail::first_of_kind<a_policy>(serial, env...);
    if constexpr (has_threads<std::remove_cvref_t<decltype(policy)>>)
        return policy_ref(policy);
    else
        return (policy);
}

/// Returns a pointer to the workspace of an environment; a null pointer if there is none.
template <class W, class... Env>
constexpr W* workspace_of(Env&... env) noexcept
{
    if constexpr (count_of_kind<a_workspace<W>, Env&...> == 0)
        return nullptr;
    else
        return &detail::first_of_kind<a_workspace<W>>(serial, env...);
}

} // namespace xloom::inline XLOOM_ABI::detail
