#pragma once
// Copies between matrices of which one has contiguous rows, the other contiguous columns, by blocks that are
// transposed in vector registers.

#include <algorithm>
#include <cstddef>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/kernel/item_rows.hpp>
#include <xloom/detail/kernel/lane_transpose.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

namespace detail {

/// Assigns from[i * from_stride + j] to to[j * to_stride + i], for i and j below lane_count<T>.
template <class T>
void transpose_block(T const* from, std::ptrdiff_t from_stride, T* to, std::ptrdiff_t to_stride)
{
    constexpr auto count = static_cast<std::ptrdiff_t>(lane_count<T>);
    lanes_t<T> rows[lane_count<T>];
    XLOOM_UNROLL(16)
    for (std::ptrdiff_t i = 0; i < count; ++i)
        rows[i] = load_lanes(from + i * from_stride);
    transpose_lanes<T>(rows);
    XLOOM_UNROLL(16)
    for (std::ptrdiff_t i = 0; i < count; ++i)
        store_lanes(to + i * to_stride, rows[i]);
}

/// Columns of a matrix that are contiguous, as many as a vector has lanes, a piece of each at a time; in a
/// copy if all begin at the same offset in a page, and so share a few lines of each cache.
template <class T>
class column_pieces {
public:
    /// The number of rows in a piece, but for the last.
    static constexpr std::size_t length = 64;

    explicit column_pieces(std::ptrdiff_t stride)
        : stride_(stride), is_copied_(stride * static_cast<std::ptrdiff_t>(sizeof(T)) % 4096 == 0)
    {}

    /// The distance between the columns of a piece.
    std::ptrdiff_t stride() const { return is_copied_ ? copy_stride : stride_; }

    /// Returns `count` rows from a pointer on, to be read.
    T const* read(T const* from, std::size_t count)
    {
        if (!is_copied_)
            return from;
        copy_matrix(columns(from, stride_), columns(copy_, copy_stride), count, lane_count<T>);
        return copy_;
    }
    /// Returns memory for rows that are to be written from a pointer on.
    T* memory(T* to) { return is_copied_ ? copy_ : to; }
    /// Writes `count` rows that are in this memory.
    void write(T* to, std::size_t count) const
    {
        if (is_copied_)
            copy_matrix(columns(static_cast<T const*>(copy_), copy_stride), columns(to, stride_), count,
                lane_count<T>);
    }

private:
    static constexpr std::ptrdiff_t copy_stride = length + lane_count<T>;

    template <class Item>
    static item_rows<Item> columns(Item* first, std::ptrdiff_t stride)
    {
        return {first, 1, stride};
    }

    std::ptrdiff_t stride_;
    bool is_copied_;
    T copy_[lane_count<T> * copy_stride];
};

/// Assigns `rows` rows of `columns` items. If `by_blocks`, calls copy(i, j, count) for each piece of blocks:
/// `count` rows from i on, and as many columns from j on as a vector has lanes.
template <class T, class Copy>
void copy_by_pieces(item_rows<T const> const& from, item_rows<T> const& to, std::size_t rows,
    std::size_t columns, bool by_blocks, Copy const& copy)
{
    constexpr std::size_t step = lane_count<T>, length = column_pieces<T>::length;
    std::size_t const whole = rows / step * step;
    std::size_t j = 0;
    for (; by_blocks && j + step <= columns; j += step) {
        for (std::size_t i = 0; i < whole; i += length)
            copy(i, j, (std::min)(length, whole - i));
        copy_matrix(
            from.from_row(whole).from_column(j), to.from_row(whole).from_column(j), rows - whole, step);
    }
    copy_matrix(from.from_column(j), to.from_column(j), rows, columns - j);
}

} // namespace detail

/// Assigns `rows` rows of `columns` items, as copy_matrix does, but by blocks of vectors where the columns of
/// `from` and the rows of `to` are contiguous.
template <class T>
void pack_columns(
    item_rows<T const> const& from, item_rows<T> const& to, std::size_t rows, std::size_t columns)
{
    detail::column_pieces<T> pieces(from.column);
    detail::copy_by_pieces(from, to, rows, columns, has_lanes<T> && from.row == 1 && to.column == 1,
        [&](std::size_t i, std::size_t j, std::size_t count) {
            T const* const piece = pieces.read(from.at(i, j), count);
            for (std::size_t k = 0; k < count; k += lane_count<T>)
                detail::transpose_block(piece + k, pieces.stride(), to.at(i + k, j), to.row);
        });
}

/// As pack_columns, where the rows of `from` and the columns of `to` are contiguous.
template <class T>
void unpack_columns(
    item_rows<T const> const& from, item_rows<T> const& to, std::size_t rows, std::size_t columns)
{
    detail::column_pieces<T> pieces(to.column);
    detail::copy_by_pieces(from, to, rows, columns, has_lanes<T> && from.column == 1 && to.row == 1,
        [&](std::size_t i, std::size_t j, std::size_t count) {
            T* const piece = pieces.memory(to.at(i, j));
            for (std::size_t k = 0; k < count; k += lane_count<T>)
                detail::transpose_block(from.at(i + k, j), from.row, piece + k, pieces.stride());
            pieces.write(to.at(i, j), count);
        });
}

} // namespace xloom::inline XLOOM_ABI::kernel
