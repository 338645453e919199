#pragma once
// Scan over lists, whose numbers of states, inputs and outputs are known at run time only.

#include <span>
#include <utility>
#include <vector>

#include <xloom/detail/check/scan.hpp>
#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/scan/list_outputs.hpp>
#include <xloom/detail/scan/list_step.hpp>
#include <xloom/detail/scan/scan_body.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// The type of the elements that a body receives of inputs of type X.
template <class X>
using list_element = bare<decltype(std::declval<cursor_for<X const, false>&>().element())>;

/// The call of scan_list's body: body(states, elements), or body(states, elements, step&).
template <class Body, class S, class X>
using scan_list_call = list_step_of<Body, scan_step<std::vector<S>, std::vector<S>>, std::span<S const>,
    std::span<list_element<X> const>>;

/// True for a step of lists: of states of type S, and of tensors that own their items.
template <class Step, class S>
inline constexpr bool is_scan_list_step = false;
template <class S, class Outputs>
inline constexpr bool is_scan_list_step<scan_step<std::vector<S>, Outputs>, S> = is_output_list<Outputs>;

/// True if the types of a call of scan_list are valid, otherwise a compile-time error of one sentence.
template <class Body, class S, class X>
consteval bool is_valid_scan_list()
{
    if constexpr (!is_scan_input<X>::value || !tensor<list_element<X>>)
        static_assert(never<X>, "xloom::scan_list: a scan input is a tensor whose elements are tensors: an "
                                "xt::xarray, or an xt::xtensor of rank 2 or more");
    else if constexpr (!scan_list_call<Body, S, X>::is_valid)
        static_assert(never<Body>, "xloom::scan_list: the body must be callable as body(std::span<state "
                                   "const>, std::span<element_view const>), or with the step that "
                                   "it fills, a scan_step<std::vector<state>, std::vector<state>>&");
    else if constexpr (!is_scan_list_step<typename scan_list_call<Body, S, X>::type, S>)
        static_assert(never<Body>, "xloom::scan_list: the body must return xloom::scan_step{std::vector of "
                                   "states, std::vector of outputs}");
    else
        return true;
    return false;
}

/// Cursors over all inputs of a list, which advance together.
template <class X>
class list_cursors {
    using cursor = cursor_for<X const, false>;

public:
    list_cursors(std::vector<X> const& inputs, std::size_t length, scan_options const& options)
    {
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            strided_layout const layout = detail::layout_of(inputs[i]);
            kernel::time_axis const time(layout,
                wrap_axis(axis_option(options.scan_input_axes, i), layout.dims.size()), length,
                is_reverse(options.scan_input_directions, i));
            cursors_.emplace_back(enable_tensor<X>::data(inputs[i]), time, length);
            elements_.push_back(cursors_.back().element());
        }
    }

    std::span<list_element<X> const> enter()
    {
        for (std::size_t i = 0; i < cursors_.size(); ++i) {
            cursors_[i].enter();
            elements_[i].rebind(cursors_[i].element().data());
        }
        return elements_;
    }
    void leave()
    {
        for (cursor& each : cursors_)
            each.leave();
    }

private:
    std::vector<cursor> cursors_{};
    std::vector<list_element<X>> elements_{};
};

template <class Call, class Body, class S, class X>
auto run_scan_list(Body& body, std::vector<S> states, std::vector<X> const& inputs, std::size_t outputs,
    scan_options const& options)
{
    using step_type = typename Call::type;
    static constexpr std::string_view op = "xloom::scan_list";
    using output = typename decltype(step_type::scan_outputs)::value_type;
    detail::check_ranks(op, "init", states);
    detail::check_ranks(op, "scan_inputs", inputs);
    std::vector<shape> shapes;
    shapes.reserve(inputs.size());
    for (X const& input : inputs)
        shapes.push_back(detail::shape_of(input));
    check_count(op, states.size(), "states");
    std::size_t const length = check_scan(op, shapes, outputs, options);
    check_output_axes(op, std::vector<std::size_t>(outputs, element_rank<output>), options);
    list_cursors<X> cursors(inputs, length, options);
    list_outputs<output> stack(op, outputs, options);
    current_step<step_type, Call::is_returned> current;
    for (std::size_t t = 0; t < length; ++t) {
        step_type& step = current.call(body, std::span<S const>(states), cursors.enter());
        cursors.leave();
        check_list_count(op, "states", step.state.size(), states.size(), t);
        for (std::size_t i = 0; i < states.size(); ++i)
            if (!detail::have_same_shape(states[i], step.state[i]))
                detail::fail_reshaped(
                    op, "states", i, detail::shape_of(states[i]), detail::describe_shape(step.state[i]), t);
        stack.check_count(step.scan_outputs, t);
        if (t == 0)
            stack.open(step.scan_outputs, length);
        stack.push(step.scan_outputs, t);
        current.take_states(states);
    }
    if (length == 0)
        stack.open_empty();
    using stacked = typename list_outputs<output>::stacked;
    return scan_result<std::vector<S>, std::vector<stacked>>{std::move(states), std::move(stack).finish()};
}

} // namespace detail

/// Runs scan over lists in place of tuples: the numbers of states, inputs and outputs are known at run time
/// only. For interpreters; scan costs less if the numbers are known at compile time.
///
///     for t in range(T):
///         states, y_t = body(states, [x[t] for x in scan_inputs])
///         for k: y[k][t] = y_t[k]
///     return states, y
///
/// body(std::span<S const> states, std::span<element_view const> elements) -> scan_step{std::vector<S>,
/// std::vector<Y>}. All states are of one type, all inputs of one type, all outputs of one type.
///
/// body(states, elements, scan_step<std::vector<S>, std::vector<S>>& next) -> void fills `next` instead:
/// empty lists in the first iteration, later those of an earlier one, whose memory it uses again.
///
/// Shapes    as scan. `outputs` is the number of outputs; required because T = 0 runs no body.
/// Types     S any type whose values have a shape, X a tensor whose elements are tensors (not of a static
///           rank 1), Y a tensor.
/// Errors    as scan; body_error: a different number of states or outputs.
/// Order     as scan.
/// Cost      as scan, plus the body's lists. A body that fills its step need not allocate memory.
/// Source    ONNX Scan-9 to 25.
/// Example
/// ```cpp
/// using list = std::vector<xt::xarray<double>>;
/// xt::xarray<double> const x = {1, 2, 3};
/// auto const add = [](auto states, auto elements) {
///     return xloom::scan_step{list{states[0] + elements[0]}, list{states[0]}};
/// };
/// auto const result = xloom::scan_list(add, list{0.0}, list{x}, 1);
/// result.final_state; // = [6]
/// result.scan_outputs; // = [[0, 1, 3]]
/// ```
template <class Body, class S, tensor X>
auto scan_list(Body&& body, std::vector<S> init, std::vector<X> const& scan_inputs, std::size_t outputs,
    scan_options const& options = {})
{
    using namespace detail;
    if constexpr (is_valid_scan_list<Body, S, X>()) {
        return run_scan_list<scan_list_call<Body, S, X>>(
            body, std::move(init), scan_inputs, outputs, options);
    } else {
        return scan_result<std::vector<S>, std::vector<X>>{}; // a value, so that one mistake gives one error
    }
}

} // namespace xloom::inline XLOOM_ABI
