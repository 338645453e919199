#pragma once
// The GatherND operator on data whose first axis is divided among ranks.

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include <xloom/detail/indexed/rank_gather.hpp>
#include <xloom/detail/indexed/requirements.hpp>
#include <xloom/indexing/gather_nd.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// True if the types of a call of distributed_gather_nd_into are valid, otherwise a compile-time error of one
/// sentence.
template <class Data, class Indices, class Output, class Policy>
consteval bool is_valid_distributed_gather()
{
    if constexpr (!satisfied<policy_only<Policy>, readable<Data>, tuples_of_indices<Indices>,
                      written_tensor<Output>, output_of_items<Data, Output>>())
        return false;
    else if constexpr (!std::is_trivially_copyable_v<item_t<Data>>)
        static_assert(never<Data>,
            "xloom::distributed_gather_nd_into: items are sent to other ranks as bytes, "
            "so their type must be trivially copyable");
    else
        return true;
    return false;
}

inline void check_no_batch(std::string_view op, gather_nd_options const& options)
{
    if (options.batch_dims != 0)
        fail<option_error>(op, ": batch_dims must be 0, but it is ", options.batch_dims,
            ". With a batch axis that is divided, every rank has what it gathers: call gather_nd_into.");
}

/// Gathers from data that one rank has as a whole.
template <class Data, class Indices, class Output, communicator C, class Policy>
void gather_alone(std::string_view op, Data const& data, Indices const& indices, Output& output,
    distributed_axis<C> const& part, gather_nd_options const& options, Policy const& policy)
{
    check_rank(op, "data", detail::rank_of(data));
    check_rank(op, "indices", detail::rank_of(indices));
    check_no_batch(op, options);
    check_divided_data(op, detail::shape_of(data), detail::shape_of(indices), part);
    detail::gather_nd_to(op, data, indices, output, options, policy);
}

/// Gathers over ranks, of inputs data and indices that `attempt` has evaluated; they are null if it failed.
template <class Data, class Indices, class Output, communicator C, class Policy>
void distributed_gather(std::tuple<Data, Indices> const* inputs, Output& output,
    distributed_axis<C> const& part, gather_nd_options const& options, rank_attempt& attempt,
    Policy const& policy)
{
    static constexpr std::string_view op = "xloom::distributed_gather_nd_into";
    using T = item_t<Data>;
    if (part.ranks().size() == 1) {
        attempt([&] {
            auto const& [data, indices] = *inputs;
            gather_alone(op, data, indices, output, part, options, policy);
        });
        return attempt.agree(part.ranks(), op);
    }
    call_digest digest;
    std::optional<checked_indices<bare<Indices>>> checked;
    std::optional<rank_gather<T>> call;
    std::size_t count = 0;
    std::vector<std::size_t> counts;
    attempt([&] {
        auto const& [data, indices] = *inputs;
        check_rank(op, "data", detail::rank_of(data));
        check_rank(op, "indices", detail::rank_of(indices));
        check_rank(op, "output", detail::rank_of(output));
        memory_block const from = detail::memory_of(data), to = detail::memory_of(output);
        shape const index_shape = detail::shape_of(indices);
        check_no_batch(op, options);
        divided_data const whole = check_divided_data(op, from.layout.dims, index_shape, part);
        shape const gathered = check_gather_nd(op, whole.whole, index_shape, options, sizeof(T));
        check_gather_output(op, to, gathered, from, detail::memory_of(indices));
        checked.emplace(op, indices, strided_layout{whole.indexed(), row_major_strides(whole.indexed())}, 0,
            options.bounds);
        call.emplace(checked->reader(), whole, from.layout, enable_tensor<bare<Data>>::data(data), part);
        count = checked->count();
        counts.resize(part.ranks().size());
        digest = detail::digest_of(part, whole.whole, 0);
        digest.add(whole.width).add(static_cast<std::uint64_t>(options.bounds)).add_type<T>();
    });
    attempt.agree(part.ranks(), op, digest);
    part.ranks().all_gather(
        std::as_bytes(std::span(&count, 1)), std::as_writable_bytes(std::span(counts.data(), counts.size())));
    strided_layout const layout = detail::layout_of(output);
    auto* const items = enable_tensor<Output>::data(output);
    std::optional<xt::xtensor<T, 1>> copy;
    attempt([&] {
        call->allocate(*std::max_element(counts.begin(), counts.end()), part.buffer_bytes());
        if (!is_row_major(layout))
            copy.emplace(pack_items<T>(items, layout));
    });
    attempt.agree(part.ranks(), op);
    call->run(copy ? copy->data() : items, part.ranks(), attempt, policy);
    attempt.agree(part.ranks(), op);
    if (copy)
        unpack_items(*copy, items, layout);
}

} // namespace detail

/// Runs gather_nd_into on data whose first axis is divided among ranks: every rank has a part of data,
/// gathers what its own indices name, from whichever rank has it, and calls the function.
///
///     for i in ndindex(indices.shape[:-1]):
///         output[i] = (data of all ranks, joined)[indices[i]]
///
/// Shapes    as gather_nd_into; indices of any number of tuples on each rank, whose last axis is equal on all
///           and at least 1. The first axis of data has the length of the rank's part, which may be 0; the
///           others are equal on all ranks. An index of the first axis counts from the begin of the whole
///           axis, a negative one from its end.
/// Types     as gather_nd_into, with items that are trivially copyable.
/// Options   bounds (check). batch_dims is 0.
/// Policy    as gather_nd_into, on the threads of a rank.
/// Errors    on all ranks, before the first write: what one of them finds, such as an index out of range,
///           with its rank; what a lazy operand throws there, or std::bad_alloc, as a rank_error of the
///           others; option_error for calls that differ. Errors of the communicator propagate.
/// Cost      gather_nd_into on one rank. On several, every slice that another rank has is requested and sent
///           once. Allocates the buffer of the axis, or the memory of one slice and index tuple, twice, if
///           that is more, and a few integers for each rank. The buffer has room for a round of index tuples;
///           the latency of a round is that of 3 R messages, for R ranks.
/// Aliasing  as gather_nd_into.
/// Example
/// ```cpp
/// xloom::single_rank const alone;
/// xt::xtensor<int, 1> const data = {10, 20, 30};
/// xt::xtensor<int, 2> const indices = {{2}, {0}};
/// auto output = xt::xtensor<int, 1>::from_shape({2});
/// xloom::distributed_axis const rows(alone, 3);
/// xloom::distributed_gather_nd_into(data, indices, output, rows);
/// output; // = [30, 10]
/// ```
template <class Data, class Indices, class Output, communicator C, class Policy = serial_policy>
void distributed_gather_nd_into(Data const& data, Indices const& indices, Output&& output,
    distributed_axis<C> const& part, gather_nd_options const& options = {}, Policy const& policy = {})
{
    if constexpr (detail::is_valid_distributed_gather<Data, Indices, Output, Policy>()) {
        detail::rank_attempt attempt;
        std::optional<detail::evaluated_pack<std::tuple<Data const&, Indices const&>>> inputs;
        attempt([&] { inputs.emplace(std::tie(data, indices)); });
        detail::distributed_gather(detail::pointer_to_values(inputs), output, part, options, attempt, policy);
    }
}

} // namespace xloom::inline XLOOM_ABI
