#pragma once
// The sets of slices that the updates of a scatter name, made by several threads.

#include <algorithm>
#include <utility>
#include <vector>

#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/kernel/effective_updates.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The slices that some updates name, part by part.
///
/// Cost: a bit per slice and part.
class named_slice_sets {
public:
    /// Makes empty sets for at most `parts` parts.
    named_slice_sets(std::size_t slices, std::size_t parts)
        : parts_((std::min)(parts, tuning::max_slice_sets)),
          sets_(parts_ == 1 ? 1 : parts_ + 1, kernel::slice_set(slices))
    {}

    std::size_t parts() const { return parts_; }
    kernel::slice_set& of(std::size_t part) { return sets_[part]; }

    /// Returns the set of all slices, which for one part is that of the part.
    kernel::slice_set const& all() const { return sets_.back(); }

    /// Inserts the slices of all updates into all(), and into the set of each part those of the parts before
    /// it; if there is one part, those of all.
    template <class Policy>
    void insert(kernel::offset_reader const& read, Policy const& policy)
    {
        policy.for_each(parts_, [&](std::size_t part) {
            kernel::insert_slices(read, begin_of_part(part, parts_, read.count()),
                begin_of_part(part + 1, parts_, read.count()), sets_[part]);
        });
        if (parts_ == 1)
            return;
        std::size_t const words = all().words(), ranges = parts_for(policy, words * parts_);
        policy.for_each(ranges, [&](std::size_t range) {
            for (std::size_t word = begin_of_part(range, ranges, words);
                 word < begin_of_part(range + 1, ranges, words); ++word) {
                kernel::slice_set::word sum = 0;
                for (kernel::slice_set& set : sets_)
                    sum |= std::exchange(set.at(word), sum);
            }
        });
    }

private:
    std::size_t parts_;
    std::vector<kernel::slice_set> sets_;
};

} // namespace xloom::inline XLOOM_ABI::detail
