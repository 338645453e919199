#pragma once
// Counts and accumulators of slices, for scatters that treat a slice's first update differently.

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include <xloom/detail/core/abi.hpp>
#include <xloom/detail/kernel/broadcast_updates.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The rule by which updates of a slice are combined.
struct tracking {
    bool only_first = false;  ///< later updates are ignored
    bool include_self = true; ///< the existing value counts as an update
    bool is_mean = false;     ///< the sum is divided by the number of values combined
};

/// The update counts of contiguous slices of `step` items in `data`, and accumulators of type `Sum`, the
/// computation type. Used as `slices` of kernel::scatter_nd, after which finish() writes the results. Threads
/// may update distinct slices concurrently. Cost: a count for each slice and, if Sum is not T, a Sum for each
/// item of data.
template <class T, class Sum>
class tracked_slices {
public:
    tracked_slices(T* data, std::size_t slices, std::size_t step, tracking const& rule)
        : data_(data), step_(step), rule_(rule), counts_(slices), sums_(keeps_sums ? slices * step : 0)
    {}

    /// Applies all updates; `values` is a T const* or broadcast_updates<T>.
    template <class Updates, class Values, class Reduce>
    void operator()(Updates const& updates, T* data, Values const& values, Reduce& reduce) const
    {
        updates.for_each([&](std::ptrdiff_t offset, std::size_t number) {
            apply(static_cast<std::size_t>(offset), data + offset, kernel::items_of(values, number, step_),
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
            for (std::size_t i = slice * step_; i < (slice + 1) * step_; ++i) {
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
        std::size_t const earlier = counts_[at / step_]++;
        if (earlier != 0 && rule_.only_first)
            return;
        for (std::size_t i = 0; i < step_; ++i) {
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
    std::size_t step_;
    tracking rule_;
    std::vector<std::size_t> mutable counts_;
    std::vector<Sum> mutable sums_;
};

} // namespace xloom::inline XLOOM_ABI::kernel
