#pragma once
// Requirements on the types of parallel scans, recurrences and segments, by the operand's role.

#include <concepts>
#include <tuple>
#include <type_traits>

#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/core/communicator.hpp>
#include <xloom/detail/core/differentiable.hpp>
#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/prefix/operands.hpp>
#include <xloom/detail/tensor/requirements.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// A tensor with elements of type T, or a number.
template <class H0, class T>
inline constexpr bool is_initial_state = std::is_convertible_v<H0, T>;
template <class H0, class T>
    requires(tensor<H0> || lazy<bare<H0>>)
inline constexpr bool is_initial_state<H0, T> = std::same_as<item_t<H0>, T>;

/// Requires an operator, not an operand, as the first argument.
template <class Op>
struct operator_first {
    static consteval bool holds()
    {
        constexpr bool is_valid = !is_operand<Op>;
        static_assert(is_valid, "the first argument must be the operator, before the operands");
        return is_valid;
    }
};

/// Requires tensors with an axis, one or a std::tuple of them, for each argument that is scanned or reduced.
template <class... Xs>
struct with_an_axis {
    static consteval bool holds()
    {
        constexpr bool is_valid =
            ((is_flat<bare<Xs>> && leaf_count<Xs> != 0 && every_leaf<may_have_an_axis, leaves_t<Xs>>)&&...);
        static_assert(is_valid,
            "an operand must be a tensor with at least one axis, several of them a flat std::tuple");
        return is_valid;
    }
};

/// Requires an operator that combines two elements of the operands to one.
template <class Op, class Xs>
struct combines_elements {
    static consteval bool holds()
    {
        constexpr bool is_valid = combines<scanned_t<Xs>, Op>;
        static_assert(is_valid,
            "the operator must be a reduction that is defined for the elements, or callable as op(element, "
            "element) -> element, with a std::tuple of items for several operands");
        return is_valid;
    }
};

/// Requires one result for each operand, with its element type. Both are values or tuples.
template <class Xs, class Ys>
struct results_of {
    static consteval bool holds()
    {
        constexpr bool is_valid = std::same_as<scanned_t<Xs>, scanned_t<Ys>>;
        static_assert(is_valid, "there must be one result for each operand, with its element type");
        return is_valid;
    }
};

/// The requirements of a scan or a reduction.
template <class Op, class Xs>
using scan_types =
    requirements<operator_first<Op>, with_an_axis<Xs>, combines_elements<std::remove_reference_t<Op>, Xs>>;

/// The requirements of a scan or a reduction into ys.
template <class Op, class Xs, class Ys>
using scan_into_types = requirements<scan_types<Op, Xs>, flat_arguments<Ys>, written<Ys>, results_of<Xs, Ys>>;

/// Requires operands whose elements are sent to other ranks.
template <class Xs>
using sendable = sent_as_bytes<scanned_t<Xs>>;

/// Requires one element type of all operands.
template <class First, class... Rest>
struct one_element_type {
    static consteval bool holds()
    {
        constexpr bool is_valid = (std::same_as<item_t<First>, item_t<Rest>> && ...);
        static_assert(is_valid, "the operands must have one element type; convert them first");
        return is_valid;
    }
};

/// Requires a first state for recurrences of elements like those of A.
template <class H0, class A>
struct first_state {
    static consteval bool holds()
    {
        constexpr bool is_valid = is_initial_state<H0, item_t<A>>;
        static_assert(
            is_valid, "h0 must be a number, or a tensor, of the element type of a; convert it first");
        return is_valid;
    }
};

/// Requires elements that a linear recurrence can multiply and add.
template <class A>
struct coefficients {
    static consteval bool holds()
    {
        constexpr bool is_valid = coefficient<item_t<A>>;
        static_assert(is_valid,
            "the elements must be floating-point or complex numbers, or user-defined scalars with + and *");
        return is_valid;
    }
};

/// The requirements of a linear recurrence.
template <class A, class B, class H0>
using recurrence_types =
    requirements<with_an_axis<A, B>, one_element_type<A, B>, first_state<H0, A>, coefficients<A>>;

/// Requires elements that have an exponential.
template <class X>
struct floating_point_elements {
    static consteval bool holds()
    {
        constexpr bool is_valid = std::floating_point<compute_t<item_t<X>>>;
        static_assert(is_valid, "the elements must be floating-point numbers");
        return is_valid;
    }
};

} // namespace xloom::inline XLOOM_ABI::detail
