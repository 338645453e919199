#pragma once
// Parallel scans of an axis that is divided among ranks, with the bits of one process.

#include <optional>
#include <string_view>
#include <type_traits>

#include <xloom/detail/core/distributed_axis.hpp>
#include <xloom/detail/prefix/rank_scan.hpp>
#include <xloom/parallel/associative_scan.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// The operands of a scan on one rank, checked, and the memory that it needs.
template <bool IsTuple, class V, class Xs, class Ys>
struct rank_scan_call {
    using inputs_type = evaluated_argument<Xs>;

    inputs_type inputs;
    scanned_operands<IsTuple, decltype(inputs_type::values), Ys> operands;
    std::size_t axis;
    std::optional<V> start{}; ///< the value before the first element of an exclusive scan
    call_digest digest;
    rank_scan_memory<V> memory;

    template <class Op, communicator C>
    rank_scan_call(std::string_view name, Op& op, Xs const& xs, Ys const& ys,
        associative_scan_options const& options, distributed_axis<C> const& part)
        : inputs(xs),
          operands(name, IsTuple ? "xs" : "x", inputs.values, IsTuple ? "ys" : "y", ys, in_place),
          axis(checked_axis(name, options.axis, part)),
          digest(detail::digest_of(part, dims(), axis)),
          memory(dims(), axis, options.reverse, part)
    {
        detail::check_scan_operator<V>(name, op);
        digest.add(options.reverse).add(options.exclusive).template add_type<V>();
        detail::with_scan_operator<V>(name, op, identity_of_exclusive(options.exclusive),
            [&]<class Function>(Function&, V const* identity) {
                digest.template add_type<Function>();
                if (identity != nullptr)
                    start = *identity;
            });
    }

    shape const& dims() const { return operands.operands().front().dims(); }

private:
    template <communicator C>
    std::size_t checked_axis(std::string_view name, std::int64_t of_options, distributed_axis<C> const& part)
    {
        std::size_t const divided = check_scanned_axis(name, operands.operands(), of_options);
        detail::check_own_part(name, operands.operands().front().name(), dims(), divided, part);
        check_written(name, operands.results(), operands.inputs());
        return divided;
    }
};

/// Runs a scan over ranks, of operands whose types are valid.
template <class Op, class Xs, class Ys, communicator C, class Policy>
void distributed_scan(std::string_view name, Op& op, Xs const& xs, Ys const& ys,
    associative_scan_options const& options, distributed_axis<C> const& part, Policy const& policy)
{
    using V = scanned_t<Xs>;
    agreed<rank_scan_call<is_tuple<Xs>, V, Xs, Ys>> call(part.ranks(), name, name, op, xs, ys, options, part);
    V const* const first = call->start ? &*call->start : nullptr;
    rank_attempt attempt;
    detail::with_scan_operator<V>(name, op, {}, [&]<class Function>(Function& function, V const*) {
        auto const run = [&](auto const& scan) {
            detail::run_rank_scan(scan, call->operands.layouts(), call->axis, options.reverse, part,
                call->memory, attempt, policy);
        };
        if constexpr (is_tuple<Xs>)
            std::apply(
                [&]<class... Ts>(Ts*...) {
                    run(rank_tuple_scan<Function, Ts...>{
                        call->operands.x, call->operands.y, first, options.exclusive, &function});
                },
                call->operands.y);
        else
            run(rank_item_scan<V, Function>{std::get<0>(call->operands.x), std::get<0>(call->operands.y),
                first, options.exclusive, &function});
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
/// Axis      a distributed_axis after the options, before or after the policy.
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
template <class Op, class Xs, class Ys, class Options = associative_scan_options, class... Env>
void distributed_associative_scan_into(Op&& op, Xs const& xs, Ys&& ys, Options&& options = {}, Env&&... env)
{
    if constexpr (detail::satisfied<detail::options_over_ranks<associative_scan_options, Options, Env...>,
                      detail::scan_into_types<Op, Xs, Ys>, detail::sendable<Xs>>())
        detail::distributed_scan("xloom::distributed_associative_scan_into", op, xs, detail::leaves(ys),
            detail::options_of<associative_scan_options>(options), detail::rank_axis_of(options, env...),
            detail::policy_of(options, env...));
}

} // namespace xloom::inline XLOOM_ABI
