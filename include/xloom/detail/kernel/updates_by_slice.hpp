#pragma once
// The updates of a scatter, stably sorted by slice.

#include <algorithm>
#include <memory>

#include <xloom/detail/kernel/offsets.hpp>

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
        for_each_named(read, 0, read.count(),
            [&](std::ptrdiff_t slice, std::size_t) { ++ends_[static_cast<std::size_t>(slice)]; });
        for (std::size_t slice = 0; slice < slices; ++slice) {
            std::size_t const count = ends_[slice];
            ends_[slice] = count_;
            count_ += count;
        }
        // Counting sort: ends_[slice] is the slice's first position, and each of its updates increments it.
        for_each_named(read, 0, read.count(), [&](std::ptrdiff_t slice, std::size_t number) {
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

} // namespace xloom::inline XLOOM_ABI::kernel
