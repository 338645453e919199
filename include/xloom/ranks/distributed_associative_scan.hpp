#pragma once
// Parallel scans of an axis that is divided among ranks, with the bits of one process.

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include <xloom/detail/check/associative_scan.hpp>
#include <xloom/detail/check/distributed_axis.hpp>
#include <xloom/detail/core/monoid.hpp>
#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/prefix/associative_scan_types.hpp>
#include <xloom/detail/prefix/rank_scan.hpp>
#include <xloom/parallel/associative_scan_options.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// True if the types of a call of distributed_associative_scan_into are valid, otherwise a compile-time error
/// of one sentence.
template <class Op, class Xs, class Ys, class Policy>
consteval bool is_valid_distributed_scan()
{
    if constexpr (!is_valid_associative_scan_into<Op, Xs, Ys, Policy>())
        return false;
    else if constexpr (!is_sendable<scanned_t<Xs>>)
        static_assert(never<Xs>, "xloom::distributed_associative_scan_into: elements are sent to other ranks "
                                 "as bytes, so their type must be trivially copyable");
    else
        return true;
    return false;
}

/// Returns the value that a scan begins with, if it is exclusive.
///
/// Errors    option_error: it is not known.
template <class V, class Op>
std::optional<V> initial_value(std::string_view name, Op& op, bool exclusive)
{
    std::optional<V> value;
    if (!exclusive)
        return value;
    if constexpr (is_monoid<std::remove_const_t<Op>>)
        value = static_cast<V>(op.identity);
    else
        kernel::with_reduction<V>(op, [&]<class Function>(Function& function) {
            if constexpr (has_identity<std::remove_const_t<Function>, V>)
                value = detail::identity_of<V>(function);
            else
                fail<option_error>(name,
                    ": an exclusive scan begins with the identity of its operator, but "
                    "that of a callable is not known. Pass xloom::monoid{op, identity}.");
        });
    return value;
}

/// Calls f(callable) with the operator that an argument names.
template <class V, class Op, class F>
void with_callable(Op& op, F const& f)
{
    if constexpr (is_monoid<std::remove_const_t<Op>>)
        kernel::with_reduction<V>(op.op, f);
    else
        kernel::with_reduction<V>(op, f);
}

/// The checked operands of one rank.
template <std::size_t Count>
struct rank_scan_call {
    std::array<strided_layout, 2 * Count> layouts{};
    std::size_t axis = 0;
    call_digest digest{};
};

template <class... Xs, class... Ys, communicator C>
rank_scan_call<sizeof...(Xs)> checked_rank_scan(std::string_view name, bool is_tuple,
    std::tuple<Xs...> const& xs, std::tuple<Ys&...> const& ys, associative_scan_options const& options,
    distributed_axis<C> const& part)
{
    constexpr std::size_t count = sizeof...(Xs);
    detail::check_ranks(name, "xs", xs);
    detail::check_ranks(name, "ys", ys);
    std::array<std::string, 2 * count> names;
    std::array<scan_operand, 2 * count> operands;
    auto const add = [&](std::size_t first, std::string_view letter, auto i, auto const& operand) {
        names[first + i] = is_tuple ? concat(letter, "s[", std::size_t{i}, "]") : std::string(letter);
        operands[first + i] = {names[first + i], detail::memory_of(operand)};
    };
    detail::for_each_leaf(xs, [&](auto i, auto const& x) { add(0, "x", i, x); });
    detail::for_each_leaf(ys, [&](auto i, auto const& y) { add(count, "y", i, y); });
    rank_scan_call<count> call;
    call.axis = check_scanned_axis(name, operands, options.axis);
    check_own_part(name, operands[0].name, operands[0].dims(), call.axis, part);
    check_scan_memory(name, std::span(operands).first(count), std::span(operands).last(count));
    for (std::size_t k = 0; k < 2 * count; ++k)
        call.layouts[k] = operands[k].memory.layout;
    call.digest = detail::digest_of(part, operands[0].dims(), call.axis);
    call.digest.add(options.reverse).add(options.exclusive);
    return call;
}

/// Runs a scan over ranks of inputs that `attempt` has evaluated; xs is null if it failed.
template <bool IsTuple, class V, class Op, class... Xs, class... Ys, communicator C, class Policy>
void distributed_scan(std::string_view name, Op& op, std::tuple<Xs...> const* xs,
    std::tuple<Ys&...> const& ys, distributed_axis<C> const& part, associative_scan_options const& options,
    rank_attempt& attempt, Policy const& policy)
{
    rank_scan_call<sizeof...(Xs)> call;
    std::optional<V> start;
    std::optional<rank_scan_memory<V>> memory;
    attempt([&] {
        call = detail::checked_rank_scan(name, IsTuple, *xs, ys, options, part);
        detail::check_scan_operator<V>(name, op);
        start = detail::initial_value<V>(name, op, options.exclusive);
        call.digest.template add_type<V>();
        detail::with_callable<V>(
            op, [&]<class Function>(Function&) { call.digest.template add_type<Function>(); });
        memory.emplace(call.layouts.back().dims, call.axis, options.reverse, part);
    });
    attempt.agree(part.ranks(), name, call.digest);

    std::tuple<item_t<Xs> const*...> const x = std::apply(
        [](auto const&... each) {
            return std::tuple<item_t<Xs> const*...>(enable_tensor<bare<Xs>>::data(each)...);
        },
        *xs);
    std::tuple<item_t<Ys>*...> const y = std::apply(
        [](auto&... each) { return std::tuple<item_t<Ys>*...>(enable_tensor<bare<Ys>>::data(each)...); }, ys);
    V const* const first = start ? &*start : nullptr;
    detail::with_callable<V>(op, [&]<class Function>(Function& function) {
        auto const run = [&](auto const& scan) {
            detail::run_rank_scan(
                scan, call.layouts, call.axis, options.reverse, part, *memory, attempt, policy);
        };
        if constexpr (IsTuple)
            run(rank_tuple_scan<Function, item_t<Xs>...>{x, y, first, options.exclusive, &function});
        else
            run(rank_item_scan<V, Function>{
                std::get<0>(x), std::get<0>(y), first, options.exclusive, &function});
    });
    attempt.agree(part.ranks(), name);
}

} // namespace detail

/// Runs associative_scan along an axis that is divided among ranks: every rank has a part of x and of y, and
/// calls the function.
///
///     y of all ranks, joined = associative_scan(op, x of all ranks, joined)
///
/// Operator  as associative_scan; of the same type on all ranks.
/// Shapes    as associative_scan; on each rank the scanned axis has the length of its part, which may be 0,
///           and the others are equal on all ranks.
/// Types     trivially copyable ones, and tuples of them.
/// Options   as associative_scan: axis (0), which is the divided one, reverse (false), exclusive (false).
/// Policy    as associative_scan, on the threads of a rank.
/// Errors    on all ranks, before the first write: what one of them finds, with its rank; what a lazy operand
///           throws there, or std::bad_alloc, as a rank_error of the others; option_error for calls that
///           differ. What a callable throws on one rank propagates there, and is a rank_error on the others;
///           results are then unspecified. Errors of the communicator propagate.
/// Order     that of associative_scan for the whole axis, so that the bits of the results do not depend on
///           the ranks: groups and blocks that have elements of several ranks are combined as in one process.
/// Cost      as associative_scan on several threads, for each rank's part: reads x twice, or y. A rank passes
///           a state of at most 17 elements for each sequence to the next one, after n / 256 + 510 operations
///           for n elements of each sequence, so the time for all ranks is the sum of these and of the
///           latencies. Allocates one element per block and the buffer.
/// Aliasing  as associative_scan_into.
/// Example
/// ```cpp
/// xloom::single_rank const alone;
/// xt::xtensor<int, 1> x = {3, 1, 4};
/// xloom::distributed_axis const axis(alone, 3);
/// xloom::distributed_associative_scan_into(xloom::reduction::max, x, x, axis);
/// x; // = [3, 3, 4]
/// ```
template <class Op, class Xs, class Ys, communicator C, class Policy = serial_policy>
void distributed_associative_scan_into(Op&& op, Xs const& xs, Ys&& ys, distributed_axis<C> const& part,
    associative_scan_options const& options = {}, Policy const& policy = {})
{
    if constexpr (detail::is_valid_distributed_scan<std::remove_reference_t<Op>, Xs, Ys, Policy>()) {
        detail::rank_attempt attempt;
        std::optional<detail::evaluated_pack<Xs>> inputs;
        attempt([&] { inputs.emplace(xs); });
        detail::distributed_scan<detail::is_tuple<Xs>, detail::scanned_t<Xs>>(
            "xloom::distributed_associative_scan_into", op, detail::pointer_to_values(inputs),
            detail::leaves(ys), part, options, attempt, policy);
    }
}

} // namespace xloom::inline XLOOM_ABI
