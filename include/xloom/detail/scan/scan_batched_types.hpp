#pragma once
// The requirements on the types of a call of scan_batched or scan_batched_into, with their compile-time
// errors.

#include <xloom/detail/scan/batch_rows.hpp>
#include <xloom/detail/scan/scan_body.hpp>
#include <xloom/detail/scan/step_types.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True for a state of a batch: a tensor that is not statically known to lack the batch axis.
template <class X>
using has_batch_axis = std::bool_constant<is_scan_output<X>::value>;
/// True for a scan input of a batch: a tensor that is not statically known to lack batch and time axes, or a
/// lazy expression.
template <class X>
struct has_batch_and_time_axes : std::bool_constant<lazy<X>> {};
template <tensor X>
struct has_batch_and_time_axes<X>
    : std::bool_constant<enable_tensor<bare<X>>::rank != 0 && enable_tensor<bare<X>>::rank != 1> {};

/// True for the type of sequence_lens: a tensor of integers of rank 1, or std::nullopt.
template <class X>
inline constexpr bool is_sequence_lens = std::is_same_v<X, std::nullopt_t>;
template <tensor X>
inline constexpr bool is_sequence_lens<X> =
    std::is_integral_v<item_t<X>> && (enable_tensor<X>::rank == 1 || enable_tensor<X>::rank == dynamic_rank);

/// The states that a body of scan_batched carries: one row of each.
template <class State>
using rows_t = typename row_tuple<leaves_t<State>>::type;

/// The call of scan_batched's body: body(state const&..., element const&...).
template <class Body, class State, class Inputs>
using scan_batched_call =
    call_of<Body, joined_t<leaves_t<rows_t<State> const>, typename batch_cursors<Inputs>::input_arguments>>;

/// The call of scan_batched_into's body: body(state&..., element const&..., output&...). A state is an
/// element of its tensor along the batch.
template <class Body, class States, class Inputs, class Outputs>
using scan_batched_into_call =
    call_of<Body, joined_t<typename cursor_set<leaves_t<States>, true>::output_arguments,
                      typename batch_cursors<Inputs>::input_arguments,
                      typename batch_cursors<leaves_t<Outputs>>::output_arguments>>;

/// True if the types of a call of scan_batched are valid, otherwise a compile-time error of one sentence.
template <class Body, class State, class Inputs, class Lens>
consteval bool is_valid_scan_batched()
{
    if constexpr (!is_flat<State> || !is_flat<Inputs>)
        static_assert(never<State>, "xloom::scan_batched: a pack is one value or a flat std::tuple of "
                                    "values, but a std::tuple is inside a std::tuple");
    else if constexpr (!every_leaf<has_batch_axis, leaves_t<State>>)
        static_assert(never<State>, "xloom::scan_batched: a state is a tensor whose axis 0 is the batch");
    else if constexpr (!every_leaf<is_no_foreign_memory, Inputs>)
        static_assert(never<Inputs>,
            "xloom::scan_batched: a scan input must be a tensor of xtensor; wrap a std::vector or an Eigen "
            "matrix by xt::adapt, or specialise xloom::enable_tensor for its type");
    else if constexpr (!every_leaf<has_batch_and_time_axes, Inputs>)
        static_assert(never<Inputs>,
            "xloom::scan_batched: a scan input is a tensor whose axes 0 and 1 are batch and sequence");
    else if constexpr (!is_sequence_lens<Lens>)
        static_assert(never<Lens>,
            "xloom::scan_batched: sequence_lens is a tensor of integers of rank 1, or std::nullopt");
    else if constexpr (!scan_batched_call<Body, State, Inputs>::is_valid)
        static_assert(never<Body>,
            "xloom::scan_batched: the body must be callable as body(state const&..., element const&...)");
    else {
        using step = bare<typename scan_batched_call<Body, State, Inputs>::result>;
        if constexpr (std::is_same_v<step, scan_step<loose_values>>)
            static_assert(never<Body>, "xloom::scan_batched: a step holds one state and one scan output, "
                                       "each a value or a std::tuple of values; return "
                                       "scan_step{std::tuple{a, b}, y}, or scan_step{a, std::tuple{y, z}}");
        else if constexpr (!is_scan_step<step>)
            static_assert(never<Body>,
                "xloom::scan_batched: the body must return xloom::scan_step{state, scan_outputs}");
        else
            return is_valid_scan_batched_step<rows_t<State>, step>();
    }
    return false;
}

/// True if the types of a call of scan_batched_into are valid, otherwise a compile-time error of one
/// sentence.
template <class Body, class States, class Inputs, class Outputs, class Lens>
consteval bool is_valid_scan_batched_into()
{
    using states = leaves_t<States>;
    using outputs = leaves_t<Outputs>;
    if constexpr (!is_flat<bare<States>> || !is_flat<Inputs> || !is_flat<bare<Outputs>>)
        static_assert(never<States>, "xloom::scan_batched_into: a pack is one value or a flat std::tuple of "
                                     "values, but a std::tuple is inside a std::tuple");
    else if constexpr (!every_leaf<has_batch_axis, states>)
        static_assert(
            never<States>, "xloom::scan_batched_into: a state is a tensor whose axis 0 is the batch");
    else if constexpr (!every_leaf<is_writable, states>)
        static_assert(never<States>,
            "xloom::scan_batched_into: a state is updated in place, so it must not be const; the arguments "
            "are scan_batched_into(body, states, scan_inputs, scan_outputs, sequence_lens), with "
            "std::tuple() where there is no state");
    else if constexpr (!outlives_call<States>)
        static_assert(never<States>, "xloom::scan_batched_into: a state is updated in place, so it must be a "
                                     "variable or a view of one; pass several as std::tie(h, c)");
    else if constexpr (!every_leaf<is_no_foreign_memory, Inputs> ||
                       !every_leaf<is_no_foreign_memory, outputs>)
        static_assert(never<Inputs>,
            "xloom::scan_batched_into: a scan input or output must be a tensor of xtensor; wrap a "
            "std::vector or an Eigen matrix by xt::adapt, or specialise xloom::enable_tensor for its type");
    else if constexpr (!every_leaf<has_batch_and_time_axes, Inputs>)
        static_assert(never<Inputs>,
            "xloom::scan_batched_into: a scan input is a tensor whose axes 0 and 1 are batch and sequence");
    else if constexpr (!every_leaf<is_scan_output, outputs> || !every_leaf<has_batch_and_time_axes, outputs>)
        static_assert(never<Outputs>, "xloom::scan_batched_into: a scan output is a tensor in memory whose "
                                      "axes 0 and 1 are batch and sequence");
    else if constexpr (!every_leaf<is_writable, outputs>)
        static_assert(
            never<Outputs>, "xloom::scan_batched_into: a scan output is written, so it must not be const");
    else if constexpr (!outlives_call<Outputs>)
        static_assert(never<Outputs>,
            "xloom::scan_batched_into: a scan output is written in place, so it must be a "
            "variable or a view of one; pass several as std::tie(y, z)");
    else if constexpr (!is_sequence_lens<Lens>)
        static_assert(never<Lens>,
            "xloom::scan_batched_into: sequence_lens is a tensor of integers of rank 1, or std::nullopt");
    else if constexpr (!scan_batched_into_call<Body, States, Inputs, Outputs>::is_valid)
        static_assert(never<Body>, "xloom::scan_batched_into: the body must be callable as body(state&..., "
                                   "element const&..., output&...)");
    else if constexpr (scan_batched_into_call<Body, States, Inputs, Outputs>::has_copies)
        static_assert(never<Body>,
            "xloom::scan_batched_into: the body takes a state or an output by value, so that "
            "what it writes is lost; take it by reference, as in double& h or auto& y_t");
    else if constexpr (!std::is_void_v<
                           typename scan_batched_into_call<Body, States, Inputs, Outputs>::result>)
        static_assert(never<Body>,
            "xloom::scan_batched_into: the body writes through its references and must return void");
    else
        return true;
    return false;
}

} // namespace xloom::inline XLOOM_ABI::detail
