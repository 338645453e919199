#pragma once
// The offsets of index tuples: those of their positions, readers for every index type and bounds rule, and
// blocks of them with prefetching.

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/kernel/index_tuples.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The offsets of positions in row-major order: of batch entries, or of the axes that an index does not name.
/// Axes of length 1 are dropped, and adjacent axes that have a common stride are merged.
class position_offsets {
public:
    position_offsets() = default;

    /// Offsets of the positions of this shape; an axis of stride 0 adds nothing.
    explicit position_offsets(strided_layout const& positions) : axes_(merge_axes(positions))
    {
        if (axes_.dims.size() == 1 && axes_.strides[0] == 0)
            axes_ = {};
    }

    /// Offsets of batch entries, each of which has `per_entry` tuples.
    position_offsets(strided_layout const& batch, std::size_t per_entry)
        : position_offsets({insert_axis(batch.dims, batch.dims.size(), per_entry),
              insert_axis(batch.strides, batch.dims.size(), std::ptrdiff_t{0})})
    {}

    /// True if all positions of a row of for_each_row have one offset.
    bool are_rows() const { return axes_.strides.empty() || axes_.strides.back() == 0; }

    /// Calls f(base, stride, size) for each row of `count` consecutive positions, the first of which is
    /// `first`: the offsets of its positions are base, base + stride, and so on.
    template <class F>
    void for_each_row(std::size_t first, std::size_t count, F&& f) const
    {
        if (axes_.dims.empty())
            return f(std::ptrdiff_t{0}, std::ptrdiff_t{0}, count);
        std::size_t const last = axes_.dims.size() - 1, length = axes_.dims[last];
        std::ptrdiff_t const stride = axes_.strides[last];
        std::size_t column = first % length;
        shape row(last, 0);
        std::ptrdiff_t base = find_row(first / length, row);
        while (true) {
            std::size_t const size = (std::min)(length - column, count);
            f(base + static_cast<std::ptrdiff_t>(column) * stride, stride, size);
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
        if (axes_.dims.empty())
            return;
        if (axes_.dims.size() > 1 && axes_.dims.back() <= short_row && count >= 4 * short_row)
            return add_to_short_rows(offsets, first, count);
        for_each_row(first, count, [&](std::ptrdiff_t base, std::ptrdiff_t stride, std::size_t size) {
            add_to_row(offsets, base, stride, size);
            offsets += size;
        });
    }

private:
    /// Sets the indices of row `number`; returns its offset.
    std::ptrdiff_t find_row(std::size_t number, shape& row) const
    {
        std::ptrdiff_t offset = 0;
        for (std::size_t axis = row.size(); axis-- > 0; number /= axes_.dims[axis]) {
            row[axis] = number % axes_.dims[axis];
            offset += static_cast<std::ptrdiff_t>(row[axis]) * axes_.strides[axis];
        }
        return offset;
    }

    /// Increments the indices of a row; returns the offset of the next one.
    std::ptrdiff_t next_row(std::ptrdiff_t offset, shape& row) const
    {
        for (std::size_t axis = row.size(); axis-- > 0;) {
            offset += axes_.strides[axis];
            if (++row[axis] < axes_.dims[axis])
                break;
            offset -= static_cast<std::ptrdiff_t>(axes_.dims[axis]) * axes_.strides[axis];
            row[axis] = 0;
        }
        return offset;
    }

    /// As add_to, by tiles of whole rows, whose offsets differ by one number each: a loop over a short row
    /// has hardly begun when it ends.
    void add_to_short_rows(std::ptrdiff_t* offsets, std::size_t first, std::size_t count) const
    {
        std::size_t const last = axes_.dims.size() - 1, length = axes_.dims[last], rows = short_row / length;
        std::size_t column = first % length;
        shape row(last, 0);
        std::ptrdiff_t base = find_row(first / length, row);
        std::array<std::ptrdiff_t, short_row> tile;
        for (std::size_t i = 0, at = 0; i < rows; ++i)
            for (std::size_t j = 0; j < length; ++j, ++at)
                tile[at] = static_cast<std::ptrdiff_t>(i) * axes_.strides[last - 1] +
                           static_cast<std::ptrdiff_t>(j) * axes_.strides[last];
        while (count != 0) {
            std::size_t const rows_left = axes_.dims[last - 1] - row[last - 1];
            bool const is_tile = column == 0 && rows <= rows_left && rows * length <= count;
            std::size_t const size = is_tile ? rows * length : (std::min)(length - column, count);
            for (std::size_t i = 0; i < size; ++i)
                offsets[i] =
                    offsets[i] == dropped_offset ? dropped_offset : offsets[i] + base + tile[column + i];
            offsets += size;
            count -= size;
            if (is_tile) {
                row[last - 1] += rows - 1;
                base += static_cast<std::ptrdiff_t>(rows - 1) * axes_.strides[last - 1];
            }
            column = 0;
            if (count != 0)
                base = next_row(base, row);
        }
    }

    static void add_to_row(
        std::ptrdiff_t* offsets, std::ptrdiff_t base, std::ptrdiff_t stride, std::size_t count)
    {
        for (std::size_t i = 0; i < count; ++i, base += stride)
            offsets[i] = offsets[i] == dropped_offset ? dropped_offset : offsets[i] + base;
    }

    static constexpr std::size_t short_row = 64;

    strided_layout axes_{};
};

namespace detail {

template <class TupleOffset, std::integral Index>
void read_offsets(TupleOffset const offset_of, Index const* tuple, std::size_t count, std::ptrdiff_t* offsets)
{
    for (std::size_t i = 0; i < count; ++i, tuple += offset_of.width())
        offsets[i] = offset_of(tuple);
}

/// Writes the offsets of `count` contiguous tuples. Returns false and writes nothing if the rule is
/// bounds::check and one of their indices is out of range.
template <std::integral Index>
bool read_offsets(void const* tuples, std::size_t from, std::size_t count, strided_layout const& axes,
    bounds rule, std::ptrdiff_t* offsets)
{
    auto const* const first = static_cast<Index const*>(tuples) + from * axes.dims.size();
    auto const read = [&](auto const& offset_of) { read_offsets(offset_of, first, count, offsets); };
    bool const are_inside = rule != bounds::assume && kernel::are_in_range(first, count, axes.dims);
    switch (are_inside ? bounds::assume : rule) {
    case bounds::check:
        return false;
    case bounds::drop:
        with_tuple_offset<bounds::drop>(axes, read);
        break;
    case bounds::clip:
        with_tuple_offset<bounds::clip>(axes, read);
        break;
    case bounds::assume:
        with_tuple_offset<bounds::assume>(axes, read);
        break;
    }
    return true;
}

} // namespace detail

/// Prefetches contiguous operands of the next block: where they are read block by block, what hardware
/// prefetches ends with each of them.
inline void prefetch_next_block(void const* operands, std::size_t bytes)
{
    for (std::size_t at = 0; at < bytes; at += cache_line)
        prefetch_to_read<2>(static_cast<std::byte const*>(operands) + at);
}

/// A reader of the offsets of index tuples, which must outlive it.
class offset_reader {
public:
    /// Requires, with bounds::assume, that every index is within its axis.
    template <std::integral Index>
    offset_reader(index_tuples<Index> const& tuples, bounds rule, position_offsets const& positions = {})
        : positions_(positions),
          axes_(tuples.axes),
          tuples_(tuples.first),
          count_(tuples.count),
          tuple_bytes_(tuples.width() * sizeof(Index)),
          read_(detail::read_offsets<Index>),
          rule_(rule)
    {}

    /// Returns a reader of the same tuples from the last to the first.
    offset_reader backward() const
    {
        offset_reader other = *this;
        other.is_backward_ = !is_backward_;
        return other;
    }

    std::size_t count() const { return count_; }
    bool may_drop() const { return rule_ == bounds::drop; }
    /// Returns the number of slices that a tuple may name.
    std::size_t slices() const { return element_count(axes_.dims); }

    /// Writes the offsets of `count` tuples, beginning at position `from`. Returns false and writes nothing
    /// if the rule is bounds::check and one of their indices is out of range.
    [[nodiscard]] bool operator()(std::size_t from, std::size_t count, std::ptrdiff_t* offsets) const
    {
        std::size_t const first = is_backward_ ? count_ - from - count : from;
        if (!read_(tuples_, first, count, axes_, rule_, offsets))
            return false;
        positions_.add_to(offsets, first, count);
        if (is_backward_)
            std::reverse(offsets, offsets + count);
        return true;
    }

    /// Writes the offsets of `count` tuples, beginning at position `from`. Requires, with bounds::check, that
    /// every index is within its axis.
    void read_checked(std::size_t from, std::size_t count, std::ptrdiff_t* offsets) const
    {
        [[maybe_unused]] bool const are_inside = (*this)(from, count, offsets);
        assert(are_inside);
    }
    /// Returns the offset of the tuple at position `at`. Requires what read_checked requires.
    std::ptrdiff_t operator[](std::size_t at) const
    {
        std::ptrdiff_t offset;
        read_checked(at, 1, &offset);
        return offset;
    }

    /// Prefetches `count` tuples, beginning at position `from`.
    void prefetch(std::size_t from, std::size_t count) const
    {
        std::size_t const first = is_backward_ ? count_ - from - count : from;
        prefetch_next_block(
            static_cast<std::byte const*>(tuples_) + first * tuple_bytes_, count * tuple_bytes_);
    }

private:
    position_offsets positions_;
    strided_layout axes_;
    void const* tuples_;
    std::size_t count_, tuple_bytes_;
    bool (*read_)(void const*, std::size_t, std::size_t, strided_layout const&, bounds, std::ptrdiff_t*);
    bounds rule_;
    bool is_backward_ = false;
};

/// Prefetches the first cache line of a slice of `length` elements and, beyond a few elements, the last one.
/// The slice may be at `dropped_offset`: prefetching any address is harmless, so it is not tested.
template <class T>
void prefetch_slice(T* data, std::ptrdiff_t offset, std::size_t length)
{
    std::uintptr_t const first =
        reinterpret_cast<std::uintptr_t>(data) + static_cast<std::uintptr_t>(offset) * sizeof(T);
    auto const prefetch = [](std::uintptr_t address) {
        if constexpr (std::is_const_v<T>)
            prefetch_to_read<3>(reinterpret_cast<void const*>(address));
        else
            prefetch_to_write<3>(reinterpret_cast<void const*>(address));
    };
    prefetch(first);
    if (length > tuning::max_small_slice)
        prefetch(first + (length - 1) * sizeof(T));
}

/// A block of offsets of consecutive index tuples into `data`, some of which may be dropped if MayDrop.
template <class T, bool MayDrop>
struct offset_block {
    std::ptrdiff_t const* offsets;
    std::size_t first; ///< the position of the first tuple
    std::size_t size;
    T* data;
    std::size_t length;           ///< of a slice
    bool is_large = false;        ///< data: it is read from a cache that cores share, or from memory
    bool is_only_written = false; ///< what is done with a slice does not read it

    /// Calls f(offset, position) for each tuple that is not dropped, in order, and prefetches slices ahead of
    /// it: out-of-order execution reaches past the work on an item to the next offsets, far enough for L2,
    /// but not past that on a slice; and stores to items that are not read wait for each other.
    template <class F>
    void for_each(F const& f) const
    {
        std::size_t i = 0;
        if (length != 1 || is_large || is_only_written)
            for (std::size_t const ahead = tuning::prefetch_distance(length); i + ahead < size; ++i) {
                kernel::prefetch_slice(data, offsets[i + ahead], length);
                visit(i, f);
            }
        for (; i < size; ++i)
            visit(i, f);
    }

private:
    template <class F>
    void visit(std::size_t i, F const& f) const
    {
        if (!MayDrop || offsets[i] != dropped_offset)
            f(offsets[i], first + i);
    }
};

/// Calls f(offset, position) for those of tuples `from` .. `to` - 1 that are not dropped, in order. Requires
/// what offset_reader::read_checked requires.
template <class F>
void for_each_indexed(offset_reader const& read, std::size_t from, std::size_t to, F const& f)
{
    std::array<std::ptrdiff_t, tuning::offsets_per_block> offsets;
    for (std::size_t first = from; first < to; first += tuning::offsets_per_block) {
        std::size_t const size = (std::min)(tuning::offsets_per_block, to - first);
        read.read_checked(first, size, offsets.data());
        for (std::size_t i = 0; i < size; ++i)
            if (offsets[i] != dropped_offset)
                f(offsets[i], first + i);
    }
}

/// True if one of `count` tuples, at least one, is dropped.
inline bool are_dropped(std::ptrdiff_t const* offsets, std::size_t count)
{
    std::ptrdiff_t least = offsets[0];
    for (std::size_t i = 1; i < count; ++i)
        least = (std::min)(least, offsets[i]);
    return least == dropped_offset;
}

/// Calls f(offset_block) for tuples `from` .. `to` - 1 in order, where f uses `length` elements at data +
/// offset. Returns false at the first block that cannot be read because an index is out of range.
template <class T, class F>
bool for_each_block(
    offset_reader const& read, std::size_t from, std::size_t to, T* data, std::size_t length, F const& f)
{
    bool const is_large = read.slices() * length * sizeof(T) >= tuning::prefetched_data_bytes;
    std::array<std::ptrdiff_t, tuning::offsets_per_block> offsets;
    for (std::size_t first = from; first < to; first += tuning::offsets_per_block) {
        std::size_t const size = (std::min)(tuning::offsets_per_block, to - first);
        if (!read(first, size, offsets.data()))
            return false;
        read.prefetch(first + size, (std::min)(tuning::offsets_per_block, to - first - size));
        if (read.may_drop() && kernel::are_dropped(offsets.data(), size))
            f(offset_block<T, true>{offsets.data(), first, size, data, length, is_large});
        else
            f(offset_block<T, false>{offsets.data(), first, size, data, length, is_large});
    }
    return true;
}

} // namespace xloom::inline XLOOM_ABI::kernel
