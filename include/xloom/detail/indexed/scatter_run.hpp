#pragma once
// The execution of a scatter: which loop, how many threads, and whether the updates of slices are counted.

#include <optional>
#include <type_traits>

#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/indexed/reduction_argument.hpp>
#include <xloom/detail/indexed/slice_index.hpp>
#include <xloom/detail/indexed/updates.hpp>
#include <xloom/detail/kernel/owned_updates.hpp>
#include <xloom/detail/kernel/scatter_nd.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Returns the start of a part, advanced so that no run of equal offsets is split. Requires sorted tuples,
/// and what offset_reader::read_checked requires.
inline std::size_t begin_of_run(kernel::offset_reader const& read, std::size_t begin)
{
    if (begin == 0 || begin == read.count())
        return begin;
    std::ptrdiff_t const before = read[begin - 1];
    std::size_t end = read.count();
    while (begin < end) {
        std::size_t const middle = begin + (end - begin) / 2;
        if (read[middle] == before)
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
                    auto const [begin, end] = range_of_part(part, parts_, count);
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
        auto const [begin, end] = range_of_part(part, parts, slice_size);
        kernel::scatter_nd(read, 0, read.count(), data + begin, kernel::from_item(values, begin), slice_size,
            kernel::contiguous_slices{end - begin, slice_size}, reduce);
    });
}

/// Returns the rule by which the options count updates.
inline kernel::count_rule count_rule_of(scatter_rules const& options, bool replaces)
{
    return {replaces && options.duplicates == duplicates::first, options.include_self && !replaces,
        options.reduction == reduction::mean};
}

/// True if the updates of each slice must be counted, from one to the next.
constexpr bool needs_counts(kernel::count_rule const& rule, bool replaces)
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

/// Slices of data with a count of their updates, which are applied once or several times. They must be
/// contiguous: data of another layout is copied, and copied back by finish().
template <class Sum, class T>
class counted_scatter {
public:
    counted_scatter(strided_items<T> const& data, std::size_t slices, kernel::count_rule const& rule)
        : items_(data.first, data.layout, true),
          slice_size_(slices == 0 ? 0 : element_count(data.layout.dims) / slices),
          slices_(items_.data(), slices, slice_size_, rule)
    {}

    /// Applies updates to the slices at the offsets of `read` in contiguous data.
    template <class Values, class Reduce, class Policy>
    void apply(kernel::offset_reader const& read, update_values<Values> const& updates,
        scatter_rules const& options, Reduce& reduce, Policy const& policy)
    {
        update_runner(read, options, slice_size_, policy)(items_.data(), updates.values, slices_, reduce);
    }

    template <class Policy>
    void finish(Policy const& policy)
    {
        detail::for_each_range(policy, slices_.slices(), slice_size_,
            [&](std::size_t from, std::size_t to) { slices_.finish(from, to, divide_by_count{}); });
        items_.write_back();
    }

private:
    row_major_output<T> items_;
    std::size_t slice_size_;
    kernel::slice_counts<T, Sum> slices_;
};

/// Applies updates, which need not be counted, to slices in memory from `data` on. Returns false if an index
/// is out of range.
template <class T, class Values, class Reduce, class Policy>
bool run_uncounted(slices_in_memory const& slices, update_values<Values> const& updates,
    scatter_rules const& options, T* data, Reduce& reduce, Policy const& policy)
{
    std::size_t const size = slices.slice_size();
    bool const are_contiguous = is_row_major(slices.slice) && updates.are_contiguous;
    std::size_t const pieces = parts_for(policy, slices.read.count() * size);
    if (are_contiguous && can_cut_slices(size, pieces)) {
        detail::apply_pieces(slices.read, data, updates.values, size, reduce, policy, pieces);
        return true;
    }
    update_runner run(slices.read, options, size, policy);
    if (are_contiguous)
        return run(data, updates.values, kernel::contiguous_slices{size, size}, reduce);
    return run(data, updates.values,
        kernel::strided_slices{{slices.slice.dims, updates.of_items, slices.slice.strides}, size}, reduce);
}

/// Applies updates to the slices of `data` at an index. Requires the shape that the index was checked with,
/// and memory that no other operand shares.
///
/// Errors    index_error, with index_check::by_block.
template <class Index, class Values, class T, class Reduce, class Policy>
void run_scatter(slice_index<Index> const& index, update_values<Values> const& updates,
    scatter_rules const& options, strided_items<T> const& data, Reduce& reduce, Policy const& policy)
{
    if (index.is_empty())
        return index.require_checked();
    kernel::count_rule const rule = count_rule_of(options, replaces(reduce));
    with_sum_type<T>(options, reduce, [&]<class Sum>(std::type_identity<Sum>, auto& combine) {
        if (!std::is_same_v<Sum, T> || needs_counts(rule, replaces(reduce))) {
            counted_scatter<Sum, T> counted(data, index.slices(), rule);
            slices_in_memory const slices = index.in(row_major_layout(data.layout.dims));
            counted.apply(slices.read, updates, options, combine, policy);
            counted.finish(policy);
        } else if constexpr (std::is_same_v<Sum, T>) {
            if (!detail::run_uncounted(index.in(data.layout), updates, options, data.first, combine, policy))
                index.require_checked();
        }
    });
}

} // namespace xloom::inline XLOOM_ABI::detail
