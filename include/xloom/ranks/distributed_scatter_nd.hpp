#pragma once
// The ScatterND operator on data whose first axis is divided among ranks.

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <xloom/detail/check/scatter_nd.hpp>
#include <xloom/detail/indexed/rank_scatter.hpp>
#include <xloom/detail/indexed/scatter.hpp>
#include <xloom/indexing/scatter_nd.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// The requirements of scatter_nd_into over ranks.
template <class Reduce, class Data, class Indices, class Updates>
struct rank_scatter_types {
    static consteval bool holds()
    {
        if constexpr (is_broadcast<Updates>)
            static_assert(
                never<Updates>, "updates over ranks must be a tensor; broadcast() is not distributed");
        else if constexpr (scatter_types<true, integer_indices<Indices>, Reduce, Data, Updates>::holds())
            return sent_as_bytes<item_t<Data>>::holds();
        return false;
    }
};

/// The operands of one rank, checked.
template <class Reduce, class Data, class Indices, class Updates>
class rank_scatter_call {
    using T = item_t<Data>;
    using inputs_type = evaluated_argument<std::tuple<Indices const&, Updates const&>>;

    inputs_type inputs_;

public:
    scatter_rules options;
    divided_data whole;
    sorted_tuples tuples;
    row_major_items<T> updates;
    std::vector<std::size_t> incoming; ///< the number of updates of each rank for this one
    call_digest digest;

    template <communicator C>
    rank_scatter_call(std::string_view op, Reduce& reduce, Data const& data, Indices const& indices,
        Updates const& update_operand, scatter_nd_options const& given, distributed_axis<C> const& part)
        : inputs_(std::tie(indices, update_operand)),
          options(rules_with(reduce, given)),
          whole(checked_data(op, data, part)),
          tuples(checked_tuples(op, data, part)),
          updates(std::get<1>(inputs_.values)),
          incoming(part.ranks().size()),
          digest(detail::digest_of(part, whole.whole, 0))
    {
        digest.add(whole.width).template add_type<T>();
        kernel::with_reduction<T>(
            reduce, [&]<class Function>(Function&) { digest.template add_type<Function>(); });
        digest.add(options.reduction == reduction::mean).add(options.include_self);
        digest.add(static_cast<std::uint64_t>(options.bounds));
        digest.add(static_cast<std::uint64_t>(options.duplicates));
        digest.add(options.accumulate_in_float).add(options.unique).add(options.sorted);
    }

private:
    template <communicator C>
    divided_data checked_data(std::string_view op, Data const& data, distributed_axis<C> const& part) const
    {
        auto const& [indices, update_tensor] = inputs_.values;
        check_rank(op, "data", detail::rank_of(data));
        check_rank(op, "indices", detail::rank_of(indices));
        check_rank(op, "updates", detail::rank_of(update_tensor));
        shape const index_shape = detail::shape_of(indices);
        divided_data const all = detail::check_divided_data(op, detail::shape_of(data), index_shape, part);
        check_scatter_nd(op, all.whole, index_shape, detail::shape_of(update_tensor), options);
        return all;
    }
    template <communicator C>
    sorted_tuples checked_tuples(std::string_view op, Data const& data, distributed_axis<C> const& part) const
    {
        auto const& [indices, update_tensor] = inputs_.values;
        slice_index const index(
            op, whole.whole, indices, {index_form::tuples, 0, whole.width, {}}, options.bounds);
        check_reduction<T, Reduce>(op, options);
        check_scatter_overlap(
            op, detail::memory_of(data), detail::memory_of(indices), detail::memory_of(update_tensor));
        return {index.reader(), divided_slices(whole, part)};
    }
};

/// The slices that a rank sends and receives in a round of check_indexed_once, and those that are indexed.
struct exchanged_slices {
    std::size_t max_slices_per_round;
    std::size_t longest = 0; ///< the largest number of slices that are exchanged with a rank
    std::vector<std::size_t> sent{}, received{};
    std::vector<bool> is_indexed;

    template <class Call>
    exchanged_slices(Call const& call, std::size_t buffer_bytes, std::size_t own_slices)
        : max_slices_per_round(std::max<std::size_t>(buffer_bytes / 2 / sizeof(std::size_t), 1)),
          is_indexed(own_slices)
    {
        std::size_t max_in = 0, max_out = 0;
        for (std::size_t rank = 0; rank < call.incoming.size(); ++rank) {
            max_in = (std::max)(max_in, call.incoming[rank]);
            max_out = (std::max)(max_out, call.tuples.of(rank).size());
        }
        longest = (std::max)(max_in, max_out);
        sent.resize((std::min)(max_out, max_slices_per_round));
        received.resize((std::min)(max_in, max_slices_per_round));
    }
};

/// Requires that no slice is indexed twice, on any rank.
///
/// Errors    on all ranks: index_error
template <class Call, communicator C>
void check_indexed_once(std::string_view op, Call const& call, distributed_axis<C> const& part)
{
    std::size_t const slices_of_row = call.whole.slices_of_row();
    agreed<exchanged_slices> memory(
        part.ranks(), op, call, part.buffer_bytes(), part.own_length() * slices_of_row);
    exchanged_slices& slices = *memory;
    rank_attempt attempt;
    for (std::size_t begin = 0; begin < slices.longest; begin += slices.max_slices_per_round)
        detail::for_each_partner(part.ranks(),
            [&, end = begin + slices.max_slices_per_round](std::size_t destination, std::size_t source) {
                auto const size_of = [&](std::size_t all) {
                    return (std::min)(all, end) - (std::min)(all, begin);
                };
                auto const mine = call.tuples.of(destination);
                auto const out = std::span(slices.sent).first(size_of(mine.size()));
                auto const in = std::span(slices.received).first(size_of(call.incoming[source]));
                for (std::size_t i = 0; i < out.size(); ++i)
                    out[i] = mine[begin + i].slice;
                detail::exchange_values<std::size_t>(part.ranks(), destination, out, source, in);
                attempt([&] {
                    for (std::size_t const slice : in) {
                        if (slices.is_indexed[slice])
                            fail<index_error>(op,
                                ": with duplicates::error a slice may be named once, but slice ",
                                unravel(part.begin() * slices_of_row + slice, call.whole.indexed()),
                                " is named more than once; rank ", source,
                                " sent the last duplicate. Choose duplicates::last.");
                        slices.is_indexed[slice] = true;
                    }
                });
            });
    attempt.agree(part.ranks(), op);
}

/// Scatters over ranks, with operands whose types are valid.
template <class Reduce, class Data, class Indices, class Updates, communicator C, class Policy>
void distributed_scatter(std::string_view op, Reduce& reduce, Data& data, Indices const& indices,
    Updates const& updates, scatter_nd_options const& options, distributed_axis<C> const& part,
    Policy const& policy)
{
    using T = item_t<Data>;
    C const& ranks = part.ranks();
    agreed<rank_scatter_call<Reduce, Data, Indices, Updates>> call(
        ranks, op, op, reduce, data, indices, updates, options, part);
    call->tuples.count_incoming(ranks, call->incoming);
    if (call->options.duplicates == duplicates::error)
        detail::check_indexed_once(op, *call, part);
    std::size_t const slice_size = element_count(call->whole.slice());
    if (slice_size == 0)
        return;
    update_exchange<T> exchange(call->tuples, call->updates.data(), slice_size);
    with_sum_type<T>(
        call->options, reduce, [&]<class Sum, class Combine>(std::type_identity<Sum>, Combine& combine) {
            agreed<rank_updates<Sum, T, Combine>> owned(ranks, op, detail::items_in<T>(data),
                call->whole.width, call->options, call->incoming, part.buffer_bytes(), exchange, combine);
            rank_attempt attempt;
            exchange.run(ranks, [&](std::span<std::size_t const> slices, T const* values) {
                attempt([&] { owned->apply(slices, values, policy); });
            });
            attempt([&] { owned->finish(policy); });
            attempt.agree(ranks, op);
        });
}

/// Scatters to data that one rank has as a whole.
template <class Reduce, class Data, class Indices, class Updates, communicator C, class Policy>
void scatter_alone(std::string_view op, Reduce& reduce, Data& data, Indices const& indices,
    Updates const& updates, scatter_nd_options const& options, distributed_axis<C> const& part,
    Policy const& policy)
{
    rank_attempt attempt;
    attempt([&] {
        auto const [index_tensor, update_tensor] = detail::evaluated_inputs(std::tie(indices, updates));
        check_rank(op, "data", detail::rank_of(data));
        check_rank(op, "indices", detail::rank_of(index_tensor));
        detail::check_divided_data(op, detail::shape_of(data), detail::shape_of(index_tensor), part);
        detail::scatter<true>(op, check_scatter_nd, reduce, data, index_tensor, update_tensor,
            detail::rules_with(reduce, options), policy);
    });
    attempt.agree(part.ranks(), op);
}

} // namespace detail

/// Runs scatter_nd_into on data whose first axis is divided among ranks. Each rank passes its part of data
/// and updates for slices of any rank.
///
///     data of all ranks, joined = scatter_nd(data of all ranks, joined, indices of all ranks, joined,
///                                            updates of all ranks, joined)
///
/// Shapes    as scatter_nd_into; indices of any number of tuples on each rank, whose last axis is equal on
///           all and at least 1. The first axis of data has the length of the rank's part, which may be 0;
///           the others are equal on all ranks. An index of the first axis counts from the start of the whole
///           axis, a negative one from its end. Updates are a tensor.
/// Types     as scatter_nd_into, with items that are trivially copyable.
/// Options   as scatter_nd. unique and sorted are promises about the updates of all ranks, which
///           debug builds verify on one rank only.
/// Reduce    as scatter_nd, the first argument or none; the same on all ranks.
/// Axis      a distributed_axis after the options, before or after the policy.
/// Policy    as scatter_nd, on the threads of a rank.
/// Errors    on all ranks, before the first write: what one of them finds, such as an index out of range,
///           with its rank; what a lazy operand throws there, or std::bad_alloc, as a rank_error of the
///           others; option_error for calls that differ. What a callable throws on one rank propagates there,
///           and is a rank_error on the others; data then holds the values written so far. Errors of the
///           communicator propagate.
/// Order     the updates of a slice are applied in the order of ranks, and for each rank in row-major order,
///           so the bits do not depend on the division of data, nor on that of the updates if their order is
///           the same.
/// Cost      scatter_nd_into on one rank. On several, the index tuples of each rank are sorted by slice,
///           every update is sent once, unless it is for this rank, and applied by the owner of its slice.
///           Allocates two integers for each index tuple and a few for each rank, and the buffer of the axis,
///           or the memory of one update of each rank, if that is more; for some options also as scatter_nd,
///           for this rank's part, and for duplicates::error a bit per slice. The updates for a part come in
///           turns if they do not fit into half of the buffer. The latency of a turn is that of 3 R messages,
///           for R ranks.
/// Aliasing  as scatter_nd_into.
/// Example
/// ```cpp
/// xloom::single_rank const alone;
/// xt::xtensor<int, 1> data = {1, 2, 3};
/// xt::xtensor<int, 2> const indices = {{2}, {0}, {2}};
/// xt::xtensor<int, 1> const updates = {10, 20, 30};
/// xloom::distributed_axis const rows(alone, 3);
/// xloom::distributed_scatter_nd_into(xloom::reduce_add, data, indices, updates, rows);
/// data; // = [21, 2, 43]
/// ```
template <class Reduce, class Data, class Indices, class Updates, class Options = scatter_nd_options,
    class... Env>
    requires(!detail::begins_with_data<Reduce, Updates, scatter_nd_options>)
void distributed_scatter_nd_into(Reduce&& reduce, Data&& data, Indices const& indices, Updates const& updates,
    Options&& options = {}, Env&&... env)
{
    if constexpr (detail::satisfied<detail::options_over_ranks<scatter_nd_options, Options, Env...>,
                      detail::rank_scatter_types<std::remove_reference_t<Reduce>, Data, Indices,
                          Updates>>()) {
        static constexpr std::string_view op = "xloom::distributed_scatter_nd_into";
        auto const& part = detail::rank_axis_of(options, env...);
        auto const& policy = detail::policy_of(options, env...);
        auto const& given = detail::options_of<scatter_nd_options>(options);
        if (part.ranks().size() == 1)
            detail::scatter_alone(op, reduce, data, indices, updates, given, part, policy);
        else
            detail::distributed_scatter(op, reduce, data, indices, updates, given, part, policy);
    }
}

/// Runs distributed_scatter_nd_into without a reduction.
template <class Data, class Indices, class Updates, class Options = scatter_nd_options, class... Env>
    requires detail::begins_with_data<Data, Options, scatter_nd_options>
void distributed_scatter_nd_into(
    Data&& data, Indices const& indices, Updates const& updates, Options&& options = {}, Env&&... env)
{
    xloom::distributed_scatter_nd_into(
        reduce_none, std::forward<Data>(data), indices, updates, options, env...);
}

} // namespace xloom::inline XLOOM_ABI
