#pragma once
// A scatter in place, into a copy of data, or into data that is moved in.

#include <string_view>
#include <utility>

#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/indexed/requirements.hpp>
#include <xloom/detail/indexed/scatter_run.hpp>
#include <xloom/detail/kernel/scatter_rows.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True if data is updated in place and then moved into the result: an owner of its items. A trivially
/// copyable type is copied, as it may be a view.
template <class Data>
inline constexpr bool is_moved_in =
    std::is_same_v<owned_t<Data>, Data> && !tensor_view<Data> && !std::is_trivially_copyable_v<Data>;

/// True if the result can be filled slice by slice in uninitialised storage: a built-in reduction, trivial
/// items, row-major, no fixed shape.
template <class Data, class Reduce>
inline constexpr bool can_fuse =
    is_built_in<Reduce> && std::is_trivial_v<item_t<Data>> && is_always_row_major<owned_t<Data>> &&
    !is_fixed_shape<shape_type_t<owned_t<Data>>>;

/// True if a count or a sum must be kept for each slice from one update to the next.
template <class T, class Reduce>
bool needs_counts_or_sums(scatter_rules const& options, Reduce const& reduce)
{
    bool const has_sums = is_small_float<T> && options.accumulate_in_float && !replaces(reduce);
    return has_sums || needs_counts(count_rule_of(options, replaces(reduce)), replaces(reduce));
}

/// Returns when the indices of a copying call can be checked: by block if no error but theirs can follow, if
/// the reduction has no effect but on the result, and if all updates are read once, by one thread.
template <class Data, class Reduce, class Policy>
index_check index_check_of(scatter_rules const& options, Reduce const& reduce)
{
    using T = item_t<Data>;
    if constexpr (is_built_in<Reduce> && std::is_trivially_copyable_v<T> &&
                  is_always_row_major<owned_t<Data>> && !has_threads<Policy>) {
        bool const is_defined = is_runtime<Reduce> ? kernel::has_reduction<T>(options.reduction)
                                                   : options.reduction == reduction::none;
        if (is_defined && options.duplicates == duplicates::last && !options.unique && !options.sorted &&
            !needs_counts_or_sums<T>(options, reduce))
            return index_check::by_block;
    }
    return index_check::before_use;
}

/// True if fusing the copy and the updates is expected to be faster: data exceeds the cache, slices are long
/// enough to amortise sorting the updates, there is about one update per slice (a quarter to four), and each
/// of `threads` has at least 8 slices.
template <class Index>
bool is_fusing_worthwhile(slice_index<Index> const& index, std::size_t item_bytes, std::size_t threads)
{
    std::size_t const slice_bytes = index.slice_size() * item_bytes;
    std::size_t const slices = index.slices(), updates = index.count();
    return slice_bytes >= tuning::fused_slice_bytes && slices * slice_bytes >= tuning::fused_data_bytes &&
           slices / 8 >= threads && updates >= slices / 4 && updates / 4 <= slices;
}

/// Copies slices from `data` to `output` and applies their updates; each thread processes a range of slices.
template <class Index, class T, class Reduce, class Policy>
void run_fused(slice_index<Index> const& index, T const* updates, T const* data, T* output, Reduce& reduce,
    Policy const& policy)
{
    std::size_t const slices = index.slices(), size = index.slice_size();
    kernel::updates_by_slice const order(index.reader(), slices);
    detail::for_each_range(policy, slices, size, [&](std::size_t begin, std::size_t end) {
        kernel::scatter_rows(order, begin, end, data, updates, output, size, reduce);
    });
}

/// True if the items of a tensor and those of its copy are all distinct: not if the type is a view or shares
/// its items, nor if strides of 0, which a copy keeps, repeat an item.
template <tensor Data>
bool is_copied(Data const& data, owned_t<Data> const& copy)
{
    return (is_always_row_major<owned_t<Data>> || is_unique(detail::layout_of(copy))) &&
           !overlap(detail::memory_of(copy), detail::memory_of(data));
}

/// Returns a copy of data whose items share no memory with data or with each other.
template <tensor Data>
owned_t<Data> copy_of(indexed_names const& op, Data const& data)
{
    using result_type = owned_t<Data>;
    check_result_size(op, "the result", detail::shape_of(data), sizeof(item_t<Data>), "Reduce a dimension.");
    result_type copy = detail::to_owned(data);
    if (detail::is_copied(data, copy))
        return copy;
    if constexpr (requires(shape const& dims) { enable_tensor<result_type>::make(dims); })
        return detail::copy_as<result_type>(data);
    fail<overlap_error>(op.op, ": the result must have memory of its own for every item, but copies of ",
        op.data, "'s type refer to ", op.data, "'s items or repeat one. Copy the container that ", op.data,
        " refers to, or call ", op.op, "_into.");
}

/// Returns the result in newly allocated memory; data, of this layout, is not changed.
template <class Index, class Values, tensor Data, class Reduce, class Policy>
owned_t<Data> scattered_copy(indexed_names const& op, slice_index<Index> const& index,
    update_values<Values> const& updates, scatter_rules const& options, Data const& data,
    strided_layout const& layout, Reduce& reduce, Policy const& policy)
{
    using T = item_t<Data>;
    if constexpr (can_fuse<Data, Reduce> && std::is_pointer_v<Values>)
        if (!detail::needs_counts_or_sums<T>(options, reduce) && is_row_major(layout) &&
            is_fusing_worthwhile(index, sizeof(T), policy.concurrency())) {
            index.require_checked();
            owned_t<Data> result = enable_tensor<owned_t<Data>>::make(layout.dims);
            detail::run_fused(index, updates.values, enable_tensor<Data>::data(data),
                enable_tensor<owned_t<Data>>::data(result), reduce, policy);
            return result;
        }
    owned_t<Data> result = detail::copy_of(op, data);
    detail::run_scatter(index, updates, options, detail::items_in<T>(result), reduce, policy);
    return result;
}

/// Runs a scatter in place, in a copy of data, or in data that is moved in; the latter is moved into the
/// result last, so that no error loses it. check_shapes(op, shapes of data, indices and updates, options,
/// true if updates are broadcast) returns the indexed_shape.
template <bool InPlace, class CheckShapes, class Data, class Indices, class Updates, class Reduce,
    class Policy>
auto scatter(indexed_names const& op, CheckShapes const& check_shapes, Reduce& reduce, Data&& data,
    Indices const& indices, Updates const& updates, scatter_rules const& options, Policy const& policy)
{
    if constexpr (lazy<bare<Data>>) {
        return detail::scatter<false>(
            op, check_shapes, reduce, detail::to_owned(data), indices, updates, options, policy);
    } else {
        using T = item_t<Data>;
        auto const& operand = detail::operand_of<T>(op, updates);
        auto const inputs = detail::evaluated_inputs(std::tie(indices, operand));
        auto const& index_tensor = std::get<0>(inputs);
        auto const& update_tensor = std::get<1>(inputs); // clang 14 captures no structured binding
        check_rank(op, op.data, detail::rank_of(data));
        check_rank(op, "indices", detail::rank_of(index_tensor));
        check_rank(op, op.updates, detail::rank_of(update_tensor));
        constexpr bool is_copying = !InPlace && !is_moved_in<Data>;
        index_check when = index_check::before_use;
        if constexpr (is_copying)
            when = detail::index_check_of<bare<Data>, Reduce, Policy>(options, reduce);
        memory_block const memory = detail::memory_of(data);
        strided_layout const& layout = memory.layout;
        indexed_shape const indexed = check_shapes(op, layout.dims, detail::shape_of(index_tensor),
            detail::shape_of(update_tensor), options, is_broadcast<Updates>);
        slice_index const index(op, layout.dims, index_tensor, indexed, options.bounds, when);
        index.require_distinct(options);
        check_reduction<T, Reduce>(op, options);
        if constexpr (!is_copying)
            check_scatter_overlap(
                op, memory, detail::memory_of(index_tensor), detail::memory_of(update_tensor));
        return detail::with_updates<is_broadcast<Updates>>(
            update_tensor, indexed.values, index.front().size(), [&](auto const& values) {
                if constexpr (is_copying) {
                    return detail::scattered_copy(op, index, values, options, data, layout, reduce, policy);
                } else {
                    strided_items<T> const items{enable_tensor<bare<Data>>::data(data), layout};
                    detail::run_scatter(index, values, options, items, reduce, policy);
                    if constexpr (!InPlace)
                        return owned_t<Data>(std::move(data));
                }
            });
    }
}

/// Checks the types of a call of an operator with these options, and runs it.
template <bool InPlace, class Options, class CheckShapes, class Reduce, class Data, class Indices,
    class Updates, class Given, class... Env>
auto call_scatter(std::string_view op, CheckShapes const& check_shapes, Reduce& reduce, Data&& data,
    Indices const& indices, Updates const& updates, Given const& options, Env const&... env)
{
    if constexpr (satisfied<options_and_policy<Options, Given, Env...>,
                      scatter_types<InPlace, integer_indices<Indices>, Reduce, Data, Updates>>())
        return detail::scatter<InPlace>(op, check_shapes, reduce, std::forward<Data>(data), indices, updates,
            detail::rules_with(reduce, options_of<Options>(options)), detail::policy_of(options, env...));
    else
        return detail::to_owned(data); // a value, so that one mistake gives one error
}

} // namespace xloom::inline XLOOM_ABI::detail
