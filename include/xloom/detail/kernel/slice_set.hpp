#pragma once
// A set of slices with one bit for each.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <xloom/detail/core/abi.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// A set of slices by their positions. One thread at a time may change it.
class slice_set {
public:
    using word = std::uint64_t;
    static constexpr std::size_t slices_per_word = 64;

    explicit slice_set(std::size_t slices) : words_((slices + slices_per_word - 1) / slices_per_word) {}

    bool contains(std::size_t slice) const
    {
        return (words_[slice / slices_per_word] >> slice % slices_per_word & 1) != 0;
    }

    /// Inserts a slice; returns true if it was not in the set.
    bool insert(std::size_t slice)
    {
        word& bits = words_[slice / slices_per_word];
        word const before = bits;
        bits |= word{1} << slice % slices_per_word;
        return bits != before;
    }

    /// Returns the number of words. Threads may access different words concurrently.
    std::size_t words() const { return words_.size(); }
    word& at(std::size_t i) { return words_[i]; }
    word at(std::size_t i) const { return words_[i]; }

private:
    std::vector<word> words_;
};

} // namespace xloom::inline XLOOM_ABI::kernel
