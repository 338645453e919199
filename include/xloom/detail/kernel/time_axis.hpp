#pragma once
// The offsets of elements along the time axis, for every element type, layout, axis and direction.

#include <cstdlib>

#include <xloom/detail/core/layout.hpp>
#include <xloom/detail/kernel/strided_copy.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The iterations `begin` .. `end` - 1 of a scan of `length`.
struct iterations {
    std::size_t begin;
    std::size_t end;
    std::size_t length;

    constexpr std::size_t count() const noexcept { return end - begin; }
};

/// Returns all iterations of a scan of `length`.
constexpr iterations all_iterations(std::size_t length) noexcept { return {0, length, length}; }

/// The elements of one operand along its time axis: element t begins `first + t * step` items after the
/// operand's first item.
struct time_axis {
    std::ptrdiff_t first = 0;
    std::ptrdiff_t step = 0;
    strided_layout element{};

    /// Requires axis < rank. In reverse, element 0 is the last of `length`. Empty elements all begin at the
    /// operand's first item, which may be a null pointer.
    constexpr time_axis(strided_layout const& operand, std::size_t axis, std::size_t length, bool reverse)
        : element(drop_axis(operand, axis))
    {
        if (element_count(element.dims) != 0)
            step = operand.strides[axis];
        if (reverse) {
            first = length == 0 ? 0 : static_cast<std::ptrdiff_t>(length - 1) * step;
            step = -step;
        }
    }

    /// Returns the time axis that begins with the element of iteration `begin`.
    constexpr time_axis from(std::size_t begin) const
    {
        time_axis rest = *this;
        rest.first += static_cast<std::ptrdiff_t>(begin) * step;
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
        while (axis < element.dims.size() && std::abs(element.strides[axis]) >= std::abs(step))
            ++axis;
        return {insert_axis(element.dims, axis, count), insert_axis(element.strides, axis, step),
            insert_axis(row_major_strides(element.dims), axis, static_cast<std::ptrdiff_t>(spacing))};
    }
};

} // namespace xloom::inline XLOOM_ABI::kernel
