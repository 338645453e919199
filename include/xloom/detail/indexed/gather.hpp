#pragma once
// Gathers of the slices at an index: their loops, and their result, a new container or the caller's output.

#include <algorithm>
#include <atomic>
#include <string_view>
#include <tuple>

#include <xloom/detail/check/indices.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/indexed/slice_index.hpp>
#include <xloom/detail/kernel/gather_nd.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The time at which indices are checked if the result is new: copies of trivial items have no effect but on
/// the result, which is lost if an index is wrong.
template <class Data>
inline constexpr index_check index_check_of_copy =
    std::is_trivially_copyable_v<item_t<Data>> ? index_check::by_block : index_check::before_use;

/// Calls gather(from, to), which returns false if it finds an index out of range, for parts of `count` slices
/// on the threads of a policy. Returns false if one of them does.
template <class Policy, class Gather>
bool run_parts(std::size_t count, std::size_t slice_size, Policy const& policy, Gather const& gather)
{
    std::atomic<bool> are_valid = true;
    detail::for_each_range(policy, count, slice_size, [&](std::size_t from, std::size_t to) {
        if (!gather(from, to))
            are_valid = false;
    });
    return are_valid;
}

/// Calls a copy, such as kernel::copy_contiguous_slices, for the slices of `data` at the offsets of `read`,
/// on the threads of a policy. Returns false if `read` finds an index out of range.
template <class T, class Copy, class Policy>
bool run_copies(
    kernel::offset_reader const& read, T const* data, T* output, Copy const& copy, Policy const& policy)
{
    return detail::run_parts(read.count(), copy.size, policy, [&](std::size_t from, std::size_t to) {
        return kernel::gather_nd(read, from, to, data, output, copy);
    });
}

/// Calls f with the copy of slices of this layout.
template <class F>
decltype(auto) with_slice_copy(strided_layout const& slice, F const& f)
{
    std::size_t const size = element_count(slice.dims);
    if (is_row_major(slice))
        return f(kernel::copy_contiguous_slices{size});
    return f(kernel::copy_strided_slices{{slice.dims, slice.strides, row_major_strides(slice.dims)}, size});
}

/// Copies slices of `data` to their positions in `output`, in row-major order; those of dropped indices are
/// not written. Returns false if an index is out of range.
template <class T, class Policy>
bool run_gather(slices_in_memory const& slices, T const* data, T* output, Policy const& policy)
{
    return detail::with_slice_copy(slices.slice,
        [&](auto const& copy) { return detail::run_copies(slices.read, data, output, copy, policy); });
}

/// Writes the slices of data at an index to `output`, in row-major order; those of dropped indices are not
/// written.
///
/// Errors    index_error, with index_check::by_block.
template <class Index, class T, class Policy>
void gather_slices(
    slice_index<Index> const& index, strided_items<T const> const& data, T* output, Policy const& policy)
{
    if (index.is_empty())
        return index.require_checked();
    strides const& of_data = data.layout.strides;
    auto const tuples = index.tuples(of_data);
    auto const positions = index.positions(of_data);
    bool const are_items = index.slice_size() == 1 && tuples.width() == 1;
    bool const are_valid = are_items ? detail::run_parts(tuples.count, 1, policy,
                                           [&](std::size_t from, std::size_t to) {
                                               return kernel::gather_items(tuples, positions, index.rule(),
                                                   from, to, data.first, output);
                                           })
                                     : detail::run_gather(index.in(data.layout), data.first, output, policy);
    if (!are_valid)
        index.require_checked();
}

/// Gathers into output, through a row-major copy if its layout is not row-major. Dropped slices keep their
/// values. gather(items) writes items in row-major order.
template <class Index, tensor Output, class Gather>
void gather_to(slice_index<Index> const& index, Output& output, Gather const& gather)
{
    auto const [items, layout] = detail::items_in<item_t<Output>>(output);
    row_major_output<item_t<Output>> row_major(items, layout, index.may_drop());
    gather(row_major.data());
    row_major.write_back();
}

/// Returns what is gathered, of the shape `dims`, as a new container of Data's family. gather(items) writes
/// items in row-major order.
///
/// Errors    shape_error: the output does not have the requested rank.  index_error, with
///           index_check::by_block.
template <std::size_t Rank, class Data, class Index, class Gather>
auto gathered(std::string_view op, slice_index<Index> const& index, shape const& dims, Gather const& gather)
{
    using result_type = typename enable_tensor<owned_t<Data>>::template rebind<Rank>;
    if (Rank != dynamic_rank && dims.size() != Rank) {
        index.require_checked();
        fail<shape_error>(op, ": the output must have the requested rank, but its shape is ", dims,
            " and the requested rank is ", Rank, ". Request ", dims.size(), ".");
    }
    result_type result = enable_tensor<result_type>::make(dims);
    if (index.may_drop())
        detail::fill_items(result, item_t<Data>{});
    detail::gather_to(index, result, gather);
    return result;
}

/// Returns the slices or items of data, of valid types, at indices, as a new container of Data's family.
/// CheckShapes(op, shapes of data and of indices, options, bytes of an item) returns the indexed_shape.
template <std::size_t Rank, auto CheckShapes, class Data, class Indices, class Options, class Policy>
auto gather(std::string_view op, Data const& data, Indices const& indices, Options const& options,
    Policy const& policy)
{
    auto const [source, index_tensor] = detail::evaluated_inputs(std::tie(data, indices));
    check_rank(op, "data", detail::rank_of(source));
    check_rank(op, "indices", detail::rank_of(index_tensor));
    auto const from = detail::items_in<item_t<Data> const>(source);
    indexed_shape const indexed =
        CheckShapes(op, from.layout.dims, detail::shape_of(index_tensor), options, sizeof(item_t<Data>));
    slice_index const index(
        op, from.layout.dims, index_tensor, indexed, options.bounds, index_check_of_copy<Data>);
    return detail::gathered<Rank, Data>(
        op, index, indexed.values, [&](auto* items) { detail::gather_slices(index, from, items, policy); });
}

/// Gathers into the caller's output. An error text about its shape begins with `shape_rule`, as
/// check_gathered_output's.
template <auto CheckShapes, class Data, class Indices, class Output, class Options, class Policy>
void gather_into(std::string_view op, std::string_view shape_rule, Data const& data, Indices const& indices,
    Output& output, Options const& options, Policy const& policy)
{
    auto const [source, index_tensor] = detail::evaluated_inputs(std::tie(data, indices));
    check_rank(op, "data", detail::rank_of(source));
    check_rank(op, "indices", detail::rank_of(index_tensor));
    auto const from = detail::items_in<item_t<Data> const>(source);
    indexed_shape const indexed =
        CheckShapes(op, from.layout.dims, detail::shape_of(index_tensor), options, sizeof(item_t<Data>));
    slice_index const index(op, from.layout.dims, index_tensor, indexed, options.bounds);
    check_rank(op, "output", detail::rank_of(output));
    check_gathered_output(op, shape_rule, detail::memory_of(output), indexed.values,
        detail::memory_of(source), detail::memory_of(index_tensor));
    detail::gather_to(index, output, [&](auto* items) { detail::gather_slices(index, from, items, policy); });
}

} // namespace xloom::inline XLOOM_ABI::detail
