#pragma once
// The offsets that the positions of index tuples add to those of the tuples themselves.

#include <algorithm>
#include <array>

#include <xloom/detail/kernel/index_tuples.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The offsets of positions in row-major order: of batch entries, or of the axes that an index does not name.
/// Axes of length 1 are dropped, and adjacent axes that have a common stride are merged.
class position_offsets {
public:
    position_offsets() = default;

    /// Offsets of the positions of this shape; an axis of stride 0 adds nothing.
    explicit position_offsets(strided_layout const& positions)
    {
        for (std::size_t axis = 0; axis < positions.dims.size(); ++axis)
            append(positions.dims[axis], positions.strides[axis]);
        if (dims_.size() == 1 && strides_[0] == 0) {
            dims_ = {};
            strides_ = {};
        }
    }

    /// Offsets of batch entries, each of which has `per_entry` tuples.
    position_offsets(strided_layout const& batch, std::size_t per_entry)
        : position_offsets({insert_axis(batch.dims, batch.dims.size(), per_entry),
              insert_axis(batch.strides, batch.dims.size(), std::ptrdiff_t{0})})
    {}

    /// True if all positions of a row of for_each_row have one offset.
    bool are_rows() const { return strides_.empty() || strides_.back() == 0; }

    /// Calls f(base, step, size) for each row of `count` consecutive positions, the first of which is
    /// `first`: the offsets of its positions are base, base + step, and so on.
    template <class F>
    void for_each_row(std::size_t first, std::size_t count, F&& f) const
    {
        if (dims_.empty())
            return f(std::ptrdiff_t{0}, std::ptrdiff_t{0}, count);
        std::size_t const last = dims_.size() - 1, length = dims_[last];
        std::ptrdiff_t const step = strides_[last];
        std::size_t column = first % length;
        shape row(last, 0);
        std::ptrdiff_t base = find_row(first / length, row);
        while (true) {
            std::size_t const size = (std::min)(length - column, count);
            f(base + static_cast<std::ptrdiff_t>(column) * step, step, size);
            count -= size;
            if (count == 0)
                return;
            column = 0;
            base = next_row(base, row);
        }
    }

    /// Adds to the offsets of `count` consecutive tuples, the first of which is at position `first`, except
    /// to dropped ones.
    void add_to(std::ptrdiff_t* offsets, std::size_t first, std::size_t count) const
    {
        if (dims_.empty() || count == 0)
            return;
        if (dims_.size() > 1 && dims_.back() <= short_row && count >= 4 * short_row)
            return add_to_short_rows(offsets, first, count);
        for_each_row(first, count, [&](std::ptrdiff_t base, std::ptrdiff_t step, std::size_t size) {
            add_to_row(offsets, base, step, size);
            offsets += size;
        });
    }

private:
    void append(std::size_t dim, std::ptrdiff_t stride)
    {
        if (dim == 1)
            return;
        if (!dims_.empty() && strides_.back() == stride * static_cast<std::ptrdiff_t>(dim)) {
            dims_.back() *= dim;
            strides_.back() = stride;
        } else {
            dims_.push_back(dim);
            strides_.push_back(stride);
        }
    }

    /// Sets the indices of row `number`; returns its offset.
    std::ptrdiff_t find_row(std::size_t number, shape& row) const
    {
        std::ptrdiff_t offset = 0;
        for (std::size_t axis = row.size(); axis-- > 0; number /= dims_[axis]) {
            row[axis] = number % dims_[axis];
            offset += static_cast<std::ptrdiff_t>(row[axis]) * strides_[axis];
        }
        return offset;
    }

    /// Increments the indices of a row; returns the offset of the next one.
    std::ptrdiff_t next_row(std::ptrdiff_t offset, shape& row) const
    {
        for (std::size_t axis = row.size(); axis-- > 0;) {
            offset += strides_[axis];
            if (++row[axis] < dims_[axis])
                break;
            offset -= static_cast<std::ptrdiff_t>(dims_[axis]) * strides_[axis];
            row[axis] = 0;
        }
        return offset;
    }

    /// As add_to, by tiles of whole rows, whose offsets differ by one number each: a loop over a short row
    /// has hardly begun when it ends.
    void add_to_short_rows(std::ptrdiff_t* offsets, std::size_t first, std::size_t count) const
    {
        std::size_t const last = dims_.size() - 1, length = dims_[last], rows = short_row / length;
        std::size_t column = first % length;
        shape row(last, 0);
        std::ptrdiff_t base = find_row(first / length, row);
        std::array<std::ptrdiff_t, short_row> tile;
        for (std::size_t i = 0, at = 0; i < rows; ++i)
            for (std::size_t j = 0; j < length; ++j, ++at)
                tile[at] = static_cast<std::ptrdiff_t>(i) * strides_[last - 1] +
                           static_cast<std::ptrdiff_t>(j) * strides_[last];
        while (count != 0) {
            std::size_t const rows_left = dims_[last - 1] - row[last - 1];
            bool const is_tile = column == 0 && rows <= rows_left && rows * length <= count;
            std::size_t const size = is_tile ? rows * length : (std::min)(length - column, count);
            for (std::size_t i = 0; i < size; ++i)
                offsets[i] =
                    offsets[i] == dropped_offset ? dropped_offset : offsets[i] + base + tile[column + i];
            offsets += size;
            count -= size;
            if (is_tile) {
                row[last - 1] += rows - 1;
                base += static_cast<std::ptrdiff_t>(rows - 1) * strides_[last - 1];
            }
            column = 0;
            if (count != 0)
                base = next_row(base, row);
        }
    }

    static void add_to_row(
        std::ptrdiff_t* offsets, std::ptrdiff_t base, std::ptrdiff_t step, std::size_t count)
    {
        for (std::size_t i = 0; i < count; ++i, base += step)
            offsets[i] = offsets[i] == dropped_offset ? dropped_offset : offsets[i] + base;
    }

    static constexpr std::size_t short_row = 64;

    shape dims_{};
    strides strides_{};
};

} // namespace xloom::inline XLOOM_ABI::kernel
