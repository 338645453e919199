#pragma once
// A fused copy and ScatterND, which applies each slice's updates while the slice is in cache.

#include <algorithm>
#include <memory>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/kernel/offsets.hpp>
#include <xloom/detail/kernel/with_reduction.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The indices of updates, stably sorted by slice: those of a slice are at positions [first(slice),
/// end(slice)).
///
/// Cost: a number for each slice and each update; offsets are read twice.
class updates_by_slice {
public:
    /// Requires that `read` gives indices of slices, below `slices`, or `dropped_offset`.
    updates_by_slice(offset_reader const& read, std::size_t slices)
        : ends_(std::make_unique_for_overwrite<std::size_t[]>(slices + read.count())),
          numbers_(ends_.get() + slices)
    {
        std::fill_n(ends_.get(), slices, std::size_t{0});
        for_each_indexed(read, 0, read.count(),
            [&](std::ptrdiff_t slice, std::size_t) { ++ends_[static_cast<std::size_t>(slice)]; });
        for (std::size_t slice = 0; slice < slices; ++slice) {
            std::size_t const count = ends_[slice];
            ends_[slice] = count_;
            count_ += count;
        }
        // Counting sort: ends_[slice] is the slice's first position, and each of its updates increments it.
        for_each_indexed(read, 0, read.count(), [&](std::ptrdiff_t slice, std::size_t number) {
            numbers_[ends_[static_cast<std::size_t>(slice)]++] = number;
        });
    }

    std::size_t first(std::size_t slice) const { return slice == 0 ? 0 : ends_[slice - 1]; }
    std::size_t end(std::size_t slice) const { return ends_[slice]; }

    /// Returns the update at a position, the last one for positions past the end. Requires at least one
    /// update.
    std::size_t number(std::size_t position) const { return numbers_[(std::min)(position, count_ - 1)]; }

private:
    std::unique_ptr<std::size_t[]> ends_; ///< the ends of all slices, then the indices of updates
    std::size_t* numbers_;
    std::size_t count_ = 0;
};

namespace detail {

/// Computes to = reduce(old, update), where `to` may be `old`, and prefetches a cache line of `next_update`
/// for each one computed.
///
/// Why one at a time: slices are contiguous but updates are not, and prefetches issued all at once delay each
/// other.
template <class T, class Reduce>
void apply_to_row(
    T const* old, T const* update, T const* next_update, T* to, std::size_t count, Reduce& reduce)
{
    constexpr std::size_t line = elements_per_cache_line<T>;
    std::size_t i = 0;
    for (; i + line <= count; i += line) {
        prefetch_to_read<2>(next_update + i);
        T items[line];
        for (std::size_t j = 0; j < line; ++j)
            items[j] = static_cast<T>(reduce(T(old[i + j]), update[i + j]));
        for (std::size_t j = 0; j < line; ++j)
            to[i + j] = items[j];
    }
    for (; i < count; ++i)
        to[i] = static_cast<T>(reduce(T(old[i]), update[i]));
}

} // namespace detail

/// Writes slices `from` .. `to` - 1 of `output`: those of data, of `size` contiguous items, with their
/// updates applied. Allocates nothing.
template <class T, class Reduce>
void scatter_rows(updates_by_slice const& order, std::size_t from, std::size_t to, T const* data,
    T const* updates, T* output, std::size_t size, Reduce& reduce)
{
    constexpr auto keep = [](T item, T const&) { return item; };
    for (std::size_t slice = from; slice < to; ++slice) {
        T const* old = data + slice * size;
        T* const row = output + slice * size;
        if (order.first(slice) == order.end(slice))
            detail::apply_to_row(old, old, old, row, size, keep);
        for (std::size_t i = order.first(slice); i < order.end(slice); ++i, old = row)
            kernel::with_reduction<T>(reduce, [&](auto& function) {
                detail::apply_to_row(old, updates + order.number(i) * size,
                    updates + order.number(i + tuning::update_prefetch_distance) * size, row, size, function);
            });
    }
}

} // namespace xloom::inline XLOOM_ABI::kernel
