#pragma once
// The forward pass of a derivative: the body that notes its states, and the residuals, which hold them for
// the backward pass.

#include <cstddef>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <xloom/detail/core/movable_value.hpp>
#include <xloom/detail/scan/cotangents.hpp>
#include <xloom/detail/scan/kept_states.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// The states that a forward pass kept, cotangents of 0 for the final ones, and the shapes of other operands
/// and results. Those of a value that is no tensor are empty.
template <template <class> class Slots, class State>
struct forward_record {
    kept_states<Slots, State> states;
    std::optional<State> zeros{};
    movable_value<bool> has_zeros{}; ///< not after a move, which leaves a tensor its shape alone
    std::vector<shape> initial_shapes{};
    std::vector<shape> output_shapes{};

    /// Ends a forward pass with these states, and outputs of these shapes.
    template <class... Xs>
    void finish(std::tuple<Xs&...> const& final_states, std::span<shape const> of_outputs)
    {
        if (!has_zeros)
            zeros.emplace(detail::copied_states<State>(final_states));
        has_zeros = true;
        detail::for_each_leaf(detail::leaves(*zeros),
            [&](auto i, auto& zero) { detail::set_to_zero_of(zero, std::get<i>(final_states)); });
        output_shapes.assign(of_outputs.begin(), of_outputs.end());
        states.finish();
    }
};

/// The residuals of a scan or of a loop: a record that only operators read.
template <template <class> class Slots, class State>
class forward_residuals : private forward_record<Slots, State> {
public:
    explicit forward_residuals(checkpoint const& checkpoints = checkpoint::all())
        : forward_record<Slots, State>{kept_states<Slots, State>(checkpoints)}
    {}
    forward_residuals(forward_residuals const&) = default;
    forward_residuals(forward_residuals&&) = default;
    forward_residuals& operator=(forward_residuals&&) = default;
    /// Copies `other` first, so that the residuals are unchanged if allocation fails.
    forward_residuals& operator=(forward_residuals const& other) { return *this = forward_residuals(other); }

    /// Returns the number of bytes allocated for the states' items.
    std::size_t bytes() const
        requires requires(Slots<int> const& kept) { kept.bytes(); }
    {
        return std::apply([](auto const&... each) { return (std::size_t{0} + ... + each.bytes()); },
            this->states.state_slots());
    }

private:
    template <template <class> class S, class X>
    friend forward_record<S, X>& record_of(forward_residuals<S, X>& residuals);
};

/// Returns the record in residuals.
template <template <class> class Slots, class State>
forward_record<Slots, State>& record_of(forward_residuals<Slots, State>& residuals)
{
    return residuals;
}

/// A body for scan, scan_into or loop that calls a body with parameters, and first notes the states of the
/// iteration. The arguments are those of the operator: States of them from FirstState on are states, and the
/// parameters are inserted after the first Before ones.
template <std::size_t FirstState, std::size_t States, std::size_t Before, class Kept, class Body,
    class Params>
class recording_body {
    template <class... Arguments>
    static constexpr bool is_callable()
    {
        using arguments = std::tuple<Arguments...>;
        if constexpr (sizeof...(Arguments) < Before)
            return false;
        else
            return []<std::size_t... I, std::size_t... J, class... Ps>(
                       std::index_sequence<I...>, std::index_sequence<J...>, std::tuple<Ps...> const*) {
                return std::is_invocable_v<Body&, std::tuple_element_t<I, arguments>..., Ps...,
                    std::tuple_element_t<Before + J, arguments>...>;
            }(std::make_index_sequence<Before>{}, std::make_index_sequence<sizeof...(Arguments) - Before>{},
                       static_cast<Params const*>(nullptr));
    }

public:
    recording_body(Kept& kept, Body& body, Params const& params) : kept_(kept), body_(body), params_(params)
    {}

    template <class... Arguments>
        requires(is_callable<Arguments...>())
    decltype(auto) operator()(Arguments&&... arguments)
    {
        std::tuple<Arguments&&...> all(static_cast<Arguments&&>(arguments)...);
        return [&]<std::size_t... S, std::size_t... I, std::size_t... J>(std::index_sequence<S...>,
                   std::index_sequence<I...>,
                   std::index_sequence<J...>) -> decltype(auto) {
            kept_.visit(std::tie(std::as_const(std::get<FirstState + S>(all))...));
            return std::apply(
                body_, std::tuple_cat(std::forward_as_tuple(std::get<I>(std::move(all))...), params_,
                           std::forward_as_tuple(std::get<Before + J>(std::move(all))...)));
        }(std::make_index_sequence<States>{}, std::make_index_sequence<Before>{},
                                                  std::make_index_sequence<sizeof...(Arguments) - Before>{});
    }

private:
    Kept& kept_;
    Body& body_;
    Params const& params_; ///< a tuple of references
};

/// Returns a body that notes its states in a record.
template <std::size_t FirstState, std::size_t States, std::size_t Before, class Record, class Body,
    class Params>
auto recording(Record& record, Body& body, Params const& params)
{
    return recording_body<FirstState, States, Before, decltype(record.states), Body, Params>(
        record.states, body, params);
}

} // namespace detail

/// The memory of scan_forward_into's states, from which scan_vjp_into begins. State is the type of the
/// states: one type or a std::tuple. It grows to the size that a call needs; a call that needs no more than
/// an earlier one allocates nothing. One call may use it at a time.
template <class State>
class scan_residuals : public detail::forward_residuals<detail::packed_slots, State> {
    using detail::forward_residuals<detail::packed_slots, State>::forward_residuals;
};

/// The memory of loop_forward_into's carried values, from which loop_vjp_into begins. State is the type of
/// the carried values: one type or a std::tuple. One call may use it at a time.
template <class State>
class loop_residuals : public detail::forward_residuals<detail::value_slots, State> {
    using detail::forward_residuals<detail::value_slots, State>::forward_residuals;
};

} // namespace xloom::inline XLOOM_ABI
