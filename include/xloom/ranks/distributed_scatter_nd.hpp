#pragma once
// The ScatterND operator on data whose first axis is divided among ranks.

#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include <xloom/detail/indexed/rank_scatter.hpp>
#include <xloom/detail/indexed/requirements.hpp>
#include <xloom/detail/indexed/scatter.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// True if the types of a call of distributed_scatter_nd_into are valid, otherwise a compile-time error of
/// one sentence.
template <class Data, class Indices, class Updates, class Reduce, class Policy>
consteval bool is_valid_distributed_scatter()
{
    if constexpr (is_broadcast<Updates>)
        static_assert(never<Updates>, "xloom::distributed_scatter_nd_into: updates must be a tensor; "
                                      "broadcast() is not distributed");
    else if constexpr (!satisfied<policy_only<Policy>, written_tensor<Data>, tuples_of_indices<Indices>,
                           updates_of<Data, Updates>, reduction_of<Reduce, Data>>())
        return false;
    else if constexpr (!std::is_trivially_copyable_v<item_t<Data>>)
        static_assert(never<Data>, "xloom::distributed_scatter_nd_into: items are sent to other ranks as "
                                   "bytes, so their type must be trivially copyable");
    else
        return true;
    return false;
}

/// Requires that no slice is named twice, on any rank.
///
/// Errors    index_error, which `attempt` keeps.
template <communicator C>
void check_named_once(std::string_view op, sorted_tuples const& tuples,
    std::vector<std::size_t> const& incoming, divided_data const& whole, distributed_axis<C> const& part,
    rank_attempt& attempt)
{
    std::size_t const at_once = std::max<std::size_t>(part.buffer_bytes() / 2 / sizeof(std::size_t), 1);
    std::size_t most = 0, most_in = 0, most_out = 0;
    for (std::size_t rank = 0; rank < incoming.size(); ++rank) {
        most_in = (std::max)(most_in, (std::min)(incoming[rank], at_once));
        most_out = (std::max)(most_out, (std::min)(tuples.of(rank).size(), at_once));
        most = (std::max)({most, incoming[rank], tuples.of(rank).size()});
    }
    std::vector<std::size_t> sent, received;
    std::vector<bool> is_named;
    attempt([&] {
        sent.resize(most_out);
        received.resize(most_in);
        is_named.resize((part.end() - part.begin()) * whole.slices_of_row());
    });
    attempt.agree(part.ranks(), op);
    for (std::size_t begin = 0; begin < most; begin += at_once)
        for_each_partner(part.ranks(), [&](std::size_t destination, std::size_t source) {
            auto const size_of = [&](std::size_t all) {
                return (std::min)(all, begin + at_once) - (std::min)(all, begin);
            };
            auto const mine = tuples.of(destination);
            std::size_t const out = size_of(mine.size()), in = size_of(incoming[source]);
            for (std::size_t i = 0; i < out; ++i)
                sent[i] = mine[begin + i].slice;
            exchange_values<std::size_t>(
                part.ranks(), destination, std::span(sent).first(out), source, std::span(received).first(in));
            attempt([&] {
                for (std::size_t const slice : std::span(received).first(in)) {
                    if (is_named[slice])
                        fail<index_error>(op,
                            ": with duplicates::error a slice may be named once, but slice ",
                            unravel(part.begin() * whole.slices_of_row() + slice, whole.indexed()),
                            " is named several times, by rank ", source,
                            " at last. Choose duplicates::last.");
                    is_named[slice] = true;
                }
            });
        });
    attempt.agree(part.ranks(), op);
}

/// Scatters over ranks, with inputs indices and updates that `attempt` has evaluated; they are null if it
/// failed.
template <class Data, class Indices, class Updates, class Reduce, communicator C, class Policy>
void distributed_scatter(Data& data, std::tuple<Indices, Updates> const* inputs, Reduce& reduce,
    distributed_axis<C> const& part, scatter_rules const& options, rank_attempt& attempt,
    Policy const& policy)
{
    static constexpr std::string_view op = "xloom::distributed_scatter_nd_into";
    using T = item_t<Data>;
    if (part.ranks().size() == 1) {
        attempt([&] {
            auto const& [indices, updates] = *inputs;
            check_rank(op, "data", detail::rank_of(data));
            check_rank(op, "indices", detail::rank_of(indices));
            check_divided_data(op, detail::shape_of(data), detail::shape_of(indices), part);
            detail::scatter<true, scatter_call>(op, data, indices, updates, reduce, options, policy);
        });
        return attempt.agree(part.ranks(), op);
    }
    call_digest digest;
    scatter_rules chosen = options;
    divided_data whole{};
    std::optional<sorted_tuples> tuples;
    std::optional<row_major_items<bare<Updates>>> items;
    std::vector<std::size_t> incoming;
    attempt([&] {
        auto const& [indices, updates] = *inputs;
        check_rank(op, "data", detail::rank_of(data));
        check_rank(op, "indices", detail::rank_of(indices));
        check_rank(op, "updates", detail::rank_of(updates));
        memory_block const to = detail::memory_of(data);
        shape const index_shape = detail::shape_of(indices);
        chosen = rules_with(reduce, options);
        whole = check_divided_data(op, to.layout.dims, index_shape, part);
        check_scatter_nd(op, whole.whole, index_shape, detail::shape_of(updates), chosen);
        checked_indices<bare<Indices>> const checked(
            op, indices, {whole.indexed(), row_major_strides(whole.indexed())}, 0, chosen.bounds);
        check_reduction<T, Reduce>(op, chosen);
        check_scatter_overlap(op, to, detail::memory_of(indices), detail::memory_of(updates));
        tuples.emplace(checked.reader(), divided_slices(whole, part));
        items.emplace(updates);
        incoming.resize(part.ranks().size());
        digest = detail::digest_of(part, whole.whole, 0);
        digest.add(whole.width).add_type<T>();
        kernel::with_reduction<T>(reduce, [&]<class Function>(Function&) { digest.add_type<Function>(); });
        digest.add(chosen.reduction == reduction::mean).add(chosen.include_self);
        digest.add(static_cast<std::uint64_t>(chosen.bounds));
        digest.add(static_cast<std::uint64_t>(chosen.duplicates));
        digest.add(chosen.accumulate_in_float).add(chosen.unique).add(chosen.sorted);
    });
    attempt.agree(part.ranks(), op, digest);
    tuples->count_incoming(part.ranks(), incoming);
    if (chosen.duplicates == duplicates::error)
        detail::check_named_once(op, *tuples, incoming, whole, part, attempt);

    received_updates<T> call(detail::shape_of(data), whole.width, chosen);
    update_exchange<T> exchange(*tuples, items->data(), element_count(whole.slice()));
    auto const run = [&]<class Sum, class Combine>(std::type_identity<Sum>, Combine& combine) {
        std::optional<rank_updates<Sum, Data, Combine>> owned;
        attempt([&] {
            exchange.allocate(incoming, part.buffer_bytes(), call);
            owned.emplace(call, data, combine);
        });
        attempt.agree(part.ranks(), op);
        exchange.run(part.ranks(), [&](std::span<std::size_t const> slices, T const* values) {
            attempt([&] {
                call.assign(slices, values);
                owned->apply(call, policy);
            });
        });
        attempt([&] { owned->finish(policy); });
        attempt.agree(part.ranks(), op);
    };
    if (element_count(whole.slice()) == 0)
        return;
    with_sum_type<T>(chosen, reduce, run);
}

} // namespace detail

/// Runs scatter_nd_into on data whose first axis is divided among ranks: every rank has a part of data,
/// brings its own updates for any part, and calls the function.
///
///     data of all ranks, joined = scatter_nd(data of all ranks, joined, indices of all ranks, joined,
///                                            updates of all ranks, joined)
///
/// Shapes    as scatter_nd_into; indices of any number of tuples on each rank, whose last axis is equal on
///           all and at least 1. The first axis of data has the length of the rank's part, which may be 0;
///           the others are equal on all ranks. An index of the first axis counts from the begin of the whole
///           axis, a negative one from its end. Updates are a tensor.
/// Types     as scatter_nd_into, with items that are trivially copyable.
/// Options   as scatter_nd. unique and sorted are promises about the updates of all ranks.
/// Reduce    as scatter_nd; the same on all ranks.
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
/// xloom::distributed_scatter_nd_into(data, indices, updates, xloom::reduce_add, rows);
/// data; // = [21, 2, 43]
/// ```
template <class Data, class Indices, class Updates, class Reduce, communicator C,
    class Policy = serial_policy>
void distributed_scatter_nd_into(Data&& data, Indices const& indices, Updates const& updates, Reduce&& reduce,
    distributed_axis<C> const& part, scatter_nd_options const& options = {}, Policy const& policy = {})
{
    if constexpr (detail::is_valid_distributed_scatter<Data, Indices, Updates,
                      std::remove_reference_t<Reduce>, Policy>()) {
        detail::rank_attempt attempt;
        std::optional<detail::evaluated_pack<std::tuple<Indices const&, Updates const&>>> inputs;
        attempt([&] { inputs.emplace(std::tie(indices, updates)); });
        detail::distributed_scatter(data, detail::pointer_to_values(inputs), reduce, part,
            detail::rules_of(options), attempt, policy);
    }
}

/// Runs distributed_scatter_nd_into without a reduction.
template <class Data, class Indices, class Updates, communicator C, class Policy = serial_policy>
void distributed_scatter_nd_into(Data&& data, Indices const& indices, Updates const& updates,
    distributed_axis<C> const& part, scatter_nd_options const& options = {}, Policy const& policy = {})
{
    xloom::distributed_scatter_nd_into(
        std::forward<Data>(data), indices, updates, reduce_none, part, options, policy);
}

} // namespace xloom::inline XLOOM_ABI
