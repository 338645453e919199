#pragma once
// How a ScatterND call is carried out: which loop, on how many threads, with how much memory of what came before.

#include <xloom/adapt/named_reduction.hpp>
#include <xloom/adapt/parts.hpp>
#include <xloom/adapt/scatter_call.hpp>
#include <xloom/core/cast.hpp>
#include <xloom/kernel/owned_updates.hpp>
#include <xloom/kernel/scatter_nd.hpp>
#include <xloom/kernel/tracked_slices.hpp>

namespace xloom::detail {

/// Threads write this many items apart, at least: more than a cache line.
inline constexpr std::size_t thread_distance = 64;

/// A part's begin, moved on until it parts no run of equal offsets.
inline std::size_t begin_of_run(kernel::offset_reader const& read, std::size_t begin)
{
    std::ptrdiff_t two[2];
    for (; begin > 0 && begin < read.count(); ++begin) {
        read(begin - 1, 2, two);
        if (two[0] != two[1])
            break;
    }
    return begin;
}

/// Is it worth it to sort updates by owner? Sorting one takes about as long as 80 items, meeting it as long as its own and 11 more.
constexpr bool is_sorting_worth(std::size_t parts, std::size_t slice_size) { return (11 + slice_size) * (parts - 1) >= 80; }

/// True if meet_all would use one thread only.
template <class Policy>
bool runs_serially(Policy const& policy, scatter_nd_options const& options, std::size_t count, std::size_t slice_size)
{
    std::size_t const parts = parts_for(policy, count * slice_size);
    return parts == 1 || !(options.unique || options.sorted || is_sorting_worth(parts, slice_size));
}

/// Meets every update with its slice, each slice's in their order, on as many threads as are worth it.
template <class T, class Meet, class Reduce, class Policy>
void meet_all(kernel::offset_reader const& read, scatter_nd_options const& options, T* data, T const* updates, std::size_t slice_size,
    Meet const& meet, Reduce& reduce, Policy const& policy)
{
    std::size_t const count = read.count();
    auto const meet_range = [&](std::size_t begin, std::size_t end) {
        kernel::scatter_nd(read, begin, end, data, updates, slice_size, meet, reduce);
    };
    if constexpr (has_threads<Policy>) {
        std::size_t const parts = parts_for(policy, count * slice_size);
        bool const can_cut = options.unique || (options.sorted && !read.may_drop()); // between equal offsets, one left out may stand
        if (parts > 1 && can_cut)
            return policy.for_each(parts, [&](std::size_t part) {
                std::size_t const begin = begin_of_part(part, parts, count), end = begin_of_part(part + 1, parts, count);
                meet_range(options.unique ? begin : begin_of_run(read, begin), options.unique ? end : begin_of_run(read, end));
            });
        if (parts > 1 && is_sorting_worth(parts, slice_size))
            return kernel::for_each_owned(policy, parts, read, {std::max(slice_size, thread_distance), parts},
                [&](kernel::owned_update const& update) { meet(data + update.offset, updates + update.number * slice_size, reduce); });
    }
    meet_range(0, count);
}

/// Slices of items side by side: if they are so long that every thread can take a piece of each, it does.
template <class T, class Reduce, class Policy>
void meet_rows(kernel::offset_reader const& read, scatter_nd_options const& options, T* data, T const* updates, std::size_t slice_size,
    Reduce& reduce, Policy const& policy)
{
    std::size_t const parts = parts_for(policy, read.count() * slice_size);
    if (slice_size == 1)
        return meet_all(read, options, data, updates, slice_size, kernel::few_items<1>{}, reduce, policy);
    if (parts == 1 || slice_size < parts * thread_distance)
        return meet_all(read, options, data, updates, slice_size, kernel::packed_items{slice_size}, reduce, policy);
    policy.for_each(parts, [&](std::size_t part) {
        std::size_t const begin = begin_of_part(part, parts, slice_size), end = begin_of_part(part + 1, parts, slice_size);
        kernel::scatter_nd(read, 0, read.count(), data + begin, updates + begin, slice_size, kernel::packed_items{end - begin}, reduce);
    });
}

/// What the options ask for of a reduction.
inline kernel::tracking tracking_of(scatter_nd_options const& options, bool replaces)
{
    return {replaces && options.duplicates == duplicates::first, options.include_self && !replaces, options.reduction == reduction::mean};
}

constexpr bool needs_tracking(kernel::tracking const& rule, bool replaces)
{
    return rule.only_first || (!rule.include_self && !replaces) || rule.is_mean;
}

/// Tracked slices lie side by side; others are tracked in a copy of data.
template <class Sum, class Call, tensor Data, class Reduce, class Policy>
void run_tracked(Call const& call, Data& data, kernel::tracking const& rule, Reduce& reduce, Policy const& policy)
{
    using T = item_t<Data>;
    strided_layout const layout = layout_of(data);
    T* items = enable_tensor<Data>::data(data);
    std::optional<xt::xtensor<T, 1>> copy;
    if (!is_row_major(layout)) {
        copy.emplace(pack_items<T>(items, layout));
        items = copy->data();
    }

    auto const tuples = call.tuples(row_major_strides(layout.dims));
    kernel::offset_reader const read(tuples, call.options().bounds);
    kernel::tracked_slices<T, Sum> const slices(items, call.slices(), call.slice_size(), rule);
    meet_all(read, call.options(), items, call.updates(), call.slice_size(), slices, reduce, policy);
    std::size_t const parts = parts_for(policy, slices.slices() * call.slice_size());
    policy.for_each(parts, [&](std::size_t part) {
        slices.finish(begin_of_part(part, parts, slices.slices()), begin_of_part(part + 1, parts, slices.slices()), divide_by_count{});
    });

    if (copy)
        unpack_items(*copy, enable_tensor<Data>::data(data), layout);
}

template <class Call, tensor Data, class Reduce, class Policy>
void run_untracked(Call const& call, Data& data, Reduce& reduce, Policy const& policy)
{
    auto* const items = enable_tensor<Data>::data(data);
    strided_layout const layout = layout_of(data);
    auto const tuples = call.tuples(layout.steps);
    kernel::offset_reader const read(tuples, call.options().bounds);
    std::size_t const size = call.slice_size();
    strided_layout const slice{
        shape(layout.dims.begin() + tuples.width(), layout.dims.end()), strides(layout.steps.begin() + tuples.width(), layout.steps.end())};

    bool const is_packed = is_row_major(slice);
    if (is_packed && are_indices_inside(call.options().bounds) && size <= kernel::most_few_items &&
        runs_serially(policy, call.options(), tuples.count, size))
        kernel::scatter_few(tuples, size, items, call.updates(), reduce);
    else if (is_packed)
        meet_rows(read, call.options(), items, call.updates(), size, reduce, policy);
    else
        meet_all(read, call.options(), items, call.updates(), size,
            kernel::strided_items{{slice.dims, row_major_strides(slice.dims), slice.steps}}, reduce, policy);
}

/// `data` has the shape that the call was checked with, and memory of its own.
template <class Call, tensor Data, class Reduce, class Policy>
void run_scatter_nd(Call const& call, Data& data, Reduce& reduce, Policy const& policy)
{
    using T = item_t<Data>;
    constexpr bool replaces = std::is_same_v<std::remove_const_t<Reduce>, reduce_none_t>;
    if (call.is_empty())
        return;
    kernel::tracking const rule = tracking_of(call.options(), replaces);
    if constexpr (is_small_float<T> && !replaces && std::is_invocable_v<Reduce&, float, float const&>)
        if (call.options().accumulate_in_float)
            return run_tracked<float>(call, data, rule, reduce, policy);
    if (needs_tracking(rule, replaces))
        run_tracked<T>(call, data, rule, reduce, policy);
    else
        run_untracked(call, data, reduce, policy);
}

/// Calls f(reduce) with a reduction of the caller's, or with the one that the options name.
template <class T, class Call, class Reduce, class F>
void with_reduction_of(Call const& call, Reduce& reduce, F const& f)
{
    if constexpr (is_named<Reduce>)
        with_reduction<T>(call.op(), call.options().reduction, f);
    else
        f(reduce);
}

/// `data` is updated in place.
template <class Call, tensor Data, class Reduce, class Policy>
void run_with_reduction(Call const& call, Data& data, Reduce& reduce, Policy const& policy)
{
    with_reduction_of<item_t<Data>>(call, reduce, [&](auto& known) { run_scatter_nd(call, data, known, policy); });
}

} // namespace xloom::detail
