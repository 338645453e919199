#pragma once
// The requirements on the types of a call of scan_batched, with their compile-time errors.

#include <xloom/run/scan/batch_rows.hpp>
#include <xloom/run/scan/scan_body.hpp>
#include <xloom/run/scan/step_types.hpp>

namespace xloom::detail {

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

} // namespace xloom::detail
