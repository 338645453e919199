#pragma once
// The requirements on the types of a call of loop or loop_into, with their compile-time errors.

#include <xloom/detail/scan/body_call.hpp>
#include <xloom/detail/scan/loop_body.hpp>
#include <xloom/detail/scan/step_types.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True for a carried value of loop_into: any value but a lazy expression.
template <class X>
using is_loop_state = std::bool_constant<!lazy<X>>;

/// The call of loop's body: body(iteration, cond, carried value const&...).
template <class Body, class State>
using loop_call = call_of<Body, joined_t<std::tuple<std::int64_t, bool>, leaves_t<State const>>>;

/// The call of loop_into's body: body(iteration, carried value&..., output&...).
template <class Body, class States, class Outputs>
using loop_into_call = call_of<Body, joined_t<std::tuple<std::int64_t>, leaves_t<States>,
                                         typename cursor_set<leaves_t<Outputs>, true>::output_arguments>>;

/// True if the types of a call of loop are valid, otherwise a compile-time error of one sentence.
template <class Body, class State>
consteval bool is_valid_loop()
{
    if constexpr (!is_flat<State>)
        static_assert(never<State>, "xloom::loop: a pack is one value or a flat std::tuple of values, but a "
                                    "std::tuple is inside a std::tuple");
    else if constexpr (!loop_call<Body, State>::is_valid)
        static_assert(never<Body>,
            "xloom::loop: the body must be callable as body(iteration, cond, carried value const&...)");
    else {
        using step = bare<typename loop_call<Body, State>::result>;
        if constexpr (std::is_same_v<step, loop_step<loose_values>>)
            static_assert(never<Body>,
                "xloom::loop: a step holds a condition, one state and one scan output, each a "
                "value or a std::tuple of values; return loop_step{cond, std::tuple{a, b}, y}, "
                "or loop_step{cond, a, std::tuple{y, z}}");
        else if constexpr (std::is_same_v<step, loop_step<no_bool>>)
            static_assert(never<Body>, "xloom::loop: the condition of a step must be a bool; of a tensor of "
                                       "rank 0 give the item, as in loop_step{cond(), state}");
        else if constexpr (!is_loop_step<step>)
            static_assert(
                never<Body>, "xloom::loop: the body must return xloom::loop_step{cond, state, scan_outputs}");
        else
            return is_valid_loop_step<State, step>();
    }
    return false;
}

/// True if the types of a call of loop_into are valid, otherwise a compile-time error of one sentence.
template <class Body, class States, class Outputs>
consteval bool is_valid_loop_into()
{
    using states = leaves_t<States>;
    using outputs = leaves_t<Outputs>;
    if constexpr (!is_flat<bare<States>> || !is_flat<bare<Outputs>>)
        static_assert(never<States>, "xloom::loop_into: a pack is one value or a flat std::tuple of values, "
                                     "but a std::tuple is inside a std::tuple");
    else if constexpr (!every_leaf<is_loop_state, states>)
        static_assert(never<States>, "xloom::loop_into: a carried value must be a variable that can be "
                                     "written, but a lazy xtensor expression was passed");
    else if constexpr (!every_leaf<is_writable, states>)
        static_assert(
            never<States>, "xloom::loop_into: a carried value is updated in place, so it must not be const");
    else if constexpr (!outlives_call<States>)
        static_assert(never<States>, "xloom::loop_into: a carried value is updated in place, so it must be a "
                                     "variable or a view of one; pass several as std::tie(v, n)");
    else if constexpr (!every_leaf<is_scan_output, outputs>)
        static_assert(never<Outputs>,
            "xloom::loop_into: a scan output is a tensor in memory with a leading axis to write along");
    else if constexpr (!every_leaf<is_writable, outputs>)
        static_assert(never<Outputs>, "xloom::loop_into: a scan output is written, so it must not be const");
    else if constexpr (!outlives_call<Outputs>)
        static_assert(never<Outputs>, "xloom::loop_into: a scan output is written in place, so it must be a "
                                      "variable or a view of one; pass several as std::tie(y, z)");
    else if constexpr (!loop_into_call<Body, States, Outputs>::is_valid)
        static_assert(never<Body>,
            "xloom::loop_into: the body must be callable as body(iteration, carried value&..., output&...)");
    else if constexpr (loop_into_call<Body, States, Outputs>::has_copies)
        static_assert(never<Body>,
            "xloom::loop_into: the body takes a carried value or an output by value, so that "
            "what it writes is lost; take it by reference, as in double& v or auto& y_t");
    else if constexpr (!std::is_same_v<typename loop_into_call<Body, States, Outputs>::result, bool>)
        static_assert(never<Body>, "xloom::loop_into: the body must return bool: whether to go on");
    else
        return true;
    return false;
}

} // namespace xloom::inline XLOOM_ABI::detail
