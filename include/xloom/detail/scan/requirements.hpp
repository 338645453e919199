#pragma once
// The requirements on the types of a call of scan, loop and their kin, by the role of what is passed. Each is
// one sentence, the same for every operator.

#include <cstdint>
#include <optional>

#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/scan/iteration.hpp>
#include <xloom/detail/scan/step.hpp>
#include <xloom/detail/tensor/requirements.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Requires that states which keep their shapes are tensors and scalars.
template <class States>
struct carried {
    static consteval bool holds()
    {
        constexpr bool is_valid = every_leaf<is_scan_state, leaves_t<States>>;
        static_assert(is_valid,
            "a state is a tensor or a scalar; carry sequences and optionals with loop or loop_into");
        return is_valid;
    }
};

/// True if the items of a value are default-constructible.
template <class X>
struct has_default_items : std::is_default_constructible<item_t<X>> {};

/// Requires states that have one row for each row of a batch, or each segment.
template <class States>
struct carried_by_rows {
    static consteval bool holds()
    {
        constexpr bool is_valid = every_leaf<is_scan_output, leaves_t<States>>;
        static_assert(is_valid, "a state is a tensor whose axis 0 is the batch, or the segments");
        return is_valid;
    }
};

/// Requires states of which a row can be copied, as pure bodies carry it.
template <class States>
struct copied_by_rows {
    static consteval bool holds()
    {
        constexpr bool is_valid = every_leaf<has_default_items, leaves_t<States>>;
        static_assert(is_valid,
            "the items of a state must be default-constructible, because a copy of its row is carried; "
            "scan_batched_into and scan_ragged_into carry the row itself");
        return is_valid;
    }
};

/// Requires variables, or views of them, for states that the body updates.
template <class States>
struct updated {
    static consteval bool holds()
    {
        if constexpr (!every_leaf<is_in_memory, leaves_t<States>>)
            static_assert(never<updated>,
                "a state is updated in place, so it must be a variable, but it is a lazy xtensor expression");
        else if constexpr (!every_leaf<is_writable, leaves_t<States>>)
            static_assert(never<updated>, "a state is updated in place, so it must not be const; states come "
                                          "first after the body, std::tuple() where there are none");
        else if constexpr (!outlives_call<States>)
            static_assert(never<updated>, "a state is updated in place, so it must be a variable or a view "
                                          "of one; pass several as std::tie(h, c)");
        else
            return true;
        return false;
    }
};

/// Requires no contiguous memory that is not a tensor.
template <class Leaves>
struct of_tensors {
    static consteval bool holds()
    {
        constexpr bool is_valid = every_leaf<is_no_foreign_memory, Leaves>;
        static_assert(is_valid,
            "a scan input or output must be a tensor: of xtensor, a std::vector, std::span or std::mdspan, "
            "of Eigen with <xloom/interop/eigen.hpp>, or of a type with xloom::enable_tensor");
        return is_valid;
    }
};

/// Requires that scan inputs, a tuple of references, are tensors with the axes that come before those of an
/// element: 1 of time, or 2 of batch and time.
template <class Inputs, std::size_t Axes = 1>
struct scanned_inputs {
    static consteval bool holds()
    {
        if constexpr (!of_tensors<Inputs>::holds())
            return false;
        else if constexpr (Axes == 1 && !every_leaf<may_have_an_axis, Inputs>)
            static_assert(never<scanned_inputs>,
                "a scan input is a tensor with at least one axis; capture other values in the body");
        else if constexpr (Axes == 2 && !every_leaf<is_batch_input, Inputs>)
            static_assert(never<scanned_inputs>, "a scan input is a tensor whose axes 0 and 1 are batch and "
                                                 "sequence; capture other values in the body");
        else
            return true;
        return false;
    }
};

/// Requires that there is an operand whose rows row_splits divide.
template <class Inputs>
struct some_input {
    static consteval bool holds()
    {
        constexpr bool is_valid = std::tuple_size_v<Inputs> != 0;
        static_assert(is_valid, "there must be a scan input, whose rows row_splits divide into segments");
        return is_valid;
    }
};

/// Requires tensors in memory, variables or views of them, for scan outputs that the body writes.
template <class Outputs, std::size_t Axes = 1>
struct written_by_body {
    static consteval bool holds()
    {
        using outputs = leaves_t<Outputs>;
        if constexpr (!of_tensors<outputs>::holds())
            return false;
        else if constexpr (Axes == 1 && !every_leaf<is_scan_output, outputs>)
            static_assert(
                never<written_by_body>, "a scan output is a tensor in memory with at least one axis");
        else if constexpr (Axes == 2 &&
                           !(every_leaf<is_scan_output, outputs> && every_leaf<is_batch_input, outputs>))
            static_assert(never<written_by_body>,
                "a scan output is a tensor in memory whose axes 0 and 1 are batch and sequence");
        else if constexpr (!every_leaf<is_writable, outputs>)
            static_assert(never<written_by_body>, "a scan output is written, so it must not be const");
        else if constexpr (!outlives_call<Outputs>)
            static_assert(never<written_by_body>,
                "a scan output is written in place, so it must be a "
                "variable or a view of one; pass several as std::tie(y, z)");
        else
            return true;
        return false;
    }
};

/// Requires that operands of fixed shapes agree on the number of iterations, if time is axis 0 of all.
template <class Leaves, bool LeadingAxis>
struct equally_long {
    static consteval bool holds()
    {
        constexpr bool is_valid = !LeadingAxis || static_length<Leaves>::agrees;
        static_assert(is_valid, "all scan inputs and outputs must have the same sequence length");
        return is_valid;
    }
};

/// True for a tensor whose rank is known at compile time.
template <class X>
using has_static_rank = std::bool_constant<enable_tensor<bare<X>>::rank != dynamic_rank>;

/// Requires operands whose elements have a known rank for a body that takes strided elements.
template <class Body, class... Leaves>
struct stridable {
    static consteval bool holds()
    {
        constexpr bool is_valid =
            !takes_strided_elements<std::remove_cv_t<Body>> || (every_leaf<has_static_rank, Leaves> && ...);
        static_assert(is_valid, "strided_elements needs scan inputs and outputs whose rank is known at "
                                "compile time, such as xt::xtensor");
        return is_valid;
    }
};

/// Requires references where a callable, given by its call, writes.
template <class... Calls>
struct writes_by_reference {
    static consteval bool holds()
    {
        constexpr bool is_valid = !(Calls::has_copies || ...);
        static_assert(is_valid,
            "a callable takes by value what it is to write, so that it is lost; take it by reference, as in "
            "double& h or auto& y_t");
        return is_valid;
    }
};

/// Requires a body, given by its call, that updates states and writes outputs, of scan_into and its kin.
template <class Call>
struct scan_body_in_place {
    static consteval bool holds()
    {
        if constexpr (!Call::is_valid)
            static_assert(never<Call>, "the body must be callable as body(state&..., element const&..., "
                                       "output&...); states come first after the body, std::tuple() where "
                                       "there are none");
        else if constexpr (writes_by_reference<Call>::holds()) {
            static_assert(std::is_void_v<typename Call::result>,
                "the body writes through its references and must return void");
            return std::is_void_v<typename Call::result>;
        }
        return false;
    }
};

/// Requires a body, given by its call, that updates states and writes outputs, of loop_into.
template <class Call>
struct loop_body_in_place {
    static consteval bool holds()
    {
        if constexpr (!Call::is_valid)
            static_assert(never<Call>, "the body must be callable as body(iteration, state&..., output&...)");
        else if constexpr (writes_by_reference<Call>::holds()) {
            static_assert(
                std::is_same_v<typename Call::result, bool>, "the body must return bool: whether to go on");
            return std::is_same_v<typename Call::result, bool>;
        }
        return false;
    }
};

/// Requires a body that several threads may call at once, if the policy has threads. ConstCall is the call
/// of a const body.
template <class ConstCall, class... Env>
struct shareable {
    static consteval bool holds()
    {
        constexpr bool is_valid =
            !has_threads<std::remove_cvref_t<decltype(detail::policy_of(std::declval<Env&>()...))>> ||
            ConstCall::is_valid;
        static_assert(is_valid, "with a policy several threads call the body at once, so it must be callable "
                                "while it is const; it is not if it is a mutable lambda");
        return is_valid;
    }
};

/// Requires a body, given by its call, that returns a scan_step.
template <class Call>
struct returns_scan_step {
    static consteval bool holds()
    {
        if constexpr (!Call::is_valid) {
            static_assert(
                never<Call>, "the body must be callable as body(state const&..., element const&...)");
        } else {
            using step = bare<typename Call::result>;
            if constexpr (std::is_same_v<step, scan_step<loose_values>>)
                static_assert(never<Call>,
                    "a step holds one state and one scan output, each a value or a std::tuple of values; "
                    "return scan_step{std::tuple{a, b}, y}, or scan_step{a, std::tuple{y, z}}");
            else if constexpr (!is_scan_step<step>)
                static_assert(never<Call>, "the body must return xloom::scan_step{state, scan_outputs}");
            else
                return true;
        }
        return false;
    }
};

/// Requires a body, given by its call, that returns a loop_step.
template <class Call>
struct returns_loop_step {
    static consteval bool holds()
    {
        if constexpr (!Call::is_valid) {
            static_assert(never<Call>, "the body must be callable as body(iteration, cond, state const&...)");
        } else {
            using step = bare<typename Call::result>;
            if constexpr (std::is_same_v<step, loop_step<loose_values>>)
                static_assert(never<Call>,
                    "a step holds a condition, one state and one scan output, each a value or a std::tuple "
                    "of values; return loop_step{cond, std::tuple{a, b}, y}, or loop_step{cond, a, "
                    "std::tuple{y, z}}");
            else if constexpr (std::is_same_v<step, loop_step<no_bool>>)
                static_assert(never<Call>, "the condition of a step must be a bool; of a tensor of rank 0 "
                                           "give the item, as in loop_step{cond(), state}");
            else if constexpr (!is_loop_step<step>)
                static_assert(
                    never<Call>, "the body must return xloom::loop_step{cond, state, scan_outputs}");
            else
                return true;
        }
        return false;
    }
};

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

/// The replacement of a state of type To by a value of type From: what the two types have in common. The
/// value of an optional can be replaced without the optional.
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

/// A state's index, its initial type and the type that the body returned. A compiler prints these in the
/// error of a static_assert on never<carried_state>.
template <std::size_t StateNumber, class InitialType, class ReturnedType>
struct carried_state {};

/// The first invalid replacement among states, which have the indices from I; a valid one if there is none.
/// Its `shown` holds the types of the items where these differ, otherwise those of the values.
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

/// Requires a step that holds no references.
template <class Step>
struct holds_values {
    static consteval bool holds()
    {
        constexpr bool is_valid =
            !is_or_has_reference<decltype(Step::state)> && !is_or_has_reference<decltype(Step::scan_outputs)>;
        static_assert(is_valid,
            "the body returned references, which could outlive the body's variables; return "
            "the step without template arguments");
        return is_valid;
    }
};

/// Requires that the outputs of the step that a call returns can be stacked, and that its state can replace
/// State.
template <class State, class Call>
struct step_replaces {
    static consteval bool holds()
    {
        using step = bare<typename Call::result>;
        using state = decltype(step::state);
        using outputs = decltype(step::scan_outputs);
        using invalid = first_invalid<leaves_t<State>, leaves_t<state>>;
        if constexpr (!holds_values<step>::holds())
            return false;
        else if constexpr (!is_self_contained<state> || !is_self_contained<outputs>)
            static_assert(never<step>, "the body returned a lazy xtensor expression or a view, which would "
                                       "refer to the body's dead local variables; return the step without "
                                       "template arguments, or a container");
        else if constexpr (!is_stackable<outputs>)
            static_assert(never<step>,
                "a scan output must be a tensor or a scalar; a loop carries a sequence as a state instead");
        else if constexpr (!every_item_stacks<outputs>)
            static_assert(never<step>, "the items of a scan output must be default-constructible, copyable "
                                       "and no more aligned than xtensor aligns items; hold others by "
                                       "std::shared_ptr");
        else if constexpr (leaf_count<State> != leaf_count<state>)
            static_assert(never<step>, "the body must return as many states as init has");
        else if constexpr (!invalid::keeps_kind)
            static_assert(detail::never<typename invalid::shown>,
                "a state, or the row of it that the body receives, must be replaced by its like: a tensor by "
                "a tensor, a scalar by a scalar, a sequence by a sequence");
        else if constexpr (!invalid::keeps_item_type)
            static_assert(detail::never<typename invalid::shown>,
                "a state must keep its element type; convert what the body returns, or give init that type "
                "(0.0, not 0, for a double)");
        else if constexpr (!invalid::keeps_rank)
            static_assert(detail::never<typename invalid::shown>,
                "a state, or the row of it that the body receives, must keep its rank; in a loop an "
                "xt::xarray may change it");
        else if constexpr (!invalid::keeps_shape)
            static_assert(detail::never<typename invalid::shown>,
                "a state, or the row of it that the body receives, must keep its fixed shape; in a loop an "
                "xt::xtensor may change it");
        else
            return true;
        return false;
    }
};

/// True if the arguments after the operands, of a call without options, begin with none.
template <class Options, class... Env>
inline constexpr bool are_without_options = true;
template <class Options, class First, class... Env>
inline constexpr bool are_without_options<Options, First, Env...> = beside_options<First, Options>;

/// The arguments that a body receives for inputs, a tuple of references.
template <class Inputs, bool LeadingAxis, bool Strided = false>
using input_arguments_t = typename cursor_set<Inputs, LeadingAxis, Strided>::input_arguments;

/// The arguments that a body receives for outputs.
template <class Outputs, bool LeadingAxis, bool Strided = false>
using output_arguments_t = typename cursor_set<leaves_t<Outputs>, LeadingAxis, Strided>::output_arguments;

// The calls of bodies are structs, because their arguments exist for valid operands only: a requirement may
// name the call before the operands are checked.

/// The call of scan's body: body(state const&..., element const&...).
template <class Body, class State, class Inputs, bool LeadingAxis>
struct scan_call : call_of<Body, joined_t<leaves_t<State const>, input_arguments_t<Inputs, LeadingAxis>>> {};

/// The call of scan_into's body: body(state&..., element const&..., output&...).
template <class Body, class States, class Inputs, class Outputs, bool LeadingAxis,
    bool Strided = takes_strided_elements<std::remove_cv_t<Body>>>
struct scan_into_call
    : call_of<Body, joined_t<leaves_t<States>, input_arguments_t<Inputs, LeadingAxis, Strided>,
                        output_arguments_t<Outputs, LeadingAxis, Strided>>> {};

/// The call of loop's body: body(iteration, cond, state const&...).
template <class Body, class State>
struct loop_call : call_of<Body, joined_t<std::tuple<std::int64_t, bool>, leaves_t<State const>>> {};

/// The call of loop_into's body: body(iteration, state&..., output&...).
template <class Body, class States, class Outputs>
struct loop_into_call
    : call_of<Body, joined_t<std::tuple<std::int64_t>, leaves_t<States>, output_arguments_t<Outputs, true>>> {
};

/// The requirements of scan.
template <class Body, class State, class Inputs, bool LeadingAxis>
using fits_scan = requirements<flat_arguments<State, Inputs>, carried<State>, scanned_inputs<Inputs>,
    equally_long<Inputs, LeadingAxis>, returns_scan_step<scan_call<Body, State, Inputs, LeadingAxis>>,
    step_replaces<State, scan_call<Body, State, Inputs, LeadingAxis>>>;

/// The requirements of scan_into on its operands.
template <class States, class Inputs, class Outputs, bool LeadingAxis>
using scan_into_operands = requirements<flat_arguments<States, Inputs, Outputs>, carried<States>,
    updated<States>, scanned_inputs<Inputs>, written_by_body<Outputs>,
    equally_long<joined_t<Inputs, leaves_t<Outputs>>, LeadingAxis>>;

/// The requirements of scan_into.
template <class Body, class States, class Inputs, class Outputs, bool LeadingAxis>
using fits_scan_into = requirements<scan_into_operands<States, Inputs, Outputs, LeadingAxis>,
    stridable<Body, Inputs, leaves_t<Outputs>>,
    scan_body_in_place<scan_into_call<Body, States, Inputs, Outputs, LeadingAxis>>>;

/// The requirements of loop.
template <class Body, class State>
using fits_loop = requirements<flat_arguments<State>, returns_loop_step<loop_call<Body, State>>,
    step_replaces<State, loop_call<Body, State>>>;

/// The requirements of loop_into.
template <class Body, class States, class Outputs>
using fits_loop_into = requirements<flat_arguments<States, Outputs>, updated<States>,
    written_by_body<Outputs>, loop_body_in_place<loop_into_call<Body, States, Outputs>>>;

} // namespace xloom::inline XLOOM_ABI::detail
