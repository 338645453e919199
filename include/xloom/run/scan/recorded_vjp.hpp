#pragma once
// The VJP of a body that nobody wrote: the body runs on scalars that record their operations.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <xloom/run/scan/cotangent_values.hpp>
#include <xloom/run/scan/scan_body.hpp>

namespace xloom {

/// A recording of operations on numbers, from its construction on, and their derivatives in reverse.
///
///     Tape tape;
///     Tape::scalar x = tape.input(1.5);          // an independent variable
///     tape.output(x * x);                        // a dependent variable
///     tape.reverse(ct_outputs, ct_inputs);       // sets ct_inputs to the VJP; the recording ends
///
/// The destructor ends a recording too. xloom::adolc_tape (xloom/adolc.hpp) and xloom::sacado_tape
/// (xloom/sacado.hpp) are such recordings.
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
/// one iteration at a time. Items of type double have derivatives, others are passed on as they are.
///
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

/// The VJP of a pure body with S states, M elements and P parameters, which returns a step.
template <class Tape, class Body, std::size_t S, std::size_t M, std::size_t P>
class recorded_vjp {
    using scalar = typename Tape::scalar;
    static constexpr std::size_t operands = S + M + P;

public:
    explicit recorded_vjp(Body& body) : body_(body) {}

    /// Receives states, elements, params, cotangents of outputs, and then the cotangents that it writes.
    template <class... Arguments>
        requires(sizeof...(Arguments) >= 2 * operands)
    void operator()(Arguments&&... arguments)
    {
        constexpr std::size_t K = sizeof...(Arguments) - 2 * operands;
        auto const all = std::tie(arguments...);
        Tape tape;
        [&]<std::size_t... I, std::size_t... L>(std::index_sequence<I...>, std::index_sequence<L...>) {
            auto const recorded = std::tuple{record(tape, std::get<I>(all))...};
            auto const step = std::apply(body_, recorded);
            inputs_.clear();
            outputs_.clear();
            detail::for_each_leaf(detail::leaves(step.state),
                [&](auto i, auto const& value) { add_output(tape, value, std::get<operands + K + i>(all)); });
            detail::for_each_leaf(detail::leaves(step.scan_outputs),
                [&](auto i, auto const& value) { add_output(tape, value, std::get<operands + i>(all)); });
            (count_inputs(std::get<I>(all)), ...);
            tape.reverse(outputs_, inputs_);
            double const* next = inputs_.data();
            (take_input(next, std::get<I>(all), std::get<operands + K + I>(all), I < S), ...);
        }(std::make_index_sequence<operands>{}, std::make_index_sequence<K>{});
    }

private:
    template <class X>
    static auto record(Tape& tape, X const& value)
    {
        if constexpr (!std::is_same_v<item_t<X>, double>) {
            return owned_t<X>(value);
        } else if constexpr (tensor<X>) {
            using recorded = typename temporary_of<scalar, shape_type_t<X>>::type;
            auto result = detail::shaped_like<recorded>(value);
            auto* next = enable_tensor<recorded>::data(result);
            detail::for_each_item(value, [&](double item) { *next++ = tape.input(item); });
            return result;
        } else {
            return tape.input(value);
        }
    }

    template <class X, class Ct>
    void add_output(Tape& tape, X const& value, Ct const& ct)
    {
        if constexpr (std::is_same_v<item_t<X>, scalar>) {
            detail::for_each_item(value, [&](scalar const& item) { tape.output(item); });
            detail::for_each_item(ct, [&](double item) { outputs_.push_back(item); });
        }
    }

    template <class X>
    void count_inputs(X const& value)
    {
        if constexpr (std::is_same_v<item_t<X>, double>)
            inputs_.resize(inputs_.size() + element_count(detail::shape_of(value)));
    }

    /// Adds the derivatives by an operand to its cotangent, or replaces it, also where the state had another
    /// shape after the iteration.
    template <class X, class Ct>
    static void take_input(double const*& next, X const& value, Ct& ct, bool replaces)
    {
        if constexpr (std::is_same_v<item_t<X>, double>) {
            if constexpr (std::is_same_v<X, Ct> && tensor<X>)
                if (!detail::have_same_shape(value, ct))
                    ct = detail::shaped_like<X>(value);
            detail::for_each_item(ct, [&](double& item) { item = (replaces ? 0.0 : item) + *next++; });
        }
    }

    Body& body_;
    std::vector<double> inputs_{};
    std::vector<double> outputs_{};
};

/// Returns the VJP of a scan's body: the one that was given, or that of a recording.
template <std::size_t S, std::size_t M, std::size_t P, class Body, class BodyVjp>
decltype(auto) vjp_of([[maybe_unused]] Body& body, BodyVjp& body_vjp)
{
    if constexpr (is_recorded<BodyVjp>)
        return recorded_vjp<typename BodyVjp::tape, Body, S, M, P>(body);
    else
        return (body_vjp);
}

/// Returns the VJP of a loop's body, which also receives the iteration and the condition.
template <std::size_t S, std::size_t P, class Body, class BodyVjp>
decltype(auto) loop_vjp_of([[maybe_unused]] Body& body, BodyVjp& body_vjp)
{
    if constexpr (is_recorded<BodyVjp>)
    return [&body]<class... Arguments>(std::int64_t iteration, Arguments && ... arguments)
        requires(sizeof...(Arguments) >= 2 * (S + P))
    {
        auto at_iteration = [&](auto const&... values) { return body(iteration, true, values...); };
        recorded_vjp<typename BodyVjp::tape, decltype(at_iteration), S, 0, P> vjp(at_iteration);
        vjp(static_cast<Arguments&&>(arguments)...);
    };
    else return (body_vjp);
}

/// Returns the VJP of a branch with P operands.
template <std::size_t P, class Branch, class BranchVjp>
decltype(auto) branch_vjp_of([[maybe_unused]] Branch& branch, BranchVjp& branch_vjp)
{
    if constexpr (is_recorded<BranchVjp>)
    return [&branch]<class... Arguments>(Arguments && ... arguments)
        requires(sizeof...(Arguments) >= 2 * P)
    {
        auto step = [&](auto const&... values) { return scan_step{std::tuple(), branch(values...)}; };
        recorded_vjp<typename BranchVjp::tape, decltype(step), 0, 0, P> vjp(step);
        vjp(static_cast<Arguments&&>(arguments)...);
    };
    else return (branch_vjp);
}

} // namespace detail
} // namespace xloom
