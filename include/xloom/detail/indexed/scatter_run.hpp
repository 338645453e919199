#pragma once
// The execution of a ScatterND call: which loop, how many threads, and whether slices are tracked.

#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/indexed/reduction_argument.hpp>
#include <xloom/detail/indexed/scatter_call.hpp>
#include <xloom/detail/kernel/owned_updates.hpp>
#include <xloom/detail/kernel/scatter_nd.hpp>
#include <xloom/detail/kernel/tracked_slices.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Returns the begin of a part, advanced so that no run of equal offsets is split. Requires sorted tuples.
inline std::size_t begin_of_run(kernel::offset_reader const& read, std::size_t begin)
{
    if (begin == 0 || begin == read.count())
        return begin;
    std::ptrdiff_t before, offset;
    read(begin - 1, 1, &before);
    std::size_t end = read.count();
    while (begin < end) {
        std::size_t const middle = begin + (end - begin) / 2;
        read(middle, 1, &offset);
        if (offset == before)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/// True if sorting updates by owner is expected to be faster, where one owner applies the fraction `load` of
/// all updates.
constexpr bool is_sorting_worthwhile(std::size_t parts, std::size_t slice_size, double load)
{
    double const sorting = tuning::sorting_cost / static_cast<double>(parts);
    double const applying = tuning::applying_cost + static_cast<double>(slice_size);
    return sorting + applying * load < tuning::worthwhile_fraction * applying;
}

/// Applies updates to slices, in order within each slice, on the threads of a policy where that is faster.
/// On several threads no index may be out of range. All memory is allocated by the constructor.
template <class Policy>
class update_runner {
public:
    update_runner(kernel::offset_reader const& read, scatter_rules const& options, std::size_t slice_size,
        Policy const& policy)
        : read_(read), options_(options), slice_size_(slice_size), policy_(policy)
    {
        if constexpr (has_threads<Policy>) {
            parts_ = parts_for(policy, read.count() * slice_size);
            if (parts_ == 1 || can_be_cut())
                return;
            if (is_sorting_worthwhile(parts_, slice_size, 1.0 / static_cast<double>(parts_)))
                owner_of_.emplace((std::max)(slice_size, tuning::thread_distance), parts_, read);
            if (owner_of_ && is_sorting_worthwhile(parts_, slice_size, owner_of_->load()))
                rounds_.emplace(read, *owner_of_);
            else
                parts_ = 1;
        }
    }

    /// Returns false if the reader finds an index out of range.
    template <class T, class Values, class Slices, class Reduce>
    bool operator()(T* data, Values const& values, Slices const& slices, Reduce& reduce)
    {
        std::size_t const count = read_.count();
        auto const apply_range = [&](std::size_t begin, std::size_t end) {
            return kernel::scatter_nd(read_, begin, end, data, values, slice_size_, slices, reduce);
        };
        if constexpr (has_threads<Policy>) {
            if (parts_ > 1 && can_be_cut()) {
                policy_.for_each(parts_, [&](std::size_t part) {
                    std::size_t const begin = begin_of_part(part, parts_, count),
                                      end = begin_of_part(part + 1, parts_, count);
                    apply_range(options_.unique ? begin : begin_of_run(read_, begin),
                        options_.unique ? end : begin_of_run(read_, end));
                });
                return true;
            }
            if (parts_ > 1) {
                rounds_->for_each(policy_, read_, *owner_of_, [&](kernel::owned_updates const& updates) {
                    kernel::with_reduction<T>(
                        reduce, [&](auto& function) { slices(updates, data, values, function); });
                });
                return true;
            }
        }
        return apply_range(0, count);
    }

private:
    /// True if the updates can be split between any two, or between any two of different slices. Sorted
    /// updates must not include dropped ones, which could separate two updates of the same slice.
    bool can_be_cut() const { return options_.unique || (options_.sorted && !read_.may_drop()); }

    kernel::offset_reader const& read_;
    scatter_rules const& options_;
    std::size_t slice_size_;
    Policy const& policy_;
    std::size_t parts_ = 1;
    std::optional<kernel::slice_owners> owner_of_{};
    std::optional<kernel::owned_rounds> rounds_{};
};

/// True if contiguous slices are long enough for every thread to update a part of each.
constexpr bool can_cut_slices(std::size_t slice_size, std::size_t parts)
{
    return parts > 1 && slice_size >= parts * tuning::thread_distance;
}

/// Applies every update on each of `parts` threads, each to its own part of the slice.
template <class T, class Values, class Reduce, class Policy>
void apply_pieces(kernel::offset_reader const& read, T* data, Values const& values, std::size_t slice_size,
    Reduce& reduce, Policy const& policy, std::size_t parts)
{
    policy.for_each(parts, [&](std::size_t part) {
        std::size_t const begin = begin_of_part(part, parts, slice_size),
                          end = begin_of_part(part + 1, parts, slice_size);
        kernel::scatter_nd(read, 0, read.count(), data + begin, kernel::from_item(values, begin), slice_size,
            kernel::contiguous_slices{end - begin, slice_size}, reduce);
    });
}

/// Returns the tracking of slices that the options require.
inline kernel::tracking tracking_of(scatter_rules const& options, bool replaces)
{
    return {replaces && options.duplicates == duplicates::first, options.include_self && !replaces,
        options.reduction == reduction::mean};
}

constexpr bool needs_tracking(kernel::tracking const& rule, bool replaces)
{
    return rule.only_first || (!rule.include_self && !replaces) || rule.is_mean;
}

/// Calls f with the type in which the values of an item are combined, and with the reduction: float, if
/// storage floats are accumulated in it, and a wider integer for the mean of integers; else T.
template <class T, class Reduce, class F>
void with_sum_type(scatter_rules const& options, Reduce& reduce, F const& f)
{
    if constexpr (is_small_float<T> && is_built_in<Reduce>)
        if (options.accumulate_in_float && !replaces(reduce))
            return f(std::type_identity<float>(), reduce);
    if constexpr (is_runtime<Reduce> && !std::is_same_v<mean_sum_t<T>, T>)
        if (reduce == reduction::mean)
            return f(std::type_identity<mean_sum_t<T>>(), reduce_add);
    f(std::type_identity<T>(), reduce);
}

/// Tracked slices of data, to which updates are applied once or several times. They must be contiguous: data
/// of another layout is copied, and copied back by finish().
template <class Sum, tensor Data>
class tracked_scatter {
    using T = item_t<Data>;

public:
    template <class Call>
    tracked_scatter(Call const& call, Data& data, kernel::tracking const& rule)
        : data_(data),
          layout_(detail::layout_of(data)),
          copy_(copy_unless_row_major()),
          items_(copy_ ? copy_->data() : enable_tensor<Data>::data(data)),
          slice_size_(call.slice_size()),
          slices_(items_, call.slices(), slice_size_, rule)
    {}

    /// Applies the updates of a call on data of this shape.
    template <class Call, class Reduce, class Policy>
    void apply(Call const& call, Reduce& reduce, Policy const& policy)
    {
        strides const steps = row_major_strides(layout_.dims);
        auto const tuples = call.tuples(steps);
        kernel::offset_reader const read = call.reader(tuples, steps);
        update_runner(read, call.options(), slice_size_, policy)(items_, call.updates(), slices_, reduce);
    }

    template <class Policy>
    void finish(Policy const& policy)
    {
        std::size_t const parts = parts_for(policy, slices_.slices() * slice_size_);
        policy.for_each(parts, [&](std::size_t part) {
            slices_.finish(begin_of_part(part, parts, slices_.slices()),
                begin_of_part(part + 1, parts, slices_.slices()), divide_by_count{});
        });
        if (copy_)
            unpack_items(*copy_, enable_tensor<Data>::data(data_), layout_);
    }

private:
    std::optional<xt::xtensor<T, 1>> copy_unless_row_major() const
    {
        std::optional<xt::xtensor<T, 1>> copy;
        if (!is_row_major(layout_))
            copy.emplace(pack_items<T>(enable_tensor<Data>::data(data_), layout_));
        return copy;
    }

    Data& data_;
    strided_layout layout_;
    std::optional<xt::xtensor<T, 1>> copy_;
    T* items_;
    std::size_t slice_size_;
    kernel::tracked_slices<T, Sum> slices_;
};

/// Applies updates to tracked slices.
template <class Sum, class Call, tensor Data, class Reduce, class Policy>
void run_tracked(
    Call const& call, Data& data, kernel::tracking const& rule, Reduce& reduce, Policy const& policy)
{
    tracked_scatter<Sum, Data> tracked(call, data, rule);
    tracked.apply(call, reduce, policy);
    tracked.finish(policy);
}

/// Applies updates to data of any layout. Calls begin() once all memory is allocated, before anything is
/// written. Returns false if an index is out of range.
template <class Call, tensor Data, class Reduce, class Policy, class Begin>
bool run_untracked(Call const& call, Data& data, Reduce& reduce, Policy const& policy, Begin const& begin)
{
    auto* const items = enable_tensor<Data>::data(data);
    strided_layout const layout = detail::layout_of(data);
    auto const tuples = call.tuples(layout.strides);
    kernel::offset_reader const read = call.reader(tuples, layout.strides);
    std::size_t const size = call.slice_size(), axis = call.first_slice_axis();
    strided_layout const slice{shape(layout.dims.begin() + axis, layout.dims.end()),
        strides(layout.strides.begin() + axis, layout.strides.end())};

    bool const is_contiguous = is_row_major(slice) && call.has_contiguous_updates();
    std::size_t const pieces = parts_for(policy, tuples.count * size);
    if (is_contiguous && can_cut_slices(size, pieces)) {
        begin();
        apply_pieces(read, items, call.updates(), size, reduce, policy, pieces);
        return true;
    }

    update_runner run(read, call.options(), size, policy);
    begin();
    if (is_contiguous)
        return run(items, call.updates(), kernel::contiguous_slices{size, size}, reduce);
    return run(items, call.updates(),
        kernel::strided_slices{{slice.dims, call.update_strides(slice.dims), slice.strides}, size}, reduce);
}
template <class Call, tensor Data, class Reduce, class Policy>
bool run_untracked(Call const& call, Data& data, Reduce& reduce, Policy const& policy)
{
    return detail::run_untracked(call, data, reduce, policy, [] {});
}

/// Updates `data` in place. Requires the shape that the call was checked with, and memory that no other
/// operand shares.
template <class Call, tensor Data, class Reduce, class Policy>
void run_scatter_nd(Call const& call, Data& data, Reduce& reduce, Policy const& policy)
{
    using T = item_t<Data>;
    if (call.is_empty())
        return;
    kernel::tracking const rule = tracking_of(call.options(), replaces(reduce));
    with_sum_type<T>(call.options(), reduce, [&]<class Sum>(std::type_identity<Sum>, auto& combine) {
        if constexpr (!std::is_same_v<Sum, T>)
            run_tracked<Sum>(call, data, rule, combine, policy);
        else if (needs_tracking(rule, replaces(reduce)))
            run_tracked<T>(call, data, rule, combine, policy);
        else
            run_untracked(call, data, combine, policy);
    });
}

} // namespace xloom::inline XLOOM_ABI::detail
