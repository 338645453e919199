#pragma once
// Linear recurrences along an axis that is divided among ranks, with the bits of one process.

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>

#include <xloom/detail/check/distributed_axis.hpp>
#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/prefix/rank_scan.hpp>
#include <xloom/parallel/linear_recurrence.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// True if the types of a call of distributed_linear_recurrence_into are valid, otherwise a compile-time
/// error of one sentence.
template <class A, class B, class H0, class H, class Policy>
consteval bool is_valid_distributed_recurrence()
{
    if constexpr (!is_valid_linear_recurrence_into<A, B, H0, H, Policy>())
        return false;
    else if constexpr (!is_sendable<item_t<A>>)
        static_assert(never<A>, "xloom::distributed_linear_recurrence_into: elements are sent to other ranks "
                                "as bytes, so their type must be trivially copyable");
    else
        return true;
    return false;
}

/// Runs linear recurrences over ranks, of inputs a, b and of a first state that `attempt` has evaluated; they
/// are null if it failed.
template <class Inputs, class H0, class H, communicator C, class Policy>
void distributed_recurrence(std::string_view op, Inputs const* inputs, H0 const* first, H& h,
    distributed_axis<C> const& part, linear_recurrence_options const& options, rank_attempt& attempt,
    Policy const& policy)
{
    using T = item_t<H>;
    using scan = rank_recurrence<T>;
    using V = typename scan::value_type;
    std::array<strided_layout, scan::count - 1> layouts;
    std::size_t axis = 0;
    std::optional<rank_scan_memory<V>> memory;
    call_digest digest;
    attempt([&] {
        auto const& [a, b] = *inputs;
        H0 const& h0 = *first;
        detail::check_ranks(op, "operands", std::tie(a, b, h0, h));
        scan_operand const initial{"h0", detail::memory_of(h0)};
        std::array<scan_operand, 3> const operands{
            {{"a", detail::memory_of(a)}, {"b", detail::memory_of(b)}, {"h", detail::memory_of(h)}}};
        shape const& dims = operands[0].dims();
        axis = check_scanned_axis(op, operands, options.axis);
        check_own_part(op, "a", dims, axis, part);
        check_initial_state(op, initial, dims, axis);
        check_scan_memory(op, std::span(operands).first(2), std::span(operands).last(1));
        check_no_overlap(op, operands[2], initial);
        layouts = {operands[0].memory.layout, operands[1].memory.layout,
            layout_in_time(initial.memory.layout, dims, axis), operands[2].memory.layout};
        memory.emplace(dims, axis, options.reverse, part);
        digest = detail::digest_of(part, dims, axis);
        digest.add(options.reverse).add_type<T>();
    });
    attempt.agree(part.ranks(), op, digest);
    auto const& [a, b] = *inputs;
    detail::run_rank_scan(scan{detail::operand_of<T const>(a).data, detail::operand_of<T const>(b).data,
                              detail::operand_of<T const>(*first).data, detail::operand_of<T>(h).data},
        layouts, axis, options.reverse, part, *memory, attempt, policy);
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
template <class A, class B, class H0, class H, communicator C, class Policy = serial_policy>
void distributed_linear_recurrence_into(A const& a, B const& b, H0 const& h0, H&& h,
    distributed_axis<C> const& part, linear_recurrence_options const& options = {}, Policy const& policy = {})
{
    if constexpr (detail::is_valid_distributed_recurrence<A, B, H0, H, Policy>()) {
        using detail::initial_state, detail::item_t;
        detail::rank_attempt attempt;
        std::optional<detail::evaluated_pack<std::tuple<A const&, B const&>>> inputs;
        std::optional<std::tuple<decltype(initial_state<item_t<A>>(h0))>> first;
        attempt([&] {
            inputs.emplace(std::tie(a, b));
            first.emplace(initial_state<item_t<A>>(h0));
        });
        detail::distributed_recurrence("xloom::distributed_linear_recurrence_into",
            detail::pointer_to_values(inputs), first ? std::addressof(std::get<0>(*first)) : nullptr, h, part,
            options, attempt, policy);
    }
}

} // namespace xloom::inline XLOOM_ABI
