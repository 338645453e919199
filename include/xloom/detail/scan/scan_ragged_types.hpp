#pragma once
// The requirements on the types of a call of scan_ragged or scan_ragged_into, with their compile-time errors.

#include <xloom/detail/scan/scan_batched_types.hpp>
#include <xloom/detail/tensor/row_split_list.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The call of scan_ragged's body: body(state const&..., element const&...).
template <class Body, class State, class Inputs>
using scan_ragged_call = call_of<Body,
    joined_t<leaves_t<rows_t<State> const>, typename cursor_set<Inputs, true>::input_arguments>>;

/// The call of scan_ragged_into's body: body(state&..., element const&..., output&...). A state is an element
/// of its tensor along the segments.
template <class Body, class States, class Inputs, class Outputs>
using scan_ragged_into_call =
    call_of<Body, joined_t<typename cursor_set<leaves_t<States>, true>::output_arguments,
                      typename cursor_set<Inputs, true>::input_arguments,
                      typename cursor_set<leaves_t<Outputs>, true>::output_arguments>>;

/// True if the types of a call of scan_ragged are valid, otherwise a compile-time error of one sentence.
template <class Body, class State, class Inputs, class Splits>
consteval bool is_valid_scan_ragged()
{
    if constexpr (!is_flat<State> || !is_flat<Inputs>)
        static_assert(never<State>, "xloom::scan_ragged: a pack is one value or a flat std::tuple of values, "
                                    "but a std::tuple is inside a std::tuple");
    else if constexpr (!every_leaf<has_batch_axis, leaves_t<State>>)
        static_assert(never<State>, "xloom::scan_ragged: a state is a tensor whose axis 0 is the segments");
    else if constexpr (std::tuple_size_v<Inputs> == 0 || !every_leaf<is_no_foreign_memory, Inputs> ||
                       !every_leaf<is_scan_input, Inputs>)
        static_assert(never<Inputs>, "xloom::scan_ragged: there must be a scan input, and each is a tensor "
                                     "of xtensor with at least one "
                                     "axis; wrap a std::vector or an Eigen matrix by xt::adapt");
    else if constexpr (!is_row_splits<Splits>)
        static_assert(never<Splits>, "xloom::scan_ragged: row_splits must be a tensor of integers, [S + 1]; "
                                     "wrap a std::vector by xt::adapt");
    else if constexpr (!scan_ragged_call<Body, State, Inputs>::is_valid)
        static_assert(never<Body>,
            "xloom::scan_ragged: the body must be callable as body(state const&..., element const&...)");
    else {
        using step = bare<typename scan_ragged_call<Body, State, Inputs>::result>;
        if constexpr (!is_scan_step<step>)
            static_assert(never<Body>, "xloom::scan_ragged: the body must return xloom::scan_step{state, "
                                       "scan_outputs}, each a value "
                                       "or a std::tuple of values");
        else
            return is_valid_scan_ragged_step<rows_t<State>, step>();
    }
    return false;
}

/// True if the types of a call of scan_ragged_into are valid, otherwise a compile-time error of one sentence.
template <class Body, class States, class Inputs, class Outputs, class Splits>
consteval bool is_valid_scan_ragged_into()
{
    using states = leaves_t<States>;
    using outputs = leaves_t<Outputs>;
    if constexpr (!is_flat<bare<States>> || !is_flat<Inputs> || !is_flat<bare<Outputs>>)
        static_assert(never<States>, "xloom::scan_ragged_into: a pack is one value or a flat std::tuple of "
                                     "values, but a std::tuple is inside a std::tuple");
    else if constexpr (!every_leaf<has_batch_axis, states>)
        static_assert(
            never<States>, "xloom::scan_ragged_into: a state is a tensor whose axis 0 is the segments");
    else if constexpr (!every_leaf<is_writable, states> || !outlives_call<States>)
        static_assert(never<States>,
            "xloom::scan_ragged_into: a state is updated in place, so it must be a variable that is not "
            "const; "
            "the arguments are scan_ragged_into(body, states, scan_inputs, scan_outputs, row_splits), with "
            "std::tuple() where there is no state");
    else if constexpr (std::tuple_size_v<Inputs> == 0 || !every_leaf<is_no_foreign_memory, Inputs> ||
                       !every_leaf<is_scan_input, Inputs>)
        static_assert(never<Inputs>,
            "xloom::scan_ragged_into: there must be a scan input, and each is a tensor of xtensor with at "
            "least one axis; wrap a std::vector or an Eigen matrix by xt::adapt");
    else if constexpr (!every_leaf<is_no_foreign_memory, outputs> || !every_leaf<is_scan_output, outputs> ||
                       !every_leaf<is_writable, outputs> || !outlives_call<Outputs>)
        static_assert(never<Outputs>,
            "xloom::scan_ragged_into: a scan output is written in place, so it must be a tensor with at "
            "least "
            "one axis that is a variable, not const; pass several as std::tie(y, z)");
    else if constexpr (!is_row_splits<Splits>)
        static_assert(never<Splits>, "xloom::scan_ragged_into: row_splits must be a tensor of integers, "
                                     "[S + 1]; wrap a std::vector by xt::adapt");
    else if constexpr (!scan_ragged_into_call<Body, States, Inputs, Outputs>::is_valid)
        static_assert(never<Body>, "xloom::scan_ragged_into: the body must be callable as body(state&..., "
                                   "element const&..., output&...)");
    else if constexpr (scan_ragged_into_call<Body, States, Inputs, Outputs>::has_copies)
        static_assert(never<Body>,
            "xloom::scan_ragged_into: the body takes a state or an output by value, so that "
            "what it writes is lost; take it by reference, as in double& h or auto& y_t");
    else if constexpr (!std::is_void_v<typename scan_ragged_into_call<Body, States, Inputs, Outputs>::result>)
        static_assert(never<Body>,
            "xloom::scan_ragged_into: the body writes through its references and must return void");
    else
        return true;
    return false;
}

} // namespace xloom::inline XLOOM_ABI::detail
