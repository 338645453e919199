#pragma once
// The rows of a product, in blocks whose sums fit in registers.

#include <cstddef>
#include <type_traits>

#include <xloom/core/partition.hpp>
#include <xloom/kernel/panels.hpp>

namespace xloom::kernel {

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

namespace detail {

template <std::size_t Count, class T>
void interleave_block(rows_of<T const> from, std::size_t depth, T* to) noexcept
{
    for (std::size_t k = 0; k < depth; ++k)
        for (std::size_t r = 0; r < Count; ++r)
            to[k * Count + r] = from.first[r * from.step + k];
}

} // namespace detail

/// Interleaves rows [rows, depth] into `to` [rows, depth]. A single row is not copied.
template <class T>
interleaved_rows<T> interleave(
    std::size_t rows, rows_of<std::type_identity_t<T> const> a, std::size_t depth, T* to) noexcept
{
    if (rows == 1)
        return {a.first};
    blocks const parts{rows, block_rows<T>};
    for (std::size_t part = 0; part < parts.count(); ++part) {
        std::size_t const begin = parts.begin(part), end = parts.begin(part + 1);
        with_count<2, block_rows<T>>(end - begin, [&](auto count) {
            detail::interleave_block<count, T>(a.from(begin), depth, to + begin * depth);
        });
    }
    return {to};
}

} // namespace xloom::kernel
