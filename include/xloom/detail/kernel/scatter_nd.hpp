#pragma once
// ScatterND over raw memory: updates of the slices at index tuples, those of one slice in order, and counts
// of the updates of each slice where its first one is special.

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include <xloom/detail/kernel/broadcast_updates.hpp>
#include <xloom/detail/kernel/offsets.hpp>
#include <xloom/detail/kernel/strided_copy.hpp>
#include <xloom/detail/kernel/with_count.hpp>
#include <xloom/detail/kernel/with_reduction.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// A function object that applies updates to `size` contiguous elements of each slice; updates have a stride
/// of `stride` elements, or are broadcast.
struct contiguous_slices {
    std::size_t size;
    std::size_t stride;

    /// Applies all updates. `updates.for_each(f)` calls f(offset of the slice in data, position of the
    /// update).
    template <class Updates, class T, class Reduce>
    void operator()(Updates const& updates, T* data, T const* values, Reduce& reduce) const
    {
        auto const apply = [&](auto count, auto distance) {
            updates.for_each([&, count, distance](std::ptrdiff_t offset, std::size_t number) {
                T* __restrict const slice = data + offset;
                T const* __restrict const update = values + number * distance;
                for (std::size_t i = 0; i < count; ++i)
                    slice[i] = static_cast<T>(reduce(std::move(slice[i]), update[i]));
            });
        };
        if (size != stride || !kernel::with_few<1, 4>(size, [&](auto count) { apply(count, count); }))
            apply(size, stride);
    }

    /// Applies updates that are broadcast. Requires one item or contiguous items in each.
    template <class Updates, class T, class Reduce>
    void operator()(Updates const& updates, T* data, broadcast_updates<T> const& values, Reduce& reduce) const
    {
        if (size == 1 && values.has_one_update()) {
            one_value<T> update = *values.first(0);
            updates.for_each([&](std::ptrdiff_t offset, std::size_t) {
                data[offset] = static_cast<T>(reduce(std::move(data[offset]), update));
            });
        } else if (values.has_one_item()) {
            updates.for_each([&, count = size](std::ptrdiff_t offset, std::size_t number) {
                T* __restrict const slice = data + offset;
                one_value<T> update = *values.first(number);
                for (std::size_t i = 0; i < count; ++i)
                    slice[i] = static_cast<T>(reduce(std::move(slice[i]), update));
            });
        } else {
            updates.for_each([&, count = size](std::ptrdiff_t offset, std::size_t number) {
                T* __restrict const slice = data + offset;
                T const* __restrict const update = values.first(number);
                for (std::size_t i = 0; i < count; ++i)
                    slice[i] = static_cast<T>(reduce(std::move(slice[i]), update[i]));
            });
        }
    }

private:
    /// An item that a loop reads again and again: kept in a register if that costs no copy of its memory.
    template <class T>
    using one_value = std::conditional_t<std::is_trivially_copyable_v<T>, T const, T const&>;
};

/// A function object that applies updates to slices of `size` elements with any strides.
struct strided_slices {
    strided_copy pairs; ///< from an update to a slice
    std::size_t size;

    template <class Updates, class T, class Reduce>
    void operator()(Updates const& updates, T* data, T const* values, Reduce& reduce) const
    {
        updates.for_each([&](std::ptrdiff_t offset, std::size_t number) {
            apply(values + number * size, data + offset, reduce);
        });
    }

    template <class Updates, class T, class Reduce>
    void operator()(Updates const& updates, T* data, broadcast_updates<T> const& values, Reduce& reduce) const
    {
        updates.for_each([&](std::ptrdiff_t offset, std::size_t number) {
            apply(values.first(number), data + offset, reduce);
        });
    }

private:
    template <class T, class Reduce>
    void apply(T const* update, T* slice, Reduce& reduce) const
    {
        pairs.for_each_pair(
            update, slice, [&](T const& from, T& to) { to = static_cast<T>(reduce(std::move(to), from)); });
    }
};

/// The rule by which updates of a slice are combined, if it depends on their count.
struct count_rule {
    bool only_first = false;  ///< later updates are ignored
    bool include_self = true; ///< the existing value counts as an update
    bool is_mean = false;     ///< the sum is divided by the number of values combined
};

/// The update counts of contiguous slices of `size` items in `data`, and accumulators of type `Sum`, the
/// computation type. Used as `slices` of kernel::scatter_nd, after which finish() writes the results. Threads
/// may update distinct slices concurrently. Cost: a count for each slice and, if Sum is not T, a Sum for each
/// item of data.
template <class T, class Sum>
class slice_counts {
public:
    slice_counts(T* data, std::size_t slices, std::size_t size, count_rule const& rule)
        : data_(data), size_(size), rule_(rule), counts_(slices), sums_(keeps_sums ? slices * size : 0)
    {}

    /// Applies all updates; `values` is a T const* or broadcast_updates<T>.
    template <class Updates, class Values, class Reduce>
    void operator()(Updates const& updates, T* data, Values const& values, Reduce& reduce) const
    {
        updates.for_each([&](std::ptrdiff_t offset, std::size_t number) {
            apply(static_cast<std::size_t>(offset), data + offset, kernel::items_of(values, number, size_),
                reduce);
        });
    }

    std::size_t slices() const { return counts_.size(); }

    /// Writes the results of slices `from` .. `to` - 1. `divide(sum, count)` returns the mean, for types that
    /// have one.
    template <class Divide>
    void finish(std::size_t from, std::size_t to, Divide const& divide) const
    {
        for (std::size_t slice = from; slice < to; ++slice) {
            if (counts_[slice] == 0)
                continue;
            std::size_t const count = counts_[slice] + (rule_.include_self ? 1 : 0);
            for (std::size_t i = slice * size_; i < (slice + 1) * size_; ++i) {
                if constexpr (std::is_invocable_v<Divide const&, Sum const&, std::size_t>)
                    if (rule_.is_mean)
                        sum_of(i) = divide(sum_of(i), count);
                if constexpr (keeps_sums)
                    data_[i] = static_cast<T>(sum_of(i));
            }
        }
    }

private:
    static constexpr bool keeps_sums = !std::is_same_v<T, Sum>;

    template <class Update, class Reduce>
    void apply(std::size_t at, T* old, Update const& update, Reduce& reduce) const
    {
        std::size_t const earlier = counts_[at / size_]++;
        if (earlier != 0 && rule_.only_first)
            return;
        for (std::size_t i = 0; i < size_; ++i) {
            Sum& sum = sum_of(at + i);
            if (earlier != 0)
                sum = static_cast<Sum>(reduce(std::move(sum), static_cast<Sum>(update[i])));
            else if (rule_.include_self)
                sum = static_cast<Sum>(reduce(static_cast<Sum>(old[i]), static_cast<Sum>(update[i])));
            else
                sum = static_cast<Sum>(update[i]);
        }
    }

    Sum& sum_of(std::size_t i) const
    {
        if constexpr (keeps_sums)
            return sums_[i];
        else
            return data_[i];
    }

    T* data_;
    std::size_t size_;
    count_rule rule_;
    std::vector<std::size_t> mutable counts_;
    std::vector<Sum> mutable sums_;
};

/// Applies updates `from` .. `to` - 1, of `size` elements each, to the slices of `data` at the offsets of
/// `read`. `values` is a T const*, null if `slices` reads no updates, or broadcast_updates<T>. Returns false
/// if an index is out of range, before its block of updates is applied. Allocates nothing.
template <class T, class Values, class Slices, class Reduce>
bool scatter_nd(offset_reader const& read, std::size_t from, std::size_t to, T* data, Values const& values,
    std::size_t size, Slices const& slices, Reduce& reduce)
{
    return kernel::for_each_block(read, from, to, data, size, [&](auto const& block) {
        if constexpr (std::is_pointer_v<Values>)
            if (values != nullptr && block.is_large && size <= tuning::max_small_slice) {
                std::size_t const next = block.first + block.size;
                std::size_t const count = (std::min)(tuning::offsets_per_block, to - next);
                kernel::prefetch_next_block(values + next * size, count * size * sizeof(T));
            }
        kernel::with_reduction<T>(reduce, [&]<class Function>(Function& function) {
            auto updates = block;
            updates.is_only_written = std::is_same_v<std::remove_const_t<Function>, reduce_none_t>;
            slices(updates, data, values, function);
        });
    });
}

} // namespace xloom::inline XLOOM_ABI::kernel
