#pragma once
// ScatterND into a copy of data: fused with the copy where that is faster, otherwise the copy, then the
// updates.

#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/indexed/scatter_run.hpp>
#include <xloom/detail/kernel/scatter_rows.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True if the result can be filled slice by slice in uninitialised storage: a built-in reduction, trivial
/// items, row-major, no fixed shape.
template <class Data, class Reduce>
inline constexpr bool can_fuse =
    is_built_in<Reduce> && std::is_trivial_v<item_t<Data>> && is_always_row_major<owned_t<Data>> &&
    !is_fixed_shape<shape_type_t<owned_t<Data>>>;

/// True if a count or a sum must be kept for each slice from one update to the next.
template <class T, class Reduce>
bool is_tracked(scatter_rules const& options, Reduce const& reduce)
{
    bool const has_sums = is_small_float<T> && options.accumulate_in_float && !replaces(reduce);
    return has_sums || needs_tracking(tracking_of(options, replaces(reduce)), replaces(reduce));
}

/// Returns when the indices of a copying call can be checked: by block if no error but theirs can follow, if
/// the reduction has no effect but on the result, and if all updates are read once, by one thread.
template <class Data, class Reduce, class Policy>
index_check index_check_of(scatter_rules const& options, Reduce const& reduce)
{
    using T = item_t<Data>;
    if constexpr (is_built_in<Reduce> && std::is_trivially_copyable_v<T> &&
                  is_always_row_major<owned_t<Data>> && !has_threads<Policy>) {
        bool const is_defined =
            is_runtime<Reduce> ? has_reduction<T>(options.reduction) : options.reduction == reduction::none;
        if (is_defined && options.duplicates == duplicates::last && !options.unique && !options.sorted &&
            !is_tracked<T>(options, reduce))
            return index_check::by_block;
    }
    return index_check::before_use;
}

/// True if fusing the copy and the updates is expected to be faster: data exceeds the cache, slices are long
/// enough to amortise sorting the updates, there is about one update per slice (a quarter to four), and each
/// of `threads` has at least 8 slices.
template <class Call>
bool is_fusing_worthwhile(Call const& call, std::size_t threads)
{
    std::size_t const slice_bytes = call.slice_size() * sizeof(typename Call::item);
    std::size_t const slices = call.slices(), updates = call.tuples().count;
    return slice_bytes >= tuning::fused_slice_bytes && slices * slice_bytes >= tuning::fused_data_bytes &&
           slices / 8 >= threads && updates >= slices / 4 && updates / 4 <= slices;
}

/// Copies slices from `data` to `output` and applies their updates; each thread processes a range of slices.
template <class T, class Call, class Reduce, class Policy>
void run_fused(Call const& call, T const* data, T* output, Reduce& reduce, Policy const& policy)
{
    std::size_t const slices = call.slices(), size = call.slice_size();
    kernel::updates_by_slice const order(call.reader(), slices);
    std::size_t const parts = parts_for(policy, slices * size);
    policy.for_each(parts, [&](std::size_t part) {
        std::size_t const begin = begin_of_part(part, parts, slices),
                          end = begin_of_part(part + 1, parts, slices);
        kernel::scatter_rows(order, begin, end, data, call.updates(), output, size, reduce);
    });
}

/// True if the items of a tensor and those of its copy are all distinct: not if the type is a view or shares
/// its items, nor if strides of 0, which a copy keeps, repeat an item.
template <tensor Data>
bool is_copied(Data const& data, owned_t<Data> const& copy)
{
    if constexpr (is_always_row_major<owned_t<Data>>)
        return true;
    else
        return is_unique(detail::layout_of(copy)) &&
               !overlap(detail::memory_of(copy), detail::memory_of(data));
}

/// Returns a copy of data whose items share no memory with data or with each other.
template <tensor Data>
owned_t<Data> copy_of(std::string_view op, Data const& data)
{
    using result_type = owned_t<Data>;
    check_result_size(op, "the result", detail::shape_of(data), sizeof(item_t<Data>), "Reduce a dimension.");
    result_type copy(data);
    if (detail::is_copied(data, copy))
        return copy;
    if constexpr (requires(shape const& dims) { enable_tensor<result_type>::make(dims); }) {
        result_type made = enable_tensor<result_type>::make(detail::shape_of(data));
        detail::copy_items(data, made);
        return made;
    }
    fail<overlap_error>(op, ": the result must have memory of its own for every item, but copies of data's "
                            "type refer to data's items or "
                            "repeat one. Copy the container that data refers to, or call scatter_nd_into.");
}

/// Returns the result in newly allocated memory; data is not changed.
template <class Call, tensor Data, class Reduce, class Policy>
owned_t<Data> scattered_copy(Call const& call, Data const& data, Reduce& reduce, Policy const& policy)
{
    using T = item_t<Data>;
    if constexpr (can_fuse<Data, Reduce> && !Call::is_broadcast)
        if (!detail::is_tracked<T>(call.options(), reduce) && is_row_major(detail::layout_of(data)) &&
            is_fusing_worthwhile(call, policy.concurrency())) {
            call.require_in_range();
            owned_t<Data> result = enable_tensor<owned_t<Data>>::make(detail::shape_of(data));
            detail::run_fused(call, enable_tensor<Data>::data(data),
                enable_tensor<owned_t<Data>>::data(result), reduce, policy);
            return result;
        }
    owned_t<Data> result = detail::copy_of(call.op(), data);
    if (call.is_checked())
        detail::run_scatter_nd(call, result, reduce, policy);
    else if (call.is_empty() || !detail::run_untracked(call, result, reduce, policy))
        call.require_in_range();
    return result;
}

} // namespace xloom::inline XLOOM_ABI::detail
