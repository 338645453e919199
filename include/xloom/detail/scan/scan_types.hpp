#pragma once
// The requirements on the types of a call of scan or scan_into, with their compile-time errors.

#include <xloom/detail/scan/scan_body.hpp>
#include <xloom/detail/scan/step_types.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The call of scan's body: body(state const&..., element const&...).
template <class Body, class State, class Inputs, bool LeadingAxis>
using scan_call =
    call_of<Body, joined_t<leaves_t<State const>, typename cursor_set<Inputs, LeadingAxis>::input_arguments>>;

/// The call of scan_into's body: body(state&..., element const&..., output&...).
template <class Body, class States, class Inputs, class Outputs, bool LeadingAxis,
    bool Strided = takes_strided_elements<std::remove_cv_t<Body>>>
using scan_into_call = call_of<Body,
    joined_t<leaves_t<States>, typename cursor_set<Inputs, LeadingAxis, Strided>::input_arguments,
        typename cursor_set<leaves_t<Outputs>, LeadingAxis, Strided>::output_arguments>>;

/// True for a tensor whose rank is known at compile time.
template <class X>
using has_static_rank = std::bool_constant<enable_tensor<bare<X>>::rank != dynamic_rank>;

/// True if the types of a call of scan are valid, otherwise a compile-time error of one sentence.
template <class Body, class State, class Inputs, bool LeadingAxis>
consteval bool is_valid_scan()
{
    if constexpr (!is_flat<State> || !is_flat<Inputs>)
        static_assert(never<State>, "xloom::scan: a pack is one value or a flat std::tuple of values, but a "
                                    "std::tuple is inside a std::tuple");
    else if constexpr (!every_leaf<is_scan_state, leaves_t<State>>)
        static_assert(never<State>,
            "xloom::scan: a state is a tensor or a scalar; carry sequences and optionals with xloom::loop");
    else if constexpr (!every_leaf<is_no_foreign_memory, Inputs>)
        static_assert(never<Inputs>,
            "xloom::scan: a scan input must be a tensor of xtensor; wrap a std::vector or an "
            "Eigen matrix by xt::adapt, or specialise xloom::enable_tensor for its type");
    else if constexpr (!every_leaf<is_scan_input, Inputs>)
        static_assert(never<Inputs>,
            "xloom::scan: a scan input is a tensor with at least one axis; capture other values in the body");
    else if constexpr (LeadingAxis && !static_length<Inputs>::agrees)
        static_assert(never<Inputs>, "xloom::scan: all scan inputs must have the same sequence length");
    else if constexpr (!scan_call<Body, State, Inputs, LeadingAxis>::is_valid)
        static_assert(never<Body>,
            "xloom::scan: the body must be callable as body(state const&..., element const&...)");
    else {
        using step = bare<typename scan_call<Body, State, Inputs, LeadingAxis>::result>;
        if constexpr (std::is_same_v<step, scan_step<loose_values>>)
            static_assert(never<Body>,
                "xloom::scan: a step holds one state and one scan output, each a value or a std::tuple of "
                "values; return scan_step{std::tuple{a, b}, y}, or scan_step{a, std::tuple{y, z}}");
        else if constexpr (!is_scan_step<step>)
            static_assert(
                never<Body>, "xloom::scan: the body must return xloom::scan_step{state, scan_outputs}");
        else
            return is_valid_scan_step<State, step>();
    }
    return false;
}

/// True if the types of a call of scan_into are valid, otherwise a compile-time error of one sentence.
template <class Body, class States, class Inputs, class Outputs, bool LeadingAxis>
consteval bool is_valid_scan_into()
{
    using states = leaves_t<States>;
    using outputs = leaves_t<Outputs>;
    if constexpr (!is_flat<bare<States>> || !is_flat<Inputs> || !is_flat<bare<Outputs>>)
        static_assert(never<States>, "xloom::scan_into: a pack is one value or a flat std::tuple of values, "
                                     "but a std::tuple is inside a std::tuple");
    else if constexpr (!every_leaf<is_scan_state, states>)
        static_assert(never<States>, "xloom::scan_into: a state is a tensor or a scalar; carry sequences and "
                                     "optionals with xloom::loop_into");
    else if constexpr (!every_leaf<is_writable, states>)
        static_assert(never<States>,
            "xloom::scan_into: a state is updated in place, so it must not be const; the arguments are "
            "scan_into(body, states, scan_inputs, scan_outputs), with std::tuple() where there is no state");
    else if constexpr (!outlives_call<States>)
        static_assert(never<States>, "xloom::scan_into: a state is updated in place, so it must be a "
                                     "variable or a view of one; pass several as std::tie(h, c)");
    else if constexpr (!every_leaf<is_no_foreign_memory, Inputs> ||
                       !every_leaf<is_no_foreign_memory, outputs>)
        static_assert(never<Inputs>,
            "xloom::scan_into: a scan input or output must be a tensor of xtensor; wrap a std::vector or an "
            "Eigen matrix by xt::adapt, or specialise xloom::enable_tensor for its type");
    else if constexpr (!every_leaf<is_scan_input, Inputs>)
        static_assert(never<Inputs>, "xloom::scan_into: a scan input is a tensor with at least one axis; "
                                     "capture other values in the body");
    else if constexpr (!every_leaf<is_scan_output, outputs>)
        static_assert(
            never<Outputs>, "xloom::scan_into: a scan output is a tensor in memory with at least one axis");
    else if constexpr (!every_leaf<is_writable, outputs>)
        static_assert(never<Outputs>, "xloom::scan_into: a scan output is written, so it must not be const");
    else if constexpr (!outlives_call<Outputs>)
        static_assert(never<Outputs>, "xloom::scan_into: a scan output is written in place, so it must be a "
                                      "variable or a view of one; pass several as std::tie(y, z)");
    else if constexpr (LeadingAxis && !static_length<joined_t<Inputs, outputs>>::agrees)
        static_assert(never<Inputs>,
            "xloom::scan_into: all scan inputs and outputs must have the same sequence length");
    else if constexpr (takes_strided_elements<std::remove_cv_t<Body>> &&
                       !every_leaf<has_static_rank, joined_t<Inputs, outputs>>)
        static_assert(never<Inputs>, "xloom::scan_into: strided_elements needs scan inputs and outputs whose "
                                     "rank is known at compile time, such as xt::xtensor");
    else if constexpr (!scan_into_call<Body, States, Inputs, Outputs, LeadingAxis>::is_valid)
        static_assert(never<Body>, "xloom::scan_into: the body must be callable as body(state&..., element "
                                   "const&..., output&...); the arguments are scan_into(body, states, "
                                   "scan_inputs, scan_outputs), with std::tuple() where there is no state");
    else if constexpr (scan_into_call<Body, States, Inputs, Outputs, LeadingAxis>::has_copies)
        static_assert(never<Body>,
            "xloom::scan_into: the body takes a state or an output by value, so that what it "
            "writes is lost; take it by reference, as in double& h or auto& y_t");
    else if constexpr (!std::is_void_v<
                           typename scan_into_call<Body, States, Inputs, Outputs, LeadingAxis>::result>)
        static_assert(
            never<Body>, "xloom::scan_into: the body writes through its references and must return void");
    else
        return true;
    return false;
}

} // namespace xloom::inline XLOOM_ABI::detail
