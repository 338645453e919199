#pragma once
// The updates of a scatter ordered by the slices that they go to.

#include <algorithm>
#include <memory>

#include <xloom/kernel/offset_blocks.hpp>

namespace xloom::kernel {

/// The numbers of the updates, slice after slice, those of one slice in their order, at the positions
/// first(slice) .. end(slice) - 1.
///
/// Cost: a number for each slice and each update; the offsets read twice.
class updates_by_slice {
public:
    /// `read` gives numbers of slices, below `slices`, or `dropped_offset`.
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
        // From where a slice's updates begin, its end is moved on by each of them.
        for_each_named(read, 0, read.count(), [&](std::ptrdiff_t slice, std::size_t number) {
            numbers_[ends_[static_cast<std::size_t>(slice)]++] = number;
        });
    }

    std::size_t first(std::size_t slice) const { return slice == 0 ? 0 : ends_[slice - 1]; }
    std::size_t end(std::size_t slice) const { return ends_[slice]; }

    /// The update at a position; behind the last one still the last. Requires one.
    std::size_t number(std::size_t position) const { return numbers_[(std::min)(position, count_ - 1)]; }

private:
    std::unique_ptr<std::size_t[]> ends_; ///< of all slices, then the numbers
    std::size_t* numbers_;
    std::size_t count_ = 0;
};

} // namespace xloom::kernel
