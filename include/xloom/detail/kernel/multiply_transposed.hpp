#pragma once
// Products of two matrices that both change from call to call: start + transpose(a) b, the gradient of
// weights.

#include <algorithm>
#include <cstddef>

#include <xloom/detail/kernel/multiply.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The maximum number of columns of a that are packed together.
///
/// Why so few: with 512 rows, 192 KB of floats, which stay in L2 beside a panel of b.
template <class T>
inline constexpr std::size_t columns_per_pack = 16 * block_rows<T>;

/// Returns the number of items of the largest pack of `columns` columns.
template <class T>
constexpr std::size_t pack_items(std::size_t depth, std::size_t columns) noexcept
{
    return depth * (std::min)(columns, columns_per_pack<T>);
}

namespace detail {

template <std::size_t Count, class T>
void transpose_block(rows_of<T const> a, std::size_t depth, T* to) noexcept
{
    for (std::size_t k = 0; k < depth; ++k)
        for (std::size_t r = 0; r < Count; ++r)
            to[k * Count + r] = a.first[k * a.step + r];
}

} // namespace detail

/// Interleaves the first `columns` columns of a [depth, ..], which are the rows of its transpose, into `to`
/// [columns, depth].
template <class T>
interleaved_rows<T> interleave_transposed(
    std::size_t columns, rows_of<std::type_identity_t<T> const> a, std::size_t depth, T* to) noexcept
{
    blocks const parts{columns, block_rows<T>};
    for (std::size_t part = 0; part < parts.count(); ++part) {
        std::size_t const begin = parts.begin(part), end = parts.begin(part + 1);
        with_count<1, block_rows<T>>(end - begin, [&](auto count) {
            detail::transpose_block<count, T>({a.first + begin, a.step}, depth, to + begin * depth);
        });
    }
    return {to};
}

/// Calls f(first column, number of columns, interleaved_rows of their transpose) for all columns of a [depth,
/// columns], some at a time. `pack` has pack_items, and is valid during a call.
///
/// Why a callable: the products of W and R have the same a, which is packed once for both.
template <class T, class F>
void for_each_pack(std::size_t columns, rows_of<std::type_identity_t<T> const> a, std::size_t depth, T* pack,
    F const& f) noexcept
{
    blocks const packs{columns, columns_per_pack<T>};
    for (std::size_t i = 0; i < packs.count(); ++i) {
        std::size_t const begin = packs.begin(i), count = packs.begin(i + 1) - begin;
        f(begin, count, interleave_transposed(count, {a.first + begin, a.step}, depth, pack));
    }
}

/// Computes sums = start + transpose(a) b for a [b.depth, columns]. start and sums are [columns, whole
/// batches of b.columns]; start may be sums, other overlaps are not allowed. `pack` has pack_items.
///
/// Each sum is accumulated in the order of the rows of a and b, in dependency chains as in multiply: its bits
/// do not depend on which columns of a are multiplied together.
template <class T>
void multiply_transposed(std::size_t columns, rows_of<std::type_identity_t<T> const> a, panels<T> const& b,
    rows_of<std::type_identity_t<T> const> start, rows_of<std::type_identity_t<T>> sums, T* pack) noexcept
{
    for_each_pack(columns, a, b.depth, pack, [&](std::size_t begin, std::size_t count, auto const& rows) {
        multiply<T>(count, rows, b, start.from(begin), sums.from(begin));
    });
}

} // namespace xloom::inline XLOOM_ABI::kernel
