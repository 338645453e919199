#pragma once
// Linear recurrences along an axis that is divided among ranks, with the bits of one process.

#include <array>
#include <string_view>
#include <tuple>
#include <utility>

#include <xloom/detail/core/distributed_axis.hpp>
#include <xloom/detail/core/flush_subnormals.hpp>
#include <xloom/detail/prefix/rank_scan.hpp>
#include <xloom/parallel/linear_recurrence.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// The operands of recurrences on one rank, checked, and the memory that they need.
template <class A, class B, class H0, class H>
struct rank_recurrence_call {
    using T = item_t<A>;
    using scan = rank_recurrence<T>;

    evaluated_argument<std::tuple<A const&, B const&>> inputs;
    decltype(initial_state<T>(std::declval<H0 const&>())) first;
    recurrence_call<T> call;
    call_digest digest;
    rank_scan_memory<typename scan::value_type> memory;

    template <communicator C>
    rank_recurrence_call(std::string_view op, A const& a, B const& b, H0 const& h0, H& h,
        linear_recurrence_options const& options, distributed_axis<C> const& part)
        : inputs(std::tie(a, b)),
          first(detail::initial_state<T>(h0)),
          call(detail::checked_recurrence(
              op, std::get<0>(inputs.values), std::get<1>(inputs.values), first, h, options.axis)),
          digest(detail::digest_of(part, call.dims(), call.axis)),
          memory(call.dims(), call.axis, options.reverse, part)
    {
        detail::check_own_part(op, "a", call.dims(), call.axis, part);
        digest.add(options.reverse).template add_type<T>();
    }

    scan operands() const
    {
        auto const& [a, b, h0, h] = call.operands;
        return {a.first, b.first, h0.first, h.first};
    }
    std::array<strided_layout, scan::count - 1> layouts() const
    {
        auto const& [a, b, h0, h] = call.operands;
        return {a.layout, b.layout, h0.layout, h.layout};
    }
};

/// Runs linear recurrences over ranks, of operands whose types are valid.
template <class A, class B, class H0, class H, communicator C, class Policy>
void distributed_recurrence(std::string_view op, A const& a, B const& b, H0 const& h0, H& h,
    linear_recurrence_options const& options, distributed_axis<C> const& part, Policy const& policy)
{
    agreed<rank_recurrence_call<A, B, H0, H>> mine(part.ranks(), op, op, a, b, h0, h, options, part);
    rank_attempt attempt;
    flush_subnormals const flushing;
    detail::run_rank_scan(mine->operands(), mine->layouts(), mine->call.axis, options.reverse, part,
        mine->memory, attempt, policy_ref(policy));
    attempt.agree(part.ranks(), op);
}

} // namespace detail

/// Runs linear_recurrence along an axis of time that is divided among ranks: every rank has a part of a, b
/// and h, and calls the function.
///
///     h of all ranks, joined = linear_recurrence(a of all ranks, b of all ranks, h0)
///
/// Shapes    as linear_recurrence; on each rank the axis of time has the length of its part, which may be 0,
///           and the others are equal on all ranks. Every rank passes h0, which is used by the first rank in
///           the direction of the recurrence.
/// Types     those of linear_recurrence that are trivially copyable.
/// Options   axis (0; negative: from the back), which is the divided one, reverse (false).
/// Axis      a distributed_axis after the options, before or after the policy.
/// Policy    as linear_recurrence, on the threads of a rank.
/// Errors    as distributed_associative_scan_into.
/// Order     that of linear_recurrence for the whole axis: the bits do not depend on the ranks.
/// Cost      as distributed_associative_scan_into, with two numbers for an element.
/// Aliasing  as linear_recurrence_into.
/// Example
/// ```cpp
/// xloom::single_rank const alone;
/// xt::xtensor<double, 1> const a = {0.5, 0.5, 0.5}, b = {1, 1, 1};
/// auto h = xt::xtensor<double, 1>::from_shape({3});
/// xloom::distributed_axis const time(alone, 3);
/// xloom::distributed_linear_recurrence_into(a, b, 4.0, h, time);
/// h; // = [3, 2.5, 2.25]
/// ```
template <class A, class B, class H0, class H, class Options = linear_recurrence_options, class... Env>
void distributed_linear_recurrence_into(
    A const& a, B const& b, H0 const& h0, H&& h, Options&& options = {}, Env&&... env)
{
    if constexpr (detail::satisfied<detail::options_over_ranks<linear_recurrence_options, Options, Env...>,
                      detail::recurrence_types<A, B, H0>, detail::written<H>, detail::one_element_type<A, H>,
                      detail::sendable<A>>())
        detail::distributed_recurrence("xloom::distributed_linear_recurrence_into", a, b, h0, h,
            detail::options_of<linear_recurrence_options>(options), detail::rank_axis_of(options, env...),
            detail::policy_of(options, env...));
}

} // namespace xloom::inline XLOOM_ABI
