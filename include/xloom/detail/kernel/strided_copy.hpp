#pragma once
// A copy between two strided layouts of one shape, planned once and run many times, and that of a matrix
// which is transposed; and the offsets of elements along the time axis.

#include <cstddef>

#include <xloom/detail/core/abi.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/shape.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// Assigns the item from[i * from_stride + j] to to[j * to_stride + i], for i < rows and j < columns.
/// Requires that the two do not overlap.
///
/// Eight rows at a time: their cache lines stay in the L1 cache while all columns are copied, and eight items
/// in a row are stored.
template <class T>
void copy_transposed(T const* __restrict from, std::ptrdiff_t from_stride, T* __restrict to,
    std::ptrdiff_t to_stride, std::size_t rows, std::size_t columns)
{
    constexpr std::ptrdiff_t rows_at_once = 8;
    auto const last = static_cast<std::ptrdiff_t>(rows), end = static_cast<std::ptrdiff_t>(columns);
    std::ptrdiff_t i = 0;
    for (; i + rows_at_once <= last; i += rows_at_once)
        for (std::ptrdiff_t j = 0; j < end; ++j)
            for (std::ptrdiff_t k = 0; k < rows_at_once; ++k)
                to[j * to_stride + i + k] = from[(i + k) * from_stride + j];
    for (; i < last; ++i)
        for (std::ptrdiff_t j = 0; j < end; ++j)
            to[j * to_stride + i] = from[i * from_stride + j];
}

/// A loop over the pairs of items of two strided arrays of the same shape, which assigns the first to the
/// second. Axes of length 1 are dropped, and adjacent axes that have a common stride in both arrays are
/// merged, so that most copies are one or two loops. Cost: each item is read once and written once. Allocates
/// nothing. The copy requires that the two arrays do not overlap.
class strided_copy {
public:
    constexpr strided_copy(shape const& dims, strides const& from, strides const& to)
    {
        for (std::size_t axis = 0; axis < dims.size(); ++axis) {
            if (dims[axis] == 0)
                empty_ = true;
            if (dims[axis] == 1)
                continue;
            if (!dims_.empty() && xloom::detail::continues(from_.back(), from[axis], dims[axis]) &&
                xloom::detail::continues(to_.back(), to[axis], dims[axis])) {
                dims_.back() *= dims[axis];
                from_.back() = from[axis];
                to_.back() = to[axis];
            } else {
                dims_.push_back(dims[axis]);
                from_.push_back(from[axis]);
                to_.push_back(to[axis]);
            }
        }
        if (dims_.empty()) {
            dims_.push_back(1);
            from_.push_back(1);
            to_.push_back(1);
        }
    }

    template <class T>
    void operator()(T const* from, T* to) const
    {
        if (!empty_)
            copy(0, from, to);
    }

    /// Calls f(from item, to item) for every pair.
    template <class From, class To, class F>
    void for_each_pair(From* from, To* to, F const& f) const
    {
        if (!empty_)
            walk(0, from, to, f);
    }

private:
    /// Copies the items along `axis` and the axes after it.
    ///
    /// Why a loop copies contiguous items too: std::copy_n calls memmove, which costs more than copying a row
    /// of a small element. Why not walk: g++ 12 compiles it to code that is 1/7 slower.
    template <class T>
    void copy(std::size_t axis, T const* from, T* to) const
    {
        std::size_t const count = dims_[axis];
        std::ptrdiff_t const from_stride = from_[axis];
        std::ptrdiff_t const to_stride = to_[axis];
        if (axis + 2 == dims_.size() && from_stride == 1 && to_[axis + 1] == 1)
            copy_transposed(from, from_[axis + 1], to, to_stride, dims_[axis + 1], count);
        else if (axis + 2 == dims_.size() && to_stride == 1 && from_[axis + 1] == 1)
            copy_transposed(from, from_stride, to, to_[axis + 1], count, dims_[axis + 1]);
        else if (axis + 1 < dims_.size())
            for (std::size_t i = 0; i < count; ++i, from += from_stride, to += to_stride)
                copy(axis + 1, from, to);
        else if (from_stride == 1 && to_stride == 1)
            for (std::size_t i = 0; i < count; ++i)
                to[i] = from[i];
        else
            for (std::size_t i = 0; i < count; ++i, from += from_stride, to += to_stride)
                *to = *from;
    }

    template <class From, class To, class F>
    XLOOM_NOINLINE void walk(std::size_t axis, From* from, To* to, F const& f) const
    {
        for (std::size_t i = 0; i < dims_[axis]; ++i, from += from_[axis], to += to_[axis])
            if (axis + 1 < dims_.size())
                walk(axis + 1, from, to, f);
            else
                f(*from, *to);
    }

    shape dims_{};
    strides from_{};
    strides to_{};
    bool empty_ = false;
};

/// The iterations `begin` .. `end` - 1 of a scan of `length`.
struct iterations {
    std::size_t begin;
    std::size_t end;
    std::size_t length;

    constexpr std::size_t count() const noexcept { return end - begin; }
};

/// Returns all iterations of a scan of `length`.
constexpr iterations all_iterations(std::size_t length) noexcept { return {0, length, length}; }

/// The elements of one operand along its time axis: element t begins `first + t * stride` items after the
/// operand's first item.
struct time_axis {
    std::ptrdiff_t first = 0;
    std::ptrdiff_t stride = 0;
    strided_layout element{};

    /// Requires axis < rank. In reverse, element 0 is the last of `length`. Empty elements all begin at the
    /// operand's first item, which may be a null pointer.
    constexpr time_axis(strided_layout const& operand, std::size_t axis, std::size_t length, bool reverse)
        : element(drop_axis(operand, axis))
    {
        if (element_count(element.dims) != 0)
            stride = operand.strides[axis];
        if (reverse) {
            first = length == 0 ? 0 : static_cast<std::ptrdiff_t>(length - 1) * stride;
            stride = -stride;
        }
    }

    /// Returns the time axis that begins with the element of iteration `begin`.
    constexpr time_axis from(std::size_t begin) const
    {
        time_axis rest = *this;
        rest.first += static_cast<std::ptrdiff_t>(begin) * stride;
        return rest;
    }

    /// Returns the copy of `count` consecutive elements, the first of which is passed to it, into a buffer of
    /// row-major elements that begin `spacing` items apart.
    strided_copy pack_copy(std::size_t count, std::size_t spacing) const
    {
        auto const [dims, strided, packed] = several(count, spacing);
        return {dims, strided, packed};
    }

    /// Returns the copy from such a buffer to `count` consecutive elements, the first of which is passed to
    /// it.
    strided_copy unpack_copy(std::size_t count, std::size_t spacing) const
    {
        auto const [dims, strided, packed] = several(count, spacing);
        return {dims, packed, strided};
    }

private:
    struct both_layouts {
        shape dims;
        strides strided;
        strides packed;
    };

    /// Returns the layouts of `count` elements as one array. Time comes after the axes of larger strides, so
    /// that a copy accesses memory in order.
    both_layouts several(std::size_t count, std::size_t spacing) const
    {
        std::size_t axis = 0;
        while (axis < element.dims.size() && std::abs(element.strides[axis]) >= std::abs(stride))
            ++axis;
        return {insert_axis(element.dims, axis, count), insert_axis(element.strides, axis, stride),
            insert_axis(row_major_strides(element.dims), axis, static_cast<std::ptrdiff_t>(spacing))};
    }
};

} // namespace xloom::inline XLOOM_ABI::kernel
