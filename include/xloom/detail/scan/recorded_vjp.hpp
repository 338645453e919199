#pragma once
// The VJP of a body that nobody wrote: the body runs on scalars that record their operations.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <xloom/detail/core/differentiable.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/scan/cotangents.hpp>
#include <xloom/detail/scan/iteration.hpp>

namespace xloom::inline XLOOM_ABI {

/// A recording of operations on numbers, from its construction on, and their derivatives in reverse.
///
///     Tape tape;
///     Tape::scalar x = tape.input(1.5);          // an independent variable
///     tape.output(x * x);                        // a dependent variable
///     tape.reverse(ct_outputs, ct_inputs);       // sets ct_inputs to the VJP; the recording ends
///
/// The destructor ends a recording too. xloom::adolc_tape (xloom/interop/adolc.hpp) and xloom::sacado_tape
/// (xloom/interop/sacado.hpp) are such recordings.
template <class Tape>
concept recording_tape =
    std::default_initializable<Tape> && requires(Tape& tape, typename Tape::scalar const& value,
                                            std::span<double const> ct_outputs, std::span<double> ct_inputs) {
        {
            tape.input(1.0)
        } -> std::same_as<typename Tape::scalar>;
        tape.output(value);
        tape.reverse(ct_outputs, ct_inputs);
    };

/// Stands in the place of a body's VJP: the body, which must be generic, is recorded by a Tape and reversed,
/// one iteration at a time. Items of type double have derivatives, integers and other values without
/// derivatives are passed on as they are.
///
/// Types     every item that the body returns for a double must convert to Tape::scalar. Operands of other
///           floating-point types are a compile-time error.
/// Errors    body_error: a result of a recorded run has another shape than that of the forward pass.
/// Cost      each run of the VJP records one run of the body and copies its operands, the params included.
/// Threads   those of the tape.
template <recording_tape Tape>
struct recorded_with {
    using tape = Tape;
};

namespace detail {

template <class T>
inline constexpr bool is_recorded = false;
template <class Tape>
inline constexpr bool is_recorded<recorded_with<Tape>> = true;

/// Returns a tensor of the shape of another with items of another type, unspecified.
template <class To, class X>
To shaped_like(X const& value)
{
    return enable_tensor<To>::make(detail::shape_of(value));
}

/// The type of an operand X as the recorded body receives it.
template <class Scalar, class X>
struct recorded {
    using type = owned_t<X>;
};
template <class Scalar, class X>
    requires(std::is_same_v<item_t<X>, double> && !tensor<X>)
struct recorded<Scalar, X> {
    using type = Scalar;
};
template <class Scalar, class X>
    requires(std::is_same_v<item_t<X>, double> && tensor<X>)
struct recorded<Scalar, X> {
    using type = typename temporary_of<Scalar, shape_type_t<X>>::type;
};

/// False for a body that is one function, whose parameters have fixed types.
template <class Body>
inline constexpr bool is_generic = !std::is_function_v<std::remove_pointer_t<Body>>;
template <class Body>
    requires requires { &Body::operator(); }
inline constexpr bool is_generic<Body> = false;

/// True for an operand that has a derivative, but is not recorded.
template <class X>
inline constexpr bool has_lost_derivative = differentiable<item_t<X>> && !std::is_same_v<item_t<X>, double>;
template <class X, class Allocator>
inline constexpr bool has_lost_derivative<std::vector<X, Allocator>> = differentiable<item_t<X>>;
template <class X>
inline constexpr bool has_lost_derivative<std::optional<X>> = differentiable<item_t<X>>;

/// Requires a body that can be recorded with the arguments of a call, of which the double are, if its VJP
/// stands for a recording.
template <class BodyVjp, class Body, class Call>
struct recordable {
    static consteval bool holds() { return true; }
};
template <class Tape, class Body, class Call>
struct recordable<recorded_with<Tape>, Body, Call> {
    static consteval bool holds() { return with(static_cast<typename Call::arguments*>(nullptr)); }

private:
    template <class... Xs>
    static consteval bool with(std::tuple<Xs...> const*)
    {
        constexpr bool has_double = (std::is_same_v<item_t<Xs>, double> || ...);
        if constexpr ((has_lost_derivative<bare<Xs>> || ...))
            static_assert(never<Body>,
                "only numbers and tensors of double have derivatives by recorded_with, but an operand has "
                "another floating-point type or is a sequence; convert it, or capture it in the body if it "
                "is "
                "constant");
        else if constexpr ((has_double && !is_generic<Body>) ||
                           !std::is_invocable_v<Body&,
                               typename recorded<typename Tape::scalar, bare<Xs>>::type const&...>)
            static_assert(never<Body>,
                "the body must be generic, because recorded_with also runs it on Tape::scalar in the place "
                "of "
                "double: declare its parameters as auto const&, or write its VJP by hand");
        else
            return true;
        return false;
    }
};

/// The VJP of a pure body with S states, M elements and P parameters, which returns a step.
template <class Tape, class Body, std::size_t S, std::size_t M, std::size_t P>
class recorded_vjp {
    using scalar = typename Tape::scalar;
    static constexpr std::size_t operands = S + M + P;

public:
    explicit recorded_vjp(Body& body) : body_(body) {}

    /// Receives states, elements, params, cotangents of the next states and of K outputs, and then the
    /// cotangents that it adds to.
    template <class... Arguments>
        requires(sizeof...(Arguments) >= 2 * operands + S)
    void operator()(Arguments&&... arguments)
    {
        constexpr std::size_t K = sizeof...(Arguments) - 2 * operands - S;
        auto const all = std::tie(arguments...);
        Tape tape;
        [&]<std::size_t... I, std::size_t... L>(std::index_sequence<I...>, std::index_sequence<L...>) {
            auto const recorded = std::tuple{record(tape, std::get<I>(all))...};
            auto const step = std::apply(body_, recorded);
            inputs_.clear();
            outputs_.clear();
            detail::for_each_leaf(detail::leaves(step.state),
                [&](auto i, auto const& value) { add_output(tape, value, std::get<operands + i>(all)); });
            detail::for_each_leaf(detail::leaves(step.scan_outputs),
                [&](auto i, auto const& value) { add_output(tape, value, std::get<operands + S + i>(all)); });
            (count_inputs(std::get<I>(all)), ...);
            tape.reverse(outputs_, inputs_);
            double const* next = inputs_.data();
            (take_input(next, std::get<operands + S + K + I>(all)), ...);
        }(std::make_index_sequence<operands>{}, std::make_index_sequence<K>{});
    }

private:
    template <class X>
    static typename recorded<scalar, X>::type record(Tape& tape, X const& value)
    {
        if constexpr (!std::is_same_v<item_t<X>, double>) {
            return owned_t<X>(value);
        } else if constexpr (tensor<X>) {
            using to = typename recorded<scalar, X>::type;
            auto result = detail::shaped_like<to>(value);
            auto* next = enable_tensor<to>::data(result);
            detail::for_each_item(value, [&](double item) { *next++ = tape.input(item); });
            return result;
        } else {
            return tape.input(value);
        }
    }

    /// Records a result, unless its items have no derivative.
    template <class X, class Ct>
    void add_output(Tape& tape, X const& value, Ct const& ct)
    {
        if constexpr (!differentiable<item_t<Ct>>)
            return;
        else if constexpr (!std::is_convertible_v<item_t<X> const&, scalar>)
            static_assert(never<X>, "what the body returns for a double must convert to Tape::scalar");
        else {
            if (!detail::have_same_shape(value, ct))
                fail<body_error>("xloom::recorded_with: a body that runs an iteration again must do the "
                                 "same, but a result was ",
                    detail::shape_of(ct), " and the body made it ", detail::describe_shape(value),
                    ". Return a value of the original shape.");
            detail::for_each_item(value, [&](item_t<X> const& item) { tape.output(item); });
            detail::for_each_item(ct, [&](auto const& item) { outputs_.push_back(item); });
        }
    }

    template <class X>
    void count_inputs(X const& value)
    {
        if constexpr (std::is_same_v<item_t<X>, double>)
            inputs_.resize(inputs_.size() + element_count(detail::shape_of(value)));
    }

    /// Adds the derivatives by an operand to its cotangent.
    template <class Ct>
    static void take_input(double const*& next, Ct& ct)
    {
        if constexpr (std::is_same_v<item_t<Ct>, double>)
            detail::for_each_item(ct, [&](double& item) { item += *next++; });
    }

    Body& body_;
    std::vector<double> inputs_{};
    std::vector<double> outputs_{};
};

/// The VJP of a loop's body, which also receives the iteration and the condition.
template <class Tape, class Body, std::size_t S, std::size_t P>
struct recorded_loop_vjp {
    Body& body;

    template <class... Arguments>
        requires(sizeof...(Arguments) >= 2 * (S + P) + S)
    void operator()(std::int64_t iteration, Arguments&&... arguments) const
    {
        auto at_iteration = [&](auto const&... values) { return body(iteration, true, values...); };
        recorded_vjp<Tape, decltype(at_iteration), S, 0, P> vjp(at_iteration);
        vjp(std::forward<Arguments>(arguments)...);
    }
};

/// The VJP of a branch with P operands.
template <class Tape, class Branch, std::size_t P>
struct recorded_branch_vjp {
    Branch& branch;

    template <class... Arguments>
        requires(sizeof...(Arguments) >= 2 * P)
    void operator()(Arguments&&... arguments) const
    {
        auto step = [&](auto const&... values) { return scan_step{std::tuple(), branch(values...)}; };
        recorded_vjp<Tape, decltype(step), 0, 0, P> vjp(step);
        vjp(std::forward<Arguments>(arguments)...);
    }
};

/// Returns the VJP of a body: the one that was given, or the recorded one, for these numbers of operands.
template <template <class, class, std::size_t...> class Recorded, std::size_t... Counts, class Body,
    class BodyVjp>
decltype(auto) vjp_of([[maybe_unused]] Body& body, BodyVjp& body_vjp)
{
    if constexpr (is_recorded<BodyVjp>)
        return Recorded<typename BodyVjp::tape, Body, Counts...>{body};
    else
        return (body_vjp);
}

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
