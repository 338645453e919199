#pragma once
// Loop over lists, whose numbers of carried values and outputs are known at run time only.

#include <span>
#include <utility>
#include <vector>

#include <xloom/control_flow/loop.hpp>
#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/scan/growable_list_outputs.hpp>
#include <xloom/detail/scan/list_step.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// The call of loop_list's body: body(iteration, cond, carried values), or the same with a step&.
template <class Body, class V>
using loop_list_call =
    list_step_of<Body, loop_step<std::vector<V>, std::vector<V>>, std::int64_t, bool, std::span<V const>>;

/// True for a step of lists: of carried values of type V, and of tensors that own their items.
template <class Step, class V>
inline constexpr bool is_loop_list_step = false;
template <class V, class Outputs>
inline constexpr bool is_loop_list_step<loop_step<std::vector<V>, Outputs>, V> = is_output_list<Outputs>;

/// True if the types of a call of loop_list are valid, otherwise a compile-time error of one sentence.
template <class Body, class V>
consteval bool is_valid_loop_list()
{
    if constexpr (!loop_list_call<Body, V>::is_valid)
        static_assert(never<Body>, "xloom::loop_list: the body must be callable as body(iteration, cond, "
                                   "std::span<carried value const>), or with the step that it fills, a "
                                   "loop_step<std::vector<carried value>, std::vector<carried value>>&");
    else if constexpr (!is_loop_list_step<typename loop_list_call<Body, V>::type, V>)
        static_assert(never<Body>, "xloom::loop_list: the body must return xloom::loop_step{cond, "
                                   "std::vector of carried values, std::vector of outputs}");
    else
        return true;
    return false;
}

template <class Call, class Body, class V>
auto run_loop_list(Body& body, std::vector<V> carried, std::size_t outputs, loop_options const& options)
{
    static constexpr std::string_view op = "xloom::loop_list";
    using step_type = typename Call::type;
    using output = typename decltype(step_type::scan_outputs)::value_type;
    loop_control control(limit_of(op, options), options);
    detail::check_ranks(op, "init", carried);
    growable_list_outputs<output> stack(op, outputs, control.limit());
    current_step<step_type, Call::is_returned> current;
    while (control.next(control.limit())) {
        loop_status const now = control.status();
        auto const t = static_cast<std::size_t>(now.trip_count);
        step_type& step = current.call(body, now.trip_count, now.cond, std::span<V const>(carried));
        check_list_count(op, "carried values", step.state.size(), carried.size(), t);
        detail::check_ranks(op, "states", step.state);
        detail::check_ranks(op, "scan_outputs", step.scan_outputs);
        stack.push(step.scan_outputs, t);
        current.take_states(carried);
        control.finish_iteration(step.cond);
    }
    using stacked = typename growable_list_outputs<output>::stacked;
    auto const [cond, trip_count, stopped] = control.status();
    return loop_result<std::vector<V>, std::vector<stacked>>{std::move(carried),
        std::move(stack).finish(static_cast<std::size_t>(trip_count)), cond, trip_count, stopped};
}

} // namespace detail

/// Runs loop over lists in place of tuples: the numbers of carried values and outputs are known at run time
/// only. For interpreters; loop costs less if the numbers are known at compile time.
///
///     while iteration < max_trip_count and cond:
///         cond, states, y_t = body(iteration, cond, states)
///         for k: y[k].append(y_t[k])
///     return states, [stack(y_k) for y_k in y], cond, iteration
///
/// body(std::int64_t iteration, bool cond, std::span<V const> states) -> loop_step{bool, std::vector<V>,
/// std::vector<Y>}. All carried values are of one type, such as a std::variant, whose alternative may change.
/// All outputs are of one type.
///
/// body(iteration, cond, states, loop_step<std::vector<V>, std::vector<V>>& next) -> void fills `next`
/// instead, its condition included: empty lists in the first iteration, later those of an earlier one, whose
/// memory it uses again.
///
/// Shapes    as loop. `outputs` is the number of outputs; required because no body may run.
/// Types     V any type that can be moved; Y a tensor.
/// Errors    as loop; body_error: a different number of carried values or outputs.
/// Order     as loop.
/// Cost      as loop, plus the body's lists. A body that fills its step need not allocate memory.
/// Source    ONNX Loop-1 to 25.
/// Example
/// ```cpp
/// using list = std::vector<xt::xarray<double>>;
/// auto const twice = [](std::int64_t, bool, auto states) {
///     return xloom::loop_step{true, list{2 * states[0]}, list{states[0]}};
/// };
/// auto const result = xloom::loop_list(twice, list{1.0}, 1, {.max_trip_count = 3});
/// result.final_state; // = [8]
/// result.scan_outputs; // = [[1, 2, 4]]
/// ```
template <class Body, class V>
auto loop_list(Body&& body, std::vector<V> init, std::size_t outputs, loop_options const& options = {})
{
    using namespace detail;
    if constexpr (is_valid_loop_list<Body, V>()) {
        return run_loop_list<loop_list_call<Body, V>>(body, std::move(init), outputs, options);
    } else {
        return loop_result<std::vector<V>, std::vector<V>>{}; // a value, so that one mistake gives one error
    }
}

} // namespace xloom::inline XLOOM_ABI
