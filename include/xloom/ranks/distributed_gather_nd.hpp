#pragma once
// The GatherND operator on data whose first axis is divided among ranks.

#include <algorithm>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include <xloom/detail/indexed/rank_gather.hpp>
#include <xloom/detail/indexed/requirements.hpp>
#include <xloom/indexing/gather_nd.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// The requirements of gather_nd_into over ranks.
template <class Data, class Indices, class Output>
using rank_gather_types = requirements<readable<Data>, integer_indices<Indices>, written_tensor<Output>,
    output_of_items<Data, Output>, sent_as_bytes<item_t<Data>>>;

inline void check_no_batch(std::string_view op, gather_nd_options const& options)
{
    if (options.batch_dims != 0)
        fail<option_error>(op, ": batch_dims must be 0, but it is ", options.batch_dims,
            ". If the batch axis is divided, no rank needs data of another: call gather_nd_into.");
}

/// Gathers from data that one rank has as a whole.
template <class Data, class Indices, class Output, communicator C, class Policy>
void gather_alone(std::string_view op, Data const& data, Indices const& indices, Output& output,
    gather_nd_options const& options, distributed_axis<C> const& part, Policy const& policy)
{
    check_rank(op, "data", detail::rank_of(data));
    check_rank(op, "indices", detail::rank_of(indices));
    check_no_batch(op, options);
    detail::check_divided_data(op, detail::shape_of(data), detail::shape_of(indices), part);
    detail::gather_into<check_gather_nd>(op, gather_nd_shape_rule, data, indices, output, options, policy);
}

/// The operands of one rank, checked.
template <class Data, class Indices>
class rank_gather_call {
    using T = item_t<Data>;
    using inputs_type = evaluated_argument<std::tuple<Data const&, Indices const&>>;
    using index_type = bare<std::tuple_element_t<1, decltype(inputs_type::values)>>;

    inputs_type inputs_;
    divided_data whole_;
    slice_index<item_t<index_type>> checked_;

public:
    rank_gather<T> run;
    call_digest digest;
    std::vector<std::size_t> counts; ///< the number of index tuples of each rank

    template <class Output, communicator C>
    rank_gather_call(std::string_view op, Data const& data, Indices const& indices, Output const& output,
        gather_nd_options const& options, distributed_axis<C> const& part)
        : inputs_(std::tie(data, indices)),
          whole_(checked_data(op, output, options, part)),
          checked_(
              op, whole_.whole, index_tensor(), {index_form::tuples, 0, whole_.width, {}}, options.bounds),
          run(checked_.reader(), whole_, detail::layout_of(data_tensor()),
              enable_tensor<bare<decltype(data_tensor())>>::data(data_tensor()), part),
          digest(detail::digest_of(part, whole_.whole, 0)),
          counts(part.ranks().size())
    {
        digest.add(whole_.width).add(static_cast<std::uint64_t>(options.bounds)).template add_type<T>();
    }

    std::size_t count() const { return checked_.count(); }

private:
    auto const& data_tensor() const { return std::get<0>(inputs_.values); }
    auto const& index_tensor() const { return std::get<1>(inputs_.values); }

    template <class Output, communicator C>
    divided_data checked_data(std::string_view op, Output const& output, gather_nd_options const& options,
        distributed_axis<C> const& part) const
    {
        check_rank(op, "data", detail::rank_of(data_tensor()));
        check_rank(op, "indices", detail::rank_of(index_tensor()));
        check_rank(op, "output", detail::rank_of(output));
        check_no_batch(op, options);
        memory_block const from = detail::memory_of(data_tensor());
        shape const index_shape = detail::shape_of(index_tensor());
        divided_data const whole = detail::check_divided_data(op, from.layout.dims, index_shape, part);
        shape const gathered = check_gather_nd(op, whole.whole, index_shape, options, sizeof(T)).values;
        check_gathered_output(op, gather_nd_shape_rule, detail::memory_of(output), gathered, from,
            detail::memory_of(index_tensor()));
        return whole;
    }
};

/// The memory of a gather on one rank: its buffers, and a copy of an output that is not row-major.
template <class T>
struct rank_gather_memory {
    row_major_output<T> output;

    rank_gather_memory(rank_gather<T>& run, std::size_t max_count, std::size_t buffer_bytes, T* items,
        strided_layout const& layout)
        : output(items, layout, /*is_read*/ true)
    {
        run.allocate(max_count, buffer_bytes);
    }
};

/// Gathers over ranks, of operands whose types are valid.
template <class Data, class Indices, class Output, communicator C, class Policy>
void distributed_gather(std::string_view op, Data const& data, Indices const& indices, Output& output,
    gather_nd_options const& options, distributed_axis<C> const& part, Policy const& policy)
{
    using T = item_t<Data>;
    C const& ranks = part.ranks();
    rank_attempt attempt;
    if (ranks.size() == 1) {
        attempt([&] {
            auto const [data_tensor, index_tensor] = detail::evaluated_inputs(std::tie(data, indices));
            detail::gather_alone(op, data_tensor, index_tensor, output, options, part, policy);
        });
        return attempt.agree(ranks, op);
    }
    agreed<rank_gather_call<Data, Indices>> call(ranks, op, op, data, indices, output, options, part);
    std::size_t const count = call->count();
    ranks.all_gather(std::as_bytes(std::span(&count, 1)), std::as_writable_bytes(std::span(call->counts)));
    strided_layout const layout = detail::layout_of(output);
    T* const items = enable_tensor<Output>::data(output);
    std::size_t const max_count = *std::max_element(call->counts.begin(), call->counts.end());
    agreed<rank_gather_memory<T>> memory(ranks, op, call->run, max_count, part.buffer_bytes(), items, layout);
    call->run.run(memory->output.data(), ranks, attempt, policy);
    attempt.agree(ranks, op);
    memory->output.write_back();
}

} // namespace detail

/// Runs gather_nd_into on data whose first axis is divided among ranks. Each rank passes its part of data and
/// its own indices, of slices of any rank.
///
///     for i in ndindex(indices.shape[:-1]):
///         output[i] = (data of all ranks, joined)[indices[i]]
///
/// Shapes    as gather_nd_into; indices of any number of tuples on each rank, whose last axis is equal on all
///           and at least 1. The first axis of data has the length of the rank's part, which may be 0; the
///           others are equal on all ranks. An index of the first axis counts from the start of the whole
///           axis, a negative one from its end.
/// Types     as gather_nd_into, with items that are trivially copyable.
/// Options   bounds (check). batch_dims is 0.
/// Axis      a distributed_axis after the options, before or after the policy.
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
template <class Data, class Indices, class Output, class Options = gather_nd_options, class... Env>
void distributed_gather_nd_into(
    Data const& data, Indices const& indices, Output&& output, Options&& options = {}, Env&&... env)
{
    if constexpr (detail::satisfied<detail::options_over_ranks<gather_nd_options, Options, Env...>,
                      detail::rank_gather_types<Data, Indices, Output>>())
        detail::distributed_gather("xloom::distributed_gather_nd_into", data, indices, output,
            detail::options_of<gather_nd_options>(options), detail::rank_axis_of(options, env...),
            detail::policy_of(options, env...));
}

} // namespace xloom::inline XLOOM_ABI
