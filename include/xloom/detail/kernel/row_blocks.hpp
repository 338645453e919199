#pragma once
// The rows of a product, in blocks whose sums fit in registers.

#include <cstddef>
#include <type_traits>

#include <xloom/detail/core/partition.hpp>
#include <xloom/detail/kernel/panels.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The maximum number of rows in a block, whose sums for one panel fit in registers.
template <class T>
inline constexpr std::size_t block_rows = panel_batches<T> == 3 ? 4 : 6;

/// A partition of `length` items into as few blocks of at most `most` as possible, of nearly equal sizes. If
/// most >= 3 and there are two rows or more, no block has size 1.
struct blocks {
    std::size_t length, most;

    constexpr std::size_t count() const noexcept { return (length + most - 1) / most; }
    constexpr std::size_t begin(std::size_t block) const noexcept
    {
        return xloom::detail::begin_of_part(block, count(), length);
    }
};

/// Rows of numbers at a stride: row r begins at first[r * step]. With a step of 0, all rows are the same.
template <class T>
struct rows_of {
    T* first;
    std::size_t step;

    constexpr rows_of from(std::size_t row) const noexcept { return {first + row * step, step}; }
};

/// Rows of numbers in contiguous blocks, each of which holds number k of all its rows contiguously.
///
/// Why: a product reads them sequentially.
template <class T>
struct interleaved_rows {
    T const* first;
};

/// Calls f with `count` as a compile-time constant. Requires Least <= count <= Most.
template <std::size_t Least, std::size_t Most, class F>
void with_count(std::size_t count, F const& f)
{
    if constexpr (Least < Most)
        if (count < Most)
            return with_count<Least, Most - 1>(count, f);
    f(std::integral_constant<std::size_t, Most>());
}

} // namespace xloom::inline XLOOM_ABI::kernel
