#pragma once
// The residuals that a forward pass keeps for its backward pass: a row of numbers for each step of each
// sequence.

#include <cstddef>

#include <xloom/detail/core/abi.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The residuals of the sequences of a part, which are every `stride`-th of the sequences sorted by
/// descending length, from `first` on.
template <class T>
struct residual_rows {
    T* items = nullptr;
    std::size_t const* begins = nullptr; ///< of step t: the number of rows of all earlier steps
    std::size_t row_size = 0;
    std::size_t first = 0, stride = 1;

    /// Returns the index of step t of sequence r among all steps of all sequences.
    std::size_t position(std::size_t t, std::size_t r) const noexcept
    {
        return begins[t] + first + r * stride;
    }
    T* operator()(std::size_t t, std::size_t r) const noexcept { return items + position(t, r) * row_size; }
    /// Returns the number of sequences of the part that are longer than t.
    std::size_t active(std::size_t t) const noexcept
    {
        std::size_t const all = begins[t + 1] - begins[t];
        return all > first ? (all - first + stride - 1) / stride : 0;
    }
};

} // namespace xloom::inline XLOOM_ABI::kernel
